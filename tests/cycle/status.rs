//! `status` and what it and `explain` must not do: they look, and nothing else.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::kit::{CARD, Machine, TOKEN, account, exists, models, strs};
use crate::platform::{Fault, Kind, Rejection, Task, Trigger};

fn status(machine: &Machine) -> Value {
    let ended = machine.run(&["status", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    ended.json()
}

fn text(machine: &Machine) -> String {
    let ended = machine.run(&["status"]);
    assert_eq!((ended.code, ended.log.as_str()), (0, ""));
    ended.stdout
}

/// Everything in the state folder: name, content, and when it was written.
fn kept(machine: &Machine) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(machine.state()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            let written = path.metadata().unwrap().modified().unwrap();
            (path.display().to_string(), (std::fs::read(&path).unwrap(), written))
        })
        .collect()
}

#[test]
fn a_folder_that_no_run_has_used_is_no_error_and_is_not_made() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    let seen = status(&machine);
    assert_eq!((&seen["version"], &seen["journal"]), (&json!(1), &json!("absent")));
    assert_eq!(seen["success_metric"], "verify_pass");
    for name in [
        "last_cycle",
        "stats",
        "updated_at",
        "queue",
        "queue_threshold",
        "submitted_last_hour",
        "submitted_last_day",
        "in_doubt",
        "missing",
        "torn",
        "marks",
        "pause",
        "next",
        "running",
    ] {
        assert_eq!(seen.get(name), Some(&Value::Null), "{name}");
    }
    assert!(text(&machine).contains("no run has used this folder"));
    assert!(!exists(&machine.state()));
}

#[test]
fn a_status_tells_what_the_runs_have_left() {
    let account = account()
        .with_task(Task::new(1, "Past/One", CARD).with("success", Some(1)).with_points(20))
        .with_task(Task::new(2, "Past/Two", CARD).with("success", Some(-1)))
        .with_task(Task::new(3, "gpt2", CARD))
        .rejecting(Rejection::all(60022).model("org/model-1"))
        .rejecting(Rejection::all(60018).model("org/model-2"));
    let mut machine = Machine::one_card_each(account, &strs(&models(9)));
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "3").cycle(0);
    let seen = status(&machine);
    let stats = json!({"total": 3, "queue": 1, "verify_pass": 1, "verify_fail": 1, "failed": 0,
        "unknown": 0, "points": 20.0});
    assert_eq!((&seen["stats"], &seen["journal"]), (&stats, &json!("sound")));
    assert_eq!((&seen["queue"], &seen["queue_threshold"]), (&json!(4), &json!(95)));
    assert_eq!((&seen["submitted_last_hour"], &seen["submitted_last_day"]), (&json!(3), &json!(3)));
    assert_eq!(seen["marks"], json!({"for_good": 1, "last_day": 1}));
    let cycle = &seen["last_cycle"];
    assert_eq!((&cycle["result"], &cycle["reason"]), (&json!("submitted"), &json!("cycle_cap")));
    assert_eq!((&cycle["exit"], &cycle["submitted"]), (&json!(0), &json!(2)));
    assert_eq!((&cycle["rejected"], &cycle["in_doubt"]), (&json!(2), &json!(1)));
    let doubt = &seen["in_doubt"][0];
    assert_eq!((&doubt["model"], &doubt["gpu"]), (&json!("org/model-0"), &json!(CARD)));
    assert_eq!(seen["next"][0], json!({"model": "Org/Model-5", "gpu": CARD}));
    assert_eq!(
        (&seen["missing"], &seen["torn"], &seen["pause"]),
        (&json!([]), &json!([]), &json!(null))
    );

    // Later on, with an accepted task gone, and a person who has seen enough.
    machine.age_journal(7_200);
    machine.platform.change(|account| account.tasks.remove(33_512));
    machine.cycle(20);
    machine.run(&["pause", "--reason", "look\n[live] submitted model=x"]);
    let later = status(&machine);
    assert!(later["updated_at"].as_u64() >= seen["updated_at"].as_u64());
    assert_eq!(
        (&later["submitted_last_hour"], &later["submitted_last_day"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(
        (&later["missing"][0]["task"], &later["last_cycle"]["result"]),
        (&json!(33_512), &json!("held"))
    );
    assert!(later["pause"]["since"].is_u64());
    let text = text(&machine);
    for said in [
        "held, task_missing, exit 20",
        "1 passed, 20 points",
        "(2 h ago)",
        "4 of 95",
        "org/model-0 on Biren_166m",
        "task 33512, org/model-3 on Biren_166m",
        "1 for good, 1 for a day",
        "Org/Model-5 on Biren_166m",
    ] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
    assert!(!text.lines().any(|line| line.starts_with("[live]")), "{text}");
    let columns: Vec<usize> = text.lines().map(|line| line.find("  ").unwrap_or(14)).collect();
    assert!(columns.iter().all(|at| *at <= 14), "{text}");
}

/// Without a journal that can be read, what the last run saw is still told.
#[test]
fn a_damaged_journal_is_told_and_the_account_is_shown_all_the_same() {
    let machine = Machine::one_card_each(account().with_history(10, &["Past/One"]), &["Org/Model"]);
    machine.cycle(0);
    let before = status(&machine);
    std::fs::write(machine.state().join("journal.jsonl"), "garbage\n").unwrap();
    let left = kept(&machine);
    let ended = machine.run(&["status", "--json"]);
    assert_eq!((ended.code, ended.held()), (30, "journal_damaged"));
    let seen = ended.json();
    assert_eq!((&seen["journal"], &seen["in_doubt"]), (&json!("damaged"), &json!(null)));
    assert_eq!(seen["stats"]["total"], before["stats"]["total"]);
    assert_eq!(seen["queue"], before["queue"]);
    let explained = machine.run(&["explain", "Org/Model"]);
    assert_eq!((explained.code, explained.held()), (30, "journal_damaged"));
    assert_eq!(kept(&machine), left);
    std::fs::remove_file(machine.state().join("journal.jsonl")).unwrap();
    assert!(text(&machine).contains("it was lost"));
}

/// No home, no token, no strategy, no lock, no request; not a byte and not a time changes.
#[test]
fn looking_needs_nothing_changes_nothing_and_disturbs_no_run() {
    let machine = Machine::new(account(), &strs(&models(3)));
    let gate = machine.platform.hold(Trigger::nth(Kind::Own, 3));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(Duration::from_secs(20)));
    let (before, asked) = (kept(&machine), machine.asked());
    let folder = machine.state();
    let mode = |mode| std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o500);
    let (state, data) = (folder.display().to_string(), machine.folder.path().join("data"));
    let data = data.display().to_string();
    let look = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_submitter"));
        let out = command.args(args).args(["--state-dir", &state]).env_clear().output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let seen: Value = serde_json::from_str(&look(&["status", "--json"])).unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(seen["running"]["pid"], json!(running.id()));
    }
    look(&["status"]);
    assert!(look(&["explain", "Org/Model-0", "--data-dir", &data]).contains("as task 33512"));
    assert_eq!((kept(&machine), machine.asked()), (before, asked));
    mode(0o700);
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.counted("submitted")), (0, 3), "{}", ended.log);
    assert_eq!(status(&machine)["running"], json!(null));
    let paused = machine.run(&["pause", "--reason", TOKEN]);
    assert_eq!(paused.code, 0);
    assert!(text(&machine).contains("(redacted)"));
    assert!(!status(&machine).to_string().contains(TOKEN));
}

/// A report on a full disk looks whole to whoever reads it later.
#[test]
fn what_cannot_be_printed_is_an_error() {
    let machine = Machine::new(account(), &["Org/Model"]);
    for (args, code) in [(&["status"][..], 30), (&["check"], 30), (&["run", "--json"], 0)] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = machine.command(args).stdout(full).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(log.contains("writing to standard output: No space left"), "{args:?}: {log}");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {log}");
    }
}
