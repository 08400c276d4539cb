//! What was done on each day, for people: nothing is decided by it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{History, Submission};
use crate::journal::event::Event;
use crate::pair::Pair;

/// Seconds.
pub const DAY: u64 = 86_400;

/// A day's tallies. Days begin at midnight UTC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Day {
    /// Days since 1970-01-01.
    pub day: u64,
    /// Tasks that the platform took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accepted: u64,
    /// POSTs whose outcome the run did not learn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_doubt: u64,
    /// Pairs in doubt that a list or a person has settled.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settled: u64,
    /// Rejections by code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected: BTreeMap<i64, u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The days on which anything was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Days(BTreeMap<u64, Day>);

impl Days {
    /// The day of a time in seconds since 1970.
    pub(super) fn of(&mut self, at: u64) -> &mut Day {
        let day = at / DAY;
        self.0.entry(day).or_insert_with(|| Day { day, ..Day::default() })
    }

    /// Takes a day over from a compaction.
    pub(super) fn put(&mut self, day: Day) {
        self.0.insert(day.day, day);
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Day> {
        self.0.values()
    }
}

impl History {
    /// Counts an event that is about to be applied.
    pub(super) fn tally(&mut self, at: u64, event: &Event) {
        match event {
            Event::Intent { .. } => add(&mut self.days.of(at).in_doubt),
            Event::Accepted { pair, .. } => {
                self.untally_doubt(pair);
                add(&mut self.days.of(at).accepted);
            }
            Event::Rejected { pair, code } => {
                self.untally_doubt(pair);
                add(self.days.of(at).rejected.entry(*code).or_default());
            }
            Event::Released { pair, .. } => self.untally_doubt(pair),
            Event::Settled { .. } | Event::Resolved { .. } => add(&mut self.days.of(at).settled),
            _ => {}
        }
    }

    /// The outcome of an intent is known, perhaps behind midnight.
    fn untally_doubt(&mut self, pair: &Pair) {
        if let Some(Submission { at, .. }) = self.submissions.get(pair) {
            let day = self.days.of(*at);
            day.in_doubt = day.in_doubt.saturating_sub(1);
        }
    }
}

/// Numbers of a file are whatever stands there.
fn add(count: &mut u64) {
    *count = count.saturating_add(1);
}
