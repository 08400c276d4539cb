//! A status for people: one line a fact, times as they are told here.

use std::fmt;

use super::{JournalState, LastCycle, Status};
use crate::facts::Facts;
use crate::journal::event::CycleEnd;
use crate::remote::Stats;
use crate::text::{Field, Quoted, Sentence};
use crate::when::Here;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = Here::at(self.looked_at);
        let mut facts = Facts::default();
        self.of_runs(&mut facts, &here);
        self.of_account(&mut facts, &here);
        self.of_pairs(&mut facts, &here);
        facts.fmt(f)
    }
}

impl Status {
    fn of_runs(&self, facts: &mut Facts, here: &Here) {
        facts.add("state folder", Sentence(&self.state_dir));
        facts.add(
            "journal",
            match self.journal {
                JournalState::Absent if self.stats.is_some() => {
                    "none, although a run has read the account: it was lost"
                }
                JournalState::Absent => "none: no run has used this folder",
                JournalState::Sound => "sound",
                JournalState::Damaged => "damaged: what it says is not shown",
                JournalState::Unreadable => "cannot be read: whether it is sound is not known",
            },
        );
        if let Some(holder) = &self.running {
            let since = here.tell(holder.started_at);
            facts.add("running", format_args!("process {}, since {since}", holder.pid));
        }
        if let Some(pause) = &self.pause {
            let since =
                pause.since.map_or_else(String::new, |at| format!("since {}: ", here.tell(at)));
            facts.add("paused", format_args!("{since}{}", Quoted(&pause.reason)));
        } else if self.journal == JournalState::Unreadable {
            facts.add("paused", "not known");
        } else {
            facts.add("paused", "no");
        }
        if let Some(LastCycle { at, result, end }) = &self.last_cycle {
            let CycleEnd { reason, exit, submitted, rejected, in_doubt, requests } = end;
            let (at, reason) = (here.tell(*at), Field(reason));
            facts.add("last cycle", format_args!("{at}: {result}, {reason}, exit {exit}"));
            facts.more(format_args!(
                "{submitted} submitted, {rejected} rejected, {in_doubt} in doubt, {requests} requests"
            ));
        }
    }

    fn of_account(&self, facts: &mut Facts, here: &Here) {
        if let (Some(stats), Some(at)) = (&self.stats, self.updated_at) {
            let Stats { total, queue, verify_pass, verify_fail, failed, unknown, points } = stats;
            facts.add("account", here.tell(at));
            facts.more(format_args!("{verify_pass} passed, {points} points"));
            facts.more(format_args!(
                "{verify_fail} not passed, {failed} failed, {unknown} otherwise, {queue} unfinished; \
                 {total} in all"
            ));
        }
        if let (Some(queue), Some(threshold), Some(at)) =
            (self.queue, self.queue_threshold, self.queue_at)
        {
            facts.add("queue", format_args!("{queue} of {threshold}, {}", here.tell(at)));
            facts.more("with submissions that no list showed yet");
        }
        if let (Some(hour), Some(day)) = (self.submitted_last_hour, self.submitted_last_day) {
            facts.add("submitted", format_args!("{hour} in the last hour, {day} in the last day"));
        }
        if let Some(marks) = &self.marks {
            let (good, day) = (marks.for_good, marks.last_day);
            facts.add("marks", format_args!("{good} for good, {day} for a day"));
        }
    }

    fn of_pairs(&self, facts: &mut Facts, here: &Here) {
        let on = |model: &dyn fmt::Display, gpu: &str| {
            format!("{} on {}", Field(&model.to_string()), Field(gpu))
        };
        facts.list("in doubt", self.in_doubt.as_deref(), |doubt| {
            format!("{}, {}", on(&doubt.model, doubt.gpu.as_str()), here.tell(doubt.since))
        });
        facts.list("missing", self.missing.as_deref(), |missing| {
            let task = missing.task.map_or_else(|| "?".to_owned(), |id| id.to_string());
            let since = missing.since.map(|at| format!(", {}", here.tell(at)));
            let pair = on(&missing.model, missing.gpu.as_str());
            format!("task {task}, {pair}{}", since.unwrap_or_default())
        });
        if self.torn.as_ref().is_some_and(|torn| !torn.is_empty()) {
            facts.list("cut off", self.torn.as_deref(), |model| {
                format!("{}, taken on every card", Field(model.as_str()))
            });
        }
        facts.list("next", self.next.as_deref(), |next| on(&next.model, next.gpu.as_str()));
    }
}
