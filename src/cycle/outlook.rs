//! What a cycle leaves for people to look at.

use std::collections::HashSet;

use super::{Cycle, Known};
use crate::account::{Account, Next};
use crate::api::ReadApi;
use crate::plan::Judge;
use crate::sources::Candidate;
use crate::sources::foothold::Snapshot;
use crate::sources::merge;
use crate::submit::Desk;

/// So many of the next pairs are kept, and so many candidates looked at for them at the most.
const NEXT: usize = 10;
const LOOK_AT: usize = 10_000;

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// The account as the last read showed it; none where there was no complete one.
    pub(super) fn account(&self, known: Known) -> Option<Account> {
        let at = known.read_on?;
        Some(Account {
            at,
            queue: self.queue(&known),
            queue_threshold: self.limits.queue_threshold,
            next: self.next(&known),
            tasks: known.remote.tasks,
        })
    }

    /// The pairs that the next run would try first, if nothing changed until then.
    fn next(&self, known: &Known) -> Vec<Next> {
        let (data, mut models) = (self.data, HashSet::new());
        let ranked = match &*known.candidates {
            // Held before it came to them: the next run starts from the list.
            [] => &*merge::merge(&data.candidates, &Snapshot::default(), &data.catalog, None),
            ranked => ranked,
        };
        let rows = ranked.iter().take(LOOK_AT).map(|ranked| &ranked.candidate);
        let judge = self.judge(known);
        let is_built = |row: &&Candidate| {
            self.sending.build_config.is_ok() || data.samples.contains_key(&row.framework)
        };
        let free = rows.filter(is_built).filter_map(|candidate| free(&judge, candidate));
        free.filter(|next| models.insert(next.model.to_ascii_lowercase())).take(NEXT).collect()
    }
}

fn free(judge: &Judge<'_>, candidate: &Candidate) -> Option<Next> {
    let model = judge.screen(candidate).ok()?;
    let pair = judge.pick(&model, &judge.cards(candidate)).pair?;
    Some(Next { model: model.as_str().to_owned(), gpu: pair.gpu })
}
