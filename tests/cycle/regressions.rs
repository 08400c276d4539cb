//! Faults that this program once had, each as the test that found it.

use std::time::Duration;

use serde_json::json;

use crate::kit::{CARD, Machine, account, exists, models, strs};
use crate::platform::{Fault, Kind, Task, Trigger};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_probe_of_the_credential_says_that_it_is_one() {
    let mut machine = Machine::new(account(), &["Org/Model-0"]);
    machine.set("XC_TOKEN", "");
    let ended = machine.cycle(31);
    assert_eq!(
        ended.log.lines().next().unwrap(),
        "[live] token_probe EXTERNAL_SERVICE_TOKEN=absent XC_TOKEN_FILE=absent XC_TOKEN=absent \
         MODELHUB_XC_TOKEN=absent"
    );
}

#[test]
fn k08_one_line_is_told_with_q_where_the_credential_is_missing() {
    let mut machine = Machine::new(account(), &["Org/Model-0"]);
    machine.set("XC_TOKEN", "");
    let ended = machine.run(&["run", "-q"]);
    assert_eq!(ended.log.lines().count(), 1, "{}", ended.log);
}

#[test]
fn resume_waits_for_a_run_that_holds_the_journal() {
    let machine = Machine::new(account(), &strs(&models(3)));
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(Duration::from_secs(20)));
    let resuming = machine.start(&["resume"]);
    std::thread::sleep(Duration::from_millis(300));
    gate.release();
    assert_eq!(running.end().code, 0);
    let resumed = resuming.end();
    assert_eq!(resumed.code, 0, "{}", resumed.log);
    assert!(!exists(&machine.state().join("pause.json")));
}

/// Another `gpus.json` spells the enum in another case. Marks and the baked ledger follow it.
#[test]
fn a_pair_of_the_journal_stays_taken_under_another_spelling_of_its_card() {
    let rows = json!([{"model_address": "Org/Model-0", "target_gpu": "壁砺"}]);
    let machine = Machine::with_rows(account(), &rows);
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin().after_commit());
    machine.platform.change(|account| account.visible_after = 1_000);
    machine.cycle(20);
    let gpus = r#"{"version":1,"gpus":[{"enum":"biren_166m","aliases":["壁砺"],"target":true}]}"#;
    machine.write_data("gpus.json", gpus);
    machine.run(&["run"]);
    assert_eq!(machine.most_posts(), (1, 1));
}

/// Rows as somebody may have submitted them by hand.
#[test]
fn i06_an_own_task_whose_model_is_written_without_a_scheme_or_with_a_path_is_taken() {
    for model in [
        "huggingface.co/Org/Model-0",
        "Org/Model-0/tree/main",
        "https://hf.co/Org/Model-0",
        "https://huggingface.co/models/Org/Model-0",
        "models/Org/Model-0",
        "/Org/Model-0",
        "Org\\Model-0",
    ] {
        let account = account().with_task(Task::new(1, model, "壁砺"));
        let machine = Machine::new(account, &["Org/Model-0"]);
        machine.cycle(0);
        assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"], "{model}");
    }
}

#[test]
fn settings_that_name_other_candidates_are_not_ignored() {
    for (name, value) in
        [("PENDING_SUBMIT_MD", "/nonexistent.md"), ("PENDING_SUBMIT_TXT", "/nonexistent.txt")]
    {
        let mut machine = Machine::new(account(), &["Org/Model-0"]);
        machine.set(name, value);
        let ended = machine.cycle(32);
        assert_eq!(ended.held(), "candidate_read_failed");
    }
}

/// Nobody has been told of the missing task when the pause by hand ends.
#[test]
fn the_end_of_a_pause_by_hand_acknowledges_no_task_that_it_did_not_name() {
    let mut machine = Machine::new(account(), &strs(&models(2)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "1").cycle(0);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "6");
    let id = machine.platform.own_tasks()[0].id;
    machine.platform.remove_task(id);
    machine.cycle(20);
    machine.run(&["pause"]);
    println!("{}", machine.run(&["resume"]).stdout);
    machine.age_journal(3_600);
    let ended = machine.run(&["run"]);
    assert_eq!(ended.held(), "task_vanished", "{}", ended.log);
}

#[test]
fn skips_told_one_by_one_are_not_counted_among_the_others() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    machine.platform.set_precheck("Org/Model-0", "壁砺", "已验证");
    let ended = machine.cycle(0);
    assert_eq!(ended.lines("[live] skip ").count(), 1);
    assert_eq!(ended.lines("[live] skipped ").count(), 0, "{}", ended.log);
}

/// The person has said so once: it must not be asked of them every hour.
#[test]
fn a_task_that_a_person_knows_to_be_gone_is_not_missed_again() {
    let mut machine = Machine::new(account(), &strs(&models(2)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "1").cycle(0);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "6");
    let id = machine.platform.own_tasks()[0].id;
    machine.platform.remove_task(id);
    machine.cycle(20);
    machine.age_journal(3_600);
    machine.cycle(30);
    assert_eq!(machine.run(&["resume"]).code, 0);
    let first = machine.cycle(0);
    let told = first.lines("[live] submitted ").next().unwrap();
    assert!(told.contains(" queue_before=0 "), "{told}");
    machine.age_journal(3_600);
    let ended = machine.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn c14_signal_during_retry_wait_is_interrupted() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    let busy = Fault::status(503).with_header("Retry-After", "30");
    machine.platform.fault(Trigger::every(Kind::Own), busy);
    let running = machine.start(&["run"]);
    assert!(machine.platform.wait_for(Kind::Own, 1, SOON));
    running.signal("TERM");
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{}", ended.log);
}

#[test]
fn c14_signal_while_a_failing_read_is_in_flight_is_interrupted() {
    let mut machine = Machine::one_card_each(account(), &["Org/Model"]);
    machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
    machine.platform.fault(Trigger::every(Kind::Own), Fault::no_answer());
    let running = machine.start(&["run"]);
    assert!(machine.platform.wait_for(Kind::Own, 1, SOON));
    running.signal("TERM");
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{}", ended.log);
}

#[test]
fn c14_signal_during_the_last_post_is_interrupted() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    let gate = machine.platform.hold(Trigger::nth(Kind::Add, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(SOON));
    running.signal("TERM");
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (0, "interrupted"), "{}", ended.log);
}

#[test]
fn c14_signal_during_a_rejected_post_then_skips() {
    let mut machine = Machine::one_card_each(account(), &["Org/Model", "org/x-gguf"]);
    machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::no_answer());
    let running = machine.start(&["run"]);
    assert!(machine.platform.wait_for(Kind::Add, 1, SOON));
    running.signal("TERM");
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{}", ended.log);
}

/// A real run keeps it taken, and so a dry run plans nothing.
#[test]
fn c04_a_dry_run_takes_a_torn_intent_too() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    std::fs::create_dir(machine.state()).unwrap();
    let torn = format!(
        "{{\"submitter_journal\":1}}\n{{\"at\":1700000000,\"event\":{{\"intent\":{{\"pair\":[\"org/model\",\"{CARD}\"]}}}}"
    );
    std::fs::write(machine.state().join("journal.jsonl"), &torn).unwrap();
    let dry = machine.run(&["run", "--dry-run"]);
    let real = machine.run(&["run"]);
    assert_eq!((dry.code, dry.held()), (real.code, real.held()), "{}\n{}", dry.log, real.log);
}

/// A row of somebody's list must not become evidence when the run's log is synced.
#[test]
fn no_warning_can_be_taken_for_a_line_of_the_log() {
    let mut machine = Machine::new(account(), &["Org/Model"]);
    let forged = "[live] rejected model=victim/model gpu=Biren_166m code=60022 http=200 queue_before=0 reason=X";
    let list = machine.folder.path().join("pending.md");
    std::fs::write(
        &list,
        format!("| model | gpu |\n|---|---|\n| {forged} | 壁砺 |\n| a/b | 壁砺 |\n"),
    )
    .unwrap();
    machine.set("PENDING_SUBMIT_MD", &list.display().to_string());
    let ended = machine.run(&["run", "--dry-run"]);
    assert!(ended.line("[live] warning ").contains("pending.md:3"), "{}", ended.log);
    assert!(!ended.log.contains("[live] rejected"), "{}", ended.log);
    machine.run(&["pause", "--reason", forged]);
    assert!(!machine.cycle(30).log.contains("[live] rejected"));
}

/// One absurd name must not end the run for all the others.
#[test]
fn a_name_that_is_too_long_is_malformed_and_the_others_go_on() {
    let long = format!("a/{}", "b".repeat(70_000));
    let machine = Machine::new(account(), &[&long, "Org/Model"]);
    let ended = machine.run(&["run", "-v"]);
    assert_eq!(ended.code, 0);
    assert_eq!(
        ended.lines("[live] skip ").filter(|line| line.contains("reason=malformed")).count(),
        1
    );
}

#[test]
fn a_pipe_in_place_of_a_file_is_an_error_and_not_a_wait() {
    let mut machine = Machine::new(account(), &["Org/Model"]);
    let pipe = machine.folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let pipe = pipe.display().to_string();
    for (name, code) in [
        ("LIVE_STATE_FILE", 32),
        ("PENDING_SUBMIT_TXT", 32),
        ("XC_TOKEN_FILE", 31),
        ("QUEUE_SNAPSHOT_JSON", 10),
    ] {
        machine.set(name, &pipe);
        let ended = machine.run(&["run", "--dry-run"]);
        assert_eq!(ended.code, code, "{name}: {}", ended.log);
        machine.set(name, "");
    }
    std::fs::create_dir(machine.state()).unwrap();
    std::fs::rename(&pipe, machine.state().join("journal.jsonl")).unwrap();
    assert_eq!(machine.run(&["run"]).code, 30);
}

/// N10: somebody puts the token where a path belongs.
#[test]
fn n10_a_token_in_the_wrong_variable_is_not_shown() {
    let mut machine = Machine::new(account(), &["Org/Model"]);
    for name in ["LIVE_STATE_FILE", "SUBMITTER_DATA_DIR", "LIVE_PAGE_SIZE", "PENDING_SUBMIT_MD"] {
        let kept = machine.set_back(name, crate::kit::TOKEN);
        let ended = machine.run(&["run", "--dry-run", "--json"]);
        assert!(!ended.log.contains(crate::kit::TOKEN), "{name}: {}", ended.log);
        assert!(!ended.stdout.contains(crate::kit::TOKEN), "{name}: {}", ended.stdout);
        machine.set(name, &kept);
    }
}

/// Two rows that overflow must not leave a journal that cannot be read.
#[test]
fn points_beyond_all_sense_damage_no_journal() {
    let machine = Machine::new(account(), &["Org/Model"]);
    machine.platform.insert_task(Task::new(1, "a/b", CARD).with("success", Some(1)));
    machine.platform.insert_task(Task::new(2, "a/c", CARD).with("success", Some(1)));
    machine.platform.fault(
        Trigger::every(Kind::Own),
        Fault::edit(|answer| {
            for record in answer["data"]["records"].as_array_mut().unwrap() {
                record["points"] = json!(1.7e308);
            }
        }),
    );
    machine.cycle(0);
    machine.age_journal(3_600);
    machine.cycle(0);
}
