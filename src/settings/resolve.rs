//! Which value each setting takes, and what is done about a wrong one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::read::Reader;
use super::state_dir::find as find_state_dir;
use super::{ConfigSource, FootholdPages, Refresh, Settings, Survey, Warning, address, hints};
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::flags::Flags;
use crate::sources::Section;

/// The platform allows fewer unfinished tasks than this.
const PLATFORM_LIMIT: u64 = 95;

/// A bound that no count needs; whoever writes more has made a mistake.
const MANY: usize = 1_000_000;

impl Settings {
    /// Resolves every setting: a flag beats its variable, an empty variable is an unset one.
    /// `read_file` reads the file that `QUEUE_SNAPSHOT_JSON` may name: see
    /// [`super::read_snapshot_file`].
    ///
    /// # Errors
    /// Settings that must not be guessed. All of them are named in the detail; the reason is
    /// that of the first, and [`Reason::NoStateFolder`] only where nothing else is wrong.
    pub fn resolve(
        flags: &Flags,
        env: &Env,
        read_file: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<(Self, Vec<Warning>), Hold> {
        Self::judged(Self::survey(flags, env, read_file))
    }

    /// The same for a command that submits nothing, and so needs no strategy.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_to_look(
        flags: &Flags,
        env: &Env,
        read_file: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<(Self, Vec<Warning>), Hold> {
        let mut survey = Self::survey(flags, env, read_file);
        survey.problems.retain(|problem| problem.reason != Reason::MissingStrategyId);
        Self::judged(survey)
    }

    fn judged(survey: Survey) -> Result<(Self, Vec<Warning>), Hold> {
        let Survey { settings, warnings, problems, .. } = survey;
        match problems.first() {
            None => Ok((settings, warnings)),
            Some(first) => {
                let details: Vec<&str> = problems.iter().map(|hold| hold.detail.as_str()).collect();
                Err(Hold::because(first.reason, details.join("; ")))
            }
        }
    }

    /// Resolves every setting as [`Self::resolve`] does, and goes on past wrong ones.
    #[must_use]
    pub fn survey(
        flags: &Flags,
        env: &Env,
        read_file: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Survey {
        let mut settings = Self::defaults();
        let mut reader = Reader::new(env);
        strategy(&mut settings, &mut reader, flags);
        limits(&mut settings, &mut reader, flags);
        sources(&mut settings, &mut reader, flags);
        platform(&mut settings, &mut reader, flags);
        foothold(&mut settings, &mut reader, flags);
        payload(&mut settings, &mut reader);
        settings.hints = hints::read(env, read_file);
        // Last, so that its absence is the reason only where nothing else is wrong.
        match find_state_dir(flags.state_dir.as_deref(), env) {
            Ok((path, origin, warnings)) => {
                settings.state_dir = path;
                reader.came("SUBMITTER_STATE_DIR", origin);
                reader.warnings.extend(warnings);
            }
            Err(hold) => reader.problems.push(hold),
        }
        let Reader { warnings, problems, origins, .. } = reader;
        Survey { settings, warnings, problems, origins: origins.into_inner() }
    }

    /// What an empty environment gives, but for the two settings that have no default.
    pub(super) fn defaults() -> Self {
        Self {
            strategy_id: String::new(),
            state_dir: PathBuf::new(),
            data_dir: None,
            max_submits: 6,
            queue_threshold: PLATFORM_LIMIT,
            foothold: false,
            allow_network_state: false,
            pending_md: None,
            pending_txt: None,
            pending_section: None,
            api_base: "https://modelhub.org.cn".to_owned(),
            max_attempts: 30,
            precheck: true,
            max_prechecks: 60,
            cycle_seconds: 3600,
            deadline_seconds: 600,
            cooldown_hours: 24,
            page_size: 100,
            read_connections: 4,
            refresh: Refresh::Auto,
            request_timeout: Duration::from_secs(30),
            hints: Vec::new(),
            foothold_pages: FootholdPages { pass: 3, fail: 3, running: 2, size: 100 },
            config_source: ConfigSource::BuildConfig,
            build_config_path: None,
            live_state_file: None,
        }
    }
}

fn strategy(s: &mut Settings, r: &mut Reader<'_>, flags: &Flags) {
    const REASON: Reason = Reason::MissingStrategyId;
    match r.given("--strategy-id", &flags.strategy_id, "STRATEGY_ID") {
        Some(given) => {
            if let Some(id) = r.text(given, strategy_id, REASON) {
                s.strategy_id = id;
            }
        }
        None => r.hold(
            REASON,
            "no strategy id: set STRATEGY_ID or --strategy-id to the id of the strategy that \
             the tasks belong to",
        ),
    }
}

fn strategy_id(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        Err("is blank: write the id of the strategy that the tasks belong to")
    } else if is_placeholder(text) {
        Err("is a placeholder: write the id of the strategy that the tasks belong to")
    } else if text.starts_with(['"', '\'']) {
        Err("begins with a quote: remove the quotes")
    } else if text.contains(char::is_control) {
        Err("contains a control character: write the id on one line")
    } else {
        Ok(text.to_owned())
    }
}

/// What stands in examples in the place of an id.
fn is_placeholder(text: &str) -> bool {
    let words = ["id", "todo", "strategy", "strategyid", "yourstrategy", "yourstrategyid"];
    let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    text.contains(['<', '>'])
        || text.contains("策略编号")
        || words.contains(&letters.to_ascii_lowercase().as_str())
}

fn limits(s: &mut Settings, r: &mut Reader<'_>, flags: &Flags) {
    let g = r.given("--max-submits", &flags.max_submits, "LIVE_MAX_SUBMITS_PER_CYCLE");
    r.limit(&mut s.max_submits, g, Reason::InvalidCycleCap);
    let g = r.given("--queue-threshold", &flags.queue_threshold, "LIVE_QUEUE_THRESHOLD");
    r.limit(&mut s.queue_threshold, g, Reason::InvalidQueueThreshold);
    if s.queue_threshold > PLATFORM_LIMIT {
        let (origin, threshold) = (g.map_or("", |given| given.origin), s.queue_threshold);
        r.warn(format!(
            "{origin} is {threshold}: the platform allows fewer than {PLATFORM_LIMIT} unfinished \
             tasks and refuses more"
        ));
    }
    let g = r.given("--max-attempts", &flags.max_attempts, "LIVE_MAX_ATTEMPTS_PER_CYCLE");
    r.number(&mut s.max_attempts, g, 1..=MANY);
    let words = [("0", false), ("1", true)];
    r.word(&mut s.precheck, r.variable("LIVE_PRECHECK"), &words, words[1]);
    if flags.no_precheck {
        s.precheck = false;
        r.came("LIVE_PRECHECK", "--no-precheck");
    }
    let allow = r.variable("SUBMITTER_ALLOW_NETWORK_STATE");
    r.word(&mut s.allow_network_state, allow, &words, words[0]);
    if flags.allow_network_state {
        s.allow_network_state = true;
        r.came("SUBMITTER_ALLOW_NETWORK_STATE", "--allow-network-state");
    }
    let g = r.given("--max-prechecks", &flags.max_prechecks, "LIVE_MAX_PRECHECKS_PER_CYCLE");
    r.number(&mut s.max_prechecks, g, 1..=MANY);
    let g = r.given("--cycle-seconds", &flags.cycle_seconds, "LIVE_CYCLE_SECONDS");
    r.number(&mut s.cycle_seconds, g, 60..=31_536_000);
    let g = r.given("--cooldown-hours", &flags.cooldown_hours, "LIVE_REJECT_COOLDOWN_HOURS");
    r.number(&mut s.cooldown_hours, g, 1..=8760);
}

/// Files, and what chooses among their rows.
fn sources(s: &mut Settings, r: &mut Reader<'_>, flags: &Flags) {
    let g = r.given("--data-dir", &flags.data_dir, "SUBMITTER_DATA_DIR");
    s.data_dir = r.path(g, Reason::DataReadFailed);
    let g = r.given("--pending-md", &flags.pending_md, "PENDING_SUBMIT_MD");
    s.pending_md = r.path(g, Reason::CandidateReadFailed);
    let g = r.given("--pending-txt", &flags.pending_txt, "PENDING_SUBMIT_TXT");
    s.pending_txt = r.path(g, Reason::CandidateReadFailed);
    let words = [("A", Section::A), ("B", Section::B)];
    if let Some(given) = r.given("--section", &flags.section, "PENDING_SECTION") {
        s.pending_section = r.strict_word(given, &words, Reason::CandidateReadFailed);
        if s.pending_md.is_none() && s.pending_txt.is_none() && s.pending_section.take().is_some() {
            let origin = given.origin;
            r.warn(format!(
                "{origin} is ignored: it acts only with a pending file (--pending-md or \
                 --pending-txt)"
            ));
        }
    }
    s.live_state_file = r.path(r.variable("LIVE_STATE_FILE"), Reason::StateReadFailed);
}

/// Where the platform is and how it is read.
pub(super) fn platform(s: &mut Settings, r: &mut Reader<'_>, flags: &Flags) {
    if let Some(given) = r.given("--api-base", &flags.api_base, "MODELHUB_API_BASE")
        && let Some(base) = r.text(given, address::api_base, Reason::InvalidApiBase)
    {
        s.api_base = base;
    }
    let g = r.given("--page-size", &flags.page_size, "LIVE_PAGE_SIZE");
    r.number(&mut s.page_size, g, 1..=1000);
    let g = r.given("--read-connections", &flags.read_connections, "LIVE_READ_CONNECTIONS");
    r.number(&mut s.read_connections, g, 1..=16);
    // Whoever mistypes gets the one that relies on less.
    let words = [("auto", Refresh::Auto), ("full", Refresh::Full)];
    let g = r.given("--refresh", &flags.refresh, "LIVE_REFRESH");
    r.word(&mut s.refresh, g, &words, words[1]);
    let mut seconds = s.request_timeout.as_secs();
    let g = r.given("--request-timeout", &flags.request_timeout, "LIVE_REQUEST_TIMEOUT_SECONDS");
    r.number(&mut seconds, g, 1..=30);
    s.request_timeout = Duration::from_secs(seconds);
    let g = r.given("--deadline-seconds", &flags.deadline_seconds, "LIVE_CYCLE_DEADLINE_SECONDS");
    r.number(&mut s.deadline_seconds, g, 1..=86_400);
}

/// Everyone's tasks.
fn foothold(s: &mut Settings, r: &mut Reader<'_>, flags: &Flags) {
    let words = [("0", false), ("1", true)];
    if let Some(given) = r.given("--foothold", &flags.foothold, "ALL_TASKS_FOOTHOLD") {
        let on = r.strict_word(given, &words, Reason::CandidateReadFailed);
        s.foothold = on.unwrap_or(false);
    }
    let pages = &mut s.foothold_pages;
    for (name, slot) in [
        ("ALL_TASKS_MAX_PAGES_PASS", &mut pages.pass),
        ("ALL_TASKS_MAX_PAGES_FAIL", &mut pages.fail),
        ("ALL_TASKS_MAX_PAGES_RUNNING", &mut pages.running),
        ("ALL_TASKS_PAGE_SIZE", &mut pages.size),
    ] {
        // The defaults are the most that may be read.
        let most = *slot;
        r.number(slot, r.variable(name), 1..=most);
    }
}

/// What goes into a submission.
fn payload(s: &mut Settings, r: &mut Reader<'_>) {
    let words = [("build-config", ConfigSource::BuildConfig), ("sample", ConfigSource::Sample)];
    // The sample is what every failure of the other ends in, and it asks nobody.
    let given = r.variable("CONFIG_PARAMS_SOURCE");
    r.word(&mut s.config_source, given, &words, words[1]);
    if let Some(given) = r.variable("MODELHUB_BUILD_CONFIG_PATH") {
        s.build_config_path = r.text(given, address::endpoint_path, Reason::DataReadFailed);
    }
}
