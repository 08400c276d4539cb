use super::*;
use crate::remote::tests::{Fake, catalog, page_of, row};

type Twist = fn(&mut TaskPage);

/// A list that was read whole, three rows a page.
fn known(ids: &[u64]) -> Remote {
    let catalog = catalog();
    let mut names = Names::new(&catalog);
    let tasks = ids.iter().map(|id| names.task(&row(*id))).collect();
    Remote { tasks, also_seen: vec![], page_size: 3 }
}

fn refreshed(remote: &mut Remote, page: TaskPage, listed: &[Option<TaskId>]) -> bool {
    let api = Fake::new(move |_, _, _| Ok(page.clone()));
    refresh(&api, &catalog(), remote, listed).unwrap().proved
}

fn ids(remote: &Remote) -> Vec<u64> {
    remote.tasks.iter().map(|task| task.id.0).collect()
}

#[test]
fn new_tasks_are_taken_in_wherever_they_stand_on_the_page() {
    for (now, expected) in [
        (vec![9, 7, 5, 3, 1], vec![9, 7, 5, 3, 1]),
        (vec![11, 9, 7, 5, 3, 1], vec![11, 9, 7, 5, 3, 1]),
        // An id that was drawn early and committed late.
        (vec![9, 8, 7, 5, 3, 1], vec![9, 8, 7, 5, 3, 1]),
        (vec![12, 11, 9, 7, 5, 3, 1], vec![12, 11, 9, 7, 5, 3, 1]),
    ] {
        let mut remote = known(&[9, 7, 5, 3, 1]);
        assert!(refreshed(&mut remote, page_of(&now, 1, 3), &[]), "{now:?}");
        assert_eq!(ids(&remote), expected);
        // And again, with what is known now.
        assert!(refreshed(&mut remote, page_of(&now, 1, 3), &[]), "{now:?}");
    }
    let mut empty = known(&[]);
    assert!(refreshed(&mut empty, page_of(&[], 1, 3), &[]));
    assert!(refreshed(&mut empty, page_of(&[4], 1, 3), &[]));
    assert_eq!(ids(&empty), [4]);
}

/// Each condition alone: what it excludes proves nothing, and what was seen is told.
#[test]
fn whatever_does_not_fit_proves_nothing() {
    let list = [9, 7, 5, 3, 1];
    let cases: [(&str, Vec<u64>, Vec<u64>); 6] = [
        ("the list was not descending", vec![9, 5, 7, 3, 1], list.to_vec()),
        ("a new task below the page", list.to_vec(), vec![9, 7, 5, 4, 3, 1]),
        ("a removed task on the page", list.to_vec(), vec![9, 5, 3, 1]),
        ("one removed and one added below", list.to_vec(), vec![9, 5, 4, 3, 1]),
        ("a page of new tasks alone", list.to_vec(), vec![14, 13, 12, 9, 7, 5, 3, 1]),
        ("a page out of order", list.to_vec(), vec![7, 9, 5, 3, 1]),
    ];
    for (name, before, now) in cases {
        let mut remote = known(&before);
        assert!(!refreshed(&mut remote, page_of(&now, 1, 3), &[]), "{name}");
        assert_eq!(ids(&remote), before, "{name}");
    }
    let twists: [(&str, Twist); 5] = [
        ("current", |page| page.current = 2),
        ("size", |page| page.size = 2),
        ("total", |page| page.total += 1),
        ("unreadable", |page| page.unreadable = 1),
        ("short", |page| drop(page.rows.pop())),
    ];
    for (name, twist) in twists {
        let mut page = page_of(&list, 1, 3);
        twist(&mut page);
        assert!(!refreshed(&mut known(&list), page, &[]), "{name}");
    }
}

#[test]
fn what_this_run_has_submitted_must_be_listed() {
    let list = [9, 7, 5, 3, 1];
    for (listed, proved) in [
        (vec![Some(TaskId(11))], true),
        (vec![Some(TaskId(11)), Some(TaskId(1))], true),
        (vec![Some(TaskId(12))], false),
        (vec![None], false),
    ] {
        let page = page_of(&[11, 9, 7, 5, 3, 1], 1, 3);
        assert_eq!(refreshed(&mut known(&list), page, &listed), proved, "{listed:?}");
    }
}

#[test]
fn what_an_unproved_page_has_shown_is_not_lost() {
    let api = Fake::new(|_, _, _| Ok(page_of(&[14, 13, 12, 9, 7, 5, 3, 1], 1, 3)));
    let seen = refresh(&api, &catalog(), &mut known(&[9, 7, 5, 3, 1]), &[]).unwrap().seen;
    assert_eq!(seen.iter().map(|task| task.id.0).collect::<Vec<_>>(), [14, 13, 12]);
}

#[test]
fn tasks_on_the_page_are_brought_up_to_date() {
    let mut remote = known(&[9, 7, 5, 3, 1]);
    let mut page = page_of(&[9, 7, 5, 3, 1], 1, 3);
    page.rows[1].status = "running".into();
    assert!(refreshed(&mut remote, page, &[]));
    assert_eq!(remote.stats().queue, 1);
}

#[test]
fn a_page_that_cannot_be_read_is_no_knowledge() {
    let failed = Fake::new(|_, _, _| Err(ReadError::Http(502)));
    assert!(refresh(&failed, &catalog(), &mut known(&[1]), &[]).is_err());
    let odd = Fake::new(|_, _, _| Err(ReadError::MalformedData("x".into())));
    assert!(!refresh(&odd, &catalog(), &mut known(&[1]), &[]).unwrap().proved);
}
