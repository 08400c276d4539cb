//! What other users' tasks add to the list (`ALL_TASKS_FOOTHOLD=1`).

use serde_json::json;

use crate::kit::{Machine, account};
use crate::platform::{Account, Fault, Kind, Task, Trigger};

/// Status and verifyResult.
type Verdict = (&'static str, Option<i64>);

const PASSED: Verdict = ("success", Some(1));
const FAILED: Verdict = ("success", Some(-1));
const RUNNING: Verdict = ("running", None);

fn of_others(tasks: &[(&str, &str, Verdict)]) -> Account {
    tasks.iter().zip(100..).fold(account(), |account, ((model, card, (status, verdict)), id)| {
        account.with_task(Task::new(id, model, card).with(status, *verdict).of_another())
    })
}

fn machine(account: Account, base: &serde_json::Value) -> Machine {
    let mut machine = Machine::new(account, &[]);
    machine.write_candidates(&json!({"version": 1, "candidates": base}));
    machine.set("ALL_TASKS_FOOTHOLD", "1");
    machine
}

fn plans(machine: &Machine) -> Vec<String> {
    let ended = machine.run(&["run", "--dry-run"]);
    let short = |line: &str| line.split(' ').skip(2).take(2).collect::<Vec<_>>().join(" ");
    ended.lines("[live] plan ").map(short).collect()
}

#[test]
fn passes_failures_and_running_tasks_of_others_become_candidates_in_rank_order() {
    let account = of_others(&[
        ("o/running", "壁砺", RUNNING),
        ("o/failed", "Biren_166m", FAILED),
        ("o/passed", "曦望", PASSED),
        ("O/Passed", "壁砺", FAILED),
        ("o/waiting", "壁砺", ("waiting", Some(1))),
        ("o/base", "天垓150", PASSED),
    ]);
    let base = json!([
        {"model_address": "o/other"},
        {"model_address": "O/Base", "try_next_gpus": ["Iluvatar_bi-150", "智铠100"]},
    ]);
    let machine = machine(account, &base);
    assert_eq!(
        plans(&machine),
        [
            "model=o/passed gpu=Iluvatar_bi-150",
            "model=O/Base gpu=Iluvatar_mrv-100",
            "model=o/failed gpu=Sunrise_pt-200-x1",
            "model=o/running gpu=Sunrise_pt-200-x1",
            "model=o/other gpu=Biren_166m",
        ]
    );
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(
        ended.lines("[foothold]").collect::<Vec<_>>(),
        [
            "[foothold] bucket=pass pages=1 valid=2 unique=2 truncated=0",
            "[foothold] bucket=fail pages=1 valid=2 unique=2 truncated=0",
            "[foothold] bucket=running pages=1 valid=1 unique=1 truncated=0",
            "[foothold] reason=ok",
        ]
    );
}

#[test]
fn one_record_that_was_not_asked_for_drops_the_snapshot_and_the_base_list_runs() {
    let account = of_others(&[("o/passed", "曦望", PASSED), ("o/failed", "曦望", FAILED)]);
    let machine = machine(account, &json!([{"model_address": "o/base"}]));
    for (field, value, reason) in [
        ("status", json!("waiting"), "filter_mismatch"),
        ("verifyResult", json!("+1"), "filter_mismatch"),
        ("verifyResult", json!(true), "filter_mismatch"),
        ("modelId", json!("o/a b"), "filter_mismatch"),
        ("modelId", json!(format!("o/{}", crate::kit::TOKEN)), "filter_mismatch"),
        ("gpuType", json!("a\nb"), "filter_mismatch"),
        ("taskId", json!(""), "malformed_data"),
    ] {
        let edit = Fault::edit(move |answer| answer["data"]["records"][0][field] = value.clone());
        machine.platform.fault(Trigger::nth(Kind::Slice, 1), edit);
        let ended = machine.run(&["run", "--dry-run"]);
        assert_eq!(ended.line("[foothold] reason="), format!("[foothold] reason={reason}"));
        assert_eq!(ended.lines("[live] plan ").count(), 1, "{}", ended.log);
    }
}

#[test]
fn a_platform_that_fails_on_slices_costs_the_slices_alone() {
    let account = of_others(&[("o/passed", "曦望", PASSED)]);
    let mut machine = machine(account, &json!([{"model_address": "o/base"}]));
    machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
    for (fault, reason) in [
        (Fault::status(502), "http_error"),
        (Fault::html(), "malformed_data"),
        (Fault::fin(), "transport_error"),
        (Fault::no_answer(), "transport_error"),
        (Fault::body(r#"{"code":50000}"#), "platform_error"),
        (Fault::body(r#"{"code":0,"data":{"total":1}}"#), "malformed_data"),
    ] {
        machine.platform.fault(Trigger::nth(Kind::Slice, 2), fault);
        let ended = machine.run(&["run", "--dry-run"]);
        assert_eq!(ended.code, 0, "{}", ended.log);
        assert_eq!(ended.line("[foothold] reason="), format!("[foothold] reason={reason}"));
        assert!(ended.line("[live] plan ").contains("model=o/base "));
    }
}

#[test]
fn a_credential_that_the_slices_refuse_is_refused_everywhere() {
    let machine = machine(account(), &json!([{"model_address": "o/base"}]));
    let refused = Fault::body(r#"{"code":40100,"message":"x"}"#);
    machine.platform.fault(Trigger::nth(Kind::Slice, 1), refused);
    let ended = machine.run(&["run"]);
    assert_eq!((ended.code, ended.held()), (31, "credential_refused"));
    assert_eq!(machine.platform.count(Kind::Any), 2);
}

#[test]
fn a_full_queue_does_not_ask_what_others_do() {
    let open = (1..=95).fold(account(), |account, id| {
        account.with_task(Task::new(id, &format!("o/m{id}"), "壁砺").with("waiting", Some(1)))
    });
    let machine = machine(open, &json!([{"model_address": "o/base"}]));
    assert_eq!(machine.cycle(10).held(), "queue_full");
    assert_eq!(machine.platform.count(Kind::Slice), 0);
}
