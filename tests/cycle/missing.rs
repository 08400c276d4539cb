//! An accepted task that a complete list does not hold.

use crate::kit::{Machine, account, models, strs};
use crate::platform::Kind;

/// A machine that has submitted `Org/Model-0` for `壁砺` and could submit more.
fn submitted() -> (Machine, u64) {
    let mut machine = Machine::new(account(), &strs(&models(2)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "1").cycle(0);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "9");
    let id = machine.platform.own_tasks()[0].id;
    (machine, id)
}

#[test]
fn a_missing_task_holds_then_pauses_and_stays_taken_when_a_person_has_looked() {
    let (machine, id) = submitted();
    machine.platform.remove_task(id);
    for _ in 0..2 {
        let ended = machine.cycle(20);
        assert_eq!(ended.held(), "task_missing");
        assert!(ended.line("[live] hold ").contains(&id.to_string()), "{}", ended.log);
    }
    machine.age_journal(3_240 - 60);
    assert_eq!(machine.cycle(20).held(), "task_missing", "too early to tell");
    machine.age_journal(60);
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "task_vanished");
    assert!(ended.line("[live] hold ").contains(&id.to_string()), "{}", ended.log);
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (1, 1));

    let asked = machine.asked();
    for _ in 0..2 {
        assert_eq!(machine.cycle(30).held(), "paused");
        drop(std::fs::remove_file(machine.state().join("pause.json")));
    }
    assert_eq!(machine.asked(), asked);

    let resumed = machine.run(&["resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.log);
    assert!(resumed.stdout.contains("org/model-0"), "{}", resumed.stdout);
    machine.cycle(0);
    assert_eq!(
        machine.posted(),
        ["org/model-0 Biren_166m", "org/model-0 Sunrise_pt-200-x1", "org/model-1 Biren_166m",],
        "the pair stays taken"
    );
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn a_missing_task_that_is_listed_again_is_forgotten() {
    let (machine, id) = submitted();
    let task = machine.platform.remove_task(id).unwrap();
    assert_eq!(machine.cycle(20).held(), "task_missing");
    machine.platform.insert_task(task);
    machine.age_journal(7_200);
    machine.cycle(0);
    machine.platform.remove_task(id);
    assert_eq!(machine.cycle(20).held(), "task_missing", "counted anew from here");
    assert_eq!(machine.most_posts(), (1, 1));
}

/// Somebody removed the task and submitted the pair again by hand.
#[test]
fn a_task_whose_pair_is_listed_under_another_id_is_not_missing() {
    let (machine, id) = submitted();
    let mut task = machine.platform.remove_task(id).unwrap();
    task.id = id + 7;
    task.gpu = "壁砺".into();
    machine.platform.insert_task(task);
    machine.cycle(0);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn a_task_that_is_listed_late_is_waited_for() {
    let machine = Machine::new(account().visible_after(2), &strs(&models(1)));
    machine.cycle(0);
    for _ in 0..2 {
        assert_eq!(machine.cycle(20).held(), "task_missing");
    }
    machine.age_journal(7_200);
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m", "org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn a_task_in_doubt_is_never_missing() {
    use crate::platform::{Fault, Trigger};
    let machine = Machine::new(account(), &strs(&models(2)));
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    machine.cycle(0);
    machine.age_journal(90 * 86_400);
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "candidates_done", "{}", ended.log);
    assert_eq!(machine.most_posts(), (1, 1));
}
