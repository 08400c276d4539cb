//! The own tasks as the platform lists them.

mod complete;
mod refresh;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

pub use self::complete::{Gap, Unknown, read_all};
pub use self::refresh::{Refreshed, refresh};
use crate::api::{TaskId, TaskRow};
use crate::gpu::{Catalog, Gpu, Seen};
use crate::pair::{ModelKey, Pair};

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not in a terminal state: it counts into the queue.
    Open,
    /// 验证通过: the only success.
    Passed,
    /// 验证失败: the job ended, the model did not pass.
    NotPassed,
    /// 验证异常: the job itself failed.
    Failed,
    /// Ended in any other way: stopped, cancelled.
    Other,
}

impl State {
    /// Reads `status` (lower-case) and `verifyResult` as a pair, as the platform's page does.
    #[must_use]
    pub fn of(status: &str, verify_result: Option<i64>) -> Self {
        match (status, verify_result) {
            ("success", Some(1)) => Self::Passed,
            ("success", Some(-1)) => Self::NotPassed,
            ("failed", _) => Self::Failed,
            ("success" | "stopped" | "canceled" | "cancelled", _) => Self::Other,
            _ => Self::Open,
        }
    }
}

/// One own task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// Its model, folded.
    pub model: ModelKey,
    /// Where the name is no plain id: every other model that it could mean.
    pub or_models: Box<[ModelKey]>,
    /// Its card; none where the name could mean any card.
    pub gpu: Option<Gpu>,
    /// How it stands.
    pub state: State,
    /// Points for it.
    pub points: f64,
}

impl Task {
    /// Every model that it could be of.
    pub fn models(&self) -> impl Iterator<Item = &ModelKey> {
        std::iter::once(&self.model).chain(&self.or_models)
    }

    /// Whether this task takes the pair.
    #[must_use]
    pub fn takes(&self, pair: &Pair) -> bool {
        self.models().any(|model| *model == pair.model)
            && self.gpu.as_ref().is_none_or(|gpu| *gpu == pair.gpu)
    }
}

/// Reads rows. A list has far fewer models and cards than rows, so each name is judged once.
#[derive(Debug)]
pub struct Names<'a> {
    catalog: &'a Catalog,
    models: HashMap<String, (ModelKey, Box<[ModelKey]>)>,
    cards: HashMap<String, Option<Gpu>>,
}

impl<'a> Names<'a> {
    /// Nothing read yet.
    #[must_use]
    pub fn new(catalog: &'a Catalog) -> Self {
        Self { catalog, models: HashMap::new(), cards: HashMap::new() }
    }

    /// The task of a row.
    pub fn task(&mut self, row: &TaskRow) -> Task {
        let (model, or_models) = match self.models.get(&row.model) {
            Some(known) => known.clone(),
            None => self.judge_model(&row.model),
        };
        let gpu = match self.cards.get(&row.card) {
            Some(known) => known.clone(),
            None => self.judge_card(&row.card),
        };
        let state = State::of(&row.status, row.verify_result);
        Task { id: row.id, model, or_models, gpu, state, points: row.points }
    }

    fn judge_model(&mut self, name: &str) -> (ModelKey, Box<[ModelKey]>) {
        let mut models = ModelKey::seen(name);
        let judged = (models.remove(0), models.into());
        self.models.insert(name.to_owned(), judged.clone());
        judged
    }

    fn judge_card(&mut self, name: &str) -> Option<Gpu> {
        let judged = match self.catalog.seen(name) {
            Seen::Card(gpu) => Some(gpu),
            Seen::Unreadable => None,
        };
        self.cards.insert(name.to_owned(), judged.clone());
        judged
    }
}

/// The account in numbers. All but `total` and `points` sum to `total`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {
    /// Tasks in the list.
    pub total: u64,
    /// Tasks not in a terminal state.
    pub queue: u64,
    /// Models that passed.
    pub verify_pass: u64,
    /// Models that did not.
    pub verify_fail: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// Ended in any other way.
    pub unknown: u64,
    /// Points over the passed ones.
    pub points: f64,
}

impl Stats {
    /// Tasks, each by how it stands and its points, in numbers.
    #[must_use]
    pub fn of(tasks: impl Iterator<Item = (State, f64)>) -> Self {
        let mut stats = Self::default();
        for (state, points) in tasks {
            stats.total += 1;
            *match state {
                State::Open => &mut stats.queue,
                State::Passed => &mut stats.verify_pass,
                State::NotPassed => &mut stats.verify_fail,
                State::Failed => &mut stats.failed,
                State::Other => &mut stats.unknown,
            } += 1;
            if state == State::Passed {
                stats.points += points;
            }
        }
        // Points are for looking at; numbers beyond all sense are not.
        if !stats.points.is_finite() {
            stats.points = 0.0;
        }
        stats
    }
}

/// A complete list of the own tasks.
#[derive(Debug, Clone, Default)]
pub struct Remote {
    /// The tasks of the complete pass, in the list's order.
    pub tasks: Vec<Task>,
    /// Tasks that only an incomplete pass has seen: they stay taken for this run.
    pub also_seen: Vec<Task>,
    /// Rows a page, as the server allows it.
    pub page_size: u64,
}

impl Remote {
    /// The list in numbers.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self.tasks.iter().map(|task| (task.state, task.points)))
    }

    /// For looking tasks up.
    #[must_use]
    pub fn index(&self) -> Index<'_> {
        let is_descending = self.tasks.is_sorted_by(|a, b| a.id > b.id);
        Index { tasks: &self.tasks, is_descending, ids: OnceCell::new(), by_model: OnceCell::new() }
    }

    /// Everything that any pass has seen.
    pub fn all_seen(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().chain(&self.also_seen)
    }
}

/// A complete list, for looking tasks up. Most are found by their number in a list that is in
/// order, which needs no memory; what else it takes is made when it is first needed.
#[derive(Debug)]
pub struct Index<'a> {
    tasks: &'a [Task],
    is_descending: bool,
    ids: OnceCell<HashSet<TaskId>>,
    by_model: OnceCell<HashMap<&'a ModelKey, Vec<&'a Task>>>,
}

impl<'a> Index<'a> {
    /// Whether a task is listed.
    #[must_use]
    pub fn has_id(&self, id: TaskId) -> bool {
        if self.is_descending {
            return self.tasks.binary_search_by(|task| id.cmp(&task.id)).is_ok();
        }
        self.ids.get_or_init(|| self.tasks.iter().map(|task| task.id).collect()).contains(&id)
    }

    /// A task that takes the pair.
    #[must_use]
    pub fn task_of(&self, pair: &Pair) -> Option<&'a Task> {
        let by_model = self.by_model.get_or_init(|| {
            let mut by_model: HashMap<_, Vec<_>> = HashMap::new();
            for task in self.tasks {
                for model in task.models() {
                    by_model.entry(model).or_default().push(task);
                }
            }
            by_model
        });
        by_model.get(&pair.model)?.iter().find(|task| task.takes(pair)).copied()
    }

    /// Whether a task takes the pair.
    #[must_use]
    pub fn has_pair(&self, pair: &Pair) -> bool {
        self.task_of(pair).is_some()
    }
}

#[cfg(test)]
mod tests;
