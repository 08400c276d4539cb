//! `submitter bake-ledger`.

use std::path::PathBuf;

use crate::kit::{Machine, TOKEN, account, exists};
use crate::platform::{Fault, Kind, Task, Trigger};
use crate::{example, example_text, planned};

fn ledger_of(machine: &Machine) -> PathBuf {
    machine.folder.path().join("data/submitted-ledger.json")
}

fn read(machine: &Machine) -> String {
    std::fs::read_to_string(ledger_of(machine)).unwrap()
}

#[test]
fn the_example_is_read_back_and_takes_what_it_names() {
    let machine = Machine::new(account(), &["Org/Model", "Org/Blocked", "Org/Free"]);
    let json = example("submitted-ledger.json");
    let ended = machine.run(&["bake-ledger", "--from-json", json.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "pairs 3 blocked 1\n"), "{}", ended.log);
    assert_eq!(read(&machine), example_text("submitted-ledger.json"));
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(planned(&ended), ["Org/Model Iluvatar_bi-150", "Org/Free Biren_166m"]);
    assert!(ended.log.contains("[live] skip model=Org/Blocked reason=blocked_model"));
}

#[test]
fn baking_adds_and_never_frees() {
    let machine = Machine::new(account(), &["a/1"]);
    machine.write_data(
        "submitted-ledger.json",
        r#"{"version":1,"pairs":[{"model":"a/1","gpu":"壁砺"}],"blocked_models":["a/2"]}"#,
    );
    let list = machine.folder.path().join("state.json");
    std::fs::write(&list, "\u{feff}[\"A/1|曦望\", \"a/1|Sunrise_pt-200-x1\"]").unwrap();
    let list = list.to_str().unwrap();
    let args = ["bake-ledger", "--from-json", list, "--block", "A/3", "--block", "a/3"];
    for _ in 0..2 {
        let ended = machine.run(&args);
        assert_eq!(ended.stdout, "pairs 2 blocked 2\n", "{}", ended.log);
    }
    assert_eq!(
        read(&machine),
        "{\n  \"version\": 1,\n  \"pairs\": [\n    {\"model\":\"a/1\",\"gpu\":\"Biren_166m\"},\n    \
         {\"model\":\"a/1\",\"gpu\":\"Sunrise_pt-200-x1\"}\n  ],\n  \"blocked_models\": [\n    \
         \"a/2\",\n    \"a/3\"\n  ]\n}\n"
    );
    let other = machine.folder.path().join("other.json");
    let ended = machine.run(&["bake-ledger", "--block", "a/4", "-o", other.to_str().unwrap()]);
    assert_eq!(ended.stdout, "pairs 0 blocked 1\n", "another file, another ledger");
}

#[test]
fn the_platform_is_read_whole_without_a_strategy() {
    let own = |id, model: &str, gpu: &str| Task::new(id, model, gpu);
    let account = account()
        .with_task(own(7, "Org/Model", "壁砺").with("success", Some(1)))
        .with_task(own(8, "org/model", "New_x-1").with("failed", Some(1)))
        .with_task(own(9, "Org/Odd", "天垓999"))
        .with_task(own(11, "gpt2", "壁砺"))
        .with_task(own(10, "not/mine", "壁砺").of_another());
    let mut machine = Machine::new(account, &["Org/Model", "Org/Odd"]);
    machine.set("STRATEGY_ID", "").set("SUBMITTER_STATE_DIR", "").set("LIVE_PAGE_SIZE", "2");
    let ended = machine.run(&["bake-ledger", "--from-remote"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "pairs 2 blocked 1\n"), "{}", ended.log);
    assert_eq!(ended.line("[live] token "), "[live] token source=XC_TOKEN");
    assert!(ended.line("[live] warning ").contains("1 own tasks"), "{}", ended.log);
    assert!(!ended.log.contains(TOKEN));
    assert_eq!(
        read(&machine),
        "{\n  \"version\": 1,\n  \"pairs\": [\n    {\"model\":\"org/model\",\"gpu\":\"Biren_166m\"},\n    \
         {\"model\":\"org/model\",\"gpu\":\"New_x-1\"}\n  ],\n  \"blocked_models\": [\n    \
         \"org/odd\"\n  ]\n}\n"
    );
    assert_eq!(machine.platform.count(Kind::Own), 2 + 1, "two pages, the first one twice");
    assert_eq!(machine.platform.writes(), 0);
    // What was baked stays taken when the list forgets it.
    machine.platform.change(|account| *account = crate::kit::account());
    machine.set("STRATEGY_ID", "s");
    let state = machine.folder.path().join("state");
    machine.set("SUBMITTER_STATE_DIR", state.to_str().unwrap());
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(planned(&ended), ["Org/Model Sunrise_pt-200-x1"], "{}", ended.log);
}

#[test]
fn a_read_that_is_not_complete_writes_nothing() {
    let machine = Machine::new(account().with_history(30, &["a/1", "a/2"]), &["a/1"]);
    let grown = |page: &mut serde_json::Value| page["data"]["total"] = "31".into();
    machine.platform.fault(Trigger::every(Kind::Own), Fault::edit(grown));
    let ended = machine.run(&["bake-ledger", "--from-remote"]);
    assert_eq!((ended.code, ended.held(), ended.stdout.as_str()), (20, "ledger_incomplete", ""));
    assert!(!exists(&ledger_of(&machine)));

    machine.platform.reset_faults();
    machine.platform.fault(Trigger::every(Kind::Own), Fault::status(404));
    let ended = machine.run(&["bake-ledger", "--from-remote"]);
    assert_eq!((ended.code, ended.held()), (20, "ledger_rebuild_failed"));
    assert!(!exists(&ledger_of(&machine)));
}

#[test]
fn without_a_credential_nobody_is_asked() {
    let mut machine = Machine::new(account(), &["a/1"]);
    machine.set("XC_TOKEN", "");
    let ended = machine.run(&["bake-ledger", "--from-remote"]);
    assert_eq!((ended.code, ended.held()), (31, "missing_token"));
    assert!(ended.log.contains("[live] token_probe EXTERNAL_SERVICE_TOKEN=absent"));
    assert_eq!(machine.platform.requests().len(), 0);
    machine.set("XC_TOKEN", "another");
    let ended = machine.run(&["bake-ledger", "--from-remote"]);
    assert_eq!((ended.code, ended.held()), (31, "credential_refused"));
    assert!(!exists(&ledger_of(&machine)));
}

#[test]
fn what_cannot_be_read_is_refused_and_left_as_it_is() {
    let machine = Machine::new(account(), &["a/1"]);
    let list = machine.folder.path().join("list.json");
    let refuse = |args: &[&str], says: &str| {
        let ended = machine.run(args);
        assert_eq!(
            (ended.code, ended.held(), ended.stdout.as_str()),
            (32, "state_read_failed", "")
        );
        assert!(ended.log.contains(says), "{}", ended.log);
    };
    let list_path = list.to_str().unwrap();
    refuse(&["bake-ledger"], "--from-remote, --from-json FILE or --block MODEL");
    refuse(&["bake-ledger", "--block", "gpt2"], "no owner");
    refuse(&["bake-ledger", "--from-json", list_path], "there is no such file");
    std::fs::write(&list, "[\"a/b|A100\"]").unwrap();
    refuse(&["bake-ledger", "--from-json", list_path], "[0]: unknown card");
    assert!(!exists(&ledger_of(&machine)));
    std::fs::write(&list, "damaged").unwrap();
    refuse(&["bake-ledger", "--from-remote", "-o", list_path], "list.json: ");
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "damaged");
    let ended = machine.run(&["bake-ledger", "--from-remote", "--from-json", list_path]);
    assert_eq!(ended.code, 2, "{}", ended.log);
    assert_eq!(machine.platform.requests().len(), 0);
}
