//! The next candidate's precheck, asked for while a POST is answered: a third of a cycle's
//! requests then cost no time.

use super::row::FRESH;
use super::{Cycle, Known, Limits};
use crate::api::{Precheck, ReadApi};
use crate::exit::Hold;
use crate::gate;
use crate::pair::{ModelId, ModelKey, Pair};
use crate::plan;
use crate::sources::merge::Ranked;
use crate::submit::{Attempt, Desk, Sent};

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// What the precheck of a model has said ahead of its turn, where that is as fresh as one asked
    /// for now must be: it is the second look at what a short refresh cannot show.
    pub(super) fn asked_ahead(&self, known: &mut Known, model: &ModelKey) -> Option<Precheck> {
        let (_, blocked, since) = known.ahead.take_if(|(of, ..)| of == model)?;
        Some(blocked).filter(|_| self.watch.clock.elapsed() <= since + FRESH)
    }

    /// Submits, and asks meanwhile for the precheck that will most likely be due next. Yields what
    /// was sent, and the hold that the precheck asks for. A precheck that failed in any other way
    /// is asked for again in its turn.
    pub(super) fn send(
        &mut self,
        known: &mut Known,
        attempt: &Attempt<'_>,
        rest: &[Ranked],
    ) -> Result<(Sent, Result<(), Hold>), Hold> {
        let Some(next) = self.next_precheck(known, attempt.pair, rest) else {
            return Ok((self.desk.submit(attempt, |post| post(&mut || ()))?, Ok(())));
        };
        let (api, mut asked) = (self.api, None);
        let since = self.watch.clock.elapsed();
        let sent = self.desk.submit(attempt, |post| {
            let (answer, sent) = api.precheck_during(&next, post);
            asked = answer;
            sent
        })?;
        let ahead = match asked {
            Some(Err(error)) => error.ends_cycle(&format!("GET precheck of {next}")),
            Some(Ok(blocked)) => {
                known.ahead = Some((next.key(), blocked, since));
                None
            }
            None => None,
        };
        Ok((sent, ahead.map_or(Ok(()), Err)))
    }

    /// The model whose precheck is due if `pair` is accepted; none where a cap or the gate would
    /// then end the cycle.
    fn next_precheck(&self, known: &Known, pair: &Pair, rest: &[Ranked]) -> Option<ModelId> {
        let Limits { max_submits, max_attempts, max_prechecks, queue_threshold, .. } = *self.limits;
        let is_last = known.earlier_submits + known.submits + 1 >= max_submits
            || known.attempts + 1 >= max_attempts
            || known.prechecked.len() >= max_prechecks?;
        if is_last || gate::ask(self.queue(known) + 1, &self.limits.hints, queue_threshold).is_err()
        {
            return None;
        }
        let judge = self.judge(known);
        let is_taken = |other: &Pair| other == pair || judge.is_taken(other);
        let due = rest.iter().find_map(|Ranked { candidate, .. }| {
            let model = judge.screen(candidate).ok()?;
            let cards = judge.cards(candidate);
            plan::pick(&model.key(), &cards, is_taken, |pair| judge.mark(pair)).pair?;
            Some(model)
        })?;
        let is_asked = |key: &ModelKey| {
            known.prechecked.contains(key) || known.ahead.as_ref().is_some_and(|(of, ..)| of == key)
        };
        Some(due).filter(|model| !is_asked(&model.key()))
    }
}
