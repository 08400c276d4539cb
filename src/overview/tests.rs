use super::*;
use crate::account::Account;
use crate::api::TaskId;
use crate::gpu::Gpu;
use crate::journal::event::{CycleEnd, Event, Record};
use crate::journal::history::{DAY, History};
use crate::pair::{ModelKey, Pair};
use crate::remote::{State, Stats, Task};

const NOW: u64 = 20_600 * DAY + 4_000;

fn history(events: impl IntoIterator<Item = (u64, Event)>) -> History {
    let mut history = History::default();
    events.into_iter().for_each(|(at, event)| history.apply(Record { at, event }).unwrap());
    history
}

fn pair(model: &str) -> Pair {
    Pair::new(ModelKey::seen(model).remove(0), Gpu::verbatim("A_1"))
}

fn task(id: u64, model: &str, gpu: &str) -> Task {
    let pair = pair(model);
    let (gpu, state) = (Some(Gpu::verbatim(gpu)), State::Passed);
    Task { id: TaskId(id), model: pair.model, or_models: Box::default(), gpu, state, points: 1.0 }
}

fn cycle(reason: &str, exit: u8) -> Event {
    let reason = reason.into();
    Event::Cycle(CycleEnd { reason, exit, submitted: 0, rejected: 0, in_doubt: 0, requests: 1 })
}

/// Whether every element is closed where it must be, and every attribute is quoted.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (_, body) = page.split_once("<!DOCTYPE html>").unwrap();
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("never ends: {part}"));
        let is_style = open.last() == Some(&"style");
        assert!(is_style || !text.contains('>'), "a stray >: {part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert_eq!(tag.matches("=\"").count() * 2, tag.matches('"').count(), "{tag}");
        let name = tag.split([' ', '\n', '/']).find(|name| !name.is_empty()).unwrap();
        match tag {
            _ if ["meta", "wbr"].contains(&name) || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "{part}"),
            _ => open.push(name),
        }
    }
    assert_eq!(open, [""; 0], "never closed");
}

/// What holds for every page.
fn drawn(history: &History, account: Option<&Account>, pause: Option<Pause>) -> String {
    let facts = Facts::gather(history, account, pause, NOW);
    let page = page(&facts);
    assert_well_formed(&page);
    assert_eq!(page, super::page(&facts.clone()), "the same input, the same page");
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline';"));
    for foreign in ["<script", "<link", "<img", "http:", "https:", "url(", "@import", "src=\""] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for said in ["lang=\"en\"", "<main>", "<h1>", "</footer>", "name=\"viewport\""] {
        assert!(page.contains(said), "{said}");
    }
    page
}

#[test]
fn an_empty_state_folder_says_so() {
    let page = drawn(&History::default(), None, None);
    for said in [
        "No run has been recorded in this state folder yet.",
        "Nothing has been recorded yet.",
        "No own task is known yet.",
        "No pair is in doubt now.",
        "Nothing has been rejected yet.",
        "No model has been tried yet.",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let no_read = history([(NOW, cycle("ledger_rebuild_failed", 20))]);
    assert!(drawn(&no_read, None, None).contains("No run has read the account yet."));
}

#[test]
fn one_day_with_nothing_passed_reads_well() {
    let stats = Stats { total: 1, queue: 1, ..Stats::default() };
    let first = history([
        (NOW - 60, Event::Stats(stats)),
        (NOW - 50, Event::Intent { pair: pair("org/a") }),
        (NOW - 49, Event::Accepted { pair: pair("org/a"), task: Some(TaskId(5)) }),
        (NOW - 40, cycle("candidates_done", 0)),
    ]);
    let page = drawn(&first, None, None);
    let read =
        format!("UTC, by the list that a run read <time datetime=\"{}", time::machine(NOW - 60));
    assert!(page.contains(&read), "{page}");
    assert!(page.contains("None yet: they are counted from the last read"));
    assert!(page.contains("accepted 1 in all") && page.contains("points 0 at last"));
    assert!(page.contains("<dt>Queue</dt><dd>1</dd>"), "without an account the list's own number");
    assert!(page.contains("<dt>Last hour</dt><dd>1</dd>"));
    assert!(page.contains("class=\"open\">taken<"));
}

#[test]
fn what_needs_a_person_stands_at_the_top() {
    let missing = history([
        (NOW - DAY, Event::Intent { pair: pair("org/gone") }),
        (NOW - DAY, Event::Accepted { pair: pair("org/gone"), task: Some(TaskId(5)) }),
        (NOW - 9, Event::Missing { pair: pair("org/gone") }),
        (NOW - 9, Event::Paused { reason: "task_vanished".into() }),
        (NOW - 8, cycle("task_vanished", 30)),
    ]);
    let page = drawn(&missing, None, None);
    assert!(page.contains("<li>Paused: task_vanished. Nothing"), "{page}");
    assert!(page.contains("<li>The last cycle needs a person: task_vanished, exit 30.</li>"));
    assert!(page.contains("missing from a complete list (1)"));
    let by_hand = Pause { at: 86_400, reason: "holiday".into() };
    let page = drawn(&missing, None, Some(by_hand));
    assert!(page.contains("<li>Paused since 1970-01-02 00:00 UTC: holiday."));
}

/// Names come from a platform that takes any, and a file can be edited.
#[test]
fn a_name_is_never_markup() {
    let evil = "<script>alert(1)</script>\"'&><img src=x onerror=y>";
    let account = Account {
        tasks: vec![task(1, "<b onclick=x>", "A_1"), task(2, "gpt2", evil)],
        ..Account::default()
    };
    let doubt = Pair::new(ModelKey::seen("<i>").remove(0), Gpu::verbatim(evil));
    let events = [
        (NOW, Event::Intent { pair: doubt }),
        (NOW, cycle(evil, 30)),
        (NOW, Event::Paused { reason: evil.into() }),
    ];
    let page = drawn(&history(events), Some(&account), None);
    assert!(!page.contains("<b onclick") && !page.contains("<i>"));
    assert!(page.contains("&lt;b onclick=x&gt;") && page.contains("&lt;script&gt;"));
}

#[test]
fn a_large_account_makes_a_small_page_that_says_what_it_leaves_out() {
    let name = |n: u64| format!("org/family{}-{n}b", n % 50);
    let tasks = (0..20_000).map(|n| task(n, &name(n % 5_000), &format!("A_{}", n % 32)));
    let account = Account { tasks: tasks.collect(), ..Account::default() };
    let doubts = (0..60).map(|n| (NOW - 100 + n, Event::Intent { pair: pair(&name(n)) }));
    let page = drawn(&history(doubts), Some(&account), None);
    assert!(page.len() < 600 << 10, "{} bytes", page.len());
    for said in [
        "370 more models",
        "4600 models with older tasks or none are left out",
        "8 cards with fewer tasks are left out",
        "10 more with fewer tasks are left out",
        "20 younger ones are left out",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // Those in doubt come first, then the newest.
    let first = |name: &str| page.find(&format!("<th scope=\"row\">{}", html::Name(name))).unwrap();
    assert!(first("org/family0-0b") < first("org/family49-4999b"));
    assert!(first("org/family49-4999b") < first("org/family48-4998b"));
}

#[test]
fn days_ahead_of_the_clock_and_long_ago_are_not_drawn() {
    let read = |passed| Event::Stats(Stats { verify_pass: passed, ..Stats::default() });
    let day = |n: u64| n * DAY;
    let events = [
        (day(20_000), read(1)),
        (day(20_598), read(5)),
        (day(20_600), read(3)),
        (day(30_000), read(9)),
    ];
    let facts = Facts::gather(&history(events), None, None, NOW);
    assert_eq!(facts.days.len() as u64, days::SHOWN);
    let passed: Vec<_> = facts.days.iter().rev().take(3).map(|day| day.passed).collect();
    assert_eq!(passed, [Some(-2), None, Some(4)]);
    assert_eq!(facts.days.last().unwrap().number, 20_600);
}

/// Numbers of a file are whatever stands there.
#[test]
fn the_greatest_numbers_make_a_page() {
    let rejected = [(i64::MIN, u64::MAX), (60_022, u64::MAX)].into();
    let [accepted, in_doubt, settled] = [u64::MAX; 3];
    let day =
        crate::journal::history::Day { day: NOW / DAY, accepted, in_doubt, settled, rejected };
    let counts =
        Stats { total: u64::MAX, verify_pass: u64::MAX, points: -1e308, ..Stats::default() };
    let history = history([(NOW, Event::Day(day)), (NOW, Event::Stats(counts))]);
    drawn(&history, None, None);
}
