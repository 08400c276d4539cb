use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::*;
use crate::api::{Bucket, NewTask, Precheck, ReadApi, ReadError, SlicePage, TaskPage};
use crate::pair::ModelId;

/// Answers page requests from a script: a list, and a twist on the pages of it.
pub(super) struct Fake<F> {
    asked: RefCell<Vec<(u64, u64)>>,
    calls: Cell<usize>,
    answer: F,
}

impl<F: Fn(usize, u64, u64) -> Result<TaskPage, ReadError>> Fake<F> {
    pub(super) fn new(answer: F) -> Self {
        Self { asked: RefCell::default(), calls: Cell::new(0), answer }
    }
}

impl<F: Fn(usize, u64, u64) -> Result<TaskPage, ReadError>> ReadApi for Fake<F> {
    fn own_tasks(&self, current: u64, size: u64) -> Result<TaskPage, ReadError> {
        self.asked.borrow_mut().push((current, size));
        assert!(self.asked.borrow().len() < 50, "the read does not end");
        self.calls.set(self.calls.get() + 1);
        (self.answer)(self.calls.get(), current, size)
    }
    fn everyones_tasks(
        &self,
        _: Bucket,
        _: u64,
        _: u64,
        _: Duration,
    ) -> Result<SlicePage, ReadError> {
        unreachable!()
    }
    fn precheck(&self, _: &ModelId) -> Result<Precheck, ReadError> {
        unreachable!()
    }
    fn build_config(&self, _: &NewTask) -> Result<String, ReadError> {
        unreachable!()
    }
    fn requests(&self) -> u64 {
        self.calls.get() as u64
    }
}

pub(super) fn row(id: u64) -> TaskRow {
    TaskRow {
        id: TaskId(id),
        model: format!("org/m{id}"),
        card: "壁砺".into(),
        status: "success".into(),
        verify_result: Some(1),
        points: 1.0,
    }
}

/// Page `current` of a list of `ids`, as an honest server gives it.
pub(super) fn page_of(ids: &[u64], current: u64, size: u64) -> TaskPage {
    let from = usize::try_from((current - 1) * size).unwrap().min(ids.len());
    let to = (from + usize::try_from(size).unwrap()).min(ids.len());
    TaskPage {
        current,
        size,
        total: ids.len() as u64,
        rows: ids[from..to].iter().map(|id| row(*id)).collect(),
        unreadable: 0,
    }
}

pub(super) fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../data/gpus.json")).unwrap()
}

fn ids(n: u64) -> Vec<u64> {
    (1..=n).rev().collect()
}

fn read<F>(size: u64, answer: F) -> (Result<Remote, Unknown>, Vec<(u64, u64)>)
where
    F: Fn(usize, u64, u64) -> Result<TaskPage, ReadError>,
{
    let fake = Fake::new(answer);
    let result = read_all(&fake, &catalog(), size);
    (result, fake.asked.into_inner())
}

fn incomplete(result: Result<Remote, Unknown>) -> Gap {
    match result {
        Err(Unknown::Incomplete(gap)) => gap,
        other => panic!("expected a gap, got {other:?}"),
    }
}

#[test]
fn an_honest_list_is_read_in_pages_and_page_1_again() {
    for (n, asked) in [
        (0, vec![(1, 10)]),
        (10, vec![(1, 10)]),
        (11, vec![(1, 10), (2, 10), (1, 10)]),
        (30, vec![(1, 10), (2, 10), (3, 10), (1, 10)]),
    ] {
        let (result, got) = read(10, |_, current, size| Ok(page_of(&ids(n), current, size)));
        assert_eq!(result.unwrap().tasks.len() as u64, n);
        assert_eq!(got, asked);
    }
}

#[test]
fn p01_a_clamped_size_starts_again_with_it_once() {
    let clamped = |current: u64, size: u64| {
        // Clamping comes after counting: page 2 of the requested size is past the end.
        if current == 1 {
            page_of(&ids(20), 1, size.min(10))
        } else if size > 10 {
            TaskPage { rows: vec![], ..page_of(&ids(20), current, size) }
        } else {
            page_of(&ids(20), current, size)
        }
    };
    let (result, asked) = read(500, |_, current, size| Ok(clamped(current, size)));
    assert_eq!(result.unwrap().tasks.len(), 20);
    assert_eq!(asked, [(1, 500), (1, 10), (2, 10), (1, 10)]);

    // Shrinking without end is not followed.
    let (result, asked) = read(500, |_, current, size| {
        Ok(TaskPage { size: size / 2, ..page_of(&ids(9), current, 9) })
    });
    incomplete(result);
    assert!(asked.len() <= 4, "{asked:?}");
}

#[test]
fn p02_a_page_past_the_end_that_is_page_1_again_is_no_page() {
    let (result, _) = read(10, |_, _, size| Ok(page_of(&ids(25), 1, size)));
    // The second pass, as a single page, sees the whole list.
    assert_eq!(result.unwrap().tasks.len(), 25);
    let (result, _) = read(10, |_, _, _| Ok(page_of(&ids(25), 1, 10)));
    incomplete(result);
}

#[test]
fn p04_equal_sort_keys_show_in_the_distinct_count() {
    let order = [9, 8, 7, 6, 5, 4, 3, 2, 1];
    let (result, asked) = read(6, |_, current, size| {
        let mut page = page_of(&order, current, size);
        if size == 6 && current == 2 {
            page.rows[0] = row(9);
        }
        Ok(page)
    });
    let remote = result.unwrap();
    assert_eq!(asked.last(), Some(&(1, 9)));
    assert_eq!(remote.tasks.len(), 9);
    assert!(remote.also_seen.len() >= 9, "what the first pass has seen is kept");

    let (result, _) = read(6, |_, current, size| {
        let mut page = page_of(&order, current, size);
        if let Some(last) = page.rows.last_mut() {
            *last = row(9);
        }
        Ok(page)
    });
    let gap = incomplete(result);
    assert_eq!((gap.total, gap.distinct), (Some(9), 8));
}

#[test]
fn p05_rows_that_come_and_go_between_pages_show() {
    // A deletion and an insertion after page 1: every total agrees, row 6 is never seen.
    let (before, after) = ([9, 8, 7, 6, 5, 4, 3], [10, 9, 8, 6, 5, 4, 3]);
    let (result, asked) = read(3, |call, current, size| {
        Ok(page_of(if call <= 1 { &before } else { &after }, current, size))
    });
    let remote = result.unwrap();
    assert_eq!(asked, [(1, 3), (2, 3), (3, 3), (1, 3), (1, 7)]);
    assert_eq!(remote.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>(), after);
    assert!(remote.also_seen.iter().any(|task| task.id == TaskId(7)));

    // An insertion alone changes the total.
    let (result, asked) = read(3, |call, current, size| {
        Ok(page_of(&ids(if call <= 1 { 6 } else { 7 }), current, size))
    });
    assert_eq!(result.unwrap().tasks.len(), 7);
    assert_eq!(asked, [(1, 3), (2, 3), (1, 6), (2, 6), (1, 6)]);
}

#[test]
fn p09_a_row_that_cannot_be_read_is_never_skipped() {
    let (result, _) = read(10, |_, current, size| {
        let mut page = page_of(&ids(5), current, size);
        page.rows.pop();
        page.unreadable = 1;
        Ok(page)
    });
    assert!(incomplete(result).what.contains("without a readable"));
}

#[test]
fn p11_no_failure_is_ever_the_end_of_the_list() {
    for error in [ReadError::Http(404), ReadError::Transport("eof".into()), ReadError::Platform(1)]
    {
        let (result, asked) = read(10, |_, current, size| {
            if current == 2 { Err(error.clone()) } else { Ok(page_of(&ids(30), current, size)) }
        });
        assert_eq!(result.unwrap_err(), Unknown::Request { page: 2, error });
        assert_eq!(asked.len(), 2);
    }
}

#[test]
fn every_number_of_a_page_is_checked() {
    type Twist = fn(&mut TaskPage);
    let twists: [(&str, Twist); 6] = [
        ("current", |page| page.current += 1),
        ("larger size", |page| page.size += 1),
        ("total of a later page", |page| page.total += u64::from(page.current == 2)),
        ("short page", |page| drop(page.rows.pop())),
        ("long page", |page| page.rows.push(row(1_000))),
        ("total without rows", |page| page.total += 40),
    ];
    for (name, twist) in twists {
        let (result, asked) = read(10, |_, current, size| {
            let mut page = page_of(&ids(25), current, size.min(25));
            page.size = size;
            twist(&mut page);
            // The second pass is one page: make it as wrong as the first.
            if size > 10 && page.total == 25 {
                page.rows.truncate(20);
            }
            Ok(page)
        });
        incomplete(result);
        assert!(asked.len() <= 12, "{name}: {asked:?}");
    }
}

#[test]
fn status_and_verify_result_are_read_as_a_pair() {
    for (status, verify, state) in [
        ("waiting", Some(1), State::Open),
        ("running", Some(0), State::Open),
        ("running", None, State::Open),
        ("anything new", Some(1), State::Open),
        ("success", Some(1), State::Passed),
        ("success", Some(-1), State::NotPassed),
        ("success", None, State::Other),
        ("failed", Some(1), State::Failed),
        ("stopped", Some(1), State::Other),
        ("canceled", None, State::Other),
        ("cancelled", None, State::Other),
    ] {
        assert_eq!(State::of(status, verify), state, "{status} {verify:?}");
    }
}

#[test]
fn stats_sum_to_the_total_and_count_points_of_passes_alone() {
    let mut tasks = Vec::new();
    for (id, (status, verify)) in [
        ("success", Some(1)),
        ("success", Some(-1)),
        ("failed", Some(1)),
        ("stopped", None),
        ("waiting", Some(1)),
        ("running", None),
    ]
    .into_iter()
    .enumerate()
    {
        let row =
            TaskRow { status: status.into(), verify_result: verify, points: 2.5, ..row(id as u64) };
        tasks.push(Names::new(&catalog()).task(&row));
    }
    let stats = Remote { tasks, also_seen: vec![], page_size: 1 }.stats();
    let expected = Stats {
        total: 6,
        queue: 2,
        verify_pass: 1,
        verify_fail: 1,
        failed: 1,
        unknown: 1,
        points: 2.5,
    };
    assert_eq!(stats, expected);
}

#[test]
fn tasks_are_found_in_a_list_of_any_order() {
    for ids in [&[9, 7, 3][..], &[3, 7, 9], &[7, 9, 3], &[]] {
        let tasks = ids.iter().map(|id| Names::new(&catalog()).task(&row(*id))).collect();
        let remote = Remote { tasks, also_seen: vec![], page_size: 1 };
        let index = remote.index();
        for id in 0..11 {
            let is_listed = ids.contains(&id);
            assert_eq!(index.has_id(TaskId(id)), is_listed, "{id} in {ids:?}");
            let model = ModelKey::parse(&format!("org/m{id}")).unwrap();
            let pair = Pair::new(model.clone(), Gpu::verbatim("Biren_166m"));
            assert_eq!(index.task_of(&pair).map(|task| task.id.0), is_listed.then_some(id));
            assert!(!index.has_pair(&Pair::new(model, Gpu::verbatim("A_1"))));
        }
    }
}
