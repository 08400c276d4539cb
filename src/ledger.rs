//! All pairs known to be taken, from every source. It only grows during a run.

use std::collections::{HashMap, HashSet};

use crate::gpu::Gpu;
use crate::pair::{ModelKey, Pair};
use crate::remote::Task;

/// The taken pairs.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Each card once; a model has a handful.
    cards: HashMap<ModelKey, Vec<Gpu>>,
    on_all_cards: HashSet<ModelKey>,
}

impl Ledger {
    /// Takes one pair.
    pub fn take(&mut self, pair: &Pair) {
        self.take_card(&pair.model, &pair.gpu);
    }

    fn take_card(&mut self, model: &ModelKey, gpu: &Gpu) {
        match self.cards.get_mut(model) {
            Some(cards) if cards.contains(gpu) => {}
            Some(cards) => cards.push(gpu.clone()),
            None => drop(self.cards.insert(model.clone(), vec![gpu.clone()])),
        }
    }

    /// Takes a model on every card.
    pub fn take_model(&mut self, model: &ModelKey) {
        self.on_all_cards.insert(model.clone());
    }

    /// Takes tasks, such as all that any pass of a read has seen. A task whose card is not readable takes its
    /// model on all cards.
    pub fn take_tasks<'a>(&mut self, tasks: impl Iterator<Item = &'a Task>) {
        for task in tasks {
            for model in task.models() {
                match &task.gpu {
                    Some(gpu) => self.take_card(model, gpu),
                    None => self.take_model(model),
                }
            }
        }
    }

    /// Whether a pair may not be submitted.
    #[must_use]
    pub fn is_taken(&self, pair: &Pair) -> bool {
        self.on_all_cards.contains(&pair.model)
            || self.cards.get(&pair.model).is_some_and(|cards| cards.contains(&pair.gpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TaskId;
    use crate::remote::{Remote, State};

    fn pair(model: &str, gpu: &str) -> Pair {
        Pair::new(ModelKey::parse(model).unwrap(), Gpu::verbatim(gpu))
    }

    /// I05: two spellings of one model are one pair.
    #[test]
    fn i05_a_pair_is_taken_in_any_spelling() {
        let mut ledger = Ledger::default();
        ledger.take(&pair("Org/Model", "A_1"));
        assert!(ledger.is_taken(&pair("org/MODEL", "A_1")));
        assert!(!ledger.is_taken(&pair("org/model", "A_2")));
        assert!(!ledger.is_taken(&pair("org/model2", "A_1")));
    }

    #[test]
    fn an_unreadable_card_takes_the_model_everywhere_and_so_does_an_incomplete_pass() {
        let task = |model: &str, gpu: Option<&str>| Task {
            id: TaskId(1),
            model: ModelKey::parse(model).unwrap(),
            or_models: Box::default(),
            gpu: gpu.map(Gpu::verbatim),
            state: State::Other,
            points: 0.0,
        };
        let mut ledger = Ledger::default();
        let remote = Remote {
            tasks: vec![task("a/odd", None)],
            also_seen: vec![task("a/seen", Some("A_1"))],
            page_size: 1,
        };
        ledger.take_tasks(remote.all_seen());
        assert!(ledger.is_taken(&pair("a/odd", "A_1")));
        assert!(ledger.is_taken(&pair("a/odd", "A_2")));
        assert!(ledger.is_taken(&pair("a/seen", "A_1")));
        assert!(!ledger.is_taken(&pair("a/seen", "A_2")));
    }
}
