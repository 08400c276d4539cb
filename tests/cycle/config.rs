//! Settings, data files and credentials that end a run before any request.

use std::os::unix::fs::PermissionsExt;

use crate::kit::{Ended, Machine, TOKEN, account, exists};

fn machine() -> Machine {
    Machine::new(account(), &["Org/Model-0"])
}

/// Runs a cycle, real and dry, that must end before any request and without a state folder.
fn refuses(machine: &Machine, code: i32, reason: &str) -> Ended {
    let dry = machine.run(&["run", "--dry-run"]);
    assert_eq!((dry.code, dry.held()), (code, reason), "{}", dry.log);
    let ended = machine.cycle(code);
    assert_eq!(ended.held(), reason);
    assert_eq!(ended.lines("[live] cycle ").count(), 0, "there was none: {}", ended.log);
    assert_eq!(machine.asked(), 0);
    assert!(!exists(&machine.state()), "nothing was locked or written");
    ended
}

#[test]
fn a_wrong_setting_ends_the_run_before_any_request_and_names_itself() {
    let cases = [
        ("LIVE_MAX_SUBMITS_PER_CYCLE", "0", "invalid_cycle_cap"),
        ("LIVE_MAX_SUBMITS_PER_CYCLE", "six", "invalid_cycle_cap"),
        ("LIVE_MAX_SUBMITS_PER_CYCLE", "-1", "invalid_cycle_cap"),
        ("LIVE_QUEUE_THRESHOLD", "0", "invalid_queue_threshold"),
        ("LIVE_QUEUE_THRESHOLD", "95.0", "invalid_queue_threshold"),
        ("MODELHUB_API_BASE", "http://modelhub.org.cn", "invalid_api_base"),
        ("MODELHUB_API_BASE", "http://127.0.0.1.evil.example", "invalid_api_base"),
        ("MODELHUB_API_BASE", "https://user:secret@modelhub.org.cn", "invalid_api_base"),
        ("MODELHUB_API_BASE", "modelhub.org.cn", "invalid_api_base"),
        ("STRATEGY_ID", "", "missing_strategy_id"),
        ("STRATEGY_ID", " ", "missing_strategy_id"),
        ("SUBMITTER_STATE_DIR", "~/state", "no_state_folder"),
        ("PENDING_SECTION", "C", "candidate_read_failed"),
        ("SUBMITTER_DATA_DIR", "/nonexistent/data", "data_read_failed"),
        ("LIVE_STATE_FILE", "/nonexistent/state.json", "state_read_failed"),
    ];
    for (name, value, reason) in cases {
        let mut machine = machine();
        machine.set(name, value);
        let ended = refuses(&machine, 32, reason);
        assert!(ended.line("[live] hold ").contains(name), "{name} in {}", ended.log);
        assert!(!ended.log.contains("secret@"), "{}", ended.log);
    }
}

#[test]
fn a_flag_beats_its_variable() {
    let mut machine = machine();
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "0");
    assert_eq!(machine.run(&["run", "--max-submits", "1"]).code, 0);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "6");
    let ended = machine.run(&["run", "--max-submits", "0"]);
    assert_eq!((ended.code, ended.held()), (32, "invalid_cycle_cap"));
    assert!(ended.line("[live] hold ").contains("--max-submits"), "{}", ended.log);
    assert_eq!(machine.posts(), 1);
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    let mut machine = machine();
    for name in [
        "LIVE_MAX_SUBMITS_PER_CYCLE",
        "LIVE_QUEUE_THRESHOLD",
        "LIVE_STATE_FILE",
        "ASYNC_QUEUE_DEPTH",
        "QUEUE_SNAPSHOT_JSON",
        "PENDING_SECTION",
        "EXTERNAL_SERVICE_TOKEN",
        "LIVE_CONFIRM",
    ] {
        machine.set(name, "");
    }
    machine.cycle(0);
}

#[test]
fn a_wrong_number_that_can_be_guessed_is_told_and_the_default_used() {
    let names = [
        "LIVE_MAX_ATTEMPTS_PER_CYCLE",
        "LIVE_MAX_PRECHECKS_PER_CYCLE",
        "LIVE_CYCLE_SECONDS",
        "LIVE_PAGE_SIZE",
    ];
    let mut machine = machine();
    for name in names {
        machine.set(name, "-3");
    }
    let ended = machine.cycle(0);
    let warnings: Vec<&str> = ended.lines("[live] warning ").collect();
    assert_eq!(warnings.len(), names.len(), "{}", ended.log);
    for (name, default) in names.into_iter().zip(["30", "60", "3600", "100"]) {
        let told = |line: &&&str| line.contains(name) && line.contains(default);
        assert!(warnings.iter().any(|line| told(&line)), "{name}: {}", ended.log);
    }
}

#[test]
fn a_bad_data_file_ends_the_run_and_names_file_place_and_reason() {
    let row = r#"{"model":"a/b","gpu":"壁砺","code":60022}"#;
    let cases = [
        (
            "candidates.json",
            r#"{"version":1,"candidates":[{},{"section":"C"}]}"#.to_owned(),
            "candidate_read_failed",
            "candidates[1]",
        ),
        (
            "candidates.json",
            r#"{"version":2,"candidates":[]}"#.to_owned(),
            "candidate_read_failed",
            "version 2",
        ),
        (
            "candidates.json",
            r#"{"version":1,"candidates":[],"more":1}"#.to_owned(),
            "candidate_read_failed",
            "more",
        ),
        ("candidates.json", String::new(), "candidate_read_failed", "line 1"),
        (
            "reject-marks.json",
            format!(r#"{{"version":1,"marks":[{row},{{"model":"a/b","gpu":"X","code":1}}]}}"#),
            "marks_read_failed",
            "marks[1]",
        ),
        (
            "reject-marks.json",
            r#"{"version":1,"marks":[{"model":" ","gpu":"壁砺","code":1}]}"#.to_owned(),
            "marks_read_failed",
            "marks[0]",
        ),
        (
            "reject-marks.json",
            r#"{"version":1,"marks":[{"model":"a/b","gpu":"壁砺","code":"1"}]}"#.to_owned(),
            "marks_read_failed",
            "marks[0]",
        ),
        ("reject-marks.json", "[]".to_owned(), "marks_read_failed", "line 1"),
        (
            "submitted-ledger.json",
            r#"{"version":1,"pairs":[{"model":"gpt2","gpu":"壁砺"}]}"#.to_owned(),
            "state_read_failed",
            "pairs[0]",
        ),
        (
            "submitted-ledger.json",
            r#"{"version":1,"pairs":[{"model":"a/b","gpu":"卡"}]}"#.to_owned(),
            "state_read_failed",
            "pairs[0]",
        ),
        ("submitted-ledger.json", "{".to_owned(), "state_read_failed", "line 1"),
        (
            "gpus.json",
            r#"{"version":1,"gpus":[{"enum":"A100","aliases":[],"target":true}]}"#.to_owned(),
            "data_read_failed",
            "gpus[0]",
        ),
        (
            "banned.json",
            r#"{"version":1,"rules":[{"rule":"x","pattern":"("}]}"#.to_owned(),
            "data_read_failed",
            "rules[0]",
        ),
        ("config-params/vllm.yaml", "# nothing\n".to_owned(), "data_read_failed", "empty"),
    ];
    for (name, text, reason, place) in cases {
        let machine = machine();
        drop(std::fs::create_dir(machine.folder.path().join("data/config-params")));
        machine.write_data(name, &text);
        let hold = refuses(&machine, 32, reason).line("[live] hold ").to_owned();
        let shown = hold.replace("\\u{5b}", "[").replace("\\u{5d}", "]");
        for part in [name, place] {
            assert!(shown.contains(part), "{part} in {hold}");
        }
    }
}

#[test]
fn a_data_file_may_start_with_a_byte_order_mark() {
    let machine = machine();
    let rows = r#"{"version":1,"candidates":[{"model_address":"Org/Model-0"}]}"#;
    machine.write_data("candidates.json", &format!("\u{feff}{rows}\r\n"));
    machine.cycle(0);
}

#[test]
fn a_state_file_of_an_earlier_system_is_legible_or_stops_the_run() {
    for text in ["", "{}", r#"["org/model-0"]"#, r#"["org/model-0|卡"]"#, "[null]"] {
        let mut machine = machine();
        let path = machine.write("state.json", text);
        machine.set("LIVE_STATE_FILE", &path);
        let ended = refuses(&machine, 32, "state_read_failed");
        assert!(ended.line("[live] hold ").contains("state.json"), "{}", ended.log);
    }
}

#[test]
fn a_machine_without_a_credential_is_told_where_it_was_looked_for() {
    let mut machine = machine();
    machine.set("XC_TOKEN", "");
    let ended = refuses(&machine, 31, "missing_token");
    let probed = "EXTERNAL_SERVICE_TOKEN=absent XC_TOKEN_FILE=absent XC_TOKEN=absent \
                  MODELHUB_XC_TOKEN=absent\n";
    assert!(ended.log.contains(probed), "{}", ended.log);
    machine.set("EXTERNAL_SERVICE_TOKEN", "  ").set("XC_TOKEN", "<your token>");
    let ended = refuses(&machine, 31, "missing_token");
    let probed = "EXTERNAL_SERVICE_TOKEN=blank XC_TOKEN_FILE=absent XC_TOKEN=placeholder \
                  MODELHUB_XC_TOKEN=absent\n";
    assert!(ended.log.contains(probed), "{}", ended.log);
}

/// K06: the next source might be another account's.
#[test]
fn k06_a_malformed_credential_stops_the_run_whatever_follows_it() {
    for (value, says) in [
        ("\"quoted-secret\"", "quote"),
        ("'quoted-secret'", "quote"),
        ("two secrets", "white space"),
        ("tab\tsecret", "white space"),
        ("bell\u{7}secret", "control"),
    ] {
        let mut machine = machine();
        machine.set("EXTERNAL_SERVICE_TOKEN", value).set("XC_TOKEN", TOKEN);
        let ended = refuses(&machine, 31, "invalid_token");
        assert!(ended.log.contains(" EXTERNAL_SERVICE_TOKEN=malformed "), "{}", ended.log);
        let hold = ended.line("[live] hold ");
        assert!(hold.contains("EXTERNAL_SERVICE_TOKEN") && hold.contains(says), "{hold}");
        assert!(!ended.log.contains("secret") && !ended.log.contains(TOKEN), "{}", ended.log);
    }
    let mut machine = machine();
    machine.set("XC_TOKEN_FILE", "/nonexistent/token").set("MODELHUB_XC_TOKEN", TOKEN);
    let ended = refuses(&machine, 31, "invalid_token");
    assert!(ended.log.contains(" XC_TOKEN_FILE=unreadable "), "{}", ended.log);
}

#[test]
fn a_credential_is_taken_from_the_first_source_that_holds_one() {
    let mut machine = machine();
    let path = machine.write("token", &format!("\u{feff}{TOKEN}\n"));
    machine.set("EXTERNAL_SERVICE_TOKEN", "<placeholder>").set("XC_TOKEN_FILE", &path);
    machine.set("XC_TOKEN", "another-account").set("MODELHUB_XC_TOKEN", "a-third");
    let ended = machine.cycle(0);
    assert_eq!(ended.line("[live] token "), "[live] token source=XC_TOKEN_FILE");
}

#[test]
fn a_state_folder_that_cannot_be_written_stops_the_run_before_any_request() {
    let machine = machine();
    std::fs::write(machine.state(), "a file").unwrap();
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "state_write_failed");
    assert_eq!(machine.asked(), 0);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    std::fs::remove_file(machine.state()).unwrap();
    machine.cycle(0);
    assert_eq!(mode(&machine.state()) & 0o777, 0o700, "for the owner alone");
    assert_eq!(mode(&machine.state().join("journal.jsonl")) & 0o777, 0o600);
}
