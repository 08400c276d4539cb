//! The command line: what may be written on it, and how loud a run is.

mod bake;
mod check;
mod logging;
mod look;
mod report;
mod settle;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};

pub use bake::{BakeCandidates, BakeLedger};
pub use check::Check;
pub use logging::{LogFormat, Logging};
pub use look::{Explain, Status};
pub use report::Report;
pub use settle::{Repair, Resolve};

use crate::exit::Exit;
use crate::flags::Flags;
use crate::sync_marks::parse_date;

/// Submits model verification tasks to ModelHub XC, and never one (model, GPU) pair twice.
///
/// Meant to be run by cron once an hour: one run is one cycle, and its exit code says whether
/// something was submitted or held. Start with: submitter run --dry-run
#[derive(Debug, Parser)]
#[command(name = "submitter", version, max_term_width = 100)]
pub struct Cli {
    /// How much is logged, and in which form.
    #[command(flatten)]
    pub logging: Logging,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one cycle: read the own tasks, choose candidates, submit what is free
    Run(Box<Run>),
    /// Look at all that a run needs, and say what to mend; changes nothing
    Check(Box<Check>),
    /// Say how the account and the last run stand, by the state folder alone
    Status(Status),
    /// Say what is known of a model, and what the next run would do with it
    Explain(Box<Explain>),
    /// Write a pending file as candidates.json, in the order in which it would be tried
    BakeCandidates(BakeCandidates),
    /// Add pairs and models that must not be submitted to submitted-ledger.json
    BakeLedger(BakeLedger),
    /// Take pairs that the platform will never take from logs of runs into reject-marks.json
    SyncMarks(SyncMarks),
    /// Draw the account and what was done as a page for people, and as metrics
    Report(Report),
    /// Submit nothing until `submitter resume`; also stops a run that is under way
    Pause(Pause),
    /// End a pause, and acknowledge the tasks that it names
    Resume(Resume),
    /// Settle a pair of which nobody knows whether the platform took it
    Resolve(Resolve),
    /// Move a damaged journal aside; every legible pair stays taken
    Repair(Repair),
}

impl Command {
    /// What `--state-dir` says; none for a command that has no such flag.
    #[must_use]
    pub fn state_dir(&self) -> Option<Option<&OsStr>> {
        let flag = match self {
            Self::Run(args) => &args.flags.state_dir,
            Self::Check(args) => &args.flags.state_dir,
            Self::Explain(args) => &args.flags.state_dir,
            Self::Status(args) => &args.state.state_dir,
            Self::Report(args) => &args.state.state_dir,
            Self::Pause(args) => &args.state.state_dir,
            Self::Resume(args) => &args.state.state_dir,
            Self::Resolve(args) => &args.state.state_dir,
            Self::Repair(args) => &args.state.state_dir,
            Self::BakeCandidates(_) | Self::BakeLedger(_) | Self::SyncMarks(_) => return None,
        };
        Some(flag.as_deref())
    }
}

/// `submitter run`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = RUN_HELP, allow_negative_numbers = true)]
pub struct Run {
    /// Do everything but submit: no POST, no lock, nothing written
    #[arg(long)]
    pub dry_run: bool,

    /// Write a report of the run to standard output, as JSON
    #[arg(long)]
    pub json: bool,

    /// Exit code in place of 10, for schedulers that take it for a failure (0 to 255)
    #[arg(long, value_name = "N")]
    pub held_exit_code: Option<u8>,

    /// Flags that stand beside settings.
    #[command(flatten)]
    pub flags: Flags,
}

/// `submitter sync-marks`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = SYNC_MARKS_HELP)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct SyncMarks {
    /// Logs of `submitter run`, oldest first: plain or gzip, - for standard input
    #[arg(required = true, value_name = "LOG")]
    pub logs: Vec<PathBuf>,

    /// Marks file to add to; made if it is not there
    /// [default: reject-marks.json of the data folder, else data/reject-marks.json]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub marks: Option<OsString>,

    /// Folder of data files, the same as of `submitter run`
    /// [env: SUBMITTER_DATA_DIR]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub data_dir: Option<OsString>,

    /// Date of new marks
    /// [default: today]
    #[arg(long, verbatim_doc_comment, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub date: Option<String>,

    /// Say what would be added, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `submitter pause`.
#[derive(Debug, Clone, Default, Args)]
pub struct Pause {
    /// Why, for whoever finds the pause
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Where the pause is kept.
    #[command(flatten)]
    pub state: StateDir,
}

/// `submitter resume`.
#[derive(Debug, Clone, Default, Args)]
pub struct Resume {
    /// Where the pause is kept.
    #[command(flatten)]
    pub state: StateDir,
}

/// The state folder of a command that needs no other setting.
#[derive(Debug, Clone, Default, Args)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct StateDir {
    /// Folder of the journal and the pause, the same as of `submitter run`
    /// [env: SUBMITTER_STATE_DIR]
    /// [default: $STATE_DIRECTORY, else $XDG_STATE_HOME/submitter, else ~/.local/state/submitter]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub state_dir: Option<OsString>,
}

/// Where the platform is, and the credential, for a command that only reads it.
#[derive(Debug, Clone, Default, Args)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct Platform {
    /// File that holds the token; beats every credential variable
    /// [env: XC_TOKEN_FILE]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub token_file: Option<OsString>,

    /// Platform to talk to: scheme://host[:port]; plain http only to this machine
    /// [env: MODELHUB_API_BASE] [default: https://modelhub.org.cn]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "URL",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub api_base: Option<OsString>,
}

impl Cli {
    /// Parses the command line of this process, which ends here with a hint where it is wrong.
    #[must_use]
    pub fn of_process() -> Self {
        Self::try_parse().map_err(hinted).unwrap_or_else(|error| error.exit())
    }
}

/// Says where an option belongs, or that it takes no value.
fn hinted(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let hint = match wrong.strip_prefix("--") {
        Some(name) => {
            let program = Cli::command();
            let has = |command: &&clap::Command| {
                command.get_arguments().any(|option| option.get_long() == Some(name))
            };
            let commands = program.get_subcommands().filter(has).map(clap::Command::get_name);
            let commands: Vec<_> = commands.collect();
            if commands.is_empty() {
                return error;
            }
            format!("{wrong} stands behind its command: {}", commands.join(", "))
        }
        None if error.kind() == ErrorKind::UnknownArgument => {
            "the option before it takes no value".to_owned()
        }
        None => return error,
    };
    let hint = ContextValue::StyledStrs(vec![StyledStr::from(hint)]);
    error.insert(ContextKind::Suggested, hint);
    error
}

impl Run {
    /// The number handed to the caller for a run that ended so.
    #[must_use]
    pub fn exit_code(&self, exit: Exit) -> u8 {
        match (exit, self.held_exit_code) {
            (Exit::Held, Some(code)) => code,
            _ => exit.code(),
        }
    }
}

/// What `submitter run --help` says besides its flags.
const RUN_HELP: &str = "\
Credential, from the first of these that is set (no flag takes a token: others could read it):
  EXTERNAL_SERVICE_TOKEN  the token
  XC_TOKEN_FILE           a file that holds the token, the same as --token-file
  XC_TOKEN                the token
  MODELHUB_XC_TOKEN       the token

A flag beats its variable, and an empty variable is an unset one. Variables without a flag:
  ASYNC_QUEUE_DEPTH            unfinished tasks as another system counts them; can only block
  QUEUE_SNAPSHOT_JSON          the same as {\"queue\":N}, inline or the path of a file
  ALL_TASKS_MAX_PAGES_PASS     pages that --foothold reads: at most 3
  ALL_TASKS_MAX_PAGES_FAIL     at most 3
  ALL_TASKS_MAX_PAGES_RUNNING  at most 2
  ALL_TASKS_PAGE_SIZE          rows of such a page: at most 100
  CONFIG_PARAMS_SOURCE         build-config (default) or sample
  MODELHUB_BUILD_CONFIG_PATH   path on the platform that builds configParams; without it: sample
  LIVE_STATE_FILE              JSON list of \"model|gpuEnum\" that an earlier system submitted
  LIVE_CONFIRM                 accepted, not needed
  SUBMITTER_PING_URL           URL of a monitor: pinged at the start and the end of a real run

Exit codes:
   0  submitted: at least one task was accepted (in a dry run: would have been sent)
  10  held: healthy, and nothing to submit now
  20  unavailable: the platform or the time did not allow it; the next run may
  30  attention: a person must look before anything is submitted again
  31  credential: none that can be used, or the platform refused it
  32  configuration: a setting or a data file is wrong
   2  the command line was not understood
   1  a bug in this program

Example: see what a run would do, with the token in a file
  submitter run --dry-run --strategy-id ID --token-file token.txt";

/// What `submitter sync-marks --help` says besides its flags.
const SYNC_MARKS_HELP: &str = "\
Prints `added N total M`. Marks that are in the file stay as they are, and logs may be given
again. The last line of a log counts once its newline is there.

Exit codes: 0 done, 30 the marks could not be written, 32 a log or the marks file could not be
read (nothing is changed then), 2 the command line was not understood.

Example: the log of today and those that logrotate has put away
  submitter sync-marks run.log.2.gz run.log.1 run.log";

#[cfg(test)]
mod tests;
