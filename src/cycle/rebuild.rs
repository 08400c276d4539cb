//! What is taken: read in full at the beginning, and again before each POST.

use super::{Cycle, Known};
use crate::api::ReadApi;
use crate::exit::{Hold, Reason};
use crate::journal::event::Event;
use crate::remote::{self, Unknown};
use crate::report::LedgerCounts;
use crate::settings::Refresh;
use crate::submit::Desk;

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// One complete read, and everything else that is known to be taken.
    pub(super) fn rebuild(&mut self, known: &mut Known) -> Result<(), Hold> {
        let baked = &self.data.ledger;
        baked.pairs.iter().chain(self.carried_over).for_each(|pair| known.ledger.take(pair));
        if let Err(hold) = self.read_remote(known) {
            let reason = hold.stats_reason();
            log::info!("[live] stats unavailable reason={reason}");
            return Err(hold.0);
        }
        self.report.stats(known.stats);
        let horizon = self.horizon();
        let journal_marks = self.desk.history().blocks().count(&horizon);
        self.report.ledger(LedgerCounts {
            remote: known.remote.tasks.len() as u64,
            baked: (baked.pairs.len() + baked.blocked.len()) as u64,
            marks: (self.data.marks.len() + journal_marks) as u64,
        });
        self.desk.note(Event::Stats(known.stats))
    }

    /// Knows the remote tasks again, as the last request before a POST: in one request where that
    /// proves as much as reading everything.
    pub(super) fn refresh(&self, known: &mut Known) -> Result<(), Hold> {
        if self.limits.refresh == Refresh::Auto {
            let listed = &known.accepted;
            let catalog = &self.data.catalog;
            let refreshed = remote::refresh(self.api, catalog, &mut known.remote, listed)?;
            known.ledger.take_tasks(refreshed.seen.iter());
            if refreshed.proved {
                known.read_at = self.watch.clock.elapsed();
                known.read_on = Some(self.watch.clock.now());
                known.stats = known.remote.stats();
                return Ok(());
            }
        }
        self.read_remote(known).map_err(|unread| unread.0)
    }

    fn read_remote(&self, known: &mut Known) -> Result<(), ReadHold> {
        let size = self.limits.page_size;
        let remote =
            remote::read_all(self.api, &self.data.catalog, size).map_err(ReadHold::from)?;
        known.read_at = self.watch.clock.elapsed();
        known.read_on = Some(self.watch.clock.now());
        known.ledger.take_tasks(remote.all_seen());
        known.stats = remote.stats();
        known.remote = remote;
        Ok(())
    }
}

/// The hold of a read that proves nothing.
struct ReadHold(Hold, Option<&'static str>);

impl ReadHold {
    fn stats_reason(&self) -> &'static str {
        self.1.unwrap_or(self.0.reason.name())
    }
}

impl From<Unknown> for ReadHold {
    fn from(unknown: Unknown) -> Self {
        let failed = match &unknown {
            Unknown::Request { error, .. } => Some(error.reason()),
            Unknown::Incomplete(_) => None,
        };
        let hold = Hold::from(unknown);
        let stats_reason = failed.filter(|_| hold.reason == Reason::LedgerRebuildFailed);
        Self(hold, stats_reason)
    }
}
