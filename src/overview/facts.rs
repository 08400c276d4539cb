//! What the page and the metrics say, before it is put in words.

use super::coverage::Coverage;
use super::days::{Day, Rejections, days, rejections};
use crate::account::Account;
use crate::journal::event::CycleEnd;
use crate::journal::history::{DAY, History, Horizon};
use crate::pause::Pause;
use crate::remote::Stats;

const HOUR: u64 = 3_600;

/// A state folder at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The moment, in seconds since 1970.
    pub(super) now: u64,
    /// The account by the last complete read, and when that was.
    pub(super) stats: Option<(u64, Stats)>,
    /// Unfinished tasks, and the threshold for them.
    pub(super) queue: Option<(u64, u64)>,
    /// Submissions, accepted and in doubt, in the last hour and in the last 24.
    pub(super) submitted: (usize, usize),
    /// All that were accepted since the journal was made.
    pub(super) accepted: u64,
    /// All pairs in doubt that were settled since then.
    pub(super) settled: u64,
    /// Pairs in doubt and when they were submitted, oldest first.
    pub(super) doubts: Vec<(String, u64)>,
    /// Models that are taken on every card, since an intent was cut off before its card.
    pub(super) torn_models: Vec<String>,
    /// Pairs that were accepted and that the last list lacks.
    pub(super) missing: Vec<String>,
    /// The pause in force.
    pub(super) pause: Option<Pause>,
    /// How the last cycle ended, and when.
    pub(super) cycle: Option<(u64, CycleEnd)>,
    /// Day by day.
    pub(super) days: Vec<Day>,
    /// By code.
    pub(super) rejections: Vec<Rejections>,
    /// Models and cards; none where no list of own tasks is kept.
    pub(super) coverage: Option<Coverage>,
}

impl Facts {
    /// What a journal, an account and a pause file say at `now` (seconds since 1970).
    #[must_use]
    pub fn gather(
        history: &History,
        account: Option<&Account>,
        pause: Option<Pause>,
        now: u64,
    ) -> Self {
        let within = |window| history.submitted_within(&Horizon { now, window, cooldown: 0 });
        let sum = |of: fn(&crate::journal::history::Day) -> u64| {
            history.days().iter().map(of).fold(0, u64::saturating_add)
        };
        let in_doubt = history.submissions().filter(|(_, sent)| sent.accepted.is_none());
        let mut doubts: Vec<_> = in_doubt.map(|(pair, sent)| (pair.to_string(), sent.at)).collect();
        doubts.sort_by(|(a, since_a), (b, since_b)| (since_a, a).cmp(&(since_b, b)));
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let by_platform = || Some(Pause { at: 0, reason: history.pause()?.to_owned() });
        let tasks = account.map(|account| account.tasks.as_slice());
        let is_known = tasks.is_some() || history.submissions().next().is_some();
        Self {
            now,
            stats: history.stats().last().copied(),
            queue: account.map(|account| (account.queue, account.queue_threshold)),
            submitted: (within(HOUR), within(DAY)),
            accepted: sum(|day| day.accepted),
            settled: sum(|day| day.settled),
            doubts,
            torn_models: sorted(history.torn_models().map(ToString::to_string).collect()),
            missing: sorted(history.missing().map(ToString::to_string).collect()),
            pause: pause.or_else(by_platform),
            cycle: history.cycle().cloned(),
            days: days(history, now),
            rejections: rejections(history),
            coverage: is_known.then(|| Coverage::of(tasks.unwrap_or_default(), history)),
        }
    }
}
