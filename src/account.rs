//! The account as the last complete read of a run showed it, kept in the state folder for people:
//! `status`, `explain` and `report` look at it. No run decides by it.

use std::borrow::Cow;
use std::io::{self, Write};
use std::iter::once;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::api::TaskId;
use crate::disk;
use crate::gpu::Gpu;
use crate::pair::ModelKey;
use crate::remote::{State, Stats, Task};
use crate::secret::Token;

const FILE: &str = "account.jsonl";
const VERSION: u32 = 1;

/// What is known of the account.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// When the tasks were last read, in seconds since 1970.
    pub at: u64,
    /// Unfinished tasks at the end of the run, submissions that no list showed yet included.
    pub queue: u64,
    /// The run's threshold for it.
    pub queue_threshold: u64,
    /// What the next run would most likely try, in this order.
    pub next: Vec<Next>,
    /// The own tasks, in the list's order.
    pub tasks: Vec<Task>,
}

/// A pair that is free and whose turn is near.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// `org/name` in its own case.
    pub model: String,
    /// The card's enum.
    pub gpu: Gpu,
}

/// An own task in the file: a list of five, since there may be many.
type Row<'a> = (TaskId, Names<'a>, Option<Cow<'a, Gpu>>, State, f64);

/// The models that a task could be of, as text: the first, or it and the others.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Names<'a> {
    One(Cow<'a, str>),
    Many(Cow<'a, str>, Vec<Cow<'a, str>>),
}

fn row(Task { id, model, or_models, gpu, state, points }: &Task) -> Row<'_> {
    let names = match &**or_models {
        [] => Names::One(model.as_str().into()),
        others => {
            Names::Many(model.as_str().into(), others.iter().map(|m| m.as_str().into()).collect())
        }
    };
    let points = if points.is_finite() { *points } else { 0.0 };
    (*id, names, gpu.as_ref().map(Cow::Borrowed), *state, points)
}

/// A key is what reading it again yields, also where it is no model of ours.
fn key(name: &str) -> ModelKey {
    ModelKey::seen(name).swap_remove(0)
}

fn task((id, names, gpu, state, points): Row<'_>) -> Task {
    let (model, or_models) = match names {
        Names::One(name) => (key(&name), Box::default()),
        Names::Many(name, others) => (key(&name), others.iter().map(|name| key(name)).collect()),
    };
    Task { id, model, or_models, gpu: gpu.map(Cow::into_owned), state, points }
}

impl Account {
    /// Takes the token out of the tasks: the platform may name a model or a card as it likes.
    #[must_use]
    pub fn without(mut self, token: &Token) -> Self {
        let is_told = |name: &str| token.is_in_any_case(name);
        for task in &mut self.tasks {
            let mut models = once(&task.model).chain(&task.or_models);
            if models.any(|model| is_told(model.as_str())) {
                (task.model, task.or_models) = (key("(redacted)"), Box::default());
            }
            task.gpu = task.gpu.take().filter(|gpu| !is_told(gpu.as_str()));
        }
        self
    }

    /// The tasks in numbers.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(self.tasks.iter().map(|task| (task.state, task.points)))
    }

    /// Reads what [`Self::write_to`] has written.
    ///
    /// # Errors
    /// What is wrong, and in which line.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.lines().zip(1..);
        let (first, _) = lines.next().context("it is empty")?;
        let head: Head = serde_json::from_str(first).context("line 1")?;
        let Head { submitter_account, at, queue, queue_threshold, next } = head;
        if submitter_account != VERSION {
            bail!("format {submitter_account}, where this program knows {VERSION}");
        }
        let read =
            |(line, at)| serde_json::from_str(line).map(task).with_context(|| format!("line {at}"));
        let tasks = lines.map(read).collect::<Result<_, _>>()?;
        Ok(Self { at, queue, queue_threshold, next, tasks })
    }

    /// Writes a line for the account, then one for each task.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { at, queue, queue_threshold, ref next, ref tasks } = *self;
        let next = next.clone();
        let head = Head { submitter_account: VERSION, at, queue, queue_threshold, next };
        serde_json::to_writer(&mut *out, &head)?;
        for task in tasks {
            out.write_all(b"\n")?;
            serde_json::to_writer(&mut *out, &row(task))?;
        }
        out.write_all(b"\n")
    }
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    submitter_account: u32,
    at: u64,
    queue: u64,
    queue_threshold: u64,
    next: Vec<Next>,
}

/// Where a state folder keeps it.
#[must_use]
pub fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Keeps an account in a state folder, in place of the one before.
///
/// # Errors
/// It could not be written; the one before is still there.
pub fn keep(dir: &Path, account: &Account) -> anyhow::Result<()> {
    let path = path(dir);
    disk::replace_soon(&path, 0o600, |out| account.write_to(out))
        .with_context(|| format!("writing {}", path.display()))
}

/// The account that a state folder keeps; none where no run has read one yet.
///
/// # Errors
/// What is wrong with the file. The next run that reads the platform writes it anew.
pub fn read(dir: &Path) -> anyhow::Result<Option<Account>> {
    let path = path(dir);
    let text = match disk::require_regular(&path).and_then(|()| std::fs::read_to_string(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(anyhow::Error::from),
    };
    let account = text.and_then(|text| Account::parse(&text));
    account.map(Some).with_context(|| format!("reading {}", path.display()))
}

/// The same for a command that goes on without it, and says so.
#[must_use]
pub fn read_or_warn(dir: &Path) -> Option<Account> {
    read(dir).unwrap_or_else(|error| {
        let next = "the next run that reads the platform writes it anew";
        crate::text::warn(format_args!("{error:#}; own tasks are not known, {next}"));
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        let task = |id, gpu: Option<&str>, state| Task {
            id: TaskId(id),
            model: ModelKey::parse("org/model").unwrap(),
            or_models: Box::default(),
            gpu: gpu.map(Gpu::verbatim),
            state,
            points: 12.5,
        };
        Account {
            at: 7,
            queue: 3,
            queue_threshold: 95,
            next: vec![Next { model: "Org/Next".into(), gpu: Gpu::verbatim("A_1") }],
            tasks: vec![
                task(3, Some("A_1"), State::Open),
                task(2, None, State::Passed),
                task(1, Some("天垓150"), State::NotPassed),
            ],
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        for account in [account(), Account::default()] {
            keep(dir.path(), &account).unwrap();
            assert_eq!(read(dir.path()).unwrap(), Some(account));
        }
    }

    /// The platform may list models that no candidate can be, and names that could mean several.
    #[test]
    fn a_task_of_any_name_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["gpt2", "模型 ", "a/b/c", "Org/Model (v2)", "", "İ"] {
            let mut models = ModelKey::seen(name);
            let model = models.remove(0);
            let seen = Task { model, or_models: models.into(), ..account().tasks[0].clone() };
            let account = Account { tasks: vec![seen], ..account() };
            keep(dir.path(), &account).unwrap();
            assert_eq!(read(dir.path()).unwrap(), Some(account), "{name}");
        }
    }

    #[test]
    fn a_cut_or_foreign_file_is_an_error_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        keep(dir.path(), &account()).unwrap();
        let whole = std::fs::read_to_string(path(dir.path())).unwrap();
        let wrong = |text: &str| format!("{:#}", Account::parse(text).unwrap_err());
        assert_eq!(wrong(""), "it is empty");
        assert!(wrong("garbage\n").starts_with("line 1: "));
        assert!(wrong(&whole[..whole.len() - 10]).starts_with("line 4: "));
        let newer = whole.replacen(":1,", ":2,", 1);
        assert_eq!(wrong(&newer), "format 2, where this program knows 1");
    }
}
