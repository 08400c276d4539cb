//! What a platform knows and how it likes to answer, set up before or changed while it runs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::history;
use super::names::{card_enum, model_key};
use super::tasks::{Task, Tasks};

/// The account under test, everybody's tasks, and the habits of the server. The methods are for
/// setting up; the fields can be changed at any time through `Platform::change`.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What the one `Xc-Token` header must hold.
    pub token: String,
    pub denial: Denial,
    pub tasks: Tasks,
    /// The most rows that a page may have; larger requests are clamped as MyBatis-Plus clamps them.
    pub page_clamp: Option<u64>,
    /// Whether a page past the end is answered with page 1 (`overflow=true`) instead of an empty
    /// one.
    pub overflow: bool,
    /// How long every answer takes at least.
    pub latency: Duration,
    pub order: Order,
    pub numerals: Numerals,
    pub cards: CardNames,
    /// How many reads of the own list do not show a new task yet.
    pub visible_after: usize,
    /// How many unfinished tasks the account may have before task/add answers 60007.
    pub task_limit: Option<usize>,
    /// The first that matches a POST refuses it.
    pub rejections: Vec<Rejection>,
    /// By model key; a model not in here is unknown to the platform (40400).
    pub prechecks: BTreeMap<String, Precheck>,
    /// Path and answer of the build configuration.
    pub build_config: Option<(String, BuildConfig)>,
}

/// How a wrong or missing token is answered.
#[derive(Clone, Copy, Debug, Default)]
pub enum Denial {
    /// HTTP 200 with code 40100.
    #[default]
    Code40100,
    /// HTTP 401 with an HTML page.
    Html401,
    /// HTTP 401 with code 0.
    Http401Code0,
}

/// The order of rows in the own list; other lists are descending.
#[derive(Clone, Debug, Default)]
pub enum Order {
    #[default]
    Descending,
    Ascending,
    /// One list of ids for each read, in turn and over again: those ids come first, the others
    /// after them in descending order.
    Unstable(Vec<Vec<u64>>),
}

/// Which integers are JSON strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numerals {
    /// `taskId` and `total`.
    #[default]
    IdsAndTotal,
    /// Those, and `size`, `current` and `pages`.
    Strings,
    Numbers,
    /// Some of each in one answer, and `verifyResult` too.
    Mixed,
}

/// How rows name their card.
#[derive(Clone, Copy, Debug, Default)]
pub enum CardNames {
    /// As the task has it: a history has both.
    #[default]
    AsStored,
    Enum,
    Chinese,
}

/// The answer to a precheck.
#[derive(Clone, Debug)]
pub enum Precheck {
    /// Results by card, such as 已验证; the model is known even if there are none.
    Results(BTreeMap<String, String>),
    /// A whole body, as it is, with HTTP 200.
    Raw(String),
    /// An HTTP status with an HTML page.
    Status(u16),
}

/// The answer to a request for the build configuration.
#[derive(Clone, Debug)]
pub enum BuildConfig {
    /// `data` is the text.
    Text(String),
    /// `data` is an object, whose `configParams` is the text.
    Object(String),
    /// An HTTP status with an HTML page.
    Status(u16),
}

/// A refusal by task/add: of everything, or of what its model and card single out.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub code: i64,
    /// The HTTP status that carries the code.
    pub status: u16,
    model: Option<String>,
    gpu: Option<String>,
}

impl Rejection {
    pub fn all(code: i64) -> Self {
        Self { code, status: 200, model: None, gpu: None }
    }

    pub fn http(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub fn model(self, model: &str) -> Self {
        Self { model: Some(model_key(model)), ..self }
    }

    pub fn gpu(self, gpu: &str) -> Self {
        Self { gpu: Some(card_enum(gpu).into()), ..self }
    }

    /// Whether it refuses this pair of model key and GPU enum.
    pub fn matches(&self, model: &str, gpu: &str) -> bool {
        self.model.as_deref().is_none_or(|own| own == model)
            && self.gpu.as_deref().is_none_or(|own| own == gpu)
    }
}

impl Account {
    /// An account without tasks.
    pub fn new(token: &str) -> Self {
        Self { token: token.into(), ..Self::default() }
    }

    /// Adds `count` own tasks of a plausible past, with ids from about 33,000 down.
    pub fn with_history(mut self, count: usize, models: &[&str]) -> Self {
        history::write(&mut self.tasks, count, models, true);
        self
    }

    /// Adds `count` tasks of other users in the same way, between those that are there.
    pub fn with_others(mut self, count: usize, models: &[&str]) -> Self {
        history::write(&mut self.tasks, count, models, false);
        self
    }

    pub fn with_task(mut self, task: Task) -> Self {
        self.tasks.insert(task);
        self
    }

    pub fn denial(self, denial: Denial) -> Self {
        Self { denial, ..self }
    }

    pub fn page_clamp(self, rows: u64) -> Self {
        Self { page_clamp: Some(rows), ..self }
    }

    pub fn overflow(self) -> Self {
        Self { overflow: true, ..self }
    }

    pub fn latency(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    pub fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    pub fn numerals(self, numerals: Numerals) -> Self {
        Self { numerals, ..self }
    }

    pub fn cards(self, cards: CardNames) -> Self {
        Self { cards, ..self }
    }

    pub fn visible_after(self, reads: usize) -> Self {
        Self { visible_after: reads, ..self }
    }

    pub fn task_limit(self, tasks: usize) -> Self {
        Self { task_limit: Some(tasks), ..self }
    }

    pub fn rejecting(mut self, rejection: Rejection) -> Self {
        self.rejections.push(rejection);
        self
    }

    pub fn build_config(self, path: &str, answer: BuildConfig) -> Self {
        Self { build_config: Some((path.into(), answer)), ..self }
    }

    pub fn with_precheck(mut self, model: &str, gpu: &str, result: &str) -> Self {
        self.set_precheck(model, gpu, result);
        self
    }

    /// What the precheck of `model` says of `gpu`; other cards keep theirs.
    pub fn set_precheck(&mut self, model: &str, gpu: &str, result: &str) {
        let answer =
            self.prechecks.entry(model_key(model)).or_insert(Precheck::Results(BTreeMap::new()));
        if !matches!(answer, Precheck::Results(_)) {
            *answer = Precheck::Results(BTreeMap::new());
        }
        if let Precheck::Results(results) = answer {
            results.insert(gpu.into(), result.into());
        }
    }
}
