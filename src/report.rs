//! What a run decided: each decision as one greppable line, all of them as JSON, and the last
//! line that sums them up.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::api::TaskId;
use crate::exit::{Exit, Hold, Reason};
use crate::remote::Stats;
use crate::text::{Field, Quoted};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The platform took a task.
    Submitted,
    /// A task was sent, and nobody knows whether the platform took it.
    InDoubt,
    /// The platform refused a task.
    Rejected,
    /// A candidate or a card was passed over.
    Skip,
    /// A dry run would have sent a task.
    Plan,
    /// The run ends.
    Hold,
}

/// Where the `configParams` of a task come from, and why from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigNote {
    /// `build-config` or `sample`.
    pub source: &'static str,
    /// `ok`, or why it is the sample.
    pub reason: &'static str,
}

/// One decision. Its `Display` is its log line.
#[derive(Debug, Clone, Serialize)]
pub struct Decision {
    /// What was done.
    pub action: Action,
    /// `org/name` in its own case, or what stands in the list where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The card's enum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// Why.
    pub reason: String,
    /// The platform's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<u16>,
    /// The new task.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub task: Option<TaskId>,
    /// The queue as it was when the gate let the task pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_before: Option<u64>,
    /// More to know, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// For tasks that were sent or planned.
    #[serde(skip)]
    pub config: Option<ConfigNote>,
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn as_text<S: Serializer>(task: &Option<TaskId>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&task.map(|id| id.to_string()).unwrap_or_default())
}

impl Decision {
    /// A decision about nothing in particular yet.
    pub fn new(action: Action, reason: impl Into<String>) -> Self {
        Self {
            action,
            model: None,
            gpu: None,
            reason: reason.into(),
            code: None,
            http: None,
            task: None,
            queue_before: None,
            detail: String::new(),
            config: None,
        }
    }
}

impl From<&Hold> for Decision {
    fn from(hold: &Hold) -> Self {
        Self { detail: hold.detail.clone(), ..Self::new(Action::Hold, hold.reason.name()) }
    }
}

/// `name=value`, or nothing where there is no value.
struct Optional<'a, T>(&'a str, Option<T>);

impl<T: fmt::Display> fmt::Display for Optional<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.1 {
            Some(value) => write!(f, " {}={value}", self.0),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.action {
            Action::Submitted | Action::InDoubt => "[live] submitted",
            Action::Rejected => "[live] rejected",
            Action::Skip => "[live] skip",
            Action::Plan => "[live] plan",
            Action::Hold => "[live] hold",
        })?;
        let model = Optional("model", self.model.as_deref().map(Field));
        let gpu = Optional("gpu", self.gpu.as_deref().map(Field));
        write!(f, "{model}{gpu}")?;
        let queue = Optional("queue_before", self.queue_before);
        let code = Optional("code", self.code);
        let http = Optional("http", self.http);
        match self.action {
            Action::Submitted => {
                let task = self.task.map_or("unknown".to_owned(), |id| id.to_string());
                write!(f, "{queue}{http} code=0 task={task}")?;
            }
            Action::InDoubt => {
                let http = self.http.map_or("none".to_owned(), |http| http.to_string());
                write!(f, "{queue} http={http} outcome=unknown")?;
            }
            Action::Rejected => write!(f, "{code}{http}{queue}")?,
            Action::Plan => write!(f, "{queue}")?,
            Action::Skip | Action::Hold => {}
        }
        if let Some(ConfigNote { source, reason }) = self.config {
            write!(f, " config_source={source} config_reason={reason}")?;
        }
        write!(f, " reason={}", Field(&self.reason))?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " detail={}", Quoted(&self.detail)) }
    }
}

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Accepted tasks; in a dry run those that would have been sent.
    pub submitted: u64,
    /// Rejected ones.
    pub rejected: u64,
    /// Tasks of which nobody knows.
    pub in_doubt: u64,
    /// Skip decisions.
    pub skipped: u64,
    /// Prechecks asked for.
    pub prechecks: u64,
}

/// What was known to be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LedgerCounts {
    /// Own tasks on the platform.
    pub remote: u64,
    /// Pairs and blocked models of the data files.
    pub baked: u64,
    /// Pairs that the platform will not take.
    pub marks: u64,
}

/// A run's decisions, told as they are made.
#[derive(Debug, Default)]
pub struct Report {
    dry_run: bool,
    started_at: u64,
    counts: Counts,
    stats: Option<Stats>,
    ledger: Option<LedgerCounts>,
    decisions: Vec<Decision>,
    skips: BTreeMap<String, u64>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Why.
    pub reason: Reason,
    /// With which code, before `--held-exit-code`.
    pub exit: Exit,
    /// Requests sent.
    pub requests: u64,
    /// How long it took.
    pub elapsed: Duration,
}

impl Report {
    /// A report of a run that starts now, in seconds since 1970.
    #[must_use]
    pub fn new(dry_run: bool, started_at: u64) -> Self {
        Self { dry_run, started_at, ..Self::default() }
    }

    /// Tells and keeps a decision.
    pub fn decide(&mut self, decision: Decision) {
        let counter = match decision.action {
            Action::Submitted | Action::Plan => Some(&mut self.counts.submitted),
            Action::InDoubt => Some(&mut self.counts.in_doubt),
            Action::Rejected => Some(&mut self.counts.rejected),
            Action::Skip => Some(&mut self.counts.skipped),
            Action::Hold => None,
        };
        if let Some(counter) = counter {
            *counter += 1;
        }
        // A mark that a precheck has just found is news; other skips are the same every hour.
        if decision.action == Action::Skip && !decision.reason.starts_with("marked:precheck_") {
            *self.skips.entry(decision.reason.clone()).or_default() += 1;
            log::debug!("{decision}");
        } else {
            log::info!("{decision}");
        }
        self.decisions.push(decision);
    }

    /// Tells and keeps why the run ends. What a person must look at is told at the level that
    /// `--quiet` lets pass.
    pub fn hold(&mut self, hold: &Hold) {
        let decision = Decision::from(hold);
        let level = match hold.reason.exit() {
            Exit::Attention | Exit::Credential | Exit::Config => log::Level::Error,
            _ => log::Level::Info,
        };
        log::log!(level, "{decision}");
        self.decisions.push(decision);
    }

    /// Counts a precheck.
    pub fn count_precheck(&mut self) {
        self.counts.prechecks += 1;
    }

    /// Tells and keeps the account in numbers.
    pub fn stats(&mut self, stats: Stats) {
        let Stats { total, queue, verify_pass, verify_fail, failed, unknown, points } = stats;
        log::info!(
            "[live] stats total={total} queue={queue} verify_pass={verify_pass} \
             verify_fail={verify_fail} failed={failed} unknown={unknown} points={points}"
        );
        self.stats = Some(stats);
    }

    /// Tells and keeps what is taken.
    pub fn ledger(&mut self, ledger: LedgerCounts) {
        let LedgerCounts { remote, baked, marks } = ledger;
        log::info!("[live] ledger rebuilt remote={remote} baked={baked} marks={marks}");
        self.ledger = Some(ledger);
    }

    /// What was decided so far, in order.
    #[must_use]
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// How many of each so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Tells the skips by reason and the run's last line.
    pub fn finish(&self, end: &End) {
        if !self.skips.is_empty() {
            let skips: Vec<_> =
                self.skips.iter().map(|(reason, n)| format!("{}={n}", Field(reason))).collect();
            log::info!("[live] skipped {}", skips.join(" "));
        }
        log::info!("{}", self.last_line(end));
    }

    /// The run's last line: everything in one.
    #[must_use]
    pub fn last_line(&self, end: &End) -> String {
        let Counts { submitted, rejected, in_doubt, skipped, prechecks } = self.counts;
        format!(
            "[live] cycle result={} submitted={submitted} rejected={rejected} \
             in_doubt={in_doubt} skipped={skipped} prechecks={prechecks} requests={} \
             elapsed_ms={} reason={}",
            self.result(end.exit),
            end.requests,
            end.elapsed.as_millis(),
            end.reason,
        )
    }

    /// `submitted` or `held`; a dry run never says that it submitted.
    fn result(&self, exit: Exit) -> &'static str {
        match (exit, self.dry_run) {
            (Exit::Submitted, false) => "submitted",
            (Exit::Submitted, true) => "would_submit",
            _ => "held",
        }
    }

    /// The whole report, `exit` being the code that the process ends with.
    #[must_use]
    pub fn to_json(&self, end: &End, exit: u8) -> serde_json::Value {
        serde_json::json!({
            "version": 1,
            "result": self.result(end.exit),
            "exit": exit,
            "reason": end.reason,
            "dry_run": self.dry_run,
            "started_at": self.started_at,
            "elapsed_ms": u64::try_from(end.elapsed.as_millis()).unwrap_or(u64::MAX),
            "requests": end.requests,
            "stats": self.stats,
            "ledger": self.ledger,
            "counts": self.counts,
            "decisions": self.decisions,
        })
    }
}

#[cfg(test)]
mod tests;
