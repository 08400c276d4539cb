//! Kills and signals at every point of a cycle, then runs until all is done: however a run ends,
//! each pair is sent at most once, and what was sent is known.

use std::time::{Duration, Instant};

use crate::kit::{Ended, Machine, account, models, strs};
use crate::platform::{Kind, Trigger};

const SOON: Duration = Duration::from_secs(20);
const AN_HOUR: u64 = 3_600;
const PAIRS: usize = 2;

fn machine() -> Machine {
    Machine::one_card_each(account(), &strs(&models(PAIRS)))
}

/// Runs an hour apart, until a run finds nothing to do.
fn finish(machine: &Machine, name: &str) -> Ended {
    for _ in 0..5 {
        machine.age_journal(AN_HOUR);
        let ended = machine.run(&["run"]);
        if ended.held() == "nothing_eligible" {
            return ended;
        }
    }
    panic!("{name}: there is always something left to do");
}

/// How long the journal is; 0: there is none yet.
fn journal_length(machine: &Machine) -> u64 {
    std::fs::metadata(machine.state().join("journal.jsonl")).map_or(0, |file| file.len())
}

/// The lengths of the journal at the end of each write of a healthy cycle.
fn lengths() -> Vec<u64> {
    let healthy = machine();
    healthy.cycle(0);
    let mut length = 0;
    let journal = healthy.journal();
    journal
        .split_inclusive('\n')
        .map(|line| {
            length += line.len() as u64;
            length
        })
        .collect()
}

/// As soon as a write shows, the run is killed: before its fsync, in it, or a moment behind it.
#[test]
fn c01_a_kill_around_any_write_of_the_journal_leaves_at_most_one_post_for_a_pair() {
    let lengths = lengths();
    assert!(lengths.len() >= 7, "header, stats, two pairs with their outcomes, the end");
    for (nth, length) in lengths.iter().enumerate() {
        let name = format!("write {nth}");
        let machine = machine();
        let mut running = machine.start(&["run"]);
        let until = Instant::now() + SOON;
        while journal_length(&machine) < *length && running.is_running() && Instant::now() < until {
            std::hint::spin_loop();
        }
        running.kill();
        finish(&machine, &name);
        let (posts, accepted) = machine.most_posts();
        assert!(posts <= 1 && accepted <= 1, "{name}: {posts} POSTs, {accepted} tasks");
        // An intent whose POST was never made stays taken: at most the one that was interrupted.
        assert!(machine.platform.accepted().len() + 1 >= PAIRS, "{name}");
    }
}

/// A signal at any request: the answer is awaited, nothing new is started, nothing is in doubt.
#[test]
fn c14_a_signal_at_any_request_ends_the_run_in_order() {
    let healthy = machine();
    healthy.cycle(0);
    for nth in 1..=healthy.platform.requests().len() {
        for signal in ["TERM", "INT"] {
            let name = format!("{signal} at request {nth}");
            let machine = machine();
            let gate = machine.platform.hold(Trigger::nth(Kind::Any, nth));
            let running = machine.start(&["run"]);
            assert!(gate.wait_reached(SOON), "{name}");
            running.signal(signal);
            gate.release();
            let ended = running.end();
            assert_eq!(ended.held(), "interrupted", "{name}: {}", ended.log);
            // A POST and the precheck beside it are one start, in either order.
            let started = machine.platform.requests().len();
            let beside = usize::from(matches!(nth, 4 | 5));
            assert!((nth..=nth + beside).contains(&started), "{name}: something new was started");
            let sent = machine.platform.accepted().len();
            assert_eq!(ended.code, if sent > 0 { 0 } else { 20 }, "{name}: {}", ended.log);
            assert!(!ended.log.contains("outcome=unknown"), "{name}: {}", ended.log);
            finish(&machine, &name);
            assert_eq!(machine.most_posts(), (1, 1), "{name}");
            assert_eq!(machine.platform.accepted().len(), PAIRS, "{name}: all of them in the end");
        }
    }
}
