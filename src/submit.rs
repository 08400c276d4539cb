//! The one place that POSTs, and what a dry run has in its stead.
//!
//! The order is the promise: the pause is looked at, the intent is durable, then the POST is
//! made, once, then its outcome is written. Whatever fails after the intent leaves the pair
//! taken.

use std::time::Duration;

use crate::api::{Accepted, AddError, NewTask, WriteApi};
use crate::clock::Watch;
use crate::exit::{Hold, Reason};
use crate::journal::event::{Event, Record};
use crate::journal::history::History;
use crate::journal::{Journal, LogFile};
use crate::pair::Pair;
use crate::pause::{Pause, PauseStore};
use crate::secret::RENEW;

/// A pair that is about to be submitted.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// What to take.
    pub pair: &'a Pair,
    /// What to send.
    pub task: &'a NewTask,
    /// Until when, in the run's time, what is known of the platform is fresh enough to act on.
    pub fresh_until: Duration,
}

/// What became of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A dry run: it would have been sent.
    Planned,
    /// The platform took it.
    Accepted(Accepted),
    /// The platform did not, for a reason of the pair, the account or the time.
    Rejected {
        /// HTTP status.
        http: u16,
        /// The platform's code.
        code: i64,
    },
    /// Certainly not taken, and the cycle ends.
    Released(Hold),
    /// Writing the intent took so long that the knowledge behind it is old; nothing was sent.
    Stale,
    /// Nobody knows.
    InDoubt {
        /// HTTP status, where one arrived.
        http: Option<u16>,
        /// What was seen.
        detail: String,
    },
}

/// An attempt's outcome, and whether it could be written down.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    /// What became of it.
    pub outcome: Outcome,
    /// Set where the outcome is not in the journal: the next run will find the pair in doubt.
    pub unrecorded: Option<Hold>,
}

/// One POST, and the record of its outcome. It calls its argument when the answer is awaited.
pub type Post<'a> = Box<dyn FnOnce(&mut dyn FnMut()) -> Sent + 'a>;

/// What a cycle may do beyond reading the platform.
pub trait Desk {
    /// What earlier runs, and this one so far, have recorded.
    fn history(&self) -> &History;
    /// The pause in force.
    fn pause(&self) -> Option<Pause>;
    /// Records what a later decision will rest on.
    ///
    /// # Errors
    /// `state_write_failed`: nothing more may be submitted.
    fn record(&mut self, event: Event) -> Result<(), Hold>;
    /// Records what may be lost.
    ///
    /// # Errors
    /// As [`Self::record`].
    fn note(&mut self, event: Event) -> Result<(), Hold>;
    /// Stops this and all later runs until a person resumes.
    ///
    /// # Errors
    /// As [`Self::record`].
    fn set_pause(&mut self, reason: Reason) -> Result<(), Hold>;
    /// Submits, or plans to. Where a POST is made, `alongside` gets it, to do other things while the
    /// answer is awaited; it can be called once.
    ///
    /// # Errors
    /// A hold, with nothing sent.
    fn submit(
        &mut self,
        attempt: &Attempt<'_>,
        alongside: impl FnOnce(Post<'_>) -> Sent,
    ) -> Result<Sent, Hold>;
}

/// The desk of a real run.
#[derive(Debug)]
pub struct Live<'a, L, W, P> {
    /// The locked journal.
    pub journal: Journal<L>,
    /// The only way to POST.
    pub writer: W,
    /// The pause.
    pub pause: P,
    /// The clock, the deadline, the signals.
    pub watch: Watch<'a>,
}

fn write_failed(error: &std::io::Error) -> Hold {
    let next = "make room or repair the state folder; the next run goes on from what is there";
    Hold::because(Reason::StateWriteFailed, format!("writing the journal: {error}; {next}"))
}

/// The pause in force: the file's, else the journal's, where it is not known since when.
pub fn in_force(file: &impl PauseStore, history: &History) -> Option<Pause> {
    let journaled = || history.pause().map(|reason| Pause { at: 0, reason: reason.into() });
    file.read().or_else(journaled)
}

/// The hold of a pause.
#[must_use]
pub fn paused(pause: &Pause) -> Hold {
    let detail = format!("{}; `submitter resume` ends the pause", pause.reason);
    Hold::because(Reason::Paused, detail)
}

impl<L: LogFile, W: WriteApi, P: PauseStore> Desk for Live<'_, L, W, P> {
    fn history(&self) -> &History {
        self.journal.history()
    }

    fn pause(&self) -> Option<Pause> {
        in_force(&self.pause, self.history())
    }

    fn record(&mut self, event: Event) -> Result<(), Hold> {
        self.journal.record(self.watch.clock.now(), event).map_err(|error| write_failed(&error))
    }

    fn note(&mut self, event: Event) -> Result<(), Hold> {
        self.journal.note(self.watch.clock.now(), event).map_err(|error| write_failed(&error))
    }

    fn set_pause(&mut self, reason: Reason) -> Result<(), Hold> {
        self.record(Event::Paused { reason: reason.name().into() })?;
        let pause = Pause { at: self.watch.clock.now(), reason: reason.name().into() };
        self.pause.write(&pause).map_err(|error| write_failed(&error))
    }

    fn submit(
        &mut self,
        attempt: &Attempt<'_>,
        alongside: impl FnOnce(Post<'_>) -> Sent,
    ) -> Result<Sent, Hold> {
        if let Some(pause) = Desk::pause(self) {
            return Err(paused(&pause));
        }
        self.watch.may_start().map_err(|stop| Hold::new(stop.reason()))?;
        let pair = || attempt.pair.clone();
        self.record(Event::Intent { pair: pair() })?;
        // Writing takes its time: what was asked before it is asked again.
        if let Some(pause) = Desk::pause(self) {
            let released = Event::Released { pair: pair(), reason: Reason::Paused.name().into() };
            return Ok(self.close(released, Outcome::Released(paused(&pause))));
        }
        if self.watch.clock.elapsed() > attempt.fresh_until {
            let released = Event::Released { pair: pair(), reason: "stale".into() };
            return Ok(self.close(released, Outcome::Stale));
        }
        Ok(alongside(Box::new(|sent| {
            let answer = self.writer.add_task(attempt.task, attempt.fresh_until, sent);
            let (event, outcome) = match answer {
                Ok(accepted) => {
                    let event = Event::Accepted { pair: pair(), task: accepted.task };
                    (event, Outcome::Accepted(accepted))
                }
                Err(error) => outcome_of(error, attempt.pair),
            };
            self.close(event, outcome)
        })))
    }
}

impl<L: LogFile, W: WriteApi, P: PauseStore> Live<'_, L, W, P> {
    /// Writes an outcome down.
    fn close(&mut self, event: Event, outcome: Outcome) -> Sent {
        let unrecorded = self.record(event).err();
        Sent { outcome, unrecorded }
    }
}

/// What a failed POST leaves behind. Only what is certainly not taken frees the pair.
fn outcome_of(error: AddError, pair: &Pair) -> (Event, Outcome) {
    let (reason, detail) = match error {
        AddError::TooLate => {
            let event = Event::Released { pair: pair.clone(), reason: "stale".into() };
            return (event, Outcome::Stale);
        }
        AddError::InDoubt { http, detail } => {
            let event = Event::InDoubt { pair: pair.clone(), http };
            return (event, Outcome::InDoubt { http, detail });
        }
        AddError::Rejected { http, code } => {
            let event = Event::Rejected { pair: pair.clone(), code };
            return (event, Outcome::Rejected { http, code });
        }
        AddError::Credential { http, code } => {
            let code = code.map(|code| format!(", code {code}")).unwrap_or_default();
            (Reason::CredentialRefused, format!("HTTP {http}{code}: {RENEW}"))
        }
        AddError::Refused { http: 429 } => (Reason::RateLimited, "HTTP 429".to_owned()),
        AddError::Refused { http } => {
            (Reason::HttpError, format!("HTTP {http} without a code of the platform"))
        }
        AddError::NotSent { stop: Some(stop), .. } => (stop.reason(), String::new()),
        AddError::NotSent { detail, stop: None } => (Reason::PlatformUnreachable, detail),
    };
    let event = Event::Released { pair: pair.clone(), reason: reason.name().into() };
    let detail =
        if detail.is_empty() { detail } else { format!("POST task/add for {pair}: {detail}") };
    (event, Outcome::Released(Hold { reason, detail }))
}

/// The desk of a dry run: it holds no writer, no lock and no file. What it would record, it
/// remembers for itself, so that its plan is that of a real run.
#[derive(Debug)]
pub struct Rehearsal<'a, P> {
    /// What earlier runs have recorded.
    pub history: History,
    /// The pause; only read.
    pub pause: P,
    /// The clock, the deadline, the signals.
    pub watch: Watch<'a>,
}

impl<P: PauseStore> Desk for Rehearsal<'_, P> {
    fn history(&self) -> &History {
        &self.history
    }

    fn pause(&self) -> Option<Pause> {
        in_force(&self.pause, &self.history)
    }

    fn record(&mut self, event: Event) -> Result<(), Hold> {
        let record = Record { at: self.watch.clock.now(), event };
        self.history.apply(record).map_err(|what| Hold::because(Reason::JournalDamaged, what))
    }

    fn note(&mut self, event: Event) -> Result<(), Hold> {
        self.record(event)
    }

    fn set_pause(&mut self, _: Reason) -> Result<(), Hold> {
        Ok(())
    }

    fn submit(
        &mut self,
        attempt: &Attempt<'_>,
        _: impl FnOnce(Post<'_>) -> Sent,
    ) -> Result<Sent, Hold> {
        if let Some(pause) = Desk::pause(self) {
            return Err(paused(&pause));
        }
        self.watch.may_start().map_err(|stop| Hold::new(stop.reason()))?;
        self.record(Event::Intent { pair: attempt.pair.clone() })?;
        Ok(Sent { outcome: Outcome::Planned, unrecorded: None })
    }
}
