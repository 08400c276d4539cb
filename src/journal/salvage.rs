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
            Event::Rejected { pair, .. }
            | Event::Released { pair, .. }
            | Event::Resolved { pair, .. }
            | Event::Missing { pair }
            | Event::Found { pair } => history.salvage_taken(pair, at),
            Event::Resumed { acknowledged } => {
                for pair in acknowledged {
                    history.salvage_taken(pair, at);
                }
            }
            Event::Model(_)
            | Event::Paused { .. }
            | Event::Precheck { .. }
            | Event::Stats(_)
            | Event::Day(_)
            | Event::Cycle(_)
            | Event::Torn { .. } => {}
        }
        history.salvage_rest(Record { at, event });
    }

    /// What stands in a line that is no record: pairs, `["org/name","Card"`; an intent without its
    /// card; a model of a compaction, which is then taken on every card, since cards of it may be
    /// what was damaged. In a record of a torn tail the quotes are escaped.
    fn scan(&mut self, text: &str, now: u64) {
        let text = text.replace("\\\"", "\"");
        for behind in text.split("[\"").skip(1) {
            let parts: Vec<&str> = behind.splitn(4, '"').collect();
            if let [model, ",", gpu, _] = parts[..] {
                self.history.salvage_names(model, gpu, now);
            }
        }
        for behind in text.split("\"model\":\"").skip(1) {
            if let Some((model, _)) = behind.split_once('"') {
                self.history.salvage_model(model);
            }
        }
        self.history.salvage_rest(Record { at: now, event: Event::Torn { text } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use crate::journal::tests::{HEADER, full_history};
    use crate::journal::{replay, rewritten};
    use crate::pair::{ModelKey, Pair};

    fn pair(n: u32) -> Pair {
        Pair::new(ModelKey::parse(&format!("org/m{n}")).unwrap(), Gpu::verbatim("A_1"))
    }

    /// Whatever is damaged, a pair that still stands somewhere is taken, and the new journal is
    /// one that replays.
    #[test]
    fn every_legible_pair_stays_taken_wherever_the_damage_is() {
        let whole = full_history();
        let lines: Vec<&str> = whole.lines().collect();
        for hit in 0..lines.len() {
            let damaged: Vec<String> = lines
                .iter()
                .enumerate()
                .map(
                    |(at, line)| {
                        if at == hit { format!("\u{0}{line}") } else { (*line).to_owned() }
                    },
                )
                .collect();
            let saved = salvage((damaged.join("\n") + "\n").as_bytes(), 99);
            assert_eq!(saved.illegible, 1, "line {hit}");
            for n in 0..6 {
                assert!(saved.history.takes(&pair(n)), "line {hit}, pair {n}");
            }
            let bytes = rewritten(&saved.history.compacted(99)).unwrap();
            let replayed = replay(&bytes).unwrap();
            assert!((0..6).all(|n| replayed.history.takes(&pair(n))));
        }
    }

    #[test]
    fn what_is_known_of_a_pair_is_kept() {
        let saved = salvage(format!("{}garbage\n", full_history()).as_bytes(), 99);
        let history = saved.history;
        let submission = |n| history.submission(&pair(n)).cloned().unwrap();
        let task = |n| submission(n).accepted.and_then(|accepted| accepted.task);
        assert_eq!(task(0), Some(crate::api::TaskId(5)));
        assert!(submission(4).accepted.is_none(), "in doubt");
        assert!(submission(5).accepted.is_none(), "an intent alone");
        assert!(
            submission(2).accepted.unwrap().acknowledged,
            "rejected: taken, and not waited for"
        );
        assert_eq!(history.pause(), Some("task_vanished"));
        assert_eq!(history.torn_models().count(), 1);
        assert!(!history.stats().is_empty() && history.cycle().is_some());
    }

    #[test]
    fn an_intent_behind_a_rejection_is_in_doubt_again() {
        let at = |event: &str| format!("{{\"at\":5,\"event\":{event}}}\n");
        let named = r#"["org/m1","A_1"]"#;
        let text = [
            HEADER.to_owned(),
            at(&format!(r#"{{"intent":{{"pair":{named}}}}}"#)),
            at(&format!(r#"{{"rejected":{{"pair":{named},"code":60008}}}}"#)),
            "damage\n".to_owned(),
            at(&format!(r#"{{"intent":{{"pair":{named}}}}}"#)),
        ];
        let saved = salvage(text.concat().as_bytes(), 99);
        assert!(saved.history.submission(&pair(1)).unwrap().accepted.is_none());
    }

    /// After a compaction all that is known of a model stands in one line.
    #[test]
    fn every_pair_of_a_compacted_journal_stays_taken() {
        let history = replay(full_history().as_bytes()).unwrap().history;
        let compacted = String::from_utf8(rewritten(&history.compacted(9)).unwrap()).unwrap();
        for hit in 1..compacted.lines().count() {
            let damaged: String = compacted
                .lines()
                .enumerate()
                .map(|(at, line)| match line.replace("taken", "takex") {
                    changed if at == hit && changed != line => changed + "\n",
                    _ if at == hit => format!("{}\n", &line[..line.len() - 1]),
                    _ => format!("{line}\n"),
                })
                .collect();
            let saved = salvage(damaged.as_bytes(), 99).history;
            for (pair, _) in history.submissions() {
                assert!(saved.takes(pair), "line {hit}, {pair}");
            }
            assert!(history.torn_models().all(|model| saved.torn_models().any(|own| own == model)));
        }
    }

    #[test]
    fn an_intent_in_a_damaged_record_of_a_torn_tail_stays_taken() {
        let torn = r#"{"at":5,"event":{"torn":{"text":"{\"at\":4,\"event\":{\"intent\":{\"pair\":[\"org/m1\",\"A_1\"]"}x"#;
        assert!(salvage(torn.as_bytes(), 99).history.takes(&pair(1)));
    }

    #[test]
    fn names_of_a_broken_line_are_taken_and_nonsense_is_not() {
        let saved = salvage(br#"{"at":1,"event":{"accepted":{"pair":["org/m1","A_1"],"ta"#, 99);
        assert!(saved.history.takes(&pair(1)));
        let cut = salvage(br#"{"at":1,"event":{"intent":{"pair":["org/m2","A"#, 99);
        assert!(cut.history.takes(&pair(2)), "its model is taken on every card");
        let blank = salvage(br#"["org/m3","" "#, 99);
        assert!(blank.history.takes(&pair(3)), "its model is taken on every card");
        replay(&rewritten(&blank.history.compacted(99)).unwrap()).unwrap();
        for nonsense in [&b""[..], b"\0\0\0", b"[\"\",\"\"]", b"[\"a b\",\"c\"]", b"\xff\xfe[\"x"] {
            let saved = salvage(nonsense, 99);
            assert_eq!(saved.history.submissions().count(), 0, "{nonsense:?}");
        }
    }
}
