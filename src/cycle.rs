//! One cycle, from the ledger rebuild to the last candidate. Everything that it knows of the
//! world comes through the traits of its fields; everything that it decides goes through
//! [`Report`].

mod ahead;
pub mod before;
mod outlook;
mod payload;
mod rebuild;
mod row;
mod settle;

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use crate::account::Account;
use crate::api::{Precheck, ReadApi, TaskId};
use crate::clock::{Stop, Watch};
use crate::exit::{Hold, Reason};
use crate::gate;
use crate::journal::history::Horizon;
use crate::ledger::Ledger;
use crate::pair::{ModelKey, Pair};
use crate::remote::{Remote, Stats};
use crate::report::Report;
use crate::secret::Token;
use crate::settings::{FootholdPages, Hint, Refresh};
use crate::sources::Section;
use crate::sources::baked::Data;
use crate::sources::foothold::{self, Dropped, Snapshot};
use crate::sources::merge::{self, Ranked};
use crate::submit::{Desk, paused};

/// The numbers that bound a cycle.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Submissions, accepted and in doubt, in a cycle and over [`Self::window`].
    pub max_submits: usize,
    /// Submit only while the queue is shorter.
    pub queue_threshold: u64,
    /// What others say of the queue.
    pub hints: Vec<Hint>,
    /// POSTs in a cycle, whatever their answer.
    pub max_attempts: usize,
    /// Prechecks in a cycle; none: no prechecks are made, and so none is due.
    pub max_prechecks: Option<usize>,
    /// Seconds over which the submit cap holds.
    pub window: u64,
    /// Seconds for which a rejected pair rests.
    pub cooldown: u64,
    /// Rows a page of the own tasks.
    pub page_size: u64,
    /// What is read again before each POST.
    pub refresh: Refresh,
}

impl Limits {
    /// The times by which the journal's records are judged at `now`, in seconds since 1970.
    #[must_use]
    pub fn horizon(&self, now: u64) -> Horizon {
        Horizon { now, window: self.window, cooldown: self.cooldown }
    }
}

/// What is sent with every task.
#[derive(Debug, Clone)]
pub struct Sending {
    /// The contestant's strategy.
    pub strategy_id: String,
    /// Whether `configParams` are asked for, and why not.
    pub build_config: Result<(), &'static str>,
}

/// How other users' tasks are read.
#[derive(Debug, Clone, Copy)]
pub struct Slices<'a> {
    /// Their number and size.
    pub pages: FootholdPages,
    /// The only section that may be added to.
    pub section: Option<Section>,
    /// What must not stand in any record.
    pub token: &'a Token,
}

/// A cycle under way.
#[derive(Debug)]
pub struct Cycle<'a, R, D> {
    /// The platform, for reading.
    pub api: &'a R,
    /// The journal and, in a real run, the writer.
    pub desk: &'a mut D,
    /// The data files.
    pub data: &'a Data,
    /// Pairs that an earlier system has submitted.
    pub carried_over: &'a [Pair],
    /// Whether and how other users' tasks are read.
    pub slices: Option<Slices<'a>>,
    /// The numbers.
    pub limits: &'a Limits,
    /// What is sent.
    pub sending: &'a Sending,
    /// The clock, the deadline, the signals.
    pub watch: Watch<'a>,
    /// What was decided.
    pub report: &'a mut Report,
}

/// What a cycle has learnt so far.
#[derive(Debug, Default)]
struct Known {
    ledger: Ledger,
    remote: Remote,
    stats: Stats,
    /// When the remote tasks were last read, in the run's time.
    read_at: Duration,
    /// The same by the wall clock; none: they were not.
    read_on: Option<u64>,
    candidates: Rc<[Ranked]>,
    /// Submissions before this cycle within the trailing window.
    earlier_submits: usize,
    submits: usize,
    attempts: usize,
    /// Tasks that this run has submitted.
    accepted: Vec<Option<TaskId>>,
    prechecked: HashSet<ModelKey>,
    /// The answer to a precheck that was asked for before its candidate's turn, and since when.
    ahead: Option<(ModelKey, Precheck, Duration)>,
    told_marks: HashSet<Pair>,
    /// A build-config path that answered 404 is not asked again.
    no_build_config: bool,
}

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// Runs the cycle to its end. Says why it ended there, and what it leaves of the account where
    /// it could read all of it.
    #[must_use]
    pub fn run(mut self) -> (Hold, Option<Account>) {
        let mut known = Known::default();
        let hold = self.story(&mut known).err().unwrap_or_else(|| {
            let tried = known.attempts > 0 || known.submits > 0;
            Hold::new(if tried { Reason::CandidatesDone } else { Reason::NothingEligible })
        });
        (hold, self.account(known))
    }

    fn story(&mut self, known: &mut Known) -> Result<(), Hold> {
        self.pause()?;
        before::known_cards(self.desk.history(), &self.data.catalog)?;
        self.hourly_cap(known)?;
        self.rebuild(known)?;
        self.settle(known)?;
        let candidates = Rc::from(self.candidates(known)?);
        known.candidates = Rc::clone(&candidates);
        self.gate(known)?;
        for (at, ranked) in candidates.iter().enumerate() {
            self.signal()?;
            self.candidate(known, &ranked.candidate, &candidates[at + 1..])?;
        }
        self.signal()
    }

    /// A signal ends the cycle also where no further request would ask for it.
    fn signal(&self) -> Result<(), Hold> {
        match self.watch.may_start() {
            Err(Stop::Interrupted) => Err(Hold::new(Reason::Interrupted)),
            _ => Ok(()),
        }
    }

    fn pause(&self) -> Result<(), Hold> {
        self.desk.pause().map_or(Ok(()), |pause| Err(paused(&pause)))
    }

    /// The submit cap over the trailing window: counted from the journal, so that a crontab of
    /// `* * * * *` submits no more than an hourly one (S13).
    fn hourly_cap(&self, known: &mut Known) -> Result<(), Hold> {
        let (history, horizon) = (self.desk.history(), self.horizon());
        let ahead = history.dated_ahead(&horizon);
        if ahead > 0 {
            log::warn!(
                "[live] warning {ahead} journal records are dated ahead of the clock and are not \
                 counted: check the machine's time"
            );
        }
        known.earlier_submits = history.submitted_within(&horizon);
        before::hourly_cap(known.earlier_submits, self.limits)
    }

    fn horizon(&self) -> Horizon {
        self.limits.horizon(self.watch.clock.now())
    }

    /// The candidates in the order in which they are tried.
    fn candidates(&self, known: &Known) -> Result<Vec<Ranked>, Hold> {
        // Where the gate is shut anyway, other users' tasks are not worth their requests.
        let slices = self.slices.filter(|_| self.gate(known).is_ok());
        let snapshot = slices.map_or(Ok(Snapshot::default()), |slices| self.read_slices(slices))?;
        let only = self.slices.and_then(|slices| slices.section);
        let ranked = merge::merge(&self.data.candidates, &snapshot, &self.data.catalog, only);
        if ranked.is_empty() {
            return Err(Hold::because(Reason::NoCandidates, "the candidate list is empty"));
        }
        Ok(ranked)
    }

    /// What other users' tasks say; nothing where any of it is not as it should be.
    fn read_slices(&self, slices: Slices<'_>) -> Result<Snapshot, Hold> {
        let Slices { pages, token, .. } = slices;
        let clock = self.watch.clock;
        match foothold::read(self.api, pages, &self.data.catalog, token, clock) {
            Ok(snapshot) => {
                log::info!("[foothold] reason=ok");
                Ok(snapshot)
            }
            Err(Dropped::Because(reason)) => {
                log::info!("[foothold] reason={reason}");
                Ok(Snapshot::default())
            }
            Err(Dropped::Hold(hold)) => Err(hold),
        }
    }

    /// Whether one more task fits into the queue.
    fn gate(&self, known: &Known) -> Result<(), Hold> {
        let Limits { hints, queue_threshold, .. } = self.limits;
        gate::ask(self.queue(known), hints, *queue_threshold)
    }

    fn queue(&self, known: &Known) -> u64 {
        gate::queue(&known.stats, &known.remote, self.desk.history())
    }
}
