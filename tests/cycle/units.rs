//! The shipped systemd units: what they promise, and their command line run as systemd runs it.

use std::process::{Command, Stdio};

use crate::kit::{Machine, TOKEN, account};

const SERVICE: &str = include_str!("../../examples/systemd/submitter.service");
const TIMER: &str = include_str!("../../examples/systemd/submitter.timer");

/// All values of a key, in order.
fn values<'a>(unit: &'a str, key: &'a str) -> Vec<&'a str> {
    let settings = unit.lines().filter_map(|line| line.split_once('='));
    settings.filter(|(name, _)| *name == key).map(|(_, value)| value).collect()
}

fn value<'a>(unit: &'a str, key: &'a str) -> &'a str {
    let values = values(unit, key);
    assert_eq!(values.len(), 1, "{key}: {values:?}");
    values[0]
}

fn minutes(text: &str) -> u64 {
    text.strip_suffix("min").and_then(|minutes| minutes.parse().ok()).expect(text)
}

/// K09: a held run is no failure, and every other code but 0 is one.
#[test]
fn k09_the_service_takes_held_for_a_success_and_has_no_rights() {
    for (key, expected) in [
        ("Type", "oneshot"),
        ("SuccessExitStatus", "10"),
        ("KillSignal", "SIGTERM"),
        ("User", "submitter"),
        ("StateDirectory", "submitter"),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("MemoryDenyWriteExecute", "yes"),
    ] {
        assert_eq!(value(SERVICE, key), expected, "{key}");
    }
    assert_eq!(values(SERVICE, "SystemCallFilter"), ["@system-service", "~@privileged @resources"]);
    assert!(values(SERVICE, "Restart").is_empty(), "the next hour is the next try");
    assert!(minutes(value(SERVICE, "TimeoutStartSec")) * 60 > 600 + 30, "a whole cycle");
    let stop = value(SERVICE, "TimeoutStopSec").strip_suffix('s').unwrap();
    assert!(stop.parse::<u64>().unwrap() > 30, "a POST in flight");
    assert!(!SERVICE.contains("[Install]"), "only the timer is enabled");
}

/// Two starts of one host are an hour apart, whatever the delay: nearer ones meet the hourly cap.
#[test]
fn the_timer_starts_one_cycle_an_hour() {
    let minute = value(TIMER, "OnCalendar").strip_prefix("*:").expect("once an hour");
    assert!(minute.parse::<u32>().is_ok_and(|minute| minute < 60 && minute % 2 == 1), "{minute}");
    assert!(minutes(value(TIMER, "RandomizedDelaySec")) > 0);
    assert_eq!(value(TIMER, "FixedRandomDelay"), "yes");
    assert_eq!(value(TIMER, "Persistent"), "yes");
    assert_eq!(value(TIMER, "WantedBy"), "timers.target");
}

/// The settings name a token file that only root can read; the credential of the unit beats it.
#[test]
fn the_command_line_of_the_service_runs_a_cycle_with_the_settings_of_its_file() {
    let machine = Machine::new(account(), &["Org/Model"]);
    let at = |name: &str| machine.folder.path().join(name).display().to_string();
    let (name, token) = value(SERVICE, "LoadCredential").split_once(':').unwrap();
    assert_eq!(token, "/etc/submitter/token");
    std::fs::create_dir(at("credentials")).unwrap();
    std::fs::write(at(&format!("credentials/{name}")), format!("{TOKEN}\n")).unwrap();

    let file = include_str!("../../examples/env");
    assert_eq!(value(SERVICE, "EnvironmentFile"), "/etc/submitter/env");
    let of_file = file.lines().filter(|line| !line.starts_with('#'));
    let unit = values(SERVICE, "Environment").into_iter();
    let env = unit.chain(of_file).filter_map(|line| line.split_once('='));
    let mut words = value(SERVICE, "ExecStart").split(' ');
    assert_eq!(words.next(), Some("/usr/bin/submitter"));
    let args = words.map(|word| word.replace("%d", &at("credentials")));
    let ended = Command::new(env!("CARGO_BIN_EXE_submitter"))
        .args(args)
        .env_clear()
        .envs(env)
        .envs([("STATE_DIRECTORY", at("state")), ("SUBMITTER_STATE_DIR", at("state"))])
        .envs([("STRATEGY_ID", "mine"), ("MODELHUB_API_BASE", &machine.platform.base())])
        .env("SUBMITTER_DATA_DIR", at("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{log}");
    assert!(log.contains("[live] token source=XC_TOKEN_FILE"), "{log}");
    assert!(log.contains("[foothold] reason=ok"), "{log}");
    assert_eq!(machine.most_posts(), (1, 1));
}
