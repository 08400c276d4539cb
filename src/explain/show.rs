//! An explanation for people.

use std::fmt;

use super::Explanation;
use super::card::{Card, Mark, OwnTask, Sent, TakenBy};
use super::row::Row;
use crate::facts::Facts;
use crate::report::{Action, Decision};
use crate::text::{Field, Quoted, Sentence};
use crate::when::Here;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let here = Here::at(self.looked_at);
        let mut facts = Facts::default();
        facts.add("model", Field(self.model.as_str()));
        if self.rows.is_empty() {
            facts.more("no candidate is this model");
            let similar: Vec<_> = self.similar.iter().map(|s| Field(s).to_string()).collect();
            if !similar.is_empty() {
                facts.more(format_args!("similar ones: {}", similar.join(", ")));
            }
        }
        let source = Sentence(&self.source);
        facts.add("candidates", format_args!("{} in {source}", self.candidates));
        match self.account_at {
            Some(at) => facts.add("own tasks", format_args!("as seen {}", here.tell(at))),
            None => facts.add("own tasks", "not known: no run has read them"),
        }
        if let Some(skip) = &self.skip {
            facts.add("never", Field(skip));
        }
        self.rows.iter().for_each(|row| row.tell(&mut facts));
        for card in &self.cards {
            card.tell(&mut facts, &here);
        }
        self.conclude(&mut facts);
        facts.fmt(f)
    }
}

impl Explanation {
    /// What the next run would do, in words.
    fn conclude(&self, facts: &mut Facts) {
        if let Some(held) = &self.held {
            let detail = Quoted(&held.detail);
            facts.add("next run", format_args!("would hold: {} {detail}", held.reason));
            facts.more("without that:");
        } else {
            facts.add(
                "next run",
                format_args!("has room for {} submissions, as last seen", self.room),
            );
        }
        if self.rows.is_empty() {
            facts.more("no candidate is this model, so it would not be submitted");
        }
        for row in &self.rows {
            facts.more(self.verdict(row));
        }
        if self.foothold {
            facts.more(
                "other users' results, which it reads, may add cards or remove some, and change \
                 the order",
            );
        }
    }

    fn verdict(&self, row: &Row) -> String {
        let Some(Decision { action, gpu, reason, .. }) = row.decisions.last() else {
            return String::new();
        };
        let on = gpu.as_deref().map(|gpu| format!(" on {}", Field(gpu))).unwrap_or_default();
        let (place, reason) = (row.place, Field(reason));
        let Some(number) = row.number.filter(|_| *action == Action::Plan) else {
            return format!("row {place} would be skipped{on}: {reason}");
        };
        let precheck = if self.precheck { ", if its precheck finds nothing" } else { "" };
        let waits = self.held.is_none() && number as u64 > self.room;
        let turn = if waits { ": not in the next run" } else { "" };
        format!("row {place} would be submitted{on}{precheck}, as number {number}{turn}")
    }
}

impl Row {
    fn tell(&self, facts: &mut Facts) {
        let section = format!("section {:?}", self.section);
        let foothold = serde_json::json!(self.foothold);
        let foothold = foothold.as_str().unwrap_or_default();
        let (address, framework) = (Field(&self.address), Field(&self.framework));
        facts.add(
            format!("row {}", self.place),
            format_args!("{address}, {section}, {foothold}, {framework}"),
        );
        match &self.cards {
            None => facts.more("for every target card"),
            Some(cards) if cards.is_empty() => facts.more("for no card"),
            Some(cards) => {
                let cards: Vec<String> = cards.iter().map(|card| Field(card).to_string()).collect();
                facts.more(format_args!("for {}", cards.join(", ")));
            }
        }
        if let Some(why) = &self.skip_reason {
            facts.more(format_args!("not to be submitted: {}", Quoted(why)));
        }
    }
}

impl Card {
    fn tell(&self, facts: &mut Facts, here: &Here) {
        let listed = if self.listed { "" } else { ", not listed" };
        let name = Field(self.gpu.as_str()).to_string();
        facts.add(name, format_args!("{}{listed}", Field(&self.verdict)));
        for OwnTask { id, gpu, state, points } in &self.tasks {
            let state = serde_json::json!(state);
            let state = state.as_str().unwrap_or_default();
            let odd = if gpu.is_none() { ", of a card that cannot be told" } else { "" };
            facts.more(format_args!("task {id}: {state}, {points} points{odd}"));
        }
        if let Some(sent) = &self.submission {
            sent.tell(facts, here);
        }
        for by in &self.taken_by {
            facts.more(match by {
                TakenBy::CutOffIntent => "an intent for the model was cut off before its card",
                TakenBy::Baked => "in submitted-ledger.json",
                TakenBy::CarriedOver => "in the file of LIVE_STATE_FILE",
            });
        }
        if let Some(Mark { code, name, source, until }) = &self.mark {
            let until = until.map(|at| format!(", until {}", here.tell(at))).unwrap_or_default();
            facts.more(format_args!("{code} {name}, by {source}{until}"));
        }
    }
}

impl Sent {
    fn tell(&self, facts: &mut Facts, here: &Here) {
        let at = here.tell(self.at);
        if self.in_doubt {
            facts.more(format_args!("in doubt: sent {at}, and no list shows it yet"));
            return;
        }
        let task = self.task.map(|id| format!(" as task {id}")).unwrap_or_default();
        facts.more(format_args!("submitted{task} {at}"));
        if let Some(since) = self.missing_since {
            let known = if self.acknowledged { ", as a person knows" } else { "" };
            facts.more(format_args!("its task is missing since {}{known}", here.tell(since)));
        }
    }
}
