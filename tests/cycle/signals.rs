//! What a signal stops, and what it does not.

use std::time::{Duration, Instant};

use crate::kit::{Ended, Machine, Running, account, models, strs};
use crate::platform::{Fault, Gate, Kind, Trigger};

const SOON: Duration = Duration::from_secs(20);

fn three_pairs() -> Machine {
    Machine::one_card_each(account(), &strs(&models(3)))
}

/// Starts a run and waits until one of its requests is held.
fn held_at(machine: &Machine, gate: &Gate) -> Running {
    let running = machine.start(&["run", "--json"]);
    assert!(gate.wait_reached(SOON), "the run never made the request");
    running
}

fn counts(ended: &Ended) -> String {
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    json["counts"].to_string()
}

#[test]
fn c14_a_signal_lets_the_post_in_flight_end_and_its_outcome_be_written() {
    for signals in [&["TERM"][..], &["INT"], &["TERM", "TERM"], &["INT", "TERM", "INT"]] {
        for commit_first in [true, false] {
            let machine = three_pairs();
            let add = Trigger::nth(Kind::Add, 1);
            let gate = if commit_first {
                machine.platform.hold(add)
            } else {
                machine.platform.hold_before_commit(add)
            };
            let mut running = held_at(&machine, &gate);
            for signal in signals {
                running.signal(signal);
            }
            assert!(running.is_running(), "it does not wait for the answer");
            gate.release();
            let ended = running.end();
            assert_eq!((ended.code, ended.held()), (0, "interrupted"), "{}", ended.log);
            assert!(counts(&ended).contains(r#""submitted":1"#), "{}", ended.stdout);
            // Page, precheck, refresh, POST, and the precheck that went out together with it.
            assert!(machine.platform.requests().len() <= 5, "{:?}", machine.platform.requests());
            assert!(machine.journal().contains(r#""accepted":{"pair":["org/model-0""#));
            // The hourly cap leaves five: the next run needs no person.
            machine.cycle(0);
            assert_eq!(machine.platform.posts().len(), 3);
            assert_eq!(machine.most_posts(), (1, 1));
        }
    }
}

#[test]
fn c14_a_signal_does_not_make_a_lost_answer_a_failure() {
    let mut machine = three_pairs();
    machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
    let lost = Trigger::nth(Kind::Add, 1);
    machine.platform.fault(lost, Fault::no_answer().after_commit());
    let running = machine.start(&["run", "--json"]);
    assert!(machine.platform.wait_for(Kind::Add, 1, SOON));
    running.signal("TERM");
    let ended = running.end();
    let waited = machine.platform.requests().last().unwrap().at.elapsed();
    assert!(waited > Duration::from_millis(900), "it did not wait for the answer: {waited:?}");
    assert!(waited < Duration::from_secs(8), "it waited for too long: {waited:?}");
    assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{}", ended.log);
    assert!(counts(&ended).contains(r#""in_doubt":1"#), "{}", ended.stdout);
    assert!(machine.journal().contains(r#""in_doubt":{"pair":["org/model-0""#));
    let next = machine.cycle(0);
    assert_eq!(next.lines("[live] settled model=Org/Model-0 ").count(), 1);
    assert_eq!(machine.most_posts(), (1, 1));
}

/// Before the first POST there is nothing to wait for.
#[test]
fn c14_a_signal_before_the_post_means_no_post() {
    for (trigger, after) in [
        (Trigger::nth(Kind::Own, 1), "the rebuild"),
        (Trigger::nth(Kind::Precheck, 1), "the precheck"),
        (Trigger::nth(Kind::Own, 2), "the refresh"),
    ] {
        for signal in ["TERM", "INT"] {
            let machine = three_pairs();
            let gate = machine.platform.hold(trigger.clone());
            let running = held_at(&machine, &gate);
            running.signal(signal);
            let before = machine.platform.requests().len();
            gate.release();
            let ended = running.end();
            assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{after}: {}", ended.log);
            assert_eq!(machine.platform.requests().len(), before, "{after}: a request more");
            assert_eq!(machine.platform.writes(), 0, "{after}");
            assert!(!machine.journal().contains(r#""intent""#), "{after}: nothing was intended");
            machine.cycle(0);
        }
    }
}

#[test]
fn c14_a_signal_ends_the_wait_before_another_try() {
    let machine = three_pairs();
    let busy = Fault::status(503).with_header("Retry-After", "30");
    machine.platform.fault(Trigger::every(Kind::Own), busy);
    let running = machine.start(&["run", "--json"]);
    assert!(machine.platform.wait_for(Kind::Own, 1, SOON));
    let began = Instant::now();
    running.signal("TERM");
    let ended = running.end();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(ended.code, 20, "{}", ended.log);
    assert_eq!(machine.platform.requests().len(), 1);
}

/// A run that has ended its POST before the signal comes between two candidates.
#[test]
fn c14_a_signal_between_two_candidates_starts_nothing_new() {
    let machine = three_pairs();
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 2));
    let running = held_at(&machine, &gate);
    running.signal("TERM");
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (0, "interrupted"), "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Add), 1);
}
