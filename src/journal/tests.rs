use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::gpu::Gpu;
use crate::pair::{ModelKey, Pair};

pub(super) const HEADER: &str = "{\"submitter_journal\":1}\n";

fn intent(model: &str) -> Event {
    Event::Intent { pair: Pair::new(ModelKey::parse(model).unwrap(), Gpu::verbatim("A_1")) }
}

fn line(event: Event) -> String {
    String::from_utf8(line_of(&Record { at: 7, event }).unwrap()).unwrap()
}

/// Bytes in memory, with faults.
#[derive(Debug, Clone, Default)]
struct Memory(Rc<RefCell<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    bytes: Vec<u8>,
    moved: bool,
    /// The next append writes this much and fails.
    short_write: Option<usize>,
}

impl LogFile for Memory {
    fn is_current(&self) -> io::Result<bool> {
        Ok(!self.0.borrow().moved)
    }
    fn append(&mut self, line: &[u8], _: bool) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        let written = disk.short_write.take();
        disk.bytes.extend_from_slice(&line[..written.unwrap_or(line.len())]);
        written.map_or(Ok(()), |_| Err(io::ErrorKind::StorageFull.into()))
    }
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().bytes = bytes.to_vec();
        Ok(())
    }
    fn length(&self) -> u64 {
        self.0.borrow().bytes.len() as u64
    }
}

fn resumed(text: &str) -> (Journal<Memory>, Memory) {
    let disk = Memory::default();
    disk.0.borrow_mut().bytes = text.as_bytes().to_vec();
    let replay = replay(text.as_bytes()).unwrap();
    (Journal::resume(disk.clone(), text.as_bytes(), replay, 9, COMPACT_FROM).unwrap(), disk)
}

/// C05: an emptied or foreign file is never "nothing submitted yet".
#[test]
fn c05_what_is_not_a_journal_is_damage() {
    for bytes in [
        &b""[..],
        b"\n",
        &[0; 1879],
        b"{}\n",
        b"{\"submitter_journal\":1}",
        b"{\"submitter_journal\":1,\"x\":2}\n",
        b"{\"pairs\":[]}\n",
    ] {
        let damage = replay(bytes).unwrap_err();
        assert_eq!((damage.line, damage.what.as_str()), (1, "the header is missing"));
    }
    let newer = replay(b"{\"submitter_journal\":2}\n").unwrap_err();
    assert!(newer.what.contains("newer"), "{newer}");
}

/// C04: a bad line that is not the torn end is damage, and names its place.
#[test]
fn c04_damage_in_the_middle_is_never_skipped() {
    for bad in ["\n", "{\n", "\0\0\n", "{\"at\":1,\"event\":{\"later\":{}}}\n", "{\"at\":1}\n"] {
        let text = format!("{HEADER}{}{bad}{}", line(intent("a/b")), line(intent("a/c")));
        assert_eq!(replay(text.as_bytes()).unwrap_err().line, 3, "{bad:?}");
    }
}

#[test]
fn c04_bytes_that_are_no_text_are_damage_of_their_line() {
    let whole = |text: &str| text.trim_end().as_bytes().to_vec();
    for bad in [&b"\xff"[..], b"{\xff}", &[&whole(&line(intent("a/d")))[..], b"\xc3"].concat()] {
        let before = format!("{HEADER}{}", line(intent("a/b")));
        let damaged = [before.as_bytes(), bad, b"\n", line(intent("a/c")).as_bytes()].concat();
        let damage = replay(&damaged).unwrap_err();
        assert_eq!((damage.line, damage.what.as_str()), (3, "not a record: not UTF-8"));
        // What was damaged before it is told first.
        let earlier = [HEADER.as_bytes(), b"{\n", bad, b"\n"].concat();
        assert_eq!(replay(&earlier).unwrap_err().line, 2);
        assert_eq!(replay(&[bad, b"\n"].concat()).unwrap_err().line, 1);
        // Behind the last newline they are torn.
        let torn = replay(&[before.as_bytes(), bad].concat()).unwrap();
        assert!(torn.torn.is_some());
    }
}

/// C04: nothing is ever appended to a torn tail.
#[test]
fn c04_a_torn_tail_is_cut_off_and_recorded() {
    let whole = format!("{HEADER}{}", line(intent("a/b")));
    let next = line(intent("a/c"));
    for end in 1..next.len() {
        let (mut journal, disk) = resumed(&format!("{whole}{}", &next[..end]));
        journal.record(9, Event::Paused { reason: "x".into() }).unwrap();
        let bytes = disk.0.borrow().bytes.clone();
        assert!(bytes.starts_with(whole.as_bytes()));
        let again = replay(&bytes).unwrap();
        assert_eq!(again.torn, None);
        assert_eq!(again.history.pause(), Some("x"));
    }
}

#[test]
fn what_is_recorded_is_what_is_replayed() {
    let (mut journal, disk) = resumed(HEADER);
    let pair = || Pair::new(ModelKey::parse("a/b").unwrap(), Gpu::verbatim("A_1"));
    journal.record(1, intent("a/b")).unwrap();
    journal.record(2, Event::Accepted { pair: pair(), task: None }).unwrap();
    journal.note(3, Event::Stats(crate::remote::Stats::default())).unwrap();
    journal
        .note(4, Event::Precheck { model: pair().model, blocked: vec![(pair().gpu, 60_027)] })
        .unwrap();
    let replayed = replay(&disk.0.borrow().bytes).unwrap();
    assert_eq!(&replayed.history, journal.history());
    assert_eq!(replayed.torn, None);
}

/// Sums of points are no round numbers: ten tasks of 0.1 are 0.9999999999999999. One that is read
/// back as its neighbour would hold every run.
#[test]
fn any_sum_of_points_is_read_back_as_it_is() {
    for each in [0.1, 2.3, 10.55] {
        let (mut journal, disk) = resumed(HEADER);
        let mut stats = crate::remote::Stats::default();
        for _ in 0..500 {
            stats.points += each;
            journal.note(1, Event::Stats(stats)).unwrap();
        }
        assert_eq!(replay(&disk.0.borrow().bytes).unwrap().history.stats(), [(1, stats)]);
    }
}

#[test]
fn after_a_failed_write_nothing_more_is_written() {
    let (mut journal, disk) = resumed(HEADER);
    disk.0.borrow_mut().short_write = Some(5);
    journal.record(1, intent("a/b")).unwrap_err();
    let after_failure = disk.0.borrow().bytes.clone();
    journal.record(2, intent("a/c")).unwrap_err();
    assert_eq!(disk.0.borrow().bytes, after_failure);
}

#[test]
fn a_journal_that_was_moved_takes_no_intent() {
    let (mut journal, disk) = resumed(HEADER);
    disk.0.borrow_mut().moved = true;
    let error = journal.record(1, intent("a/b")).unwrap_err();
    assert!(error.to_string().contains("moved or replaced"), "{error}");
    assert_eq!(disk.0.borrow().bytes, HEADER.as_bytes());
}

/// A history with something of everything in it.
pub(super) fn full_history() -> String {
    let pair =
        |n: u32| Pair::new(ModelKey::parse(&format!("org/m{n}")).unwrap(), Gpu::verbatim("A_1"));
    let mut text = HEADER.to_owned();
    let mut add = |event| text.push_str(&line(event));
    for n in 0..6 {
        add(Event::Intent { pair: pair(n) });
    }
    add(Event::Accepted { pair: pair(0), task: Some(crate::api::TaskId(5)) });
    add(Event::Accepted { pair: pair(1), task: None });
    add(Event::Missing { pair: pair(1) });
    add(Event::Rejected { pair: pair(2), code: 60_022 });
    add(Event::Rejected { pair: pair(3), code: 60_008 });
    add(Event::InDoubt { pair: pair(4), http: Some(502) });
    add(Event::Precheck { model: pair(0).model, blocked: vec![(pair(0).gpu, 60_028)] });
    add(Event::Torn { text: r#"{"at":1,"event":{"intent":{"pair":["org/torn","#.into() });
    add(Event::Stats(crate::remote::Stats { total: 7, ..Default::default() }));
    add(Event::Paused { reason: "task_vanished".into() });
    let end = event::CycleEnd {
        reason: "cycle_cap".into(),
        exit: 0,
        submitted: 6,
        rejected: 0,
        in_doubt: 0,
        requests: 9,
    };
    add(Event::Cycle(end));
    text
}

#[test]
fn a_compaction_forgets_nothing_that_a_decision_rests_on() {
    let (mut journal, disk) = resumed(&full_history());
    let mut before = journal.history().clone();
    journal.compact(9).unwrap();
    let after = replay(&disk.0.borrow().bytes).unwrap();
    assert_eq!(&after.history, journal.history());
    // Open or not, an intent without an outcome is in doubt for every later run.
    before.forget_open_intents();
    assert_eq!(after.history, before);
    assert!(after.compacted > 0);
    // And again, to the same bytes.
    let once = disk.0.borrow().bytes.clone();
    journal.compact(9).unwrap();
    assert_eq!(disk.0.borrow().bytes, once);
}

#[test]
fn a_journal_is_compacted_when_it_is_large_and_not_at_every_start() {
    let mut text = full_history();
    let stats = line(Event::Stats(crate::remote::Stats::default()));
    while text.len() as u64 <= COMPACT_FROM {
        text.push_str(&stats);
    }
    let (journal, disk) = resumed(&text);
    let small = disk.0.borrow().bytes.len();
    assert!(small < 4_000, "{small} bytes are left");
    assert_eq!(journal.history().submissions().count(), 4);

    let (_, disk) = resumed(&full_history());
    assert_eq!(disk.0.borrow().bytes, full_history().as_bytes());
}
