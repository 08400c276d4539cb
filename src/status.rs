//! `submitter status`: what a state folder says of the account and of the runs, without a lock, a
//! request or a write.

mod show;

use std::path::Path;

use serde::Serialize;

use crate::account::{self, Account, Next};
use crate::api::TaskId;
use crate::exit::{Hold, Reason};
use crate::gpu::Gpu;
use crate::journal::event::CycleEnd;
use crate::journal::history::{BlockKind, DAY, History, Horizon, Submission};
use crate::journal::{Holder, file};
use crate::pair::{ModelKey, Pair};
use crate::pause::{Pause, PauseFile};
use crate::remote::Stats;
use crate::submit;

const HOUR: u64 = 3_600;

/// Whether there is a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalState {
    /// No run has used the folder.
    Absent,
    /// It can be read.
    Sound,
    /// It can, and is not what a run has written.
    Damaged,
    /// It cannot: what it holds is not known.
    Unreadable,
}

/// What a state folder says. What nothing is known of is none, and `null` in JSON; times are in
/// seconds since 1970.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The version of these fields.
    pub version: u32,
    /// The folder.
    pub state_dir: String,
    /// When it was looked at.
    pub looked_at: u64,
    /// Whether there is a journal.
    pub journal: JournalState,
    /// The process that holds the journal now; none where none is seen.
    pub running: Option<Holder>,
    /// The last cycle that asked the platform anything.
    pub last_cycle: Option<LastCycle>,
    /// When [`Self::stats`] were read.
    pub updated_at: Option<u64>,
    /// The field of [`Self::stats`] that counts successes.
    pub success_metric: &'static str,
    /// The account by the last complete read.
    pub stats: Option<Stats>,
    /// Unfinished tasks at the end of the last run that could read them, submissions that no list
    /// showed yet included.
    pub queue: Option<u64>,
    /// That run's threshold for it.
    pub queue_threshold: Option<u64>,
    /// When that run read the list last.
    pub queue_at: Option<u64>,
    /// Submissions, accepted and in doubt, in the last 3,600 seconds.
    pub submitted_last_hour: Option<usize>,
    /// The same in the last 86,400.
    pub submitted_last_day: Option<usize>,
    /// Pairs of which nobody knows whether the platform took them.
    pub in_doubt: Option<Vec<Doubt>>,
    /// Accepted tasks that the complete list lacks, and of which no person has said so yet.
    pub missing: Option<Vec<Missing>>,
    /// Models that are taken on every card, since an intent was cut off before its card.
    pub torn: Option<Vec<ModelKey>>,
    /// Pairs of the journal that the platform will not take.
    pub marks: Option<Marks>,
    /// The pause in force.
    pub pause: Option<PauseInForce>,
    /// What the next run would most likely try, as the last one saw it.
    pub next: Option<Vec<Next>>,
    /// What is wrong with the journal.
    #[serde(skip)]
    pub damage: Option<Hold>,
}

/// How a cycle ended.
#[derive(Debug, Serialize)]
pub struct LastCycle {
    /// When.
    pub at: u64,
    /// `submitted` or `held`.
    pub result: &'static str,
    /// The rest.
    #[serde(flatten)]
    pub end: CycleEnd,
}

/// A pair in doubt.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Doubt {
    /// When its intent was written.
    pub since: u64,
    /// Its model.
    pub model: ModelKey,
    /// Its card.
    pub gpu: Gpu,
}

/// A missing task.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// Since when the list lacks it.
    pub since: Option<u64>,
    /// Its model.
    pub model: ModelKey,
    /// Its card.
    pub gpu: Gpu,
    /// Its number, where it is known.
    pub task: Option<TaskId>,
}

/// How many pairs of the journal the platform will not take.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// For good.
    pub for_good: usize,
    /// Said in the last day, and passing.
    pub last_day: usize,
}

/// A pause.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct PauseInForce {
    /// Since when, where that is known.
    pub since: Option<u64>,
    /// A person's words, or a hold reason.
    pub reason: String,
}

impl Status {
    /// Looks at a state folder.
    #[must_use]
    pub fn read(dir: &Path, now: u64) -> Self {
        let account = account::read_or_warn(dir);
        let mut status = Self::without_journal(dir, now, account);
        let pause = PauseFile::in_dir(dir);
        match file::peek(dir, now) {
            Err(damage) => {
                status.pause = pause.look().ok().flatten().map(Into::into);
                status.journal = match damage.reason {
                    Reason::JournalDamaged => JournalState::Damaged,
                    _ => JournalState::Unreadable,
                };
                status.damage = Some(damage);
            }
            Ok((history, _)) => {
                status.pause = submit::in_force(&pause, &history).map(Into::into);
                if file::is_in_use(dir) {
                    status.add(&history);
                }
            }
        }
        status
    }

    /// What can be said without a journal.
    fn without_journal(dir: &Path, now: u64, account: Option<Account>) -> Self {
        let seen = account.as_ref();
        Self {
            version: 1,
            state_dir: dir.display().to_string(),
            looked_at: now,
            journal: JournalState::Absent,
            running: file::held_by(dir),
            last_cycle: None,
            updated_at: seen.map(|account| account.at),
            success_metric: "verify_pass",
            stats: seen.map(Account::stats),
            queue: seen.map(|account| account.queue),
            queue_threshold: seen.map(|account| account.queue_threshold),
            queue_at: seen.map(|account| account.at),
            submitted_last_hour: None,
            submitted_last_day: None,
            in_doubt: None,
            missing: None,
            torn: None,
            marks: None,
            pause: None,
            next: account.map(|account| account.next),
            damage: None,
        }
    }

    fn add(&mut self, history: &History) {
        self.journal = JournalState::Sound;
        self.last_cycle = history.cycle().map(|(at, end)| LastCycle {
            at: *at,
            result: if end.exit == 0 { "submitted" } else { "held" },
            end: end.clone(),
        });
        if let Some((at, stats)) = history.stats().last() {
            (self.updated_at, self.stats) = (Some(*at), Some(*stats));
        }
        let within = |window| Horizon { now: self.looked_at, window, cooldown: DAY };
        self.submitted_last_hour = Some(history.submitted_within(&within(HOUR)));
        self.submitted_last_day = Some(history.submitted_within(&within(DAY)));
        self.marks = Some(Marks::count(history, &within(HOUR)));
        self.in_doubt = Some(in_doubt(history));
        self.missing = Some(missing(history));
        let mut torn: Vec<ModelKey> = history.torn_models().cloned().collect();
        torn.sort();
        self.torn = Some(torn);
    }
}

impl Marks {
    fn count(history: &History, horizon: &Horizon) -> Self {
        let in_force = history.blocks().iter().filter(|(_, block)| block.is_in_force(horizon));
        let (for_good, passing): (Vec<_>, Vec<_>) =
            in_force.partition(|(_, block)| block.kind == BlockKind::ForGood);
        Self { for_good: for_good.len(), last_day: passing.len() }
    }
}

impl From<Pause> for PauseInForce {
    fn from(Pause { at, reason }: Pause) -> Self {
        Self { since: Some(at).filter(|at| *at > 0), reason }
    }
}

/// Oldest first.
fn in_doubt(history: &History) -> Vec<Doubt> {
    let open = history.submissions().filter(|(_, submission)| submission.accepted.is_none());
    let mut doubts: Vec<Doubt> = open
        .map(|(Pair { model, gpu }, Submission { at, .. })| Doubt {
            since: *at,
            model: model.clone(),
            gpu: gpu.clone(),
        })
        .collect();
    doubts.sort();
    doubts
}

/// Oldest first.
fn missing(history: &History) -> Vec<Missing> {
    let mut missing: Vec<Missing> = history
        .missing()
        .map(|pair| {
            let submission = history.submission(pair);
            let accepted = submission.and_then(|submission| submission.accepted.as_ref());
            Missing {
                since: accepted.and_then(|accepted| accepted.missing_since),
                model: pair.model.clone(),
                gpu: pair.gpu.clone(),
                task: accepted.and_then(|accepted| accepted.task),
            }
        })
        .collect();
    missing.sort();
    missing
}
