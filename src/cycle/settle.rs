//! What earlier runs submitted, held against the complete list.

use super::{Cycle, Known};
use crate::api::{ReadApi, TaskId};
use crate::exit::{Hold, Reason};
use crate::gate;
use crate::journal::event::Event;
use crate::journal::history::{AcceptedTask, Submission};
use crate::pair::{ModelId, ModelKey, Pair};
use crate::remote::Index;
use crate::submit::Desk;
use crate::text::Field;

/// An accepted task that the complete list lacks.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    pair: Pair,
    task: Option<TaskId>,
    since: Option<u64>,
}

/// What a complete list says of our submissions.
#[derive(Debug, Default)]
struct Settled {
    events: Vec<Event>,
    missing: Vec<Missing>,
}

impl<R: ReadApi, D: Desk> Cycle<'_, R, D> {
    /// Settles pairs in doubt that are listed, and holds where an accepted task is not.
    pub(super) fn settle(&mut self, known: &Known) -> Result<(), Hold> {
        let index = known.remote.index();
        let mut settled = Settled::default();
        for (pair, submission) in self.desk.history().submissions() {
            let listed = gate::is_listed(&index, pair, submission);
            match &submission.accepted {
                None => self.doubt(&mut settled, &index, pair, submission),
                Some(accepted) => settled.accepted(pair, accepted, listed),
            }
        }
        let Settled { mut events, mut missing } = settled;
        missing.sort();
        let horizon = self.horizon();
        let mut vanished = false;
        for Missing { pair, since, .. } in &missing {
            match since {
                Some(since) if !horizon.is_ahead(*since) => {
                    vanished |= horizon.now >= since.saturating_add(horizon.window);
                }
                _ => events.push(Event::Missing { pair: pair.clone() }),
            }
        }
        events.into_iter().try_for_each(|event| self.desk.record(event))?;
        if missing.is_empty() { Ok(()) } else { Err(self.hold_missing(&missing, vanished)?) }
    }

    /// A pair in doubt: the list settles it, or it stays taken.
    fn doubt(
        &self,
        settled: &mut Settled,
        index: &Index<'_>,
        pair: &Pair,
        submission: &Submission,
    ) {
        let (model, gpu) = (self.spelled(&pair.model), Field(pair.gpu.as_str()));
        let named = format!("model={model} gpu={gpu}");
        if let Some(task) = index.task_of(pair) {
            log::info!("[live] settled {named} task={} reason=listed", task.id);
            settled.events.push(Event::Settled { pair: pair.clone(), task: Some(task.id) });
        } else {
            log::info!(
                "[live] in_doubt {named} age_s={} reason=not_listed detail=\"taken until a list \
                 shows it; `submitter resolve {model} {gpu}` settles it\"",
                self.watch.clock.now().saturating_sub(submission.at),
            );
        }
    }

    /// A model in the case in which the list of candidates has it, which is that of the platform;
    /// folded where the list has it no more.
    fn spelled(&self, model: &ModelKey) -> String {
        let ids = self.data.candidates.iter().filter_map(|row| ModelId::parse(&row.address).ok());
        let mut ids = ids.filter(|id| id.key() == *model);
        ids.next().map_or_else(|| model.to_string(), |id| id.to_string())
    }

    /// The hold for missing tasks; a pause where they have been missing for an hour.
    ///
    /// # Errors
    /// The pause could not be written.
    fn hold_missing(&mut self, missing: &[Missing], vanished: bool) -> Result<Hold, Hold> {
        let named: Vec<String> = missing
            .iter()
            .map(|Missing { pair, task, .. }| {
                format!("task {} ({pair})", task.map_or("?".to_owned(), |id| id.to_string()))
            })
            .collect();
        let named = format!("accepted, but not in the complete list: {}", named.join(", "));
        if !vanished {
            return Ok(Hold::because(Reason::TaskMissing, named));
        }
        self.desk.set_pause(Reason::TaskVanished)?;
        let next = "look at the account on the web page, then `submitter resume`";
        Ok(Hold::because(Reason::TaskVanished, format!("{named}; {next}")))
    }
}

impl Settled {
    fn accepted(&mut self, pair: &Pair, accepted: &AcceptedTask, listed: bool) {
        let AcceptedTask { task, missing_since, acknowledged } = *accepted;
        if listed && missing_since.is_some() {
            self.events.push(Event::Found { pair: pair.clone() });
        } else if !listed && !acknowledged {
            self.missing.push(Missing { pair: pair.clone(), task, since: missing_since });
        }
    }
}
