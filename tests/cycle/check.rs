//! `submitter check`: it looks, and nothing is sent, written or given away by looking.

mod planted;
mod proxy;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::kit::{Ended, Machine};
use crate::platform::{Account, Fault, Kind, Trigger};
use crate::secrets::{SECRET, assert_silent};

fn account() -> Account {
    Account::new(SECRET).with_history(8, &["Org/Listed"])
}

fn machine(account: Account) -> Machine {
    let mut machine = Machine::one_card_each(account, &["Org/Model", "Org/Other"]);
    machine.set("XC_TOKEN", SECRET);
    machine
}

/// Every file of a folder with its content and the time of its last change.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let changed = path.metadata().unwrap().modified().unwrap();
        found.push((path.clone(), fs::read(&path).unwrap_or_default(), changed));
        found.extend(contents(&path));
    }
    found.sort();
    found
}

/// Runs `check`, and sees that it has only looked.
#[track_caller]
fn look(machine: &Machine, args: &[&str]) -> Ended {
    let (before, writes) = (contents(machine.folder.path()), machine.platform.writes());
    let ended = machine.run(&[&["check"], args].concat());
    assert_eq!(contents(machine.folder.path()), before, "something was written");
    assert_eq!(machine.platform.writes(), writes, "something was POSTed");
    assert_silent("check", machine, &ended);
    ended
}

impl Ended {
    /// The only finding of this kind.
    fn finding(&self, start: &str) -> &str {
        let start = format!("[check] {start}");
        let lines: Vec<_> = self.stdout.lines().filter(|line| line.starts_with(&start)).collect();
        assert_eq!(lines.len(), 1, "lines that begin with {start:?} in\n{}", self.stdout);
        lines[0]
    }
}

#[test]
fn a_sound_machine_passes_and_its_run_submits() {
    let machine = machine(account());
    let ended = look(&machine, &["--json"]);
    assert_eq!((ended.code, ended.log.as_str()), (0, ""), "{}", ended.stdout);
    let report = ended.json();
    assert_eq!(
        (&report["version"], &report["result"], &report["exit"]),
        (&1.into(), &"ok".into(), &0.into())
    );
    let items = report["items"].as_array().unwrap();
    let odd = items.iter().find(|item| item["status"] != "ok" && item["item"] != "clock");
    assert_eq!(odd, None);
    let of = |name: &str| items.iter().filter(|item| item["item"] == name).count();
    for name in [
        "settings",
        "token",
        "data",
        "cards",
        "state",
        "file_system",
        "lock",
        "journal",
        "pause",
        "in_doubt",
        "hourly_cap",
        "proxy",
        "dns",
        "connection",
        "clock",
        "tasks",
        "page_size",
        "queue",
        "precheck",
        "rehearsal",
    ] {
        assert!(of(name) > 0, "{name}");
    }
    assert!(!machine.state().exists());
    let prechecks = machine.platform.count(Kind::Precheck);
    assert_eq!(prechecks, 2, "one of its own, and a rehearsal that ends with the first submission");
    machine.cycle(0);
    assert_eq!(look(&machine, &["-v"]).code, 10, "both candidates are submitted");
}

#[test]
fn faults_do_not_hide_each_other() {
    let mut machine = machine(account());
    machine.set("STRATEGY_ID", "").set("LIVE_QUEUE_THRESHOLD", "x").set("XC_TOKEN", "a b");
    machine.write_data("gpus.json", "{");
    machine.write_data("banned.json", "{");
    machine.write("state", "a file");
    let ended = look(&machine, &[]);
    assert_eq!(ended.code, 32);
    for start in [
        "FAIL settings (missing_strategy_id)",
        "FAIL settings (invalid_queue_threshold)",
        "FAIL token (invalid_token)",
        "FAIL state (state_write_failed)",
        "ok connection",
        "skip tasks",
        "skip rehearsal",
    ] {
        ended.finding(start);
    }
    for file in ["gpus.json", "banned.json"] {
        let names = |line: &&str| line.starts_with("[check] FAIL data") && line.contains(file);
        assert_eq!(ended.stdout.lines().filter(names).count(), 1, "{}", ended.stdout);
    }
    assert_eq!(machine.asked(), 1, "one request, without the credential");
}

/// What hangs on a wrong setting is left alone: its default is another file, another host.
#[test]
fn no_default_takes_the_place_of_a_wrong_setting() {
    let mut machine = machine(account());
    machine.set("MODELHUB_API_BASE", "http://modelhub.org.cn").set("SUBMITTER_DATA_DIR", "~/data");
    // Were the default taken, it would be asked through a proxy that is not there.
    machine.set("SUBMITTER_STATE_DIR", "state").set("ALL_PROXY", "http://127.0.0.1:9");
    let ended = look(&machine, &[]);
    let skipped = ended.stdout.lines().filter_map(|line| line.strip_prefix("[check] skip "));
    let skipped: Vec<_> = skipped.map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(skipped, ["data", "state", "network"], "{}", ended.stdout);
    let looked = ["data", "journal", "pause", "proxy", "dns", "connection", "rehearsal"];
    for item in looked {
        assert!(!ended.stdout.contains(&format!("ok {item}: ")), "{}", ended.stdout);
    }
}

/// The queue is that of a run: with submissions of ours that the list does not show, where one
/// page shows all of it.
#[test]
fn the_queue_counts_what_the_list_does_not_show() {
    let machine = machine(account());
    machine.platform.fault(Trigger::every(Kind::Add), Fault::fin());
    machine.cycle(20);
    let open = machine.platform.own_tasks().iter().filter(|task| !task.is_finished()).count();
    let queue = format!("ok queue: {} unfinished tasks, threshold 95", open + 2);
    look(&machine, &[]).finding(&queue);
}

#[test]
fn a_flag_counts_as_in_a_run_and_is_named() {
    let mut machine = machine(account());
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "0");
    let ended = look(&machine, &["--max-submits", "2", "--page-size=3"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    let given = ended.finding("ok settings: given: ");
    assert!(given.contains("LIVE_MAX_SUBMITS_PER_CYCLE 2 (by --max-submits)"), "{given}");
    let pages = ended.finding("ok page_size");
    assert!(pages.ends_with("-> set LIVE_PAGE_SIZE to 1000 for fewer requests"), "{pages}");
}

#[test]
fn a_run_that_holds_the_journal_is_told() {
    let machine = machine(account());
    machine.cycle(0);
    machine.age_journal(7_200);
    let gate = machine.platform.hold(Trigger::nth(Kind::Own, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(Duration::from_secs(20)));
    let ended = look(&machine, &[]);
    let lock = ended.finding("warn lock (another_run): process ");
    assert!(lock.contains(&format!("process {} has held the journal for", running.id())), "{lock}");
    assert_eq!(ended.code, 10, "{}", ended.stdout);
    gate.release();
    running.end();
    look(&machine, &[]).finding("ok lock");
}

/// A token that stands where it does not belong is not told either.
#[test]
fn a_token_in_the_wrong_place_is_not_told() {
    let mut machine = machine(account());
    let path = machine.write("token", &format!("{SECRET}\n"));
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    machine.set("XC_TOKEN", "").set("XC_TOKEN_FILE", &path);
    machine.set("STRATEGY_ID", SECRET).set("LIVE_STATE_FILE", &format!("/{SECRET}"));
    for args in [&[][..], &["--json"], &["-vv"]] {
        assert_eq!(look(&machine, args).code, 32);
    }
}
