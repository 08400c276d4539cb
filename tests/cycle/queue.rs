//! The queue gate: unfinished tasks, those that the list does not show yet, and hints.

use crate::kit::{Machine, account, models, strs};
use crate::platform::{Account, Fault, Kind, Task, Tasks, Trigger};

/// An account with so many waiting tasks, of which no candidate is one.
fn waiting(n: u64) -> Account {
    (1..=n).fold(account(), |account, id| {
        account.with_task(Task::new(id, &format!("Past/Task-{id}"), "壁砺"))
    })
}

#[test]
fn a_queue_of_95_holds_without_a_precheck() {
    let machine = Machine::new(waiting(95), &strs(&models(2)));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "queue_full");
    assert!(ended.line("[live] stats ").contains(" total=95 queue=95 "), "{}", ended.log);
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (0, 0));
}

#[test]
fn a_queue_of_94_lets_one_submission_through() {
    let machine = Machine::new(waiting(94), &strs(&models(2)));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "queue_full");
    assert!(ended.line("[live] submitted ").contains(" queue_before=94 "), "{}", ended.log);
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (1, 1));
    assert_eq!(machine.cycle(10).held(), "queue_full");
    assert_eq!(machine.posts(), 1);
}

#[test]
fn a_lower_threshold_holds_earlier() {
    let mut machine = Machine::new(waiting(3), &strs(&models(9)));
    machine.set("LIVE_QUEUE_THRESHOLD", "5");
    assert_eq!(machine.cycle(0).held(), "queue_full");
    assert_eq!(machine.posts(), 2);
}

/// The list shows none of this cycle's tasks: they are counted from the journal.
#[test]
fn accepted_tasks_that_the_list_does_not_show_yet_count_into_the_queue() {
    let account = waiting(90).visible_after(1_000);
    let machine = Machine::new(account, &strs(&models(9)));
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "queue_full");
    assert_eq!(machine.posts(), 5);
    let before: Vec<&str> = ended
        .lines("[live] submitted ")
        .map(|line| line.split(' ').find(|field| field.starts_with("queue_before=")).unwrap())
        .collect();
    let counted = [90, 91, 92, 93, 94].map(|n| format!("queue_before={n}"));
    assert_eq!(before, counted);
}

#[test]
fn a_task_in_doubt_counts_into_the_queue_of_later_runs_too() {
    let machine = Machine::new(waiting(93), &strs(&models(3)));
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    let ended = machine.cycle(0);
    assert_eq!(ended.held(), "queue_full");
    assert_eq!((ended.counted("submitted"), ended.counted("in_doubt")), (1, 1));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "queue_full", "94 in the list, and one in doubt");
    assert_eq!(machine.posts(), 2);
}

#[test]
fn a_queue_that_fills_up_between_precheck_and_post_holds() {
    let machine = Machine::new(waiting(90), &strs(&models(2)));
    let fill = |tasks: &mut Tasks| {
        (500..505)
            .for_each(|id| tasks.insert(Task::new(id, &format!("Past/By-Hand-{id}"), "壁砺")));
    };
    machine.platform.fault(Trigger::nth(Kind::Precheck, 1), Fault::then(fill));
    assert_eq!(machine.cycle(10).held(), "queue_full");
    assert_eq!(machine.posts(), 0);
}

#[test]
fn a_pair_that_somebody_takes_between_precheck_and_post_moves_to_the_next_card() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    let by_hand = |tasks: &mut Tasks| tasks.insert(Task::new(40_000, "org/model-0", "壁砺"));
    machine.platform.fault(Trigger::nth(Kind::Precheck, 1), Fault::then(by_hand));
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

/// The id lies below those that the rebuild has seen: it was drawn earlier, and committed later.
#[test]
fn a_pair_that_is_taken_under_a_lower_id_is_seen_before_the_post() {
    let machine =
        Machine::new(waiting(3).with_task(Task::new(900, "Past/Last", "壁砺")), &["Org/Model-0"]);
    let late = |tasks: &mut Tasks| tasks.insert(Task::new(500, "Org/Model-0", "Biren_166m"));
    machine.platform.fault(Trigger::nth(Kind::Precheck, 1), Fault::then(late));
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn a_model_that_somebody_takes_on_its_only_card_is_not_posted_at_all() {
    let rows = serde_json::json!([
        {"model_address": "Org/Model-0", "target_gpu": "壁砺"},
        {"model_address": "Org/Model-1", "target_gpu": "壁砺"},
    ]);
    let machine = Machine::with_rows(account(), &rows);
    let by_hand = |tasks: &mut Tasks| tasks.insert(Task::new(40_000, "org/model-0", "壁砺"));
    machine.platform.fault(Trigger::nth(Kind::Precheck, 1), Fault::then(by_hand));
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-1 Biren_166m"]);
}

#[test]
fn a_hint_blocks_at_the_threshold_and_when_it_cannot_be_read() {
    let mut machine = Machine::new(account(), &["Org/Model-0"]);
    let file = |name: &str, text: &str| machine.write(name, text);
    let full = [
        file("full.json", r#"{"queue":95}"#),
        file("many.json", "2000\n"),
        file("empty.json", ""),
        file("odd.json", r#"{"queue":"1"}"#),
        file("html.json", "<html>"),
        machine.folder.path().join("missing.json").display().to_string(),
        machine.folder.path().display().to_string(),
        r#"{"queue":95}"#.to_owned(),
        r#"{"queue":-1}"#.to_owned(),
        r#"{"depth":1}"#.to_owned(),
        "96".to_owned(),
        "null".to_owned(),
    ];
    let (few, free) = (file("few.json", "\u{feff}{\"queue\": 94}\n"), r#"{"queue":0}"#);
    for value in &full {
        machine.set("QUEUE_SNAPSHOT_JSON", value);
        let ended = machine.cycle(10);
        assert_eq!(ended.held(), "queue_full", "{value}");
        assert!(ended.line("[live] hold ").contains("QUEUE_SNAPSHOT_JSON"), "{}", ended.log);
    }
    machine.set("QUEUE_SNAPSHOT_JSON", "");
    for value in ["95", "many", "-1", "1e1", " 1", "99999999999999999999"] {
        machine.set("ASYNC_QUEUE_DEPTH", value);
        let ended = machine.cycle(10);
        assert_eq!(ended.held(), "queue_full", "{value}");
        assert!(ended.line("[live] hold ").contains("ASYNC_QUEUE_DEPTH"), "{}", ended.log);
    }
    // One that blocks is enough.
    machine.set("ASYNC_QUEUE_DEPTH", "95").set("QUEUE_SNAPSHOT_JSON", free);
    assert_eq!(machine.cycle(10).held(), "queue_full");
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (0, 0));
    machine.set("ASYNC_QUEUE_DEPTH", "94").set("QUEUE_SNAPSHOT_JSON", &few);
    machine.cycle(0);
    assert_eq!(machine.posts(), 1);
}

#[test]
fn a_hint_never_opens_a_full_queue() {
    let mut machine = Machine::new(waiting(95), &["Org/Model-0"]);
    machine.set("ASYNC_QUEUE_DEPTH", "0").set("QUEUE_SNAPSHOT_JSON", "0");
    assert_eq!(machine.cycle(10).held(), "queue_full");
    assert_eq!(machine.posts(), 0);
}
