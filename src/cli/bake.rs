//! What may be written behind `bake-candidates` and `bake-ledger`.

use std::ffi::OsString;

use clap::Args;

use super::Platform;

/// `submitter bake-candidates`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = CANDIDATES_HELP)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct BakeCandidates {
    /// Markdown file of candidates
    /// [env: PENDING_SUBMIT_MD, where neither --md nor --txt is given]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub md: Option<OsString>,

    /// Text file of candidates; its rows follow those of the Markdown file
    /// [env: PENDING_SUBMIT_TXT, where neither --md nor --txt is given]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub txt: Option<OsString>,

    /// File to replace
    /// [default: candidates.json in the data folder, else in data/ under the current folder]
    #[arg(short, long, verbatim_doc_comment, value_name = "FILE")]
    pub output: Option<OsString>,

    /// Folder of data files
    /// [env: SUBMITTER_DATA_DIR]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub data_dir: Option<OsString>,
}

/// `submitter bake-ledger`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = LEDGER_HELP)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct BakeLedger {
    /// Add all own tasks on the platform; needs the credential, and a complete read
    #[arg(long, conflicts_with = "from_json")]
    pub from_remote: bool,

    /// Add the pairs of a JSON list ["model|gpuEnum", ..] or of another submitted-ledger.json
    #[arg(long, value_name = "FILE")]
    pub from_json: Option<OsString>,

    /// Add a model that is not to be submitted on any card; may be given many times
    #[arg(long, value_name = "MODEL")]
    pub block: Vec<String>,

    /// File to add to
    /// [default: submitted-ledger.json in the data folder, else in data/ under the current folder]
    #[arg(short, long, verbatim_doc_comment, value_name = "FILE")]
    pub output: Option<OsString>,

    /// Folder of data files
    /// [env: SUBMITTER_DATA_DIR]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub data_dir: Option<OsString>,

    /// Where the platform is, and the credential.
    #[command(flatten)]
    pub platform: Platform,
}

/// What `submitter bake-candidates --help` says besides its flags.
const CANDIDATES_HELP: &str = "\
Rows are written in the order in which `submitter run` tries them. A row that cannot be read is
told and left out; the same model with the same cards is written once.

Example
  submitter bake-candidates --md pending.md -o data/candidates.json";

/// What `submitter bake-ledger --help` says besides its flags.
const LEDGER_HELP: &str = "\
What the file holds stays in it: a pair that is taken is never freed.

Example
  submitter bake-ledger --from-remote --block org/model -o data/submitted-ledger.json";
