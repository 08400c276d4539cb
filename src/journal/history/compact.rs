//! The fewest records that add up to a history.

use std::collections::BTreeMap;

use super::{Day, History};
use crate::journal::event::{Event, Kept, Record, Taken};
use crate::pair::ModelKey;

impl History {
    /// Records that replay to this very history, written at `now`: one for each model, one
    /// for each day of stats and of tallies, and the last cycle. An intent that is open becomes what it is for
    /// every later run, a pair in doubt.
    #[must_use]
    pub fn compacted(&self, now: u64) -> Vec<Record> {
        let mut models = Models::default();
        for (pair, submission) in &self.submissions {
            models.of(&pair.model).taken.push(Taken(pair.gpu.clone(), submission.clone()));
        }
        for (pair, block) in self.blocks.iter() {
            models.of(&pair.model).blocked.push((pair.gpu.clone(), *block));
        }
        for (model, settled) in &self.torn_models {
            models.of(model).torn = Some(settled.clone());
        }
        let stats =
            self.stats.iter().map(|(at, stats)| Record { at: *at, event: Event::Stats(*stats) });
        let models = models.0.into_values().map(|mut kept| {
            kept.taken.sort_by(|a, b| a.0.cmp(&b.0));
            kept.blocked.sort_by(|a, b| a.0.cmp(&b.0));
            Record { at: now, event: Event::Model(kept) }
        });
        let day = |day: &Day| Record { at: now, event: Event::Day(day.clone()) };
        let days = self.days.iter().map(day);
        let cycle = self.cycle.iter();
        let cycle = cycle.map(|(at, end)| Record { at: *at, event: Event::Cycle(end.clone()) });
        let pause = self.pause.iter();
        let pause =
            pause.map(|reason| Record { at: now, event: Event::Paused { reason: reason.clone() } });
        models.chain(stats).chain(days).chain(cycle).chain(pause).collect()
    }
}

#[derive(Default)]
struct Models(BTreeMap<ModelKey, Kept>);

impl Models {
    fn of(&mut self, model: &ModelKey) -> &mut Kept {
        self.0.entry(model.clone()).or_insert_with(|| Kept {
            model: model.clone(),
            torn: None,
            taken: Vec::new(),
            blocked: Vec::new(),
        })
    }
}
