//! `pause` and `resume`, and two runs that meet.

use std::time::Duration;

use crate::kit::{Machine, Running, account, exists, models, strs};
use crate::platform::{Gate, Kind, Trigger};

const PATIENCE: Duration = Duration::from_secs(20);

fn machine() -> Machine {
    Machine::new(account(), &strs(&models(3)))
}

/// A run whose first precheck waits for its answer, so that it holds the journal.
fn held_run(machine: &Machine) -> (Running, Gate) {
    let gate = machine.platform.hold(Trigger::nth(Kind::Precheck, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(PATIENCE));
    (running, gate)
}

/// Lets the run that holds the journal have begun so many seconds ago.
fn backdate_holder(machine: &Machine, seconds: u64) {
    let path = machine.state().join("run.json");
    let mut holder: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let began = holder["started_at"].as_u64().unwrap();
    holder["started_at"] = (began - seconds).into();
    std::fs::write(path, holder.to_string()).unwrap();
}

#[test]
fn a_pause_by_hand_holds_every_run_before_its_first_request_until_resume() {
    let machine = machine();
    let ended = machine.run(&["pause", "--reason", "holiday\n[live] submitted model=x gpu=y"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    for _ in 0..2 {
        let ended = machine.cycle(30);
        assert_eq!(ended.held(), "paused");
        assert!(ended.line("[live] hold ").contains("holiday"), "{}", ended.log);
        assert_eq!(ended.lines("[live] submitted").count(), 0);
    }
    assert_eq!(machine.asked(), 0);
    assert_eq!(machine.run(&["resume"]).code, 0);
    machine.cycle(0);
    assert_eq!(machine.posts(), 3);
}

#[test]
fn pause_and_resume_may_be_said_twice_and_before_the_first_run() {
    let machine = machine();
    for command in ["resume", "resume", "pause", "pause"] {
        assert_eq!(machine.run(&[command]).code, 0, "{command}");
    }
    assert_eq!(machine.cycle(30).held(), "paused");
    for _ in 0..2 {
        assert_eq!(machine.run(&["resume"]).code, 0);
    }
    machine.cycle(0);
}

/// Whatever stands there, somebody meant a pause.
#[test]
fn a_pause_file_that_cannot_be_read_pauses() {
    let machine = machine();
    std::fs::create_dir(machine.state()).unwrap();
    std::fs::write(machine.state().join("pause.json"), "").unwrap();
    assert_eq!(machine.cycle(30).held(), "paused");
    assert_eq!(machine.asked(), 0);
}

#[test]
fn c15_a_pause_during_a_run_works_and_stops_it_before_its_next_post() {
    let machine = machine();
    let (running, gate) = held_run(&machine);
    let paused = machine.run(&["pause"]);
    assert_eq!(paused.code, 0, "{}", paused.log);
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (30, "paused"));
    assert_eq!(machine.posts(), 0);
    assert!(!machine.journal().contains("intent"), "{}", machine.journal());
    assert_eq!(machine.run(&["resume"]).code, 0);
    machine.cycle(0);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn a_pause_between_two_posts_stops_the_second() {
    let machine = machine();
    let gate = machine.platform.hold(Trigger::nth(Kind::Add, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(PATIENCE));
    assert_eq!(machine.run(&["pause"]).code, 0);
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (30, "paused"), "30 wins over the accepted task");
    assert_eq!((ended.counted("submitted"), machine.posts()), (1, 1));
}

#[test]
fn a_run_that_finds_another_holds_at_once_and_asks_nothing() {
    let machine = machine();
    let (running, gate) = held_run(&machine);
    let asked = machine.asked();
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "another_run");
    assert_eq!(ended.counted("requests"), 0);
    backdate_holder(&machine, 1_190);
    assert_eq!(machine.cycle(10).held(), "another_run");
    backdate_holder(&machine, 20);
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "another_run", "past twice the deadline of 600 s");
    let pid = running.id().to_string();
    assert!(ended.line("[live] hold ").contains(&pid), "{}", ended.log);
    let quiet = machine.run(&["run", "-q"]);
    assert_eq!((quiet.code, quiet.log.lines().count()), (30, 1));
    assert_eq!(machine.asked(), asked);
    gate.release();
    assert_eq!(running.end().code, 0);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn c08_the_lock_of_a_killed_run_blocks_nobody() {
    let machine = machine();
    let (mut running, gate) = held_run(&machine);
    assert_eq!(machine.cycle(10).held(), "another_run");
    running.kill();
    gate.release();
    machine.platform.reset_faults();
    machine.cycle(0);
    assert_eq!(machine.posts(), 3);
    assert_eq!(machine.most_posts(), (1, 1));
}

/// Killed with its POST on the way: the pair stays taken, and the platform has it once.
#[test]
fn c08_a_run_that_is_killed_during_its_post_leaves_its_pair_in_doubt() {
    for committed in [true, false] {
        let machine = machine();
        let trigger = Trigger::nth(Kind::Add, 1);
        let gate = if committed {
            machine.platform.hold(trigger)
        } else {
            machine.platform.hold_before_commit(trigger)
        };
        let mut running = machine.start(&["run"]);
        assert!(gate.wait_reached(PATIENCE));
        running.kill();
        machine.cycle(0);
        gate.release();
        machine.age_journal(7_200);
        machine.cycle(0);
        assert_eq!(machine.most_posts(), (1, 1), "committed before the answer: {committed}");
    }
}

#[test]
fn a_journal_that_is_replaced_during_a_run_stops_the_run_before_its_post() {
    let machine = machine();
    let (running, gate) = held_run(&machine);
    let journal = machine.state().join("journal.jsonl");
    std::fs::rename(&journal, machine.state().join("moved.jsonl")).unwrap();
    std::fs::copy(machine.state().join("moved.jsonl"), &journal).unwrap();
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (30, "state_write_failed"));
    assert_eq!(machine.posts(), 0);
}

/// A person's shell may know another state folder than the cron job.
#[test]
fn a_folder_that_no_run_has_used_is_told_and_nothing_is_made_in_it() {
    let machine = Machine::new(account(), &["Org/Model"]);
    let resumed = machine.run(&["resume"]);
    assert!(resumed.stdout.starts_with("not paused ("), "{}", resumed.stdout);
    let resolved = machine.run(&["resolve", "Org/Model", "壁砺", "--submitted"]);
    assert_eq!((resolved.code, resolved.held()), (30, "not_in_doubt"), "{}", resolved.log);
    assert!(!exists(&machine.state()));
    let paused = machine.run(&["pause"]);
    assert_eq!(paused.code, 0);
    assert!(paused.line("[live] warning ").contains("name it with --state-dir"));
    assert_eq!(machine.cycle(30).held(), "paused");
    assert_eq!(machine.run(&["resume"]).stdout, "resumed\n");
    machine.cycle(0);
}
