use super::*;

/// Numbers that end the run where they are wrong.
#[test]
fn a_wrong_cap_or_threshold_holds() {
    for (name, set, why) in [
        (
            "LIVE_MAX_SUBMITS_PER_CYCLE",
            (|f, v| f.max_submits = Some(v)) as Set,
            Reason::InvalidCycleCap,
        ),
        ("LIVE_QUEUE_THRESHOLD", |f, v| f.queue_threshold = Some(v), Reason::InvalidQueueThreshold),
    ] {
        for bad in ["0", "-1", "+1", " 1", "1.0", "1e3", "many", "１", "99999999999999999999"] {
            assert_eq!(reason(with(name, bad), name), why, "{bad}");
            let hold = flag(set, bad, (name, "1")).unwrap_err();
            assert_eq!(hold.reason, why, "{bad}");
        }
        assert_eq!(flag(set, "", (name, "1")).unwrap_err().reason, why);
    }
    let (settings, warnings) = with("LIVE_MAX_SUBMITS_PER_CYCLE", "1").unwrap();
    assert_eq!((settings.max_submits, warnings), (1, 0));
    let set: Set = |f, v| f.max_submits = Some(v);
    let settings = flag(set, "2", ("LIVE_MAX_SUBMITS_PER_CYCLE", "0")).unwrap();
    assert_eq!(settings.max_submits, 2);
    let set: Set = |f, v| f.queue_threshold = Some(v);
    let settings = flag(set, "2", ("LIVE_QUEUE_THRESHOLD", "0")).unwrap();
    assert_eq!(settings.queue_threshold, 2);
}

#[test]
fn a_threshold_above_the_platforms_own_is_told() {
    for (value, warnings) in [("1", 0), ("95", 0), ("96", 1)] {
        let (settings, told) = with("LIVE_QUEUE_THRESHOLD", value).unwrap();
        assert_eq!(settings.queue_threshold.to_string(), value);
        assert_eq!(told, warnings, "{value}");
    }
}

type Get = fn(&Settings) -> u64;

/// A number for which `default` stands in, with a warning, outside `least..=most`.
fn is_replaced(name: &str, set: Option<Set>, get: Get, [least, default, most]: [u64; 3]) {
    for good in [least, most] {
        let (settings, warnings) = with(name, &good.to_string()).unwrap();
        assert_eq!((get(&settings), warnings), (good, 0), "{name}={good}");
    }
    let (below, above) = ((least - 1).to_string(), (most + 1).to_string());
    for bad in [&below, &above, "-1", "+60", " 60", "60 ", "60.0", "6e1", "x", "\"60\""] {
        let (settings, warnings) = with(name, bad).unwrap();
        assert_eq!((get(&settings), warnings), (default, 1), "{name}={bad}");
    }
    if let Some(set) = set {
        let settings = flag(set, &least.to_string(), (name, "x")).unwrap();
        assert_eq!(get(&settings), least, "{name}");
        // A wrong flag does not bring its variable back.
        let settings = flag(set, "x", (name, &least.to_string())).unwrap();
        assert_eq!(get(&settings), default, "{name}");
    }
}

#[test]
fn a_wrong_bound_of_a_cycle_is_told_and_replaced() {
    is_replaced(
        "LIVE_MAX_ATTEMPTS_PER_CYCLE",
        Some(|f, v| f.max_attempts = Some(v)),
        |s| s.max_attempts as u64,
        [1, 30, 1_000_000],
    );
    is_replaced(
        "LIVE_MAX_PRECHECKS_PER_CYCLE",
        Some(|f, v| f.max_prechecks = Some(v)),
        |s| s.max_prechecks as u64,
        [1, 60, 1_000_000],
    );
    is_replaced(
        "LIVE_CYCLE_SECONDS",
        Some(|f, v| f.cycle_seconds = Some(v)),
        |s| s.cycle_seconds,
        [60, 3600, 31_536_000],
    );
    is_replaced(
        "LIVE_CYCLE_DEADLINE_SECONDS",
        Some(|f, v| f.deadline_seconds = Some(v)),
        |s| s.deadline_seconds,
        [1, 600, 86_400],
    );
    is_replaced(
        "LIVE_REJECT_COOLDOWN_HOURS",
        Some(|f, v| f.cooldown_hours = Some(v)),
        |s| s.cooldown_hours,
        [1, 24, 8760],
    );
}

#[test]
fn a_wrong_bound_of_reading_is_told_and_replaced() {
    is_replaced(
        "LIVE_PAGE_SIZE",
        Some(|f, v| f.page_size = Some(v)),
        |s| s.page_size.into(),
        [1, 100, 1000],
    );
    is_replaced(
        "LIVE_READ_CONNECTIONS",
        Some(|f, v| f.read_connections = Some(v)),
        |s| s.read_connections as u64,
        [1, 4, 16],
    );
    is_replaced(
        "LIVE_REQUEST_TIMEOUT_SECONDS",
        Some(|f, v| f.request_timeout = Some(v)),
        |s| s.request_timeout.as_secs(),
        [1, 30, 30],
    );
}

#[test]
fn bounds_of_everyones_tasks_are_lowered_and_never_raised() {
    is_replaced("ALL_TASKS_MAX_PAGES_PASS", None, |s| s.foothold_pages.pass.into(), [1, 3, 3]);
    is_replaced("ALL_TASKS_MAX_PAGES_FAIL", None, |s| s.foothold_pages.fail.into(), [1, 3, 3]);
    is_replaced(
        "ALL_TASKS_MAX_PAGES_RUNNING",
        None,
        |s| s.foothold_pages.running.into(),
        [1, 2, 2],
    );
    is_replaced("ALL_TASKS_PAGE_SIZE", None, |s| s.foothold_pages.size.into(), [1, 100, 100]);
}
