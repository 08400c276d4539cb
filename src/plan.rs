//! What to do with one candidate, as pure functions of what is known.

use std::fmt;

use crate::gpu::{Catalog, Gpu};
use crate::journal::history::{History, Horizon};
use crate::ledger::Ledger;
use crate::pair::{BadModel, ModelId, ModelKey, Pair};
use crate::report::{Action, Decision};
use crate::rules::Rules;
use crate::sources::Candidate;
use crate::sources::baked::Data;

/// Why a candidate, or a card of it, is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// The address is not a model's.
    Malformed(BadModel),
    /// The address is a stand-in.
    Placeholder,
    /// A ban rule, by name.
    Banned(String),
    /// The model is blocked on every card.
    BlockedModel,
    /// The list itself says not to submit.
    PendingFilter,
    /// The platform will not take the card, as known before this run.
    Marked(i64),
    /// The platform will not take the card, as a precheck of this run has found.
    MarkedByPrecheck(i64),
    /// No card left.
    AllDone,
    /// No `configParams` for the framework.
    NoConfigParams,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(_) => f.write_str("malformed"),
            Self::Placeholder => f.write_str("placeholder"),
            Self::Banned(rule) => write!(f, "banned:{rule}"),
            Self::BlockedModel => f.write_str("blocked_model"),
            Self::PendingFilter => f.write_str("pending_filter"),
            Self::Marked(code) => write!(f, "marked:{code}"),
            Self::MarkedByPrecheck(code) => write!(f, "marked:precheck_{code}"),
            Self::AllDone => f.write_str("all_gpus_done_or_unmapped"),
            Self::NoConfigParams => f.write_str("no_config_params"),
        }
    }
}

impl Skip {
    /// The decision to pass over a model, or a card of it.
    #[must_use]
    pub fn decision(&self, model: &str, gpu: Option<&Gpu>) -> Decision {
        let detail = match self {
            Self::Malformed(bad) => bad.to_string(),
            _ => String::new(),
        };
        Decision {
            detail,
            model: Some(model.to_owned()),
            gpu: gpu.map(|gpu| gpu.as_str().to_owned()),
            ..Decision::new(Action::Skip, self.to_string())
        }
    }
}

/// Whether a candidate may be submitted at all.
///
/// # Errors
/// The reason to pass over it.
pub fn screen(
    candidate: &Candidate,
    rules: &Rules,
    is_blocked: impl Fn(&ModelKey) -> bool,
) -> Result<ModelId, Skip> {
    let id = ModelId::parse(&candidate.address).map_err(|bad| match bad {
        BadModel::Placeholder => Skip::Placeholder,
        bad => Skip::Malformed(bad),
    })?;
    let name = candidate.name.as_deref().unwrap_or(id.name());
    if let Some(rule) = rules.banned(&candidate.address, name) {
        return Err(Skip::Banned(rule.to_owned()));
    }
    if is_blocked(&id.key()) {
        return Err(Skip::BlockedModel);
    }
    if candidate.skip_reason.is_some() {
        return Err(Skip::PendingFilter);
    }
    Ok(id)
}

/// The cards of a candidate, in order, each once; names of no known card are left out. A row
/// without any list is for all targets; a row with an empty list is for none.
#[must_use]
pub fn cards(candidate: &Candidate, catalog: &Catalog) -> Vec<Gpu> {
    let Some(names) = &candidate.cards else { return catalog.targets().to_vec() };
    let mut cards: Vec<Gpu> = Vec::new();
    for gpu in names.iter().filter_map(|name| catalog.find(name)) {
        if !cards.contains(gpu) {
            cards.push(gpu.clone());
        }
    }
    cards
}

/// The first free card, and the marked ones before it with their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// The card to submit on.
    pub pair: Option<Pair>,
    /// Cards that were passed over because of a mark.
    pub marked: Vec<(Pair, i64)>,
}

/// Picks the first card that is neither taken nor marked.
#[must_use]
pub fn pick(
    model: &ModelKey,
    cards: &[Gpu],
    is_taken: impl Fn(&Pair) -> bool,
    mark: impl Fn(&Pair) -> Option<i64>,
) -> Pick {
    let mut marked = Vec::new();
    for gpu in cards {
        let pair = Pair::new(model.clone(), gpu.clone());
        if is_taken(&pair) {
            continue;
        }
        match mark(&pair) {
            Some(code) => marked.push((pair, code)),
            None => return Pick { pair: Some(pair), marked },
        }
    }
    Pick { pair: None, marked }
}

/// What is known of candidates and pairs from every source: a run judges by it, and `explain`.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The data files.
    pub data: &'a Data,
    /// Pairs that are taken, but for those of the journal.
    pub ledger: &'a Ledger,
    /// The journal.
    pub history: &'a History,
    /// The times by which its records are judged.
    pub horizon: Horizon,
}

impl Judge<'_> {
    /// Whether a row may be submitted at all.
    ///
    /// # Errors
    /// As [`screen`].
    pub fn screen(&self, candidate: &Candidate) -> Result<ModelId, Skip> {
        screen(candidate, &self.data.rules, |model| self.data.ledger.blocked.contains(model))
    }

    /// The cards of a row, as [`cards`].
    #[must_use]
    pub fn cards(&self, candidate: &Candidate) -> Vec<Gpu> {
        cards(candidate, &self.data.catalog)
    }

    /// The first card of a model that is free, as [`pick`].
    #[must_use]
    pub fn pick(&self, model: &ModelId, cards: &[Gpu]) -> Pick {
        pick(&model.key(), cards, |pair| self.is_taken(pair), |pair| self.mark(pair))
    }

    /// Whether a pair is taken, by any source.
    #[must_use]
    pub fn is_taken(&self, pair: &Pair) -> bool {
        self.ledger.is_taken(pair) || self.history.takes(pair)
    }

    /// The code for which the platform is known not to take a pair.
    #[must_use]
    pub fn mark(&self, pair: &Pair) -> Option<i64> {
        let baked = self.data.marks.get(pair).map(|code| i64::from(*code));
        baked.or_else(|| self.history.blocks().code(pair, &self.horizon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        Catalog::parse(include_str!("../data/gpus.json")).unwrap()
    }

    fn candidate(address: &str) -> Candidate {
        Candidate::new(address)
    }

    #[test]
    fn a_candidate_is_screened_in_the_order_of_the_contract() {
        let rules = Rules::parse(include_str!("../data/banned.json")).unwrap();
        let blocked = |model: &ModelKey| model.as_str() == "org/blocked";
        let with_skip = |address: &str| Candidate {
            skip_reason: Some("no_download".into()),
            ..candidate(address)
        };
        for (candidate, reason) in [
            (candidate("gpt2"), "malformed"),
            (candidate("<org>/<model>"), "placeholder"),
            (candidate("org/x-GGUF"), "banned:gguf"),
            (with_skip("org/x-GGUF"), "banned:gguf"),
            (candidate("Org/Blocked"), "blocked_model"),
            (with_skip("Org/Blocked"), "blocked_model"),
            (with_skip("org/free"), "pending_filter"),
        ] {
            let skip = screen(&candidate, &rules, blocked).unwrap_err();
            assert_eq!(skip.to_string(), reason, "{candidate:?}");
        }
        let named = Candidate { name: Some("Model-GGUF".into()), ..candidate("org/free") };
        assert!(screen(&named, &rules, blocked).is_err(), "the name is searched too");
        assert_eq!(screen(&candidate("Org/Free"), &rules, blocked).unwrap().as_str(), "Org/Free");
    }

    #[test]
    fn no_list_means_the_targets_and_an_empty_list_means_no_card() {
        let with = |cards: Option<Vec<&str>>| {
            let cards = cards.map(|cards| cards.into_iter().map(str::to_owned).collect());
            super::cards(&Candidate { cards, ..candidate("a/b") }, &catalog())
        };
        assert_eq!(with(None), catalog().targets());
        assert_eq!(with(Some(vec![])), []);
        assert_eq!(with(Some(vec!["unheard-of"])), []);
        let twice = with(Some(vec!["天垓150", "unheard-of", "壁砺", "Iluvatar_bi-150"]));
        assert_eq!(twice, [Gpu::verbatim("Iluvatar_bi-150"), Gpu::verbatim("Biren_166m")]);
    }

    #[test]
    fn the_first_card_neither_taken_nor_marked_is_picked() {
        let model = ModelKey::parse("a/b").unwrap();
        let pair = |gpu: &str| Pair::new(model.clone(), Gpu::verbatim(gpu));
        let cards = ["A_1", "A_2", "A_3", "A_4"].map(Gpu::verbatim);
        let taken = |p: &Pair| *p == pair("A_1");
        let mark = |p: &Pair| (*p == pair("A_2")).then_some(60_027);
        let picked = pick(&model, &cards, taken, mark);
        assert_eq!(picked, Pick { pair: Some(pair("A_3")), marked: vec![(pair("A_2"), 60_027)] });
        let none = pick(&model, &cards[..2], taken, mark);
        assert_eq!(none, Pick { pair: None, marked: vec![(pair("A_2"), 60_027)] });
    }
}
