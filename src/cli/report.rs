//! What may be written behind `report`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::StateDir;

/// `submitter report`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = REPORT_HELP)]
#[command(group(ArgGroup::new("form").required(true).multiple(true).args(["output", "prometheus"])))]
#[allow(clippy::doc_markdown, reason = "these comments are the help text")]
pub struct Report {
    /// Write a page for people, in HTML; - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write metrics for node_exporter's textfile collector; - for standard output
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,

    /// Where the journal is.
    #[command(flatten)]
    pub state: StateDir,
}

/// What `submitter report --help` says besides its flags.
const REPORT_HELP: &str = "\
Both are drawn from the state folder alone, as the last run left it: no request is made, no
credential is needed, and a run may be under way. Days are those of UTC. Files are replaced in one
step; a new one is for all to read (mode 0644 less the umask), one that is there keeps its mode.

Exit codes: 0 written, 30 the journal is damaged or a file could not be written, 32 no state folder
is named, 2 the command line was not understood.

Example: after each run
  submitter report -o /var/www/submitter.html --prometheus /var/lib/prometheus/node-exporter/submitter.prom";
