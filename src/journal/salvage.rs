//! What is legible of a damaged journal. Every pair that stands in it stays taken: the outcome
//! that would free it may be true, but the intent that followed may be what was damaged.

use super::event::{Event, Record};
use super::history::History;

/// What was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct Salvage {
    /// It takes every legible pair.
    pub history: History,
    /// Lines that are no records, an unfinished last one included.
    pub illegible: usize,
}

/// Reads every line for itself, whatever stands around it.
#[must_use]
pub fn salvage(bytes: &[u8], now: u64) -> Salvage {
    let mut saved = Salvage { history: History::default(), illegible: 0 };
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        if let Ok(record) = serde_json::from_slice::<Record>(line) {
            saved.take(record);
        } else if at > 0 || super::check_header(line).is_err() {
            saved.illegible += 1;
            saved.scan(&String::from_utf8_lossy(line), now);
        }
    }
    saved
}

impl Salvage {
    fn take(&mut self, Record { at, event }: Record) {
        let history = &mut self.history;
        match &event {
            Event::Intent { pair } | Event::InDoubt { pair, .. } => history.salvage_doubt(pair, at),
            Event::Accepted { pair, task } | Event::Settled { pair, task } => {
                history.salvage_accepted(pair, *task, at);
            }
            Event::Rejected { pair, .. } | Event::Released { pair, .. } => {
                history.salvage_taken(pair, at);
            }
            Event::Resolved { pair, .. } | Event::Missing { pair } | Event::Found { pair } => {
                history.salvage_taken(pair, at);
            }
            Event::Resumed { acknowledged } => {
                acknowledged.iter().for_each(|pair| history.salvage_taken(pair, at));
            }
            Event::Model(_)
            | Event::Paused { .. }
            | Event::Precheck { .. }
            | Event::Stats(_)
            | Event::Cycle(_)
            | Event::Torn { .. } => {}
        }
        history.salvage_rest(Record { at, event });
    }

    /// Pairs in a line that is no record: `["org/name","Card"`, and an intent without its card.
    fn scan(&mut self, text: &str, now: u64) {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once("[\"") {
            rest = behind;
            let parts: Vec<&str> = behind.splitn(4, '"').collect();
            if let [model, ",", gpu, _] = parts[..] {
                self.history.salvage_names(model, gpu, now);
            }
        }
        self.history.salvage_rest(Record { at: now, event: Event::Torn { text: text.to_owned() } });
    }
}
