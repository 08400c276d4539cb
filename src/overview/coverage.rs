//! Which models were tried on which cards, how that stands, and how often it went well.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::api::TaskId;
use crate::gpu::Gpu;
use crate::journal::history::{BlockKind, History};
use crate::pair::ModelKey;
use crate::remote::{State, Task};

/// More cards than the platform has.
const CARDS: usize = 24;
/// A page with as many rows is still a small one.
const MODELS: usize = 400;

/// How a pair stands. Of several things that are known of one pair the greatest is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// The platform will never take it: its code.
    Marked(i64),
    /// Submitted perhaps.
    InDoubt,
    /// Accepted, and not in the last list.
    Taken,
    /// A task that ended in another way.
    Other,
    /// A task whose job failed.
    Failed,
    /// A task that did not pass.
    NotPassed,
    /// A task that is not finished.
    Open,
    /// A task that passed.
    Passed,
}

impl From<State> for Cell {
    fn from(state: State) -> Self {
        match state {
            State::Open => Self::Open,
            State::Passed => Self::Passed,
            State::NotPassed => Self::NotPassed,
            State::Failed => Self::Failed,
            State::Other => Self::Other,
        }
    }
}

/// Tasks by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) not_passed: u64,
    pub(super) failed: u64,
    pub(super) other: u64,
    pub(super) open: u64,
}

impl Tally {
    fn add(&mut self, state: State) {
        *match state {
            State::Open => &mut self.open,
            State::Passed => &mut self.passed,
            State::NotPassed => &mut self.not_passed,
            State::Failed => &mut self.failed,
            State::Other => &mut self.other,
        } += 1;
    }

    /// All of them.
    pub(super) fn tasks(&self) -> u64 {
        self.tried() + self.other + self.open
    }

    /// Those that ended by themselves: passed, not passed, failed.
    pub(super) fn tried(&self) -> u64 {
        self.passed + self.not_passed + self.failed
    }
}

/// A model's cards, in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) model: String,
    pub(super) cells: Vec<Option<Cell>>,
}

/// Models and cards.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Coverage {
    /// The columns: the cards with most tasks first; none: a task's name of its card could mean any.
    pub(super) cards: Vec<Option<Gpu>>,
    /// Tasks of every card, in that order; those of cards without a column too.
    pub(super) by_card: Vec<(Option<Gpu>, Tally)>,
    /// Tasks of every family, those with most tasks first.
    pub(super) by_family: Vec<(String, Tally)>,
    /// Models in doubt, then those with the newest tasks.
    pub(super) rows: Vec<Row>,
    /// Models without a row.
    pub(super) models_left_out: usize,
    /// Cards without a column.
    pub(super) cards_left_out: usize,
}

/// Something that is known of a pair.
#[derive(Debug, Clone, Copy)]
struct Known<'a> {
    model: &'a ModelKey,
    gpu: Option<&'a Gpu>,
    cell: Cell,
    task: TaskId,
}

impl Coverage {
    /// What the tasks of the last list, and what the journal knows beyond it, add up to.
    pub(super) fn of(tasks: &[Task], history: &History) -> Self {
        let known = known(tasks, history);
        let by_card = by_card(tasks, &known);
        let cards: Vec<Option<Gpu>> =
            by_card.iter().map(|(gpu, _)| gpu.clone()).take(CARDS).collect();
        let (models, models_left_out) = models(&known);
        Self {
            rows: rows(&models, &cards, &known),
            cards_left_out: by_card.len() - cards.len(),
            cards,
            by_card,
            by_family: by_family(tasks),
            models_left_out,
        }
    }
}

fn known<'a>(tasks: &'a [Task], history: &'a History) -> Vec<Known<'a>> {
    let listed = tasks.iter().map(|task| Known {
        model: &task.model,
        gpu: task.gpu.as_ref(),
        cell: task.state.into(),
        task: task.id,
    });
    let sent = history.submissions().map(|(pair, submission)| Known {
        model: &pair.model,
        gpu: Some(&pair.gpu),
        cell: if submission.accepted.is_some() { Cell::Taken } else { Cell::InDoubt },
        task: submission.accepted.as_ref().and_then(|accepted| accepted.task).unwrap_or(TaskId(0)),
    });
    let for_good = history.blocks().iter().filter(|(_, block)| block.kind == BlockKind::ForGood);
    let marked = for_good.map(|(pair, block)| Known {
        model: &pair.model,
        gpu: Some(&pair.gpu),
        cell: Cell::Marked(block.code),
        task: TaskId(0),
    });
    listed.chain(sent).chain(marked).collect()
}

/// Every card with its tasks, those with most first.
fn by_card(tasks: &[Task], known: &[Known]) -> Vec<(Option<Gpu>, Tally)> {
    let mut cards: BTreeMap<Option<&Gpu>, Tally> =
        known.iter().map(|known| (known.gpu, Tally::default())).collect();
    for task in tasks {
        cards.entry(task.gpu.as_ref()).or_default().add(task.state);
    }
    let mut cards: Vec<_> = cards.into_iter().map(|(gpu, tally)| (gpu.cloned(), tally)).collect();
    cards.sort_by_key(|(_, tally)| Reverse(tally.tasks()));
    cards
}

fn by_family(tasks: &[Task]) -> Vec<(String, Tally)> {
    let mut families: BTreeMap<String, Tally> = BTreeMap::new();
    for task in tasks {
        families.entry(family(&task.model)).or_default().add(task.state);
    }
    let mut families: Vec<_> = families.into_iter().collect();
    families.sort_by_key(|(_, tally)| Reverse(tally.tasks()));
    families
}

/// The models that get a row, in order, and how many get none.
fn models<'a>(known: &[Known<'a>]) -> (Vec<&'a ModelKey>, usize) {
    let mut ranks: HashMap<&ModelKey, (bool, TaskId)> = HashMap::new();
    for Known { model, cell, task, .. } in known {
        let (in_doubt, newest) = ranks.entry(model).or_insert((false, TaskId(0)));
        *in_doubt |= *cell == Cell::InDoubt;
        *newest = (*newest).max(*task);
    }
    let mut ranked: Vec<_> = ranks.into_iter().collect();
    ranked.sort_by_key(|(model, (in_doubt, newest))| (Reverse((*in_doubt, *newest)), *model));
    let left_out = ranked.len().saturating_sub(MODELS);
    (ranked.into_iter().take(MODELS).map(|(model, _)| model).collect(), left_out)
}

fn rows(models: &[&ModelKey], cards: &[Option<Gpu>], known: &[Known]) -> Vec<Row> {
    let row_of: HashMap<&ModelKey, usize> = models.iter().copied().zip(0..).collect();
    let column_of: HashMap<Option<&Gpu>, usize> =
        cards.iter().map(Option::as_ref).zip(0..).collect();
    let empty =
        |model: &&ModelKey| Row { model: model.to_string(), cells: vec![None; cards.len()] };
    let mut rows: Vec<Row> = models.iter().map(empty).collect();
    for Known { model, gpu, cell, .. } in known {
        let row = row_of.get(model).and_then(|at| rows.get_mut(*at));
        let column = column_of.get(gpu);
        if let Some(place) = row.zip(column).and_then(|(row, at)| row.cells.get_mut(*at)) {
            *place = (*place).max(Some(*cell));
        }
    }
    rows
}

/// The family of a model: its name up to the first `-` or `_`, and the version number behind
/// that, if there is one. `meta-llama/llama-3.2-1b` is of `llama-3.2`, `eleutherai/pythia-1b` of
/// `pythia`.
fn family(model: &ModelKey) -> String {
    let name = model.as_str().split_once('/').map_or(model.as_str(), |(_, name)| name);
    let mut parts = name.split(['-', '_']).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or(name);
    let is_version = |part: &&str| {
        part.bytes().all(|b| b.is_ascii_digit() || b == b'.') && part.len() <= "12.34".len()
    };
    parts.next().filter(is_version).map_or(first.to_owned(), |version| format!("{first}-{version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_name_without_its_size_and_its_tuning() {
        for (model, of) in [
            ("qwen/qwen2.5-0.5b-instruct", "qwen2.5"),
            ("meta-llama/llama-3.2-1b", "llama-3.2"),
            ("eleutherai/pythia-1b", "pythia"),
            ("dphn/dolphin-2.9.3-qwen2-1.5b", "dolphin-2.9.3"),
            ("abaryan/cyberxp_agent_llama_3.2_1b", "cyberxp"),
            ("org/model-20240101", "model"),
            ("gpt2", "gpt2"),
            ("org/--", "--"),
        ] {
            let key = ModelKey::seen(model).remove(0);
            assert_eq!(family(&key), of, "{model}");
        }
    }

    #[test]
    fn what_is_most_of_a_pair_is_shown() {
        let ascending = [
            Cell::Marked(60_022),
            Cell::InDoubt,
            Cell::Taken,
            Cell::Other,
            Cell::Failed,
            Cell::NotPassed,
            Cell::Open,
            Cell::Passed,
        ];
        assert!(ascending.is_sorted());
    }
}
