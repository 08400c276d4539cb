use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::flags::Flags;

mod numbers;
mod words;

type Set = fn(&mut Flags, OsString);

/// The two settings that have no default.
const REQUIRED: [(&str, &str); 2] = [("STRATEGY_ID", "s-1"), ("SUBMITTER_STATE_DIR", "/state")];

fn no_file(path: &Path) -> io::Result<String> {
    panic!("{path:?} was read");
}

fn resolve(flags: &Flags, pairs: &[(&str, &str)]) -> Result<(Settings, Vec<Warning>), Hold> {
    let env = Env::from_pairs(pairs.iter().copied().chain(REQUIRED));
    Settings::resolve(flags, &env, &no_file)
}

/// What one variable makes of the settings, and how many warnings.
fn with(name: &str, value: &str) -> Result<(Settings, usize), Hold> {
    let (settings, warnings) = resolve(&Flags::default(), &[(name, value)])?;
    for warning in &warnings {
        let text = warning.to_string();
        assert!(text.contains(name) && !text.contains('\n'), "{text}");
    }
    Ok((settings, warnings.len()))
}

/// What one flag makes of the settings, whatever its variable says.
fn flag(set: Set, value: &str, variable: (&str, &str)) -> Result<Settings, Hold> {
    let mut flags = Flags::default();
    set(&mut flags, value.into());
    resolve(&flags, &[variable]).map(|(settings, _)| settings)
}

fn reason(result: Result<(Settings, usize), Hold>, names: &str) -> Reason {
    let hold = result.expect_err(names);
    assert!(hold.detail.contains(names), "{}", hold.detail);
    hold.reason
}

const NAMES: [&str; 28] = [
    "SUBMITTER_DATA_DIR",
    "LIVE_MAX_SUBMITS_PER_CYCLE",
    "LIVE_QUEUE_THRESHOLD",
    "ALL_TASKS_FOOTHOLD",
    "PENDING_SUBMIT_MD",
    "PENDING_SUBMIT_TXT",
    "PENDING_SECTION",
    "MODELHUB_API_BASE",
    "LIVE_MAX_ATTEMPTS_PER_CYCLE",
    "LIVE_PRECHECK",
    "LIVE_MAX_PRECHECKS_PER_CYCLE",
    "LIVE_CYCLE_SECONDS",
    "LIVE_CYCLE_DEADLINE_SECONDS",
    "LIVE_REJECT_COOLDOWN_HOURS",
    "LIVE_PAGE_SIZE",
    "LIVE_READ_CONNECTIONS",
    "LIVE_REFRESH",
    "LIVE_REQUEST_TIMEOUT_SECONDS",
    "ASYNC_QUEUE_DEPTH",
    "QUEUE_SNAPSHOT_JSON",
    "ALL_TASKS_MAX_PAGES_PASS",
    "ALL_TASKS_MAX_PAGES_FAIL",
    "ALL_TASKS_MAX_PAGES_RUNNING",
    "ALL_TASKS_PAGE_SIZE",
    "CONFIG_PARAMS_SOURCE",
    "MODELHUB_BUILD_CONFIG_PATH",
    "LIVE_STATE_FILE",
    "LIVE_CONFIRM",
];

#[test]
fn an_empty_environment_gives_the_defaults_of_the_contract() {
    let (settings, warnings) = resolve(&Flags::default(), &[]).unwrap();
    let expected = Settings {
        strategy_id: "s-1".to_owned(),
        state_dir: "/state".into(),
        data_dir: None,
        max_submits: 6,
        queue_threshold: 95,
        allow_network_state: false,
        foothold: false,
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
        hints: vec![],
        foothold_pages: FootholdPages { pass: 3, fail: 3, running: 2, size: 100 },
        config_source: ConfigSource::BuildConfig,
        build_config_path: None,
        live_state_file: None,
    };
    assert_eq!((&settings, &warnings[..]), (&expected, &[][..]));
    let empty = NAMES.map(|name| (name, ""));
    let (settings, warnings) = resolve(&Flags::default(), &empty).unwrap();
    assert_eq!((settings, warnings), (expected, vec![]));
}

#[test]
fn strategy_id_is_required_and_never_guessed() {
    let of = |value: Option<&str>| {
        let env =
            Env::from_pairs(value.map(|v| ("STRATEGY_ID", v)).into_iter().chain([REQUIRED[1]]));
        Settings::resolve(&Flags::default(), &env, &no_file).map(|(s, _)| (s, 0))
    };
    assert_eq!(of(Some(" s 2\r")).unwrap().0.strategy_id, "s 2");
    for bad in [None, Some(""), Some(" "), Some("<id>"), Some("\"s\""), Some("a\nb")] {
        assert_eq!(reason(of(bad), "STRATEGY_ID"), Reason::MissingStrategyId);
    }
    for placeholder in ["your strategy", "YOUR_STRATEGY_ID", "ID", "todo", "你的策略编号"] {
        assert_eq!(reason(of(Some(placeholder)), "placeholder"), Reason::MissingStrategyId);
    }
    let settings = flag(|f, v| f.strategy_id = Some(v), "f", REQUIRED[0]).unwrap();
    assert_eq!(settings.strategy_id, "f");
    let hold = flag(|f, v| f.strategy_id = Some(v), "", REQUIRED[0]).unwrap_err();
    assert_eq!(hold.reason, Reason::MissingStrategyId);
}

#[test]
fn state_dir_is_resolved_with_the_rest() {
    let settings = flag(|f, v| f.state_dir = Some(v), "/f", REQUIRED[1]).unwrap();
    assert_eq!(settings.state_dir, Path::new("/f"));
}

#[test]
fn paths_are_taken_as_they_are_and_a_flag_beats_its_variable() {
    type Get = fn(Settings) -> Option<PathBuf>;
    let rows: [(&str, Option<Set>, Get, Reason); 4] = [
        (
            "SUBMITTER_DATA_DIR",
            Some(|f, v| f.data_dir = Some(v)),
            |s| s.data_dir,
            Reason::DataReadFailed,
        ),
        (
            "PENDING_SUBMIT_MD",
            Some(|f, v| f.pending_md = Some(v)),
            |s| s.pending_md,
            Reason::CandidateReadFailed,
        ),
        (
            "PENDING_SUBMIT_TXT",
            Some(|f, v| f.pending_txt = Some(v)),
            |s| s.pending_txt,
            Reason::CandidateReadFailed,
        ),
        ("LIVE_STATE_FILE", None, |s| s.live_state_file, Reason::StateReadFailed),
    ];
    for (name, set, get, why) in rows {
        let (settings, _) = with(name, "a b/ä").unwrap();
        assert_eq!(get(settings), Some("a b/ä".into()), "{name}");
        assert_eq!(reason(with(name, "~/x"), name), why);
        if let Some(set) = set {
            let settings = flag(set, "f", (name, "v")).unwrap();
            assert_eq!(get(settings), Some("f".into()), "{name}");
            assert_eq!(flag(set, "", (name, "v")).unwrap_err().reason, why);
        }
    }
}

#[test]
fn a_build_config_path_is_a_plain_path() {
    let name = "MODELHUB_BUILD_CONFIG_PATH";
    let (settings, _) = with(name, "/api/build-config").unwrap();
    assert_eq!(settings.build_config_path.as_deref(), Some("/api/build-config"));
    for bad in ["//evil.example/x", "https://evil.example", "/../x", "api"] {
        assert_eq!(reason(with(name, bad), name), Reason::DataReadFailed);
    }
}

#[test]
fn hints_are_read_and_an_unreadable_one_is_kept() {
    let (settings, _) = with("ASYNC_QUEUE_DEPTH", "many").unwrap();
    assert_eq!(settings.hints.len(), 1);
    assert_eq!(settings.hints[0].depth, None);
    let env = Env::from_pairs(REQUIRED.into_iter().chain([("QUEUE_SNAPSHOT_JSON", "/q.json")]));
    let read = |_: &Path| Ok("{\"queue\":3}".to_owned());
    let (settings, _) = Settings::resolve(&Flags::default(), &env, &read).unwrap();
    assert_eq!(settings.hints[0].depth, Some(3));
}

/// K03: cron and containers may set nothing at all; what is missing is then named, each with
/// the option that gives it.
#[test]
fn k03_an_empty_environment_is_told_what_it_lacks() {
    let resolve = |flags: &Flags| Settings::resolve(flags, &Env::default(), &no_file);
    let hold = resolve(&Flags::default()).unwrap_err();
    assert_eq!(hold.reason, Reason::MissingStrategyId);
    for option in ["--strategy-id", "--state-dir"] {
        assert!(hold.detail.contains(option), "{}", hold.detail);
    }
    let mut flags = Flags { strategy_id: Some("s".into()), ..Flags::default() };
    assert_eq!(resolve(&flags).unwrap_err().reason, Reason::NoStateFolder);
    flags.state_dir = Some("/s".into());
    assert_eq!(resolve(&flags).unwrap().0.state_dir, Path::new("/s"));
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_utf8_is_wrong_and_never_absent() {
    use std::os::unix::ffi::OsStringExt;
    let of = |name: &str| {
        let pairs = REQUIRED.map(|(name, value)| (name.into(), value.into()));
        let odd = (OsString::from(name), OsString::from_vec(vec![b'1', 0xff]));
        let env = Env::from_pairs([odd].into_iter().chain(pairs));
        Settings::resolve(&Flags::default(), &env, &no_file)
    };
    for (name, why) in [
        ("STRATEGY_ID", Reason::MissingStrategyId),
        ("LIVE_QUEUE_THRESHOLD", Reason::InvalidQueueThreshold),
        ("MODELHUB_API_BASE", Reason::InvalidApiBase),
        ("PENDING_SECTION", Reason::CandidateReadFailed),
    ] {
        let hold = of(name).unwrap_err();
        assert_eq!(hold.reason, why);
        assert!(hold.detail.starts_with(&format!("{name} is not UTF-8")), "{}", hold.detail);
    }
    assert_eq!(of("LIVE_PRECHECK").unwrap().1.len(), 1);
    assert_eq!(of("ASYNC_QUEUE_DEPTH").unwrap().0.hints[0].depth, None);
    // Paths need not be UTF-8.
    assert!(of("SUBMITTER_DATA_DIR").unwrap().0.data_dir.is_some());
}
