//! The submit cap over the trailing hour: counted from the journal, whoever starts the runs.

use serde_json::json;

use crate::kit::{Machine, account, models, strs};
use crate::platform::{Fault, Kind, Trigger};

fn with_models(n: usize) -> Machine {
    Machine::new(account(), &strs(&models(n)))
}

/// Moves everything in the journal into the future.
fn postdate(machine: &Machine, seconds: u64) {
    machine.redate_journal(|at| at + seconds);
}

#[test]
fn s13_three_runs_in_one_hour_submit_six_together() {
    let machine = with_models(2);
    assert_eq!(machine.cycle(0).held(), "candidates_done");
    let rows: Vec<_> = models(20).iter().map(|model| json!({"model_address": model})).collect();
    machine.write_candidates(&json!({"version": 1, "candidates": rows}));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "hourly_cap", "which was the tighter");
    assert_eq!(ended.counted("submitted"), 4);
    let asked = machine.asked();
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "hourly_cap");
    assert_eq!((machine.asked() - asked, ended.counted("requests")), (0, 0));
    assert_eq!(machine.posts(), 6);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn s13_a_run_every_minute_submits_six_an_hour() {
    let machine = with_models(30);
    for hour in 1..=2 {
        for _ in 0..12 {
            machine.run(&["run"]);
        }
        assert_eq!(machine.posts(), 6 * hour);
        machine.age_journal(3_600);
    }
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn the_hour_is_over_after_nine_tenths_of_a_cycle() {
    let mut machine = with_models(30);
    machine.set("LIVE_CYCLE_SECONDS", "1000").cycle(0);
    machine.age_journal(900 - 60);
    assert_eq!(machine.cycle(10).held(), "hourly_cap");
    machine.age_journal(60);
    assert_eq!(machine.cycle(0).held(), "cycle_cap");
    assert_eq!(machine.posts(), 12);
}

#[test]
fn s13_tasks_in_doubt_count_and_rejected_ones_do_not() {
    let machine = with_models(30);
    machine.platform.reject(crate::platform::Rejection::all(60022).model("Org/Model-0"));
    machine.platform.fault(Trigger::every(Kind::Add).model("Org/Model-3"), Fault::fin());
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "cycle_cap");
    let counted = ["submitted", "rejected", "in_doubt"].map(|name| ended.counted(name));
    assert_eq!(counted, [5, 1, 1]);
    assert_eq!(machine.cycle(10).held(), "hourly_cap");
    assert_eq!(machine.posts(), 7);
}

#[test]
fn records_dated_ahead_of_the_clock_are_told_and_not_counted() {
    let machine = with_models(30);
    machine.cycle(0);
    // Within the window they count: clocks differ a little.
    postdate(&machine, 3_000);
    assert_eq!(machine.cycle(10).held(), "hourly_cap");
    postdate(&machine, 3_000);
    let ended = machine.cycle(0);
    assert!(ended.line("[live] warning ").contains("6 journal records are dated ahead"));
    assert_eq!(ended.held(), "cycle_cap");
    assert_eq!(machine.posts(), 12);
    assert_eq!(machine.most_posts(), (1, 1), "the pairs themselves stay taken");
}

#[test]
fn cool_downs_dated_ahead_of_the_clock_are_told_and_not_counted() {
    let rows = json!([{"model_address": "Org/Model-0", "target_gpu": "壁砺"}]);
    let machine = Machine::with_rows(account(), &rows);
    machine.platform.reject(crate::platform::Rejection::all(60008));
    machine.cycle(10);
    machine.platform.clear_rejections();
    postdate(&machine, 3_000);
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    postdate(&machine, 3_000);
    let ended = machine.cycle(0);
    assert!(ended.line("[live] warning ").contains("1 journal records are dated ahead"));
    assert_eq!(machine.most_posts(), (2, 1));
}
