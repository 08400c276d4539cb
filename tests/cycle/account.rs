//! What a run keeps of the account for people to look at.

use std::os::unix::fs::PermissionsExt;

use submitter::account::{self, Account};

use crate::kit::{Machine, account, models, strs};

fn kept(machine: &Machine) -> Option<Account> {
    account::read(&machine.state()).unwrap()
}

#[test]
fn a_run_keeps_the_list_the_queue_and_what_comes_next() {
    let mut machine = Machine::new(account().with_history(30, &["Past/One"]), &strs(&models(15)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "2");
    machine.cycle(0);
    let account = kept(&machine).unwrap();
    let listed = machine.platform.own_tasks();
    // The last answer to a POST is younger than the last list.
    assert_eq!(account.tasks.len() + 1, listed.len());
    let (first, newest) = (&account.tasks[0], &listed[1]);
    assert_eq!((first.id.0, first.model.as_str()), (newest.id, "org/model-0"));
    let open = account.tasks.iter().filter(|task| task.state == submitter::remote::State::Open);
    assert_eq!(account.queue, open.count() as u64 + 1);
    assert_eq!(account.queue_threshold, 95);
    let next: Vec<&str> = account.next.iter().map(|next| &*next.model).collect();
    assert_eq!(next.len(), 10);
    // One model a row, from the first that has a free card: here, the next card of the first.
    assert_eq!(next[..2], ["Org/Model-0", "Org/Model-1"]);
    let mode = account::path(&machine.state()).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A run passes over what it has no `configParams` for, so that is not what comes next.
#[test]
fn what_cannot_be_built_does_not_come_next() {
    let rows = serde_json::json!([
        {"model_address": "Org/Odd", "framework": "no-such-framework"},
        {"model_address": "Org/Plain"},
    ]);
    let mut machine = Machine::with_rows(account(), &rows);
    machine.set("ASYNC_QUEUE_DEPTH", "95");
    machine.cycle(10);
    let next: Vec<_> = kept(&machine).unwrap().next.into_iter().map(|next| next.model).collect();
    assert_eq!(next, ["Org/Plain"]);
    machine.set("ASYNC_QUEUE_DEPTH", "");
    machine.cycle(0);
    assert!(machine.posted()[0].starts_with("org/plain "), "{:?}", machine.posted());
}

/// A held run has looked too; a run that could not read leaves what is there.
#[test]
fn a_held_run_keeps_it_and_a_failed_read_does_not() {
    let mut machine = Machine::one_card_each(account(), &strs(&models(2)));
    machine.set("ASYNC_QUEUE_DEPTH", "95");
    machine.cycle(10);
    let first = kept(&machine).unwrap();
    assert_eq!((first.queue, first.next.len()), (0, 2));
    machine.platform.set_token("another");
    machine.cycle(31);
    assert_eq!(kept(&machine), Some(first));
}

/// It is for looking at: a run goes on without it, and says so.
#[test]
fn an_account_that_cannot_be_kept_stops_nothing() {
    let machine = Machine::one_card_each(account(), &strs(&models(2)));
    std::fs::create_dir_all(account::path(&machine.state())).unwrap();
    let ended = machine.cycle(0);
    assert_eq!(machine.platform.posts().len(), 2);
    assert!(ended.line("[live] warning ").contains("account.jsonl"), "{}", ended.log);
}
