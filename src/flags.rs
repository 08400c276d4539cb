//! The flags of `submitter run` that stand beside settings. Values are kept as they were
//! written and judged where the settings are resolved, so that a wrong value ends a run for
//! the same reason whether it came from a flag or from a variable.

use std::ffi::OsString;

use clap::Args;

/// Raw values of the flags; `None` where a flag was not given.
#[derive(Debug, Clone, Default, Args)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct Flags {
    /// Strategy id that goes into every submission; required
    /// [env: STRATEGY_ID]
    #[arg(long, verbatim_doc_comment, value_name = "ID")]
    pub strategy_id: Option<OsString>,

    /// Folder of the journal and the pause; keep one for each account
    /// [env: SUBMITTER_STATE_DIR]
    /// [default: $STATE_DIRECTORY, else $XDG_STATE_HOME/submitter, else ~/.local/state/submitter]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub state_dir: Option<OsString>,

    /// Folder of data files that replace the built-in ones; marks and ledger are added to them
    /// [env: SUBMITTER_DATA_DIR]
    #[arg(long, verbatim_doc_comment, value_name = "DIR")]
    pub data_dir: Option<OsString>,

    /// File that holds the token; beats every credential variable
    /// [env: XC_TOKEN_FILE]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub token_file: Option<OsString>,

    /// Tasks that one run may submit, in-doubt ones included
    /// [env: LIVE_MAX_SUBMITS_PER_CYCLE] [default: 6]
    #[arg(long, verbatim_doc_comment, value_name = "N")]
    pub max_submits: Option<OsString>,

    /// Submit only while fewer own tasks than this are unfinished
    /// [env: LIVE_QUEUE_THRESHOLD] [default: 95]
    #[arg(long, verbatim_doc_comment, value_name = "N")]
    pub queue_threshold: Option<OsString>,

    /// Read other users' results to find and rank candidates; --foothold 0 turns it off
    /// [env: ALL_TASKS_FOOTHOLD] [default: 0]
    #[arg(long, verbatim_doc_comment, value_name = "0|1")]
    #[arg(num_args = 0..=1, default_missing_value = "1")]
    pub foothold: Option<OsString>,

    /// Markdown file of candidates, in place of candidates.json
    /// [env: PENDING_SUBMIT_MD]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub pending_md: Option<OsString>,

    /// Text file of candidates, in place of candidates.json
    /// [env: PENDING_SUBMIT_TXT]
    #[arg(long, verbatim_doc_comment, value_name = "FILE")]
    pub pending_txt: Option<OsString>,

    /// Only this section of the pending file
    /// [env: PENDING_SECTION]
    #[arg(long, verbatim_doc_comment, value_name = "A|B")]
    pub section: Option<OsString>,

    /// Keep the journal on a network file system although two hosts could hold its lock at once
    /// [env: SUBMITTER_ALLOW_NETWORK_STATE=1]
    #[arg(long, verbatim_doc_comment, help_heading = "Advanced", hide_short_help = true)]
    pub allow_network_state: bool,

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

    /// POSTs that one run may make, whatever their answer
    /// [env: LIVE_MAX_ATTEMPTS_PER_CYCLE] [default: 30]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "N",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub max_attempts: Option<OsString>,

    /// Do not ask for a model's results before submitting it
    /// [env: LIVE_PRECHECK=0]
    #[arg(long, verbatim_doc_comment, help_heading = "Advanced", hide_short_help = true)]
    pub no_precheck: bool,

    /// Prechecks that one run may make
    /// [env: LIVE_MAX_PRECHECKS_PER_CYCLE] [default: 60]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "N",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub max_prechecks: Option<OsString>,

    /// Length of a cycle; the submit cap holds over any 0.9 of it, however often runs start
    /// [env: LIVE_CYCLE_SECONDS] [default: 3600]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "SECONDS",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub cycle_seconds: Option<OsString>,

    /// A run that lasts longer starts no further request
    /// [env: LIVE_CYCLE_DEADLINE_SECONDS] [default: 600]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "SECONDS",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub deadline_seconds: Option<OsString>,

    /// A pair that was refused for a passing reason is not tried again for so long
    /// [env: LIVE_REJECT_COOLDOWN_HOURS] [default: 24]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "HOURS",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub cooldown_hours: Option<OsString>,

    /// Rows of a page of own tasks, at most 1000
    /// [env: LIVE_PAGE_SIZE] [default: 100]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "N",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub page_size: Option<OsString>,

    /// Pages that are read at the same time, at most 16
    /// [env: LIVE_READ_CONNECTIONS] [default: 4]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "N",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub read_connections: Option<OsString>,

    /// What is read again before each POST: what proves the rest, or everything
    /// [env: LIVE_REFRESH] [default: auto]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "auto|full",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub refresh: Option<OsString>,

    /// Longest wait for one whole exchange, at most 30
    /// [env: LIVE_REQUEST_TIMEOUT_SECONDS] [default: 30]
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "SECONDS",
        help_heading = "Advanced",
        hide_short_help = true
    )]
    pub request_timeout: Option<OsString>,
}
