//! `submitter check`: looks at everything that a run needs, and says of each thing whether it is
//! as it should be, what was found, and what to do. It reads only, and it cannot POST: all that
//! it holds of the platform is a reader.

mod data;
mod network;
mod platform;
mod settings;
mod state;
mod token;

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::{Serialize, Serializer};

use crate::cli::Check;
use crate::clock::Clock;
use crate::env::Env;
use crate::exit::{Exit, Hold, Reason};
use crate::settings::{Settings, read_snapshot_file};
use crate::text::{Sentence, redacted};

/// How a thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Worth a look, or in the way of a healthy run for now.
    Warn,
    /// In the way of every run, until somebody or something mends it.
    Fail,
    /// Could not be tried, because of another finding.
    Skip,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it is, in one word.
    pub item: &'static str,
    /// How it was found.
    pub status: Status,
    /// The reason with which a run would hold because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What was found.
    pub found: String,
    /// What to do about it, where `found` does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
}

impl Item {
    fn new(item: &'static str, status: Status, found: impl Into<String>) -> Self {
        Self { item, status, reason: None, found: found.into(), todo: None }
    }

    fn ok(item: &'static str, found: impl Into<String>) -> Self {
        Self::new(item, Status::Ok, found)
    }

    fn warn(item: &'static str, found: impl Into<String>) -> Self {
        Self::new(item, Status::Warn, found)
    }

    fn skip(item: &'static str, why: impl Into<String>) -> Self {
        Self::new(item, Status::Skip, why)
    }

    /// What would hold a run: a healthy hold is no failure.
    fn hold(item: &'static str, hold: Hold) -> Self {
        let status = match hold.reason.exit() {
            Exit::Held => Status::Warn,
            _ => Status::Fail,
        };
        let found =
            if hold.detail.is_empty() { hold.reason.name().to_owned() } else { hold.detail };
        Self { reason: Some(hold.reason), ..Self::new(item, status, found) }
    }

    fn todo(self, todo: impl Into<String>) -> Self {
        Self { todo: Some(todo.into()), ..self }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "FAIL",
            Status::Skip => "skip",
        };
        write!(f, "[check] {status} {}", self.item)?;
        if let Some(reason) = self.reason.filter(|reason| reason.name() != self.item) {
            write!(f, " ({reason})")?;
        }
        write!(f, ": {}", Sentence(&self.found))?;
        self.todo.as_ref().map_or(Ok(()), |todo| write!(f, " -> {}", Sentence(todo)))
    }
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings(Vec<Item>);

impl Findings {
    fn add(&mut self, items: impl IntoIterator<Item = Item>) {
        self.0.extend(items);
    }

    /// Without what only `-v` and JSON tell.
    #[must_use]
    pub fn in_brief(mut self) -> Self {
        self.0.retain(|item| !item.found.starts_with(settings::DEFAULTS));
        self
    }

    /// The gravest reason for which a run would hold now. A run asks for its settings first, then
    /// for its credential, then for its state: the codes are in that order.
    #[must_use]
    pub fn gravest(&self) -> Option<Reason> {
        let reasons = self.0.iter().rev().filter_map(|item| item.reason);
        reasons.max_by_key(|reason| reason.exit().code())
    }

    /// The exit code of `check`: 0 only where a run would submit now.
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.gravest().map_or(Exit::Submitted, Reason::exit)
    }

    fn result(&self) -> &'static str {
        match self.exit() {
            Exit::Submitted => "ok",
            Exit::Held => "held",
            _ => "fail",
        }
    }

    fn count(&self, status: Status) -> usize {
        self.0.iter().filter(|item| item.status == status).count()
    }

    /// The findings as they may be told: somebody may have put a secret in the wrong place.
    fn told(mut self, hide: impl Fn(String) -> String) -> Self {
        for item in &mut self.0 {
            item.found = hide(std::mem::take(&mut item.found));
            item.todo = item.todo.take().map(&hide);
        }
        self
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|item| writeln!(f, "{item}"))?;
        let [ok, warn, fail, skip] =
            [Status::Ok, Status::Warn, Status::Fail, Status::Skip].map(|s| self.count(s));
        let (result, exit) = (self.result(), self.exit().code());
        write!(
            f,
            "[check] result={result} exit={exit} ok={ok} warn={warn} fail={fail} skip={skip}"
        )?;
        self.gravest().map_or(Ok(()), |reason| write!(f, " reason={reason}"))
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Report<'a> {
            version: u32,
            result: &'a str,
            exit: u8,
            reason: Option<Reason>,
            items: &'a [Item],
        }
        let (result, exit) = (self.result(), self.exit().code());
        Report { version: 1, result, exit, reason: self.gravest(), items: &self.0 }
            .serialize(serializer)
    }
}

/// Looks at everything, whatever was found before, as far as it can be tried at all.
#[must_use]
pub fn check(args: &Check, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> Findings {
    let survey = Settings::survey(&args.flags, env, &read_snapshot_file);
    let settings = &survey.settings;
    let mut findings = Findings::default();
    findings.add(settings::items(&survey, env));
    findings.add(settings::pings(&args.flags, env));
    let (chosen, items) = token::items(args.flags.token_file.as_deref().map(Path::new), env);
    findings.add(items);
    let (data, items) = data::items(&survey);
    findings.add(items);
    let history = if settings.state_dir.as_os_str().is_empty() {
        findings.add([Item::skip("state", "no state folder is named")]);
        None
    } else {
        let (history, items) = state::items(settings, clock);
        findings.add(items);
        history
    };
    if survey.is_wrong("MODELHUB_API_BASE") {
        let why = "the platform's address is wrong, and nothing is sent anywhere else";
        findings.add([Item::skip("network", why)]);
    } else {
        let (is_up, items) = network::items(&settings.api_base, settings, env, clock);
        findings.add(items);
        let platform = platform::Platform { args, settings, data: data.as_ref(), env, clock, stop };
        match (&chosen, is_up) {
            (Some(token), true) => findings.add(platform.items(token, history.as_ref())),
            (None, _) => findings.add([Item::skip("tasks", "not asked without a credential")]),
            (_, false) => findings.add([Item::skip("tasks", "not asked without a connection")]),
        }
        let rehearsal = platform.rehearsal(&findings);
        findings.add([rehearsal]);
    }
    let secrets = env.secrets();
    findings.told(|text| match &chosen {
        Some(token) => token.taken_out_of(redacted(text, &secrets)),
        None => redacted(text, &secrets),
    })
}

#[cfg(test)]
mod tests;
