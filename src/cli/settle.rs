//! What may be written behind `resolve` and `repair`.

use std::ffi::OsString;

use clap::{ArgGroup, Args};

use super::{Platform, StateDir};

/// `submitter resolve`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = RESOLVE_HELP)]
#[command(group(ArgGroup::new("choice").required(true).args(["submitted", "absent"])))]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct Resolve {
    /// The model, org/name
    pub model: String,

    /// The card, by its enum or its Chinese name
    pub gpu: String,

    /// The platform has the task: the pair stays taken
    #[arg(long)]
    pub submitted: bool,

    /// The platform does not have it: the pair may be sent again. Looks once more, and refuses
    /// if the platform shows the pair
    #[arg(long)]
    pub absent: bool,

    /// With --absent: also where the intent is less than an hour old
    #[arg(long, requires = "absent")]
    pub although_young: bool,

    /// Where the journal is.
    #[command(flatten)]
    pub state: StateDir,

    /// Folder of data files
    /// [env: SUBMITTER_DATA_DIR]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub data_dir: Option<OsString>,

    /// Where the platform is, and the credential.
    #[command(flatten)]
    pub platform: Platform,
}

/// `submitter repair`.
#[derive(Debug, Clone, Default, Args)]
pub struct Repair {
    /// Where the journal is.
    #[command(flatten)]
    pub state: StateDir,
}

/// What `submitter resolve --help` says besides its flags.
const RESOLVE_HELP: &str = "\
A pair is in doubt when the answer to its submission was lost. It stays taken until the list of own
tasks shows it, which settles it without you. Look at the account on the web page first: the task
may be there under another spelling, or come late.

Examples
  submitter resolve org/model Biren_166m --submitted
  submitter resolve org/model 壁砺 --absent";
