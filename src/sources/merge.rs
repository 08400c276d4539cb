//! From lists and footholds to the order in which candidates are tried. Pure.

use std::collections::{HashMap, HashSet};

use super::foothold::{Evidence, Snapshot};
use super::{Candidate, Foothold, Section};
use crate::gpu::{Catalog, Gpu};
use crate::pair::ModelKey;

/// What a candidate that only the slices know gives as its source.
const SLICES: &str = "foothold-slices";

/// A candidate and the foothold that it is ranked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    /// The candidate, its cards reduced.
    pub candidate: Candidate,
    /// What is known of it elsewhere.
    pub foothold: Foothold,
}

/// What a foothold text says of a model: success anywhere in it wins, and only waiting proves
/// nothing. None: it says nothing that is known.
#[must_use]
pub fn read_foothold(text: &str) -> Option<Foothold> {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["已验证成功", "验证通过"]) {
        Some(Foothold::VerifiedReuse)
    } else if says(&["正在验证", "验证进行中"]) {
        Some(Foothold::InFlight)
    } else if says(&["验证失败"]) {
        Some(Foothold::FailedFoothold)
    } else if says(&["验证排队中"]) {
        Some(Foothold::QueuedOnly)
    } else {
        None
    }
}

/// A candidate's own foothold: its text beats its class, and a bare class `in_flight` is
/// unknown, since what was in flight when the list was written has landed since.
#[must_use]
pub fn foothold(candidate: &Candidate) -> Foothold {
    match candidate.foothold_text.as_deref().and_then(read_foothold) {
        Some(foothold) => foothold,
        None if candidate.foothold == Foothold::InFlight => Foothold::Unknown,
        None => candidate.foothold,
    }
}

/// The base list, with what the slices say, in the order in which candidates are tried: by
/// foothold rank, then by section, then as listed.
///
/// A base row keeps its spelling, framework, `skip_reason` and its own cards, minus those on
/// which the model was seen; only a row without any list takes the target cards. A model that
/// only the slices know becomes a row of section A on the target cards, minus the seen ones.
/// `only` leaves out such rows of another section.
#[must_use]
pub fn merge(
    base: &[Candidate],
    snapshot: &Snapshot,
    catalog: &Catalog,
    only: Option<Section>,
) -> Vec<Ranked> {
    let seen: HashMap<&ModelKey, &Evidence> =
        snapshot.models.iter().map(|(key, evidence)| (key, evidence)).collect();
    let mut listed = HashSet::new();
    let mut ranked: Vec<Ranked> = base
        .iter()
        .map(|candidate| {
            let own = foothold(candidate);
            let key = ModelKey::parse(&candidate.address).ok();
            let evidence = key.as_ref().and_then(|key| seen.get(key));
            listed.extend(key.filter(|key| seen.contains_key(key)));
            match evidence {
                None => Ranked { candidate: candidate.clone(), foothold: own },
                Some(evidence) => Ranked {
                    candidate: without_seen(candidate, evidence, catalog),
                    foothold: own.min(evidence.class),
                },
            }
        })
        .collect();
    if only != Some(Section::B) {
        let new = snapshot.models.iter().filter(|(key, _)| !listed.contains(key));
        ranked.extend(new.filter_map(|(_, evidence)| from_slices(evidence, catalog)));
    }
    ranked.sort_by_key(|ranked| (rank(ranked.foothold), ranked.candidate.section));
    ranked
}

fn rank(foothold: Foothold) -> u8 {
    match foothold {
        Foothold::VerifiedReuse => 0,
        Foothold::FailedFoothold => 1,
        Foothold::InFlight => 2,
        Foothold::QueuedOnly | Foothold::Unknown => 3,
    }
}

fn without_seen(candidate: &Candidate, evidence: &Evidence, catalog: &Catalog) -> Candidate {
    let is_seen = |name: &str| catalog.find(name).is_some_and(|gpu| evidence.cards.contains(gpu));
    let cards = match &candidate.cards {
        Some(cards) => cards.iter().filter(|name| !is_seen(name)).cloned().collect(),
        None => unseen_targets(evidence, catalog),
    };
    Candidate { cards: Some(cards), ..candidate.clone() }
}

fn from_slices(evidence: &Evidence, catalog: &Catalog) -> Option<Ranked> {
    let cards = unseen_targets(evidence, catalog);
    if cards.is_empty() {
        return None;
    }
    let candidate = Candidate {
        section: Section::A,
        foothold: evidence.class,
        evidence_source: Some(SLICES.to_owned()),
        cards: Some(cards),
        ..Candidate::new(evidence.id.as_str())
    };
    Some(Ranked { candidate, foothold: evidence.class })
}

fn unseen_targets(evidence: &Evidence, catalog: &Catalog) -> Vec<String> {
    let unseen = catalog.targets().iter().filter(|gpu| !evidence.cards.contains(*gpu));
    unseen.map(Gpu::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
