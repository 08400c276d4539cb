//! The caps of one cycle: submissions, POSTs, prechecks, time.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::kit::{Machine, account, models, strs};
use crate::platform::{Kind, Precheck, Rejection, Trigger};

const PATIENCE: Duration = Duration::from_secs(20);

fn with_models(n: usize) -> Machine {
    Machine::new(account(), &strs(&models(n)))
}

#[test]
fn the_cycle_cap_is_told_only_when_another_candidate_could_have_been_tried() {
    for (n, reason) in [(5, "candidates_done"), (6, "candidates_done"), (7, "cycle_cap")] {
        let machine = with_models(n);
        let ended = machine.cycle(0);
        assert_eq!(ended.held(), reason, "{n}");
        assert_eq!(machine.posts(), n.min(6));
        assert_eq!(ended.counted("submitted"), n.min(6));
        assert_eq!(machine.platform.count(Kind::Precheck), n.min(6), "none beyond the cap");
    }
}

#[test]
fn a_seventh_row_that_can_never_be_tried_is_no_cycle_cap() {
    let mut rows: Vec<_> = models(6).iter().map(|model| json!({"model_address": model})).collect();
    rows.push(json!({"model_address": "Org/Model-GGUF"}));
    rows.push(json!({"model_address": "Org/No-Card", "try_next_gpus": []}));
    let machine = Machine::with_rows(account(), &json!(rows));
    assert_eq!(machine.cycle(0).held(), "candidates_done");
    assert_eq!(machine.posts(), 6);
}

#[test]
fn rejections_are_free_of_the_cycle_cap() {
    let mut account = account();
    for model in models(4) {
        account = account.rejecting(Rejection::all(60022).model(&model));
    }
    let machine = Machine::new(account, &strs(&models(12)));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "cycle_cap");
    assert_eq!((ended.counted("submitted"), ended.counted("rejected")), (6, 4));
    assert_eq!(machine.posts(), 10);
}

#[test]
fn attempts_stop_at_30_and_right_after_the_post_that_reaches_it() {
    for (n, reason) in [(29, "candidates_done"), (30, "attempt_cap"), (31, "attempt_cap")] {
        let machine = Machine::new(account().rejecting(Rejection::all(60022)), &strs(&models(n)));
        let ended = machine.cycle(10);
        assert_eq!(ended.held(), reason, "{n}");
        assert_eq!(machine.posts(), n.min(30));
        assert_eq!(machine.platform.requests().last().unwrap().kind, Kind::Add);
        assert_eq!(machine.most_posts(), (1, 0));
        // Thirty refusals are no healthy hour.
        let told = usize::from(reason == "attempt_cap");
        assert_eq!(ended.lines("[live] warning none of 30 tasks was accepted").count(), told);
    }
}

#[test]
fn attempts_count_whatever_their_answer() {
    let account = account().rejecting(Rejection::all(60022).model("Org/Model-0"));
    let mut machine = Machine::new(account, &strs(&models(5)));
    machine.set("LIVE_MAX_ATTEMPTS_PER_CYCLE", "3");
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "attempt_cap");
    assert_eq!((ended.counted("submitted"), ended.counted("rejected")), (2, 1));
    assert_eq!(ended.lines("[live] warning ").count(), 0, "{}", ended.log);
}

#[test]
fn prechecks_stop_at_60_and_the_next_run_goes_on_behind_them() {
    let mut account = account();
    for model in models(62) {
        for card in ["壁砺", "曦望", "天垓150", "智铠100"] {
            account.set_precheck(&model, card, "已验证");
        }
    }
    let machine = Machine::new(account, &strs(&models(62)));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "precheck_cap");
    assert_eq!((machine.platform.count(Kind::Precheck), ended.counted("prechecks")), (60, 60));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "nothing_eligible");
    assert_eq!((machine.platform.count(Kind::Precheck), ended.counted("prechecks")), (62, 2));
    assert_eq!(machine.posts(), 0);
}

#[test]
fn the_precheck_cap_is_told_only_when_another_precheck_would_be_due() {
    for (n, reason) in [(2, "candidates_done"), (3, "precheck_cap")] {
        let mut machine = with_models(n);
        machine.set("LIVE_MAX_PRECHECKS_PER_CYCLE", "2");
        assert_eq!(machine.cycle(0).held(), reason);
        assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (2, 2));
    }
}

#[test]
fn live_precheck_0_makes_none_and_leaves_the_verdict_to_task_add() {
    let mut machine = with_models(3);
    machine.platform.set_precheck("Org/Model-0", "壁砺", "已验证");
    machine.set("LIVE_PRECHECK", "0").set("LIVE_MAX_PRECHECKS_PER_CYCLE", "1");
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "candidates_done");
    assert_eq!((machine.platform.count(Kind::Precheck), ended.counted("prechecks")), (0, 0));
    assert_eq!(machine.posted()[0], "org/model-0 Biren_166m");
    assert_eq!(machine.posts(), 3);
}

#[test]
fn one_precheck_serves_two_rows_of_one_model() {
    let machine = Machine::new(account(), &["Org/Model-0", "org/model-0"]);
    machine.cycle(0);
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (1, 2));
    assert_eq!(machine.most_posts(), (1, 1));
}

/// The precheck's answer comes when the deadline has passed: no request follows it.
#[test]
fn a_cycle_past_its_deadline_starts_no_further_request() {
    let mut machine = with_models(2);
    machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "2");
    let began = Instant::now();
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(PATIENCE), "the first requests take far less than two seconds");
    let asked = machine.asked();
    let left = Duration::from_millis(2_100).saturating_sub(began.elapsed());
    std::thread::sleep(left);
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (20, "deadline"));
    assert_eq!((machine.asked(), machine.posts()), (asked, 0));
}

#[test]
fn there_is_a_name_for_each_way_to_have_nothing_to_do() {
    let machine = Machine::with_rows(account(), &json!([]));
    assert_eq!(machine.cycle(10).held(), "no_candidates");

    let machine = with_models(1);
    machine.cycle(0);
    let all = json!([{"model_address": "Org/Model-0", "target_gpu": "壁砺"}]);
    machine.write_candidates(&json!({"version": 1, "candidates": all}));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "nothing_eligible");
    assert_eq!(ended.counted("submitted") + ended.counted("rejected"), 0);

    let machine = Machine::new(account().rejecting(Rejection::all(60022)), &["Org/Model-0"]);
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "candidates_done", "something was tried");

    let machine = with_models(1);
    machine.platform.set_precheck_answer("Org/Model-0", Precheck::Results([].into()));
    assert_eq!(machine.cycle(0).held(), "candidates_done");
}
