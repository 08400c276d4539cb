//! A dry run does all of it but writing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kit::{Ended, Machine, account, exists, models, strs};
use crate::platform::{BuildConfig, Denial, Fault, Kind, Precheck, Rejection, Task, Trigger};

type Make = fn() -> Fault;

fn dry(machine: &Machine) -> Ended {
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(machine.platform.writes(), 0, "{}", ended.log);
    assert_eq!(ended.lines("[live] submitted ").count(), 0, "{}", ended.log);
    ended
}

/// Name and content of everything in the state folder.
fn kept(machine: &Machine) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(machine.state())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
        .collect()
}

#[test]
fn s12_a_dry_run_plans_what_a_real_run_would_submit() {
    let rows = serde_json::json!([
        {"model_address": "gpt-neo"},
        {"model_address": "Org/Model-0", "try_next_gpus": ["壁砺", "曦望"]},
        {"model_address": "org/model-0", "try_next_gpus": ["壁砺", "曦望"]},
        {"model_address": "https://huggingface.co/Org/Model-1"},
    ]);
    let machine = Machine::with_rows(account().with_history(40, &["Past/One"]), &rows);
    machine.platform.set_precheck("Org/Model-1", "壁砺", "验证中");
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.held()), (0, "candidates_done"));
    let plan = |model: &str, gpu: &str, queue: usize| {
        format!(
            "[live] plan model={model} gpu={gpu} queue_before={queue} config_source=sample \
             config_reason=not_configured reason=would_submit"
        )
    };
    let told: Vec<&str> = ended.lines("[live] plan ").collect();
    assert_eq!(
        told,
        [
            plan("Org/Model-0", "Biren_166m", 2),
            plan("org/model-0", "Sunrise_pt-200-x1", 3),
            plan("Org/Model-1", "Sunrise_pt-200-x1", 4),
        ],
        "would-be tasks count into queue and ledger"
    );
    assert_eq!(
        ended.lines("[live] skip model=gpt-neo reason=malformed").count(),
        1,
        "told at once"
    );
    assert!(!exists(&machine.state()), "not even the folder is made");

    let real = machine.cycle(0);
    let planned: Vec<String> = told.iter().map(|line| pair_of(line)).collect();
    let submitted: Vec<String> = real.lines("[live] submitted ").map(pair_of).collect();
    assert_eq!(planned, submitted);
}

fn pair_of(line: &str) -> String {
    line.split(' ').skip(2).take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_dry_run_keeps_to_the_caps_and_the_queue() {
    let machine = Machine::new(account(), &strs(&models(9)));
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.held()), (0, "cycle_cap"));
    assert_eq!(ended.lines("[live] plan ").count(), 6);
    let mut machine = Machine::new(account().with_history(40, &["Past/One"]), &strs(&models(9)));
    machine.set("LIVE_QUEUE_THRESHOLD", "4");
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.held()), (0, "queue_full"));
    assert_eq!(ended.lines("[live] plan ").count(), 2);
    machine.set("LIVE_QUEUE_THRESHOLD", "2");
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.held()), (10, "queue_full"));
}

#[test]
fn s12_a_dry_run_writes_nothing_whatever_goes_wrong() {
    let faults: [(Kind, Make, i32); 10] = [
        (Kind::Own, || Fault::html(), 20),
        (Kind::Own, || Fault::status(404), 20),
        (Kind::Own, || Fault::status(401), 31),
        (Kind::Own, || Fault::redirect(307, "/elsewhere"), 20),
        (Kind::Own, || Fault::body(r#"{"code":50000,"data":null}"#), 20),
        (Kind::Own, || Fault::edit(|page| page["data"]["total"] = "7".into()), 20),
        (Kind::Precheck, || Fault::html(), 0),
        (Kind::Precheck, || Fault::status(401), 31),
        (Kind::BuildConfig, || Fault::status(404), 0),
        (Kind::BuildConfig, || Fault::body(r#"{"code":40100,"data":null}"#), 31),
    ];
    for (kind, fault, code) in faults {
        let account = account()
            .rejecting(Rejection::all(60014))
            .build_config("/build", BuildConfig::Text("a: 1".into()));
        let mut machine = Machine::new(account, &strs(&models(2)));
        machine.set("MODELHUB_BUILD_CONFIG_PATH", "/build");
        machine.platform.fault(Trigger::every(kind), fault());
        let ended = dry(&machine);
        assert_eq!(ended.code, code, "{}", ended.log);
        assert_eq!(machine.platform.unfired(), 0);
        assert!(!exists(&machine.state()), "{}", ended.log);
    }
    for denial in [Denial::Code40100, Denial::Html401, Denial::Http401Code0] {
        let machine = Machine::new(account().denial(denial), &["Org/Model-0"]);
        machine.platform.set_token("another");
        assert_eq!(dry(&machine).code, 31);
        assert!(!exists(&machine.state()));
    }
}

#[test]
fn s12_a_dry_run_leaves_a_state_folder_as_it_is() {
    let machine = Machine::new(account(), &strs(&models(4)));
    machine.platform.set_precheck_answer("Org/Model-0", Precheck::Status(404));
    machine.platform.fault(Trigger::every(Kind::Add).model("Org/Model-1"), Fault::fin());
    machine.cycle(0);
    machine.age_journal(7_200);
    let (before, posts) = (kept(&machine), machine.platform.writes());
    // One that was in doubt is listed now, and one that was accepted is not.
    machine.platform.insert_task(Task::new(50_000, "Org/Model-1", "壁砺"));
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(kept(&machine), before);
    machine.platform.change(|account| account.tasks.remove(33_512));
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!((ended.code, ended.held()), (20, "task_missing"));
    assert_eq!(kept(&machine), before);

    // A cut-off write is not cut off by a look at it.
    let journal = machine.state().join("journal.jsonl");
    let torn = machine.journal() + r#"{"at":1,"event":{"intent":{"pair":["org/model-3","#;
    std::fs::write(&journal, torn).unwrap();
    let before = kept(&machine);
    machine.run(&["run", "--dry-run"]);
    assert_eq!(kept(&machine), before);
    std::fs::write(&journal, "").unwrap();
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!((ended.code, ended.held()), (30, "journal_damaged"));
    assert_eq!(std::fs::read(&journal).unwrap(), b"");
    assert_eq!(machine.platform.writes(), posts);
}

#[test]
fn a_paused_dry_run_ends_as_a_paused_run_does() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    assert_eq!(machine.run(&["pause"]).code, 0);
    let before = kept(&machine);
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.held()), (30, "paused"));
    assert_eq!(kept(&machine), before);
    assert_eq!(machine.asked(), 0);
}

#[test]
fn a_dry_run_takes_no_lock_and_waits_for_none() {
    let machine = Machine::new(account(), &strs(&models(2)));
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(Duration::from_secs(20)));
    let ended = dry(&machine);
    assert_eq!((ended.code, ended.lines("[live] plan ").count()), (0, 2), "{}", ended.log);
    gate.release();
    assert_eq!(running.end().code, 0);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn a_dry_run_needs_a_strategy_id_too_and_keeps_the_hourly_cap() {
    let mut machine = Machine::new(account(), &strs(&models(9)));
    machine.cycle(0);
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!((ended.code, ended.held()), (10, "hourly_cap"));
    machine.set("STRATEGY_ID", "");
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!((ended.code, ended.held()), (32, "missing_strategy_id"));
    assert_eq!(machine.posts(), 6);
}
