//! The precheck that is asked for while a POST is answered.

use std::time::{Duration, Instant};

use crate::kit::{Machine, account, models, strs};
use crate::platform::{Fault, Kind, Request, Trigger};

const SOON: Duration = Duration::from_secs(20);

fn machine(candidates: usize) -> Machine {
    Machine::one_card_each(account(), &strs(&models(candidates)))
}

#[test]
fn the_next_precheck_is_asked_for_while_a_post_is_answered() {
    let machine = machine(2);
    let gate = machine.platform.hold(Trigger::nth(Kind::Add, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(SOON));
    assert!(machine.platform.wait_for(Kind::Precheck, 2, SOON), "it waits for the answer");
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (0, "candidates_done"), "{}", ended.log);
    let asked: Vec<_> = machine.platform.requests().iter().filter_map(Request::model).collect();
    assert_eq!(asked.iter().filter(|model| *model == "org/model-1").count(), 2, "{asked:?}");
    assert!(ended.line("[live] cycle ").contains(" prechecks=2 "), "{}", ended.log);
}

/// The outcome is in the journal as soon as the POST is answered, however long the precheck takes.
#[test]
fn c01_the_outcome_of_a_post_does_not_wait_for_the_precheck_beside_it() {
    let machine = machine(2);
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 2));
    let mut running = machine.start(&["run"]);
    assert!(gate.wait_reached(SOON) && machine.platform.wait_for(Kind::Add, 1, SOON));
    let until = Instant::now() + SOON;
    while !machine.journal().contains(r#""accepted":{"pair":["org/model-0""#) {
        assert!(Instant::now() < until, "the outcome is not written: {}", machine.journal());
        std::thread::yield_now();
    }
    running.kill();
    gate.release();
    machine.cycle(0);
    assert_eq!(machine.most_posts(), (1, 1));
}

/// What the answer marks is told in its turn, and the model goes to its next card or is passed over.
#[test]
fn what_the_precheck_ahead_finds_is_used() {
    let machine = machine(3);
    machine.platform.set_precheck("org/model-1", "Biren_166m", "已验证");
    let ended = machine.cycle(0);
    let posted: Vec<_> = machine.platform.posts().into_keys().map(|(model, _)| model).collect();
    assert_eq!(posted, ["org/model-0", "org/model-2"]);
    assert_eq!(machine.platform.count(Kind::Precheck), 3);
    assert_eq!(ended.lines("[live] skip model=Org/Model-1 ").count(), 1, "{}", ended.log);
}

/// It is not retried beside a POST, and asked for again in its turn, as any other.
#[test]
fn a_precheck_ahead_that_fails_is_asked_for_in_its_turn() {
    let machine = machine(2);
    let trigger = Trigger::nth(Kind::Precheck, 1).model("org/model-1");
    machine.platform.fault(trigger, Fault::html().with_status(503));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "candidates_done");
    assert_eq!(ended.lines("[live] precheck ").count(), 0, "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Precheck), 3);
    assert_eq!(machine.platform.posts().len(), 2);
}

#[test]
fn a_credential_refused_to_the_precheck_ahead_ends_the_run_behind_the_post() {
    let machine = machine(3);
    let trigger = Trigger::nth(Kind::Precheck, 1).model("org/model-1");
    machine.platform.fault(trigger, Fault::body(r#"{"code":40100}"#));
    let ended = machine.cycle(31);
    assert_eq!(ended.held(), "credential_refused");
    assert_eq!(ended.lines("[live] submitted model=Org/Model-0 ").count(), 1, "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Add), 1);
    assert_eq!(machine.platform.count(Kind::Precheck), 2);
}

/// No precheck is asked for that the accepted POST leaves no room for.
#[test]
fn the_last_post_of_a_cycle_has_no_precheck_beside_it() {
    for (name, value) in [
        ("LIVE_MAX_SUBMITS_PER_CYCLE", "2"),
        ("LIVE_MAX_ATTEMPTS_PER_CYCLE", "2"),
        ("LIVE_MAX_PRECHECKS_PER_CYCLE", "2"),
        ("LIVE_QUEUE_THRESHOLD", "2"),
    ] {
        let mut machine = machine(4);
        machine.set(name, value);
        machine.cycle(0);
        assert_eq!(machine.platform.count(Kind::Add), 2, "{name}");
        assert_eq!(machine.platform.count(Kind::Precheck), 2, "{name}");
    }
}

/// A precheck that hangs holds a POST's line back for five seconds at the most.
#[test]
fn a_precheck_ahead_that_hangs_is_given_up_soon() {
    let machine = machine(2);
    let trigger = Trigger::nth(Kind::Precheck, 1).model("org/model-1");
    machine.platform.fault(trigger, Fault::no_answer());
    let began = Instant::now();
    let ended = machine.cycle(0);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(machine.platform.posts().len(), 2, "{}", ended.log);
}

/// A precheck is the second look at what a short refresh cannot show: one from before a slow answer
/// is too old for that.
#[test]
fn a_precheck_ahead_that_has_aged_is_asked_for_again() {
    let machine = machine(2);
    let gate = machine.platform.hold(Trigger::nth(Kind::Add, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(SOON) && machine.platform.wait_for(Kind::Precheck, 2, SOON));
    let asked = machine.platform.requests().last().unwrap().at;
    // The time itself is what is tried here.
    std::thread::sleep(Duration::from_millis(5_200).saturating_sub(asked.elapsed()));
    gate.release();
    let ended = running.end();
    assert_eq!(ended.held(), "candidates_done", "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Precheck), 3);
    assert_eq!(machine.platform.posts().len(), 2);
}
