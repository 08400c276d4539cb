//! The platform's interface. Reading and writing are different traits, so that whoever holds
//! only a [`ReadApi`] (a dry run) has no way to POST.

pub mod answer;
pub mod http;
pub mod wire;

use std::borrow::Cow;
use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Stop;
use crate::exit::{Hold, Reason};
use crate::gpu::Gpu;
use crate::pair::ModelId;
use crate::secret;

/// A task's number on the platform. An int64 there, written as a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One readable row of a task list.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// The task's number.
    pub id: TaskId,
    /// The model as the platform writes it.
    pub model: String,
    /// The card as the platform writes it: an enum or a Chinese name.
    pub card: String,
    /// Whether the job ended, trimmed and lower-case.
    pub status: Cow<'static, str>,
    /// Whether the model passed; absent or unreadable: none.
    pub verify_result: Option<i64>,
    /// Points for the pair, 0 where absent.
    pub points: f64,
}

/// One page of a task list, as the server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    /// The page's number, from 1.
    pub current: u64,
    /// Rows a page, as the server understood it.
    pub size: u64,
    /// Rows in the whole list.
    pub total: u64,
    /// The readable rows, in order.
    pub rows: Vec<TaskRow>,
    /// Rows that lack a task id, model, card or status.
    pub unreadable: usize,
}

/// A part of everyone's tasks: those whose outcome says something of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bucket {
    /// Passed.
    Pass,
    /// Not passed.
    Fail,
    /// Being verified.
    Running,
}

impl Bucket {
    /// The name in log lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Running => "running",
        }
    }

    /// The `status` that the bucket asks for.
    #[must_use]
    pub fn status(self) -> &'static str {
        match self {
            Self::Pass | Self::Fail => "success",
            Self::Running => "running",
        }
    }

    /// The `verifyResult` that the bucket asks for.
    #[must_use]
    pub fn verify_result(self) -> Option<&'static str> {
        match self {
            Self::Pass => Some("1"),
            Self::Fail => Some("-1"),
            Self::Running => None,
        }
    }
}

/// A row of everyone's tasks, as it is: judging it is the reader's work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SliceRow {
    /// The task's id; none where it is absent, blank where it is not legible.
    pub task: Option<String>,
    /// The model, trimmed; blank where it is no text.
    pub model: String,
    /// The card, trimmed; blank where it is no text.
    pub card: String,
    /// The status, trimmed and lower-case.
    pub status: String,
    /// Whether it passed.
    pub verify_result: Verdict,
}

/// A `verifyResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Absent or null.
    Absent,
    /// An integer, or one of the texts "1", "-1", "0".
    Is(i64),
    /// Anything else.
    Odd,
}

/// A page of everyone's tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlicePage {
    /// Rows in the whole bucket.
    pub total: u64,
    /// The rows.
    pub rows: Vec<SliceRow>,
}

/// What a precheck found: the code that task/add would answer, for each card that is known and
/// not free.
pub type Precheck = Vec<(Gpu, i64)>;

/// The body of a `task/add`. All strings, all required by the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTask {
    /// The model as its list spells it.
    pub model_address: String,
    /// E.g. `text-generation`.
    pub task_type: String,
    /// The card's enum.
    pub target_gpu: String,
    /// E.g. `vllm`.
    pub framework: String,
    /// The contestant's strategy.
    pub strategy_id: String,
    /// YAML, as a string.
    pub config_params: String,
}

/// The platform took the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// HTTP status, 200 to 299.
    pub http: u16,
    /// The new task's number, where the answer names one.
    pub task: Option<TaskId>,
}

/// Why a read yields nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// The platform refuses the credential.
    Credential(String),
    /// No whole answer arrived.
    Transport(String),
    /// A status other than 2xx.
    Http(u16),
    /// A 2xx whose body is not an envelope.
    MalformedJson(String),
    /// A non-zero code.
    Platform(i64),
    /// An envelope whose data is not of the documented shape.
    MalformedData(String),
    /// The request was not started.
    Stopped(Stop),
}

impl ReadError {
    /// The name in log lines.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Credential(_) => Reason::CredentialRefused.name(),
            Self::Transport(_) => "transport_error",
            Self::Http(_) => "http_error",
            Self::MalformedJson(_) => "malformed_json",
            Self::Platform(_) => "platform_error",
            Self::MalformedData(_) => "malformed_data",
            Self::Stopped(stop) => stop.reason().name(),
        }
    }

    /// The hold for errors that end the cycle wherever they appear: a refused credential, the
    /// deadline, a signal.
    #[must_use]
    pub fn ends_cycle(&self, tried: &str) -> Option<Hold> {
        match self {
            Self::Credential(_) => {
                Some(Hold::because(Reason::CredentialRefused, format!("{tried}: {self}")))
            }
            Self::Stopped(stop) => Some(Hold::new(stop.reason())),
            _ => None,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credential(how) => {
                write!(f, "the platform refuses the credential ({how}): {}", secret::RENEW)
            }
            Self::Transport(what) => f.write_str(what),
            Self::Http(status) => write!(f, "HTTP {status}"),
            Self::MalformedJson(what) => write!(f, "not the API's answer: {what}"),
            Self::Platform(code) => write!(f, "the platform answered code {code}"),
            Self::MalformedData(what) => write!(f, "unexpected data: {what}"),
            Self::Stopped(stop) => write!(f, "not asked: {stop}"),
        }
    }
}

/// Why a POST was not (or not provably) taken. Every way in which it can fail is one of these,
/// and only [`AddError::InDoubt`] leaves open whether the platform has the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddError {
    /// Nothing of the request's body left this machine.
    NotSent {
        /// What happened instead.
        detail: String,
        /// Set where it was our own decision not to start.
        stop: Option<Stop>,
    },
    /// It would have been sent too late; nothing of its body left this machine.
    TooLate,
    /// The platform refuses the credential.
    Credential {
        /// HTTP status.
        http: u16,
        /// The envelope's code, if any.
        code: Option<i64>,
    },
    /// The platform says no to this pair, account or time.
    Rejected {
        /// HTTP status.
        http: u16,
        /// The envelope's code.
        code: i64,
    },
    /// A 4xx of something in front of the platform: no code.
    Refused {
        /// HTTP status.
        http: u16,
    },
    /// The platform may have taken the task.
    InDoubt {
        /// HTTP status, where a head arrived.
        http: Option<u16>,
        /// What was seen.
        detail: String,
    },
}

/// What may be asked of the platform.
pub trait ReadApi {
    /// One page of the own tasks, `size` rows a page, pages from 1.
    fn own_tasks(&self, current: u64, size: u64) -> Result<TaskPage, ReadError>;
    /// Several pages of the own tasks, given to `each` in their order until it wants no more.
    /// They may be asked for at the same time; whatever was asked for when `each` stops is
    /// dropped.
    fn own_task_pages(
        &self,
        pages: RangeInclusive<u64>,
        size: u64,
        each: &mut dyn FnMut(u64, Result<TaskPage, ReadError>) -> ControlFlow<()>,
    ) {
        for number in pages {
            if each(number, self.own_tasks(number, size)).is_break() {
                return;
            }
        }
    }
    /// One page of everyone's tasks in a bucket, asked for once, answered within `timeout`.
    fn everyones_tasks(
        &self,
        bucket: Bucket,
        current: u64,
        size: u64,
        timeout: Duration,
    ) -> Result<SlicePage, ReadError>;
    /// Which cards the platform would refuse for a model. Unknown models are free everywhere.
    fn precheck(&self, model: &ModelId) -> Result<Precheck, ReadError>;
    /// Does `act`, and asks for the precheck of `model`, once, from the moment on in which `act` says
    /// so; none where it does not. Without a way to do both at once, one comes after the other.
    fn precheck_during<T>(
        &self,
        model: &ModelId,
        act: impl FnOnce(&mut dyn FnMut()) -> T,
    ) -> (Option<Result<Precheck, ReadError>>, T) {
        let mut may_ask = false;
        let done = act(&mut || may_ask = true);
        (may_ask.then(|| self.precheck(model)), done)
    }
    /// `configParams` as the platform builds them. Asked only where a path is configured.
    fn build_config(&self, task: &NewTask) -> Result<String, ReadError>;
    /// Requests sent so far, POSTs of the same run included.
    fn requests(&self) -> u64;
}

/// What changes the platform.
pub trait WriteApi {
    /// Sends one task, once: never retried, redirected, or sent on a reused connection; and not
    /// once the run's time is past `not_after`, as it may be when the connection stands. Calls
    /// `sent` when the request is on its way and its answer is awaited.
    fn add_task(
        &self,
        task: &NewTask,
        not_after: Duration,
        sent: &mut dyn FnMut(),
    ) -> Result<Accepted, AddError>;
}
