use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::gpu::Gpu;
use crate::pair::{ModelKey, Pair};

const HEADER: &str = "{\"submitter_journal\":1}\n";

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
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.0.borrow_mut().bytes.truncate(usize::try_from(len).unwrap());
        Ok(())
    }
}

fn resumed(text: &str) -> (Journal<Memory>, Memory) {
    let disk = Memory::default();
    disk.0.borrow_mut().bytes = text.as_bytes().to_vec();
    let replay = replay(text.as_bytes()).unwrap();
    (Journal::resume(disk.clone(), replay, 9).unwrap(), disk)
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
