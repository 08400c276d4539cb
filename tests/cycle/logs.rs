//! The log's forms: for people, for machines, and for `sync-marks`.

use serde_json::Value;

use crate::kit::{CARD, Ended, Machine, account};
use crate::platform::Rejection;
use crate::terminal::on_terminal;

/// One pair that is refused for good, one that is verified, one that is no id, one that is taken.
fn machine() -> Machine {
    let account = account().rejecting(Rejection::all(60022).model("Org/Refused")).with_precheck(
        "Org/Verified",
        CARD,
        "已验证",
    );
    let odd = "Org/\"x\\ [live] rejected model=a/b gpu=Biren_166m code=60022 http=200";
    let mut machine =
        Machine::one_card_each(account, &[odd, "Org/Refused", "Org/Verified", "Org/Taken"]);
    machine.set("TERM", "xterm");
    machine
}

/// Each line of a log that is JSON alone.
fn objects(ended: &Ended) -> Vec<Value> {
    ended.log.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn a_json_log_is_json_alone_and_holds_the_text_lines() {
    let text = machine().run(&["run", "-vv"]);
    let mut machine = machine();
    machine.set("SUBMITTER_LOG_FORMAT", "json").set("LIVE_PAGE_SIZE", "many");
    let json = machine.run(&["run", "-vv"]);
    assert_eq!((text.code, json.code), (0, 0));
    let objects = objects(&json);
    // Requests are made side by side.
    let changes = ["warning LIVE_PAGE_SIZE", "journal created", "cycle", "request"];
    let changes = changes.map(|words| format!("[live] {words} "));
    let stays = |line: &&str| !changes.iter().any(|start| line.starts_with(start));
    let messages: Vec<_> = objects.iter().map(|line| line["message"].as_str().unwrap()).collect();
    let messages: Vec<_> = messages.into_iter().filter(stays).collect();
    assert_eq!(messages, text.log.lines().filter(stays).collect::<Vec<_>>());

    for line in &objects {
        let time = line["time"].as_str().unwrap();
        assert!(time.len() == 20 && time.starts_with("20") && time.ends_with('Z'), "{line}");
    }
    let of = |event: &str| objects.iter().find(|line| line["event"] == event).unwrap();
    assert_eq!(of("warning")["level"], "warn");
    assert_eq!(of("request")["level"], "trace");
    let rejected = &of("rejected")["fields"];
    assert_eq!((&rejected["model"], &rejected["code"]), (&"Org/Refused".into(), &60022.into()));
    assert_eq!(of("stats")["fields"]["total"], 0);
    assert!(of("submitted")["fields"]["task"].is_string());
    assert!(of("skip")["fields"]["model"].as_str().unwrap().starts_with("Org/"));
    assert_eq!(of("hold")["fields"]["reason"], "candidates_done");
    assert_eq!(objects.last().unwrap()["fields"]["result"], "submitted");

    let held = machine.set("STRATEGY_ID", "").run(&["run", "-q"]);
    assert_eq!(held.log.lines().count(), 1);
    let held: Value = serde_json::from_str(&held.log).unwrap();
    assert_eq!((&held["level"], &held["event"]), (&"error".into(), &"hold".into()));
    assert!(held["fields"]["detail"].as_str().unwrap().contains("STRATEGY_ID"));
}

#[test]
fn a_wrong_setting_of_the_log_is_told_and_stops_nothing() {
    let mut machine = machine();
    machine.set("SUBMITTER_LOG_FORMAT", "xml").set("SUBMITTER_LOG_TIMESTAMPS", "yes");
    let ended = machine.cycle(0);
    assert!(ended.line("[live] warning SUBMITTER_LOG_FORMAT ").ends_with("; using text"));
    assert!(ended.line("[live] warning SUBMITTER_LOG_TIMESTAMPS ").ends_with("; using 0"));
    let ended = machine.run(&["run", "--log-format", "xml"]);
    assert_eq!((ended.code, machine.posts()), (2, 2));
    assert!(ended.log.contains("text, json"), "{}", ended.log);
}

#[test]
fn timestamps_are_the_local_time_before_the_line() {
    let mut machine = machine();
    machine.set("TZ", "Asia/Shanghai").set("SUBMITTER_LOG_TIMESTAMPS", "1");
    let ended = machine.cycle(0);
    for line in ended.log.lines() {
        let (stamp, text) = line.split_once(' ').unwrap();
        assert_eq!((stamp.len(), &stamp[10..11], &stamp[19..]), (25, "T", "+08:00"), "{line}");
        assert!(text.starts_with("[live] "), "{line}");
    }
}

/// Whatever form a log has, the marks are those of the plain one.
#[test]
fn every_form_of_the_log_is_read_by_sync_marks() {
    let found = |log: &str| {
        let machine = machine();
        let path = machine.write("run.log", log);
        let synced = machine.run(&["sync-marks", &path]);
        assert_eq!(synced.stdout, "added 2 total 2\n", "{log}\n{}", synced.log);
        std::fs::read_to_string(machine.folder.path().join("data/reject-marks.json")).unwrap()
    };
    let plain = found(&machine().run(&["run"]).log);
    assert!(plain.contains("60022") && plain.contains("60027") && plain.contains("Org/Refused"));
    for form in [&["--log-timestamps"][..], &["-vv", "--log-format", "json"]] {
        let log = machine().run(&[&["run"], form].concat()).log;
        assert!(!log.starts_with("[live] "), "{log}");
        assert_eq!(found(&log), plain);
    }
    let seen = on_terminal(&machine(), &["run", "--log-timestamps"]);
    assert!(seen.contains("\u{1b}[33m[live] rejected ") && seen.contains("\r\u{1b}[K"), "{seen:?}");
    assert_eq!(found(&seen), plain);
}
