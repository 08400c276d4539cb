//! What may be written behind `check`.

use clap::Args;

use crate::flags::Flags;

/// `submitter check`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = CHECK_HELP, allow_negative_numbers = true)]
pub struct Check {
    /// Write the findings to standard output as JSON
    #[arg(long)]
    pub json: bool,

    /// Flags that stand beside settings, the same as of `submitter run`.
    #[command(flatten)]
    pub flags: Flags,
}

/// What `submitter check --help` says besides its flags.
const CHECK_HELP: &str = "\
Looks at all that a run needs: settings, token, data files, state folder, network, platform. Give it
the flags and the variables of the job. It reads only: no POST, no file, no lock that stays. At the
end it rehearses a run up to its first submission; -v shows the lines of the rehearsal.

Each line is `ok`, `warn`, `FAIL`, or `skip` for what could not be tried. The last one is greppable:
  [check] result=ok exit=0 ok=16 warn=0 fail=0 skip=1

Exit codes: 0 a run would submit now. Otherwise the code of a run, by the gravest finding: 10 held,
20 unavailable, 30 attention, 31 credential, 32 configuration. See `submitter run --help`, also for
variables without a flag.

Example: with the settings of the cron job
  sh -c 'set -a; . /etc/submitter/env; submitter check'";
