//! `submitter explain`: what is known of one model, and what the next run would do with it, by the
//! functions that the run itself judges by. Needs no request: the own tasks are those that the
//! last run saw.

mod card;
mod row;
mod show;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use self::card::Card;
use self::row::{Row, rows};
use crate::account::{self, Account};
use crate::cycle::before;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::flags::Flags;
use crate::gate;
use crate::journal::file;
use crate::journal::history::History;
use crate::ledger::Ledger;
use crate::local::Local;
use crate::pair::{ModelId, ModelKey};
use crate::pause::PauseFile;
use crate::plan::Judge;
use crate::settings::{Settings, read_snapshot_file};
use crate::sources::Candidate;
use crate::sources::foothold::Snapshot;
use crate::sources::merge::{self, Ranked};
use crate::submit;

/// What is known of a model. Times are in seconds since 1970.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The version of these fields.
    pub version: u32,
    /// The model, case-folded.
    pub model: ModelKey,
    /// When it was looked at.
    pub looked_at: u64,
    /// The folder of the journal.
    pub state_dir: String,
    /// When the last run read the own tasks; none: no run has, and what the platform lists is not
    /// known.
    pub account_at: Option<u64>,
    /// Where the candidates are from.
    pub source: String,
    /// How many there are.
    pub candidates: usize,
    /// Whether the next run reads other users' results, which may add candidates, remove cards
    /// and change the order.
    pub foothold: bool,
    /// Whether the next run asks for the model's results before it submits.
    pub precheck: bool,
    /// Why the model may not be submitted whatever list it stands in: a ban rule, a block.
    pub skip: Option<String>,
    /// Where no candidate is this model: up to three with similar names.
    pub similar: Vec<String>,
    /// The candidates that are this model, in the order in which they are tried.
    pub rows: Vec<Row>,
    /// Every card of which anything is known, the target cards first.
    pub cards: Vec<Card>,
    /// What would hold the next run before any candidate, by what is known.
    pub held: Option<Held>,
    /// How many submissions the caps and the queue leave to the next run, by what is known.
    pub room: u64,
}

/// A hold.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Its name.
    pub reason: Reason,
    /// More to know, in words.
    pub detail: String,
}

/// Looks a model up.
///
/// # Errors
/// Those of settings and data files, as a run's; those of [`file::peek`].
pub fn explain(model: &ModelId, flags: &Flags, env: &Env, now: u64) -> Result<Explanation, Hold> {
    let local = Local::read(Settings::resolve_to_look(flags, env, &read_snapshot_file)?)?;
    let dir = &local.settings.state_dir;
    let account = account::read_or_warn(dir);
    let (history, _) = file::peek(dir, now)?;
    let account_at = account.as_ref().map(|account| account.at);
    let Account { queue, tasks, .. } = account.unwrap_or_default();
    let mut ledger = Ledger::default();
    local.data.ledger.pairs.iter().chain(&local.carried_over).for_each(|pair| ledger.take(pair));
    ledger.take_tasks(tasks.iter());
    let limits = local.limits();
    let horizon = limits.horizon(now);
    let judge = Judge { data: &local.data, ledger: &ledger, history: &history, horizon };
    let key = model.key();
    let ranked =
        merge::merge(&local.data.candidates, &Snapshot::default(), &local.data.catalog, None);
    let rows = rows(&judge, &ranked, &key, local.build_config().is_ok());
    let submitted = history.submitted_within(&horizon);
    let left = limits.max_submits.saturating_sub(submitted) as u64;
    Ok(Explanation {
        version: 1,
        looked_at: now,
        state_dir: dir.display().to_string(),
        account_at,
        source: source(&local.settings),
        candidates: ranked.len(),
        foothold: local.settings.foothold,
        precheck: local.settings.precheck,
        skip: judge.screen(&Candidate::new(model.as_str())).err().map(|skip| skip.to_string()),
        cards: card::cards(&judge, &local.carried_over, &tasks, &rows, &key),
        similar: if rows.is_empty() { similar(&ranked, &key) } else { Vec::new() },
        rows,
        held: held(&local, &history, queue, now)
            .err()
            .map(|hold| Held { reason: hold.reason, detail: hold.detail }),
        room: left.min(limits.queue_threshold.saturating_sub(queue)),
        model: key,
    })
}

/// The nearest names of candidates, of those that a slip or two of the pen could make of `key`.
fn similar(ranked: &[Ranked], key: &ModelKey) -> Vec<String> {
    const MOST: usize = 3;
    let slips = 2.max(key.as_str().chars().count() / 5);
    let keys: BTreeSet<ModelKey> =
        ranked.iter().filter_map(|row| ModelKey::parse(&row.candidate.address).ok()).collect();
    let distance = |other: &ModelKey| strsim::damerau_levenshtein(key.as_str(), other.as_str());
    let mut near: Vec<_> = keys.iter().map(|other| (distance(other), other)).collect();
    near.retain(|(distance, _)| *distance <= slips);
    near.sort();
    near.into_iter().take(MOST).map(|(_, other)| other.to_string()).collect()
}

/// What holds the next run before any candidate, in the order in which it asks.
fn held(local: &Local, history: &History, queue: u64, now: u64) -> Result<(), Hold> {
    let limits = local.limits();
    let pause = PauseFile::in_dir(&local.settings.state_dir);
    if let Some(pause) = submit::in_force(&pause, history) {
        return Err(submit::paused(&pause));
    }
    before::known_cards(history, &local.data.catalog)?;
    before::hourly_cap(history.submitted_within(&limits.horizon(now)), &limits)?;
    if let Some(pair) = history.missing().min() {
        let what = format!("{pair} was accepted, and the last list lacks it");
        return Err(Hold::because(Reason::TaskMissing, what));
    }
    if local.data.candidates.is_empty() {
        return Err(Hold::because(Reason::NoCandidates, "the candidate list is empty"));
    }
    gate::ask(queue, &limits.hints, limits.queue_threshold)
}

/// Where the candidates are from, in words.
fn source(settings: &Settings) -> String {
    let pending = [&settings.pending_md, &settings.pending_txt];
    let pending: Vec<String> =
        pending.into_iter().flatten().map(|path| path.display().to_string()).collect();
    if !pending.is_empty() {
        return pending.join(" and ");
    }
    let own = settings.data_dir.as_deref().map(|dir: &Path| dir.join("candidates.json"));
    own.filter(|path| path.exists()).map_or_else(
        || "the compiled-in candidates.json".to_owned(),
        |path| path.display().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Catalog;

    #[test]
    fn only_names_that_a_slip_could_make_are_similar() {
        let rows = ["Org/Model-1", "org/model-2", "org/model", "org/modle", "other/one"];
        let rows: Vec<_> = rows.map(Candidate::new).into();
        let catalog: Catalog = crate::sources::baked::catalog(None).unwrap();
        let ranked = merge::merge(&rows, &Snapshot::default(), &catalog, None);
        let near = similar(&ranked, &ModelKey::parse("org/modell").unwrap());
        assert_eq!(near, ["org/model", "org/model-1", "org/model-2"]);
    }
}
