//! What is known of a model on each card.

use std::collections::BTreeSet;

use serde::Serialize;

use super::row::Row;
use crate::api::TaskId;
use crate::codes;
use crate::gpu::Gpu;
use crate::journal::history::Submission;
use crate::pair::{ModelKey, Pair};
use crate::plan::Judge;
use crate::remote::{State, Task};

/// A card, and what is known of the model on it.
#[derive(Debug, Serialize)]
pub struct Card {
    /// Its enum.
    pub gpu: Gpu,
    /// `free`, `taken`, or `marked:CODE`.
    pub verdict: String,
    /// Whether a row without any list is tried on it.
    pub target: bool,
    /// Whether a row of the model lists it, or would be tried on it.
    pub listed: bool,
    /// The own tasks that take it, as the last run saw them.
    pub tasks: Vec<OwnTask>,
    /// What the journal has of it.
    pub submission: Option<Sent>,
    /// What else takes it.
    pub taken_by: Vec<TakenBy>,
    /// The platform will not take it.
    pub mark: Option<Mark>,
}

/// What takes a pair besides own tasks and the journal's submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TakenBy {
    /// An intent for the model was cut off before its card, so that all cards are taken.
    #[serde(rename = "cut_off_intent")]
    CutOffIntent,
    /// `submitted-ledger.json`.
    #[serde(rename = "submitted-ledger.json")]
    Baked,
    /// The file of `LIVE_STATE_FILE`.
    #[serde(rename = "LIVE_STATE_FILE")]
    CarriedOver,
}

/// An own task.
#[derive(Debug, Serialize)]
pub struct OwnTask {
    /// Its number.
    pub id: TaskId,
    /// Its card; none where the name could mean any.
    pub gpu: Option<Gpu>,
    /// How it stands.
    pub state: State,
    /// Points for it.
    pub points: f64,
}

/// A submission of this program.
#[derive(Debug, Serialize)]
pub struct Sent {
    /// When its intent was written.
    pub at: u64,
    /// Whether nobody knows if the platform took it.
    pub in_doubt: bool,
    /// Its task, where that is known.
    pub task: Option<TaskId>,
    /// Since when a complete list lacks the task.
    pub missing_since: Option<u64>,
    /// Whether a person knows that the task is gone.
    pub acknowledged: bool,
}

/// Why the platform will not take a pair.
#[derive(Debug, Serialize)]
pub struct Mark {
    /// Its code.
    pub code: i64,
    /// The code's name.
    pub name: &'static str,
    /// `reject-marks.json` or `journal`.
    pub source: &'static str,
    /// When it ends; none: never.
    pub until: Option<u64>,
}

/// All cards of which anything is known, the target cards first.
pub(super) fn cards(
    judge: &Judge<'_>,
    carried_over: &[Pair],
    tasks: &[Task],
    rows: &[Row],
    key: &ModelKey,
) -> Vec<Card> {
    let catalog = &judge.data.catalog;
    let of_model = |pair: &&Pair| pair.model == *key;
    let names = rows.iter().flat_map(|row| row.cards.iter().flatten());
    let listed: Vec<&Gpu> = names.filter_map(|name| catalog.find(name)).collect();
    let untold = rows.iter().any(|row| row.cards.is_none());
    let own: Vec<&Task> =
        tasks.iter().filter(|task| task.models().any(|model| model == key)).collect();
    let mut known: BTreeSet<&Gpu> = listed.iter().copied().collect();
    known.extend(own.iter().filter_map(|task| task.gpu.as_ref()));
    let submitted = judge.history.submissions().map(|(pair, _)| pair);
    let blocked = judge.history.blocks().iter().map(|(pair, _)| pair);
    let baked = judge.data.ledger.pairs.iter().chain(judge.data.marks.keys());
    let pairs = submitted.chain(blocked).chain(baked).chain(carried_over);
    known.extend(pairs.filter(of_model).map(|pair| &pair.gpu));
    let others = known.into_iter().filter(|gpu| !catalog.targets().contains(gpu));
    let gpus = catalog.targets().iter().chain(others);
    gpus.map(|gpu| {
        let pair = Pair::new(key.clone(), gpu.clone());
        let target = catalog.targets().contains(gpu);
        let takes = own.iter().filter(|task| task.takes(&pair));
        let submission = judge.history.submission(&pair);
        let taken_by = [
            (TakenBy::CutOffIntent, submission.is_none() && judge.history.takes(&pair)),
            (TakenBy::Baked, judge.data.ledger.pairs.contains(&pair)),
            (TakenBy::CarriedOver, carried_over.contains(&pair)),
        ];
        Card {
            verdict: verdict(judge, &pair),
            target,
            listed: listed.contains(&gpu) || untold && target,
            tasks: takes.map(|task| OwnTask::from(*task)).collect(),
            submission: submission.map(Sent::from),
            taken_by: taken_by.into_iter().filter(|(_, takes)| *takes).map(|(by, _)| by).collect(),
            mark: mark(judge, &pair),
            gpu: gpu.clone(),
        }
    })
    .collect()
}

fn verdict(judge: &Judge<'_>, pair: &Pair) -> String {
    match judge.mark(pair) {
        _ if judge.is_taken(pair) => "taken".to_owned(),
        Some(code) => crate::plan::Skip::Marked(code).to_string(),
        None => "free".to_owned(),
    }
}

fn mark(judge: &Judge<'_>, pair: &Pair) -> Option<Mark> {
    let code = judge.mark(pair)?;
    let name = codes::name(code);
    if judge.data.marks.contains_key(pair) {
        return Some(Mark { code, name, source: "reject-marks.json", until: None });
    }
    let until = judge.history.blocks().get(pair).and_then(|block| block.until(&judge.horizon));
    Some(Mark { code, name, source: "journal", until })
}

impl From<&Task> for OwnTask {
    fn from(task: &Task) -> Self {
        Self { id: task.id, gpu: task.gpu.clone(), state: task.state, points: task.points }
    }
}

impl From<&Submission> for Sent {
    fn from(Submission { at, accepted }: &Submission) -> Self {
        let known = accepted.as_ref();
        Self {
            at: *at,
            in_doubt: accepted.is_none(),
            task: known.and_then(|task| task.task),
            missing_since: known.and_then(|task| task.missing_since),
            acknowledged: known.is_some_and(|task| task.acknowledged),
        }
    }
}
