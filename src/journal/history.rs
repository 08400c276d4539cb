//! What the journal's records add up to. Pure: records in, knowledge out.

mod blocks;
mod compact;
mod days;
mod salvaged;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

pub use self::blocks::{Block, BlockKind, Blocks};
pub use self::days::{DAY, Day, Days};

use super::event::{CycleEnd, Event, Kept, Record, Taken};
use crate::api::TaskId;
use crate::gpu::Gpu;
use crate::pair::{ModelKey, Pair};
use crate::remote::Stats;

/// A pair that this program has submitted, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// When the intent was written, in seconds since 1970.
    pub at: u64,
    /// The outcome; none: in doubt.
    pub accepted: Option<AcceptedTask>,
}

/// An accepted submission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptedTask {
    /// Its number, where it is known.
    pub task: Option<TaskId>,
    /// Since when a complete list lacks it.
    pub missing_since: Option<u64>,
    /// A person knows that it is gone.
    pub acknowledged: bool,
}

/// The times by which old records are judged, all in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// Now, since 1970.
    pub now: u64,
    /// The trailing window of the submit cap.
    pub window: u64,
    /// How long a rejected pair rests.
    pub cooldown: u64,
}

impl Horizon {
    /// Whether a record is dated ahead of the clock by more than the window, so that the clock
    /// (then or now) must be wrong.
    #[must_use]
    pub fn is_ahead(&self, at: u64) -> bool {
        at > self.now.saturating_add(self.window)
    }

    fn is_within(&self, at: u64, seconds: u64) -> bool {
        !self.is_ahead(at) && self.now < at.saturating_add(seconds)
    }
}

/// The journal, added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    submissions: HashMap<Pair, Submission>,
    open: HashSet<Pair>,
    /// Models of intents that were cut off before their card, and the cards since settled.
    torn_models: HashMap<ModelKey, BTreeSet<Gpu>>,
    blocks: Blocks,
    pause: Option<String>,
    stats: Vec<(u64, Stats)>,
    days: Days,
    cycle: Option<(u64, CycleEnd)>,
}

impl History {
    /// An empty one that takes so many submissions without making room again.
    #[must_use]
    pub fn with_room(submissions: usize) -> Self {
        Self { submissions: HashMap::with_capacity(submissions), ..Self::default() }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// A record that cannot follow those before it, in words: an outcome without its intent, a
    /// second intent for a taken pair. The journal is then not the one that this program wrote.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        let at = record.at;
        self.tally(at, &record.event);
        match record.event {
            Event::Intent { pair } => match self.submissions.entry(pair) {
                Entry::Occupied(taken) => {
                    return Err(format!("an intent for {}, which is taken", taken.key()));
                }
                Entry::Vacant(free) => {
                    self.open.insert(free.key().clone());
                    free.insert(Submission { at, accepted: None });
                }
            },
            Event::Accepted { pair, task } => {
                self.close(&pair)?;
                self.accept(&pair, task)?;
            }
            Event::InDoubt { pair, .. } => self.close(&pair)?,
            Event::Rejected { pair, code } => {
                self.close(&pair)?;
                self.submissions.remove(&pair);
                if let Some(block) = Block::of_rejection(code, at) {
                    self.blocks.add(pair, block);
                }
            }
            Event::Released { pair, .. } => {
                self.close(&pair)?;
                self.submissions.remove(&pair);
            }
            Event::Settled { pair, task } => {
                self.open.remove(&pair);
                self.accept(&pair, task)?;
            }
            Event::Resolved { pair, submitted } => self.resolve(at, &pair, submitted)?,
            Event::Model(kept) => self.keep(kept)?,
            Event::Missing { pair } => self.accepted_mut(&pair)?.missing_since = Some(at),
            Event::Found { pair } => {
                let accepted = self.accepted_mut(&pair)?;
                (accepted.missing_since, accepted.acknowledged) = (None, false);
            }
            Event::Paused { reason } => self.pause = Some(reason),
            Event::Resumed { acknowledged } => {
                for pair in acknowledged {
                    self.accepted_mut(&pair)?.acknowledged = true;
                }
                self.pause = None;
            }
            Event::Precheck { model, blocked } => {
                for (gpu, code) in blocked {
                    let pair = Pair::new(model.clone(), gpu);
                    self.blocks.add(pair, Block::of_precheck(code, at));
                }
            }
            Event::Stats(stats) => {
                // One a day is kept.
                self.stats.pop_if(|(last, _)| *last / DAY == at / DAY);
                self.stats.push((at, stats));
            }
            Event::Cycle(end) => self.cycle = Some((at, end)),
            Event::Day(day) => self.days.put(day),
            Event::Torn { text } => self.take_torn(&text, at),
        }
        Ok(())
    }

    /// An outcome needs an intent that waits for one: it must never free a pair whose POST was
    /// lost in an earlier run.
    fn close(&mut self, pair: &Pair) -> Result<(), String> {
        if self.open.remove(pair) {
            Ok(())
        } else {
            Err(format!("an outcome for {pair} without its intent"))
        }
    }

    fn accept(&mut self, pair: &Pair, task: Option<TaskId>) -> Result<(), String> {
        let submission = self.submissions.get_mut(pair);
        let submission = submission.ok_or_else(|| format!("{pair} was never intended"))?;
        submission.accepted = Some(AcceptedTask { task, ..AcceptedTask::default() });
        Ok(())
    }

    fn accepted_mut(&mut self, pair: &Pair) -> Result<&mut AcceptedTask, String> {
        let submission = self.submissions.get_mut(pair);
        let accepted = submission.and_then(|submission| submission.accepted.as_mut());
        accepted.ok_or_else(|| format!("{pair} was never accepted"))
    }

    /// A person's word about a pair in doubt. What was accepted is taken for good.
    fn resolve(&mut self, at: u64, pair: &Pair, submitted: bool) -> Result<(), String> {
        match self.submissions.get(pair) {
            Some(Submission { accepted: None, .. }) if submitted => self.accept(pair, None)?,
            Some(Submission { accepted: None, .. }) => drop(self.submissions.remove(pair)),
            None if self.is_torn(pair) => {
                self.torn_models.entry(pair.model.clone()).or_default().insert(pair.gpu.clone());
                if submitted {
                    let accepted = Some(AcceptedTask::default());
                    self.submissions.insert(pair.clone(), Submission { at, accepted });
                }
            }
            _ => return Err(format!("{pair} is not in doubt")),
        }
        self.open.remove(pair);
        Ok(())
    }

    fn keep(&mut self, kept: Kept) -> Result<(), String> {
        let model = kept.model;
        let pair = |gpu| Pair::new(model.clone(), gpu);
        for Taken(gpu, submission) in kept.taken {
            match self.submissions.entry(pair(gpu)) {
                Entry::Occupied(known) => {
                    return Err(format!("{} is kept, and known already", known.key()));
                }
                Entry::Vacant(free) => drop(free.insert(submission)),
            }
        }
        kept.blocked.into_iter().for_each(|(gpu, block)| self.blocks.add(pair(gpu), block));
        if let Some(settled) = kept.torn {
            self.torn_models.insert(model, settled);
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn forget_open_intents(&mut self) {
        self.open.clear();
    }

    /// What a cut-off write may have been. By the order of writing its POST was never made, but
    /// a legible intent is taken all the same: the disk may not have kept that order.
    fn take_torn(&mut self, text: &str, at: u64) {
        let Some((_, rest)) = text.split_once(r#""intent":{"pair":[""#) else { return };
        let mut parts = rest.split('"');
        let Some(Ok(model)) = parts.next().map(ModelKey::parse) else { return };
        match (parts.next(), parts.next(), parts.next()) {
            // No record names a blank card, so a compaction must not either.
            (Some(","), Some(gpu), Some(_)) if !gpu.trim().is_empty() => {
                let pair = Pair::new(model, Gpu::verbatim(gpu));
                self.submissions.entry(pair).or_insert(Submission { at, accepted: None });
            }
            (Some(_), ..) => drop(self.torn_models.insert(model, BTreeSet::new())),
            _ => {}
        }
    }

    /// All pairs that were submitted or may have been.
    pub fn submissions(&self) -> impl Iterator<Item = (&Pair, &Submission)> {
        self.submissions.iter()
    }

    /// Pairs whose accepted task is missing, and of which no person has said so yet.
    pub fn missing(&self) -> impl Iterator<Item = &Pair> {
        let is_missing = |submission: &Submission| {
            submission
                .accepted
                .as_ref()
                .is_some_and(|accepted| accepted.missing_since.is_some() && !accepted.acknowledged)
        };
        self.submissions.iter().filter(move |(_, s)| is_missing(s)).map(|(pair, _)| pair)
    }

    /// What is known of a pair that was submitted or may have been.
    #[must_use]
    pub fn submission(&self, pair: &Pair) -> Option<&Submission> {
        self.submissions.get(pair)
    }

    /// Whether the platform took a pair, as far as we were told.
    #[must_use]
    pub fn is_accepted(&self, pair: &Pair) -> bool {
        self.submission(pair).is_some_and(|submission| submission.accepted.is_some())
    }

    /// Whether a pair was submitted or may have been.
    #[must_use]
    pub fn takes(&self, pair: &Pair) -> bool {
        self.submissions.contains_key(pair) || self.is_torn(pair)
    }

    /// Whether a pair is in doubt because an intent for its model was cut off before the card.
    fn is_torn(&self, pair: &Pair) -> bool {
        self.torn_models.get(&pair.model).is_some_and(|settled| !settled.contains(&pair.gpu))
    }

    /// Models of intents that were cut off before their card: taken on every card but those that
    /// a person has settled.
    pub fn torn_models(&self) -> impl Iterator<Item = &ModelKey> {
        self.torn_models.keys()
    }

    /// Pairs that the platform will not take.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Submissions, accepted and in doubt, within the trailing window.
    #[must_use]
    pub fn submitted_within(&self, horizon: &Horizon) -> usize {
        self.submissions.values().filter(|s| horizon.is_within(s.at, horizon.window)).count()
    }

    /// Records dated ahead of the clock by more than the window: they are told, not counted.
    #[must_use]
    pub fn dated_ahead(&self, horizon: &Horizon) -> usize {
        let submissions = self.submissions.values().map(|submission| submission.at);
        submissions.chain(self.blocks.passing()).filter(|at| horizon.is_ahead(*at)).count()
    }

    /// Why the platform made us pause, until a person resumes.
    #[must_use]
    pub fn pause(&self) -> Option<&str> {
        self.pause.as_deref()
    }

    /// The numbers of the last complete read of each day, and when it was.
    #[must_use]
    pub fn stats(&self) -> &[(u64, Stats)] {
        &self.stats
    }

    /// What was done on each day.
    #[must_use]
    pub fn days(&self) -> &Days {
        &self.days
    }

    /// How the last cycle ended, and when.
    #[must_use]
    pub fn cycle(&self) -> Option<&(u64, CycleEnd)> {
        self.cycle.as_ref()
    }
}

#[cfg(test)]
mod tests;
