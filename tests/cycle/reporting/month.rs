//! A month of hourly cycles, made up: its journal, its account, and what was counted meanwhile.

use std::collections::BTreeMap;

use submitter::account::Account;
use submitter::api::TaskId;
use submitter::gpu::Gpu;
use submitter::journal::event::{CycleEnd, Event, Record};
use submitter::pair::{ModelKey, Pair};
use submitter::remote::{State, Stats, Task};

const CARDS: [&str; 4] = ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"];
const NAMES: [&str; 8] = [
    "qwen/qwen2.5-0.5b-instruct",
    "meta-llama/llama-3.2-1b",
    "eleutherai/pythia-160m",
    "facebook/opt-350m",
    "abaryan/cyberxp_agent_llama_3.2_1b",
    "huggingfacetb/smollm2-135m",
    "tencent/hunyuan-0.5b",
    "someorg/a-model-with-a-rather-long-name-that-says-how-it-was-made-dpo-v2",
];
const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// What was done on a day, counted beside the journal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) accepted: u64,
    pub(crate) in_doubt: u64,
    pub(crate) rejected: u64,
    pub(crate) settled: u64,
    pub(crate) stats: Stats,
}

/// The month.
pub(crate) struct Month {
    pub(crate) journal: String,
    pub(crate) account: Account,
    /// By days since 1970.
    pub(crate) days: BTreeMap<u64, Counted>,
    pub(crate) codes: BTreeMap<i64, u64>,
    /// Pairs in doubt and since when.
    pub(crate) doubts: BTreeMap<Pair, u64>,
    random: u64,
}

impl Month {
    /// One that ended an hour ago.
    pub(crate) fn before(now: u64) -> Self {
        let mut month = Self {
            journal: "{\"submitter_journal\":1}\n".into(),
            account: Account { queue_threshold: 95, ..Account::default() },
            days: BTreeMap::new(),
            codes: BTreeMap::new(),
            doubts: BTreeMap::new(),
            random: 7,
        };
        let mut pairs = (0..).map(|n: usize| {
            let model = format!("{}-r{}", NAMES[n / 4 % NAMES.len()], n / 32);
            Pair::new(ModelKey::parse(&model).unwrap(), Gpu::verbatim(CARDS[n % 4]))
        });
        for cycle in (1..=30 * 24).rev() {
            month.cycle(now - cycle * HOUR, &mut pairs);
        }
        month
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below
    }

    fn add(&mut self, at: u64, event: Event) {
        self.journal += &serde_json::to_string(&Record { at, event }).unwrap();
        self.journal.push('\n');
    }

    fn cycle(&mut self, at: u64, pairs: &mut impl Iterator<Item = Pair>) {
        let mut today = self.days.get(&(at / DAY)).copied().unwrap_or_default();
        for n in 0..self.account.tasks.len() {
            if self.account.tasks[n].state == State::Open && self.draw(20) == 0 {
                let state = match self.draw(10) {
                    0..6 => State::Passed,
                    6..8 => State::NotPassed,
                    8 => State::Failed,
                    _ => State::Other,
                };
                let task = &mut self.account.tasks[n];
                task.state = state;
                task.points = if state == State::Passed { 12.5 } else { 0.0 };
            }
        }
        let stats = self.stats();
        self.add(at, Event::Stats(stats));
        today.stats = stats;
        let old: Vec<Pair> = self
            .doubts
            .iter()
            .filter(|(_, since)| **since + DAY < at)
            .map(|(p, _)| p.clone())
            .collect();
        for pair in old {
            if self.draw(30) == 0 {
                self.doubts.remove(&pair);
                let task = Some(self.task(&pair));
                self.add(at, Event::Settled { pair, task });
                today.settled += 1;
            }
        }
        let queue = stats.queue;
        for pair in pairs.take(if queue < 60 { 2 } else { 0 }) {
            self.add(at, Event::Intent { pair: pair.clone() });
            match self.draw(12) {
                0 => {
                    let code = [60_022, 60_022, 60_027, 60_018, 60_099]
                        [usize::try_from(self.draw(5)).unwrap()];
                    self.add(at, Event::Rejected { pair, code });
                    today.rejected += 1;
                    *self.codes.entry(code).or_default() += 1;
                }
                1 => {
                    self.add(at, Event::InDoubt { pair: pair.clone(), http: Some(502) });
                    self.doubts.insert(pair, at);
                    today.in_doubt += 1;
                }
                _ => {
                    let task = Some(self.task(&pair));
                    self.add(at, Event::Accepted { pair, task });
                    today.accepted += 1;
                }
            }
        }
        let reason = "candidates_done".to_owned();
        let end = CycleEnd { reason, exit: 0, submitted: 2, rejected: 0, in_doubt: 0, requests: 9 };
        self.add(at, Event::Cycle(end));
        self.account.at = at;
        self.account.queue = queue;
        self.days.insert(at / DAY, today);
    }

    /// A new task, at the head of the list.
    fn task(&mut self, pair: &Pair) -> TaskId {
        let id = TaskId(33_000 + self.account.tasks.len() as u64);
        let seen = Task {
            id,
            model: pair.model.clone(),
            or_models: Box::default(),
            gpu: Some(pair.gpu.clone()),
            state: State::Open,
            points: 0.0,
        };
        self.account.tasks.insert(0, seen);
        id
    }

    /// The list in numbers.
    pub(crate) fn stats(&self) -> Stats {
        let count =
            |state| self.account.tasks.iter().filter(|task| task.state == state).count() as u64;
        Stats {
            total: self.account.tasks.len() as u64,
            queue: count(State::Open),
            verify_pass: count(State::Passed),
            verify_fail: count(State::NotPassed),
            failed: count(State::Failed),
            unknown: count(State::Other),
            points: self.account.tasks.iter().fold(0.0, |sum, task| sum + task.points),
        }
    }
}
