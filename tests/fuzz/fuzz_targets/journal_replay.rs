//! The journal, as any bytes: what is read adds up, frees no pair unless a record says so, and
//! survives a restart, a compaction and a repair.
#![no_main]

use std::collections::{HashMap, HashSet};

use libfuzzer_sys::fuzz_target;
use submitter::exit::{Hold, Reason};
use submitter::journal::event::{Event, Record};
use submitter::journal::history::{History, Submission};
use submitter::journal::salvage::salvage;
use submitter::journal::{Journal, replay};
use submitter::pair::Pair;
use submitter_fuzz::{Memory, assert_told_safely};

const NOW: u64 = 1_000_000;

fuzz_target!(|bytes: &[u8]| {
    check_salvage(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let read = match replay(bytes) {
        Ok(read) => read,
        Err(damage) => {
            assert!((1..=lines).contains(&damage.line), "{damage}");
            return assert_told_safely(&Hold::because(Reason::JournalDamaged, damage.to_string()));
        }
    };
    let whole = &bytes[..usize::try_from(read.whole).expect("small")];
    assert!(whole.ends_with(b"\n"));
    assert_eq!(read.torn.is_some(), whole.len() < bytes.len());
    let alone = replay(whole).expect("whole lines");
    assert_eq!((&alone.history, alone.torn), (&read.history, None));
    assert_eq!(&by_steps(whole), &read.history);

    // A restart that compacts, and one that does not.
    for compact_from in [u64::MAX, 0] {
        let disk = Memory::holding(bytes);
        let journal = Journal::resume(disk.clone(), bytes, read.clone(), NOW, compact_from);
        let journal = journal.expect("no write fails");
        let again = replay(&disk.bytes()).expect("what is written is read");
        assert_eq!(again.torn, None);
        assert_eq!(again.history.compacted(NOW), journal.history().compacted(NOW));
        assert_is_kept(&read.history, &again.history);
        if read.torn.is_none() {
            assert_eq!(again.history.compacted(NOW), read.history.compacted(NOW));
        }
    }
});

/// A repair takes every pair that is legible anywhere, and makes a journal that is whole.
fn check_salvage(bytes: &[u8]) {
    let saved = salvage(bytes, NOW).history;
    let records = bytes.split(|byte| *byte == b'\n').map(serde_json::from_slice::<Record>);
    for record in records.flatten() {
        if let Event::Intent { pair } | Event::Accepted { pair, .. } = record.event {
            assert!(saved.takes(&pair), "{pair}");
        }
    }
    if let Ok(read) = replay(bytes) {
        assert!(read.history.submissions().all(|(pair, _)| saved.takes(pair)));
    }
    let mut repaired = b"{\"submitter_journal\":1}\n".to_vec();
    for record in saved.compacted(NOW) {
        serde_json::to_writer(&mut repaired, &record).expect("written");
        repaired.push(b'\n');
    }
    let again = replay(&repaired).expect("a repaired journal is read").history;
    assert_eq!(again.compacted(NOW), saved.compacted(NOW));
    assert_is_kept(&saved, &again);
}

/// Adds the lines up one by one: a pair is free again only by a record that frees it.
fn by_steps(whole: &[u8]) -> History {
    let mut history = History::default();
    for line in whole[..whole.len() - 1].split(|byte| *byte == b'\n').skip(1) {
        let record: Record = serde_json::from_slice(line).expect("a record");
        let before = taken(&history);
        let freed = match &record.event {
            Event::Rejected { pair, .. }
            | Event::Released { pair, .. }
            | Event::Resolved { pair, submitted: false } => Some(pair.clone()),
            _ => None,
        };
        history.apply(record).expect("replayed before");
        for (pair, submission) in before {
            if freed.as_ref() == Some(&pair) {
                assert_eq!(submission.accepted, None, "{pair} was accepted");
            } else {
                assert!(history.takes(&pair), "{pair}");
            }
        }
    }
    history
}

fn taken(history: &History) -> HashMap<Pair, Submission> {
    history.submissions().map(|(pair, submission)| (pair.clone(), submission.clone())).collect()
}

/// A restart adds to what is taken what was legible of a torn line, and forgets nothing.
fn assert_is_kept(before: &History, after: &History) {
    let now = taken(after);
    for (pair, submission) in taken(before) {
        assert_eq!(now.get(&pair), Some(&submission), "{pair}");
    }
    let torn: HashSet<_> = after.torn_models().collect();
    assert!(before.torn_models().all(|model| torn.contains(model)));
    assert_eq!(before.blocks(), after.blocks());
    assert_eq!((before.pause(), before.cycle()), (after.pause(), after.cycle()));
    assert_eq!(before.stats(), after.stats());
}
