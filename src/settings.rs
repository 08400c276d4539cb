//! Settings: resolved once, from flags and environment, by a function without side effects.

mod address;
mod data_dir;
mod hints;
mod read;
mod reading;
mod resolve;
mod state_dir;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::exit::Hold;
use crate::sources::Section;

pub use data_dir::{data_dir, marks_file};
pub use hints::{Hint, read_snapshot_file};
pub use read::{path, word};
pub use reading::Reading;
pub use state_dir::{default_state_dir, state_dir};

/// What a person should know although the run goes on: one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All that there is to say of the settings, whether a run could use them or not.
#[derive(Debug)]
pub struct Survey {
    /// The settings; where one is wrong, its default, and no state folder where none is named.
    pub settings: Settings,
    /// What a run would tell, and go on.
    pub warnings: Vec<Warning>,
    /// What ends a run.
    pub problems: Vec<Hold>,
    /// By variable: the flag or the variable that its setting was taken from. Settings that are
    /// not in here have their defaults.
    pub origins: BTreeMap<&'static str, &'static str>,
}

/// What is read again before each POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// One request, where it proves as much as reading everything.
    Auto,
    /// Everything.
    Full,
}

/// Where `configParams` come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigSource {
    /// The platform, if [`Settings::build_config_path`] says where; else the sample.
    BuildConfig,
    /// The sample that is compiled in or in the data folder.
    Sample,
}

/// How much of everyone's tasks is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FootholdPages {
    /// Pages of passed tasks: 1 to 3, default 3, `ALL_TASKS_MAX_PAGES_PASS`.
    pub pass: u32,
    /// Pages of failed tasks: 1 to 3, default 3, `ALL_TASKS_MAX_PAGES_FAIL`.
    pub fail: u32,
    /// Pages of running tasks: 1 or 2, default 2, `ALL_TASKS_MAX_PAGES_RUNNING`.
    pub running: u32,
    /// Rows of a page: 1 to 100, default 100, `ALL_TASKS_PAGE_SIZE`.
    pub size: u32,
}

/// All settings of a run, checked: see [`Settings::resolve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Goes into every submission. No default: `STRATEGY_ID`.
    pub strategy_id: String,
    /// Folder of the journal and the pause: see [`state_dir`].
    pub state_dir: PathBuf,
    /// Folder of data files; default: those compiled in, `SUBMITTER_DATA_DIR`.
    pub data_dir: Option<PathBuf>,
    /// Tasks accepted or in doubt in a cycle: at least 1, default 6,
    /// `LIVE_MAX_SUBMITS_PER_CYCLE`.
    pub max_submits: usize,
    /// Submit only while the queue is below this many tasks: at least 1, default 95,
    /// `LIVE_QUEUE_THRESHOLD`.
    pub queue_threshold: u64,
    /// Read everyone's tasks for candidates: default no, `ALL_TASKS_FOOTHOLD`.
    pub foothold: bool,
    /// Whether the journal may be on a network file system: default no,
    /// `SUBMITTER_ALLOW_NETWORK_STATE` 1.
    pub allow_network_state: bool,
    /// Markdown file of candidates: default none, `PENDING_SUBMIT_MD`.
    pub pending_md: Option<PathBuf>,
    /// Text file of candidates: default none, `PENDING_SUBMIT_TXT`.
    pub pending_txt: Option<PathBuf>,
    /// The one section that is used; `None` without a pending file and by default: both,
    /// `PENDING_SECTION`.
    pub pending_section: Option<Section>,
    /// `scheme://host[:port]`, without a slash at the end; plain http only to a loopback host.
    /// Default `https://modelhub.org.cn`, `MODELHUB_API_BASE`.
    pub api_base: String,
    /// POSTs in a cycle: at least 1, default 30, `LIVE_MAX_ATTEMPTS_PER_CYCLE`.
    pub max_attempts: usize,
    /// Ask for a model's results before it is submitted: default yes, `LIVE_PRECHECK`.
    pub precheck: bool,
    /// Prechecks in a cycle: at least 1, default 60, `LIVE_MAX_PRECHECKS_PER_CYCLE`.
    pub max_prechecks: usize,
    /// Length of a cycle in seconds: 60 to a year, default 3600, `LIVE_CYCLE_SECONDS`.
    pub cycle_seconds: u64,
    /// Seconds after which a cycle starts no further request: 1 to a day, default 600,
    /// `LIVE_CYCLE_DEADLINE_SECONDS`.
    pub deadline_seconds: u64,
    /// Hours for which a pair that was refused for a passing reason is left alone: 1 to 8760,
    /// default 24, `LIVE_REJECT_COOLDOWN_HOURS`.
    pub cooldown_hours: u64,
    /// Rows of a page of own tasks: 1 to 1000, default 100, `LIVE_PAGE_SIZE`.
    pub page_size: u32,
    /// Pages read at the same time: 1 to 16, default 4, `LIVE_READ_CONNECTIONS`.
    pub read_connections: usize,
    /// What is read again before each POST: default auto, `LIVE_REFRESH`.
    pub refresh: Refresh,
    /// Bound of one whole exchange: 1 to 30 seconds, default 30,
    /// `LIVE_REQUEST_TIMEOUT_SECONDS`.
    pub request_timeout: Duration,
    /// What other systems say of the queue: default nothing, `ASYNC_QUEUE_DEPTH` and
    /// `QUEUE_SNAPSHOT_JSON`.
    pub hints: Vec<Hint>,
    /// Bounds of reading everyone's tasks, `ALL_TASKS_*`.
    pub foothold_pages: FootholdPages,
    /// Where `configParams` come from: default build-config, `CONFIG_PARAMS_SOURCE`.
    pub config_source: ConfigSource,
    /// Path on the platform that builds `configParams`, with its leading slash: default none,
    /// `MODELHUB_BUILD_CONFIG_PATH`.
    pub build_config_path: Option<String>,
    /// List of taken pairs of an earlier system: default none, `LIVE_STATE_FILE`.
    pub live_state_file: Option<PathBuf>,
}

impl Survey {
    /// Whether the setting of a variable was given, and is wrong.
    #[must_use]
    pub fn is_wrong(&self, variable: &str) -> bool {
        let told = |origin: &&str| {
            self.problems.iter().any(|hold| hold.detail.split(' ').next() == Some(*origin))
        };
        self.origins.get(variable).is_some_and(told)
    }
}

impl Settings {
    /// Seconds over which the submit cap holds: a little less than a cycle, so that a run that
    /// starts early by cron's jitter is not held.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.cycle_seconds * 9 / 10
    }
}

#[cfg(test)]
mod tests;
