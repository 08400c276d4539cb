//! Journals, as so many cycles would have left them.

use std::io::{BufWriter, Write};
use std::path::Path;

use submitter::api::TaskId;
use submitter::gpu::Gpu;
use submitter::journal::event::{CycleEnd, Event, Header, Record, VERSION};
use submitter::pair::{ModelKey, Pair};
use submitter::remote::Stats;

const HOUR: u64 = 3_600;

const TARGETS: [&str; 4] =
    ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"];

/// Writes the journal of `cycles` hourly cycles that end at `now`: each with the account's numbers,
/// one submission and its end, and every tenth with a card that a precheck has found taken. A model
/// is tried on four cards.
pub(crate) fn write(dir: &Path, cycles: u64, now: u64) {
    std::fs::create_dir_all(dir).expect("a folder");
    let file = std::fs::File::create(dir.join("journal.jsonl")).expect("a file");
    let mut file = BufWriter::new(file);
    let header = Header { submitter_journal: VERSION, compacted: 0 };
    line(&mut file, &header);
    for n in 0..cycles {
        let at = now - (cycles - n) * HOUR;
        for event in cycle(n) {
            line(&mut file, &Record { at, event });
        }
    }
    file.flush().expect("room on the disk");
}

/// The journal of a cycle that has just submitted six.
pub(crate) fn write_full_hour(dir: &Path, now: u64) {
    write(dir, 0, now);
    let path = dir.join("journal.jsonl");
    let file = std::fs::OpenOptions::new().append(true).open(path).expect("the journal");
    let mut file = BufWriter::new(file);
    for event in (0..6).flat_map(cycle) {
        line(&mut file, &Record { at: now, event });
    }
    file.flush().expect("room on the disk");
}

fn cycle(n: u64) -> Vec<Event> {
    // A model is submitted on each of the target cards in turn.
    let (m, card) = (n / 4, TARGETS[usize::try_from(n % 4).expect("small")]);
    let text = format!("organisation-{}/model-{}b-chat-{m}", m % 997, m % 7);
    let model = ModelKey::parse(&text).expect("a model");
    let pair = Pair::new(model.clone(), Gpu::verbatim(card));
    let stats =
        Stats { total: n + 1, queue: 40, verify_pass: n.saturating_sub(40), ..Stats::default() };
    let end = CycleEnd {
        reason: "cycle_cap".into(),
        exit: 0,
        submitted: 1,
        rejected: 0,
        in_doubt: 0,
        requests: 24,
    };
    let mut events = vec![Event::Stats(stats)];
    if n.is_multiple_of(10) {
        events.push(Event::Precheck {
            model,
            blocked: vec![(Gpu::verbatim("Ascend_910-b4"), 60_027)],
        });
    }
    let task = Some(TaskId(3 * (n + 1)));
    events.extend([
        Event::Intent { pair: pair.clone() },
        Event::Accepted { pair, task },
        Event::Cycle(end),
    ]);
    events
}

fn line(file: &mut impl Write, value: &impl serde::Serialize) {
    serde_json::to_writer(&mut *file, value).expect("room on the disk");
    file.write_all(b"\n").expect("room on the disk");
}
