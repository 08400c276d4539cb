//! Taking in what is legible of a damaged journal: nothing here ever frees a pair, and nothing
//! fails.

use std::collections::BTreeSet;

use super::{AcceptedTask, Block, History, Submission};
use crate::api::TaskId;
use crate::gpu::{Gpu, is_enum_shaped};
use crate::journal::event::{Event, Record, Taken};
use crate::pair::{ModelKey, Pair};

impl History {
    /// The pair may have been submitted.
    pub(in crate::journal) fn salvage_doubt(&mut self, pair: &Pair, at: u64) {
        let doubt = Submission { at, accepted: None };
        let known = self.submissions.entry(pair.clone()).or_insert_with(|| doubt.clone());
        // An intent behind a rejection: in doubt again, and as of now.
        if known.accepted.as_ref().is_none_or(|accepted| accepted.task.is_none()) {
            *known = doubt;
        }
    }

    /// The platform took the pair.
    pub(in crate::journal) fn salvage_accepted(
        &mut self,
        pair: &Pair,
        task: Option<TaskId>,
        at: u64,
    ) {
        let accepted = Some(AcceptedTask { task, ..AcceptedTask::default() });
        let known =
            self.submissions.entry(pair.clone()).or_insert(Submission { at, accepted: None });
        known.accepted = accepted;
    }

    /// The pair is taken, and nothing is expected of the platform's list: its last legible
    /// outcome says that there is no task.
    pub(in crate::journal) fn salvage_taken(&mut self, pair: &Pair, at: u64) {
        let known =
            self.submissions.entry(pair.clone()).or_insert(Submission { at, accepted: None });
        if known.accepted.is_none() {
            known.accepted = Some(AcceptedTask { acknowledged: true, ..AcceptedTask::default() });
        }
    }

    /// Names of a line that is no record. What is no card may be the beginning of one.
    pub(in crate::journal) fn salvage_names(&mut self, model: &str, gpu: &str, now: u64) {
        if !is_enum_shaped(gpu) {
            return self.salvage_model(model);
        }
        let Ok(model) = ModelKey::parse(model) else { return };
        let pair = Pair::new(model, Gpu::verbatim(gpu));
        self.submissions.entry(pair).or_insert(Submission { at: now, accepted: None });
    }

    /// The model is taken on every card.
    pub(in crate::journal) fn salvage_model(&mut self, model: &str) {
        if let Ok(model) = ModelKey::parse(model) {
            self.torn_models.insert(model, BTreeSet::new());
        }
    }

    /// What else a record says: blocks, torn models, the pause, numbers.
    pub(in crate::journal) fn salvage_rest(&mut self, record: Record) {
        match record.event {
            Event::Rejected { pair, code } => {
                if let Some(block) = Block::of_rejection(code, record.at) {
                    self.blocks.add(pair, block);
                }
            }
            Event::Model(kept) => {
                for Taken(gpu, submission) in &kept.taken {
                    let pair = Pair::new(kept.model.clone(), gpu.clone());
                    self.submissions.entry(pair).or_insert_with(|| submission.clone());
                }
                let rest = crate::journal::event::Kept { taken: Vec::new(), ..kept };
                // Without taken pairs there is nothing that could be known already.
                drop(self.keep(rest));
            }
            Event::Paused { .. }
            | Event::Precheck { .. }
            | Event::Stats(_)
            | Event::Cycle(_)
            | Event::Day(_)
            | Event::Torn { .. } => drop(self.apply(record)),
            _ => {}
        }
    }
}
