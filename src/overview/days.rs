//! What was done and what the account was like on each day.

use std::collections::BTreeMap;

use crate::codes;
use crate::journal::history::{DAY, History};
use crate::remote::Stats;

/// As many days are shown, up to today.
pub(super) const SHOWN: u64 = 90;

/// A day, from midnight to midnight UTC.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Day {
    /// Days since 1970-01-01.
    pub(super) number: u64,
    /// Tasks that the platform took.
    pub(super) accepted: u64,
    /// Submissions whose outcome the run did not learn.
    pub(super) in_doubt: u64,
    /// Submissions that the platform refused.
    pub(super) rejected: u64,
    /// Pairs in doubt that a list or a person has settled.
    pub(super) settled: u64,
    /// The account by the day's last complete read.
    pub(super) stats: Option<Stats>,
    /// Passed tasks more, or fewer, than at the last read of an earlier day.
    pub(super) passed: Option<i64>,
}

/// How often the platform answered with a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejections {
    pub(super) code: i64,
    pub(super) name: &'static str,
    pub(super) count: u64,
    /// The last day of it.
    pub(super) last: u64,
}

/// Every day from the first of which anything is known, or the earliest that is shown, to today.
pub(super) fn days(history: &History, now: u64) -> Vec<Day> {
    let today = now / DAY;
    let earliest = today.saturating_sub(SHOWN - 1);
    let known = history.days().iter().map(|day| day.day);
    let read = history.stats().iter().map(|(at, _)| at / DAY);
    let Some(first) = known.chain(read).filter(|day| *day <= today).min() else {
        return Vec::new();
    };
    let mut days: Vec<Day> =
        (first.max(earliest)..=today).map(|number| Day { number, ..Day::default() }).collect();
    let place = |day: u64| usize::try_from(day.checked_sub(first.max(earliest))?).ok();
    for done in history.days().iter() {
        if let Some(day) = place(done.day).and_then(|at| days.get_mut(at)) {
            day.accepted = done.accepted;
            day.in_doubt = done.in_doubt;
            day.rejected = done.rejected.values().fold(0, |sum, count| sum.saturating_add(*count));
            day.settled = done.settled;
        }
    }
    let mut before: Option<&Stats> = None;
    for (at, stats) in history.stats() {
        if let Some(day) = place(at / DAY).and_then(|at| days.get_mut(at)) {
            day.stats = Some(*stats);
            day.passed = before.map(|before| {
                i64::try_from(i128::from(stats.verify_pass) - i128::from(before.verify_pass))
                    .unwrap_or_default()
            });
        }
        before = Some(stats);
    }
    days
}

/// Rejections by code, the most frequent first.
pub(super) fn rejections(history: &History) -> Vec<Rejections> {
    let mut codes: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
    for day in history.days().iter() {
        for (code, count) in &day.rejected {
            let (sum, last) = codes.entry(*code).or_default();
            (*sum, *last) = (sum.saturating_add(*count), day.day.max(*last));
        }
    }
    let row = |(code, (count, last))| Rejections { code, name: codes::name(code), count, last };
    let mut rows: Vec<Rejections> = codes.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
