//! The rows of a model, and what the next run would decide about each.

use std::collections::HashSet;

use serde::Serialize;

use crate::ledger::Ledger;
use crate::pair::{ModelId, ModelKey, Pair};
use crate::plan::{Judge, Skip};
use crate::report::{Action, Decision};
use crate::sources::merge::Ranked;
use crate::sources::{Candidate, Foothold, Section};

/// A row of the list of candidates.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its place in the order in which rows are tried, from 1.
    pub place: usize,
    /// The model as written.
    pub address: String,
    /// The list that it stands in.
    pub section: Section,
    /// The foothold that it is ranked by.
    pub foothold: Foothold,
    /// Its cards as written; none: no list, and so every target card.
    pub cards: Option<Vec<String>>,
    /// Its framework.
    pub framework: String,
    /// Why the list itself says not to submit it.
    pub skip_reason: Option<String>,
    /// Where it would be submitted: as which submission, if prechecks find nothing and the
    /// platform takes every one before it.
    pub number: Option<usize>,
    /// What would be decided, as in the report of a run.
    pub decisions: Vec<Decision>,
}

/// The rows of one model, each judged as a run would that has no cap: what rows before it would
/// take is taken.
pub(super) fn rows(judge: &Judge<'_>, ranked: &[Ranked], key: &ModelKey, asks: bool) -> Vec<Row> {
    let is_ours = |row: &Ranked| ModelKey::parse(&row.candidate.address).as_ref() == Ok(key);
    let last = ranked.iter().rposition(is_ours).map_or(0, |at| at + 1);
    let mut ledger: Ledger = judge.ledger.clone();
    let (mut rows, mut number, mut told) = (Vec::new(), 0, HashSet::new());
    for (row, place) in ranked[..last].iter().zip(1..) {
        let judge = Judge { ledger: &ledger, ..*judge };
        let (decisions, pair) = decide(&judge, &row.candidate, asks, &mut told);
        number += usize::from(pair.is_some());
        if is_ours(row) {
            rows.push(Row::new(place, row, pair.is_some().then_some(number), decisions));
        }
        if let Some(pair) = pair {
            ledger.take(&pair);
        }
    }
    rows
}

impl Row {
    fn new(place: usize, row: &Ranked, number: Option<usize>, decisions: Vec<Decision>) -> Self {
        let Ranked { candidate, foothold } = row.clone();
        let Candidate { address, section, cards, framework, skip_reason, .. } = candidate;
        Self { place, address, section, foothold, cards, framework, skip_reason, number, decisions }
    }
}

/// What a run decides about a row, and the pair that it would submit.
fn decide(
    judge: &Judge<'_>,
    candidate: &Candidate,
    asks: bool,
    told: &mut HashSet<Pair>,
) -> (Vec<Decision>, Option<Pair>) {
    let model: ModelId = match judge.screen(candidate) {
        Ok(model) => model,
        Err(skip) => return (vec![skip.decision(&candidate.address, None)], None),
    };
    let name = model.as_str();
    let pick = judge.pick(&model, &judge.cards(candidate));
    let mut decisions = Vec::new();
    for (pair, code) in pick.marked {
        let decision = Skip::Marked(code).decision(name, Some(&pair.gpu));
        if told.insert(pair) {
            decisions.push(decision);
        }
    }
    let Some(pair) = pick.pair else {
        decisions.push(Skip::AllDone.decision(name, None));
        return (decisions, None);
    };
    if !asks && !judge.data.samples.contains_key(&candidate.framework) {
        decisions.push(Skip::NoConfigParams.decision(name, Some(&pair.gpu)));
        return (decisions, None);
    }
    decisions.push(Decision {
        model: Some(name.to_owned()),
        gpu: Some(pair.gpu.as_str().to_owned()),
        ..Decision::new(Action::Plan, "would_submit")
    });
    (decisions, Some(pair))
}
