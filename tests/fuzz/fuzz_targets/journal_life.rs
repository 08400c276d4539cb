//! The journal's life: what is recorded, with crashes, restarts and compactions in between,
//! against a list of what the platform may have.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use submitter::api::TaskId;
use submitter::codes::{self, Class};
use submitter::gpu::Gpu;
use submitter::journal::event::{CycleEnd, Event};
use submitter::journal::history::{History, Horizon};
use submitter::journal::{Journal, replay};
use submitter::pair::{ModelKey, Pair};
use submitter::remote::Stats;
use submitter_fuzz::Memory;

const EMPTY: &[u8] = b"{\"submitter_journal\":1}\n";
const MODELS: [&str; 3] = ["org/model", "org/model-2", "a/b"];
const CARDS: [&str; 3] = ["Biren_166m", "Sunrise_pt-200-x1", "X_\"\\1"];
const CODES: [i64; 7] = [60_007, 60_008, 60_012, 60_022, 60_027, 60_028, 40_000];

/// Pairs of these models and cards alone, so that events meet.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct At(u8);

impl At {
    fn pair(self) -> Pair {
        let n = usize::from(self.0);
        let model = ModelKey::parse(MODELS[n % 3]).expect("a model");
        Pair::new(model, Gpu::verbatim(CARDS[n / 3 % 3]))
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Intent(At),
    Accepted(At, Option<u64>),
    Rejected(At, u8),
    Released(At, String),
    InDoubt(At, Option<u16>),
    Settled(At, Option<u64>),
    Missing(At),
    Found(At),
    Paused(String),
    Resumed(Vec<At>),
    Resolved(At, bool),
    Precheck(At, u8),
    Stats(u64, i32),
    Cycle(String),
    /// The power goes while the next record is being written.
    Crash(u16),
    Restart {
        compact: bool,
    },
}

impl Step {
    fn event(&self) -> Option<Event> {
        let code = |n: &u8| CODES[usize::from(*n) % CODES.len()];
        let task = |task: &Option<u64>| task.map(TaskId);
        Some(match self {
            Self::Intent(at) => Event::Intent { pair: at.pair() },
            Self::Accepted(at, id) => Event::Accepted { pair: at.pair(), task: task(id) },
            Self::Rejected(at, n) => Event::Rejected { pair: at.pair(), code: code(n) },
            Self::Released(at, why) => Event::Released { pair: at.pair(), reason: why.clone() },
            Self::InDoubt(at, http) => Event::InDoubt { pair: at.pair(), http: *http },
            Self::Settled(at, id) => Event::Settled { pair: at.pair(), task: task(id) },
            Self::Missing(at) => Event::Missing { pair: at.pair() },
            Self::Found(at) => Event::Found { pair: at.pair() },
            Self::Paused(why) => Event::Paused { reason: why.clone() },
            Self::Resumed(all) => {
                Event::Resumed { acknowledged: all.iter().map(|at| at.pair()).collect() }
            }
            Self::Resolved(at, submitted) => {
                Event::Resolved { pair: at.pair(), submitted: *submitted }
            }
            Self::Precheck(at, n) => {
                let Pair { model, gpu } = at.pair();
                Event::Precheck { model, blocked: vec![(gpu, code(n))] }
            }
            Self::Stats(total, points) => Event::Stats(Stats {
                total: *total,
                points: f64::from(*points) / 10.0,
                ..Stats::default()
            }),
            Self::Cycle(why) => Event::Cycle(CycleEnd {
                reason: why.clone(),
                exit: 0,
                submitted: 0,
                rejected: 0,
                in_doubt: 0,
                requests: 1,
            }),
            Self::Crash(_) | Self::Restart { .. } => return None,
        })
    }
}

/// What the journal must know.
#[derive(Debug, Default)]
struct Truth {
    /// Pairs that the platform may have.
    taken: HashSet<Pair>,
    /// Those of them that it has.
    accepted: HashSet<Pair>,
    /// Pairs that it will never take.
    for_good: HashSet<Pair>,
    /// Pairs that a cut-off intent may have named.
    perhaps: HashSet<Pair>,
}

impl Truth {
    /// Takes in what the journal has let pass.
    fn learn(&mut self, event: &Event) {
        match event {
            Event::Intent { pair } => {
                assert!(self.taken.insert(pair.clone()), "{pair} would be submitted twice");
            }
            Event::Accepted { pair, .. }
            | Event::Settled { pair, .. }
            | Event::Resolved { pair, submitted: true } => {
                self.taken.insert(pair.clone());
                self.accepted.insert(pair.clone());
            }
            Event::Rejected { pair, code } => {
                self.free(pair);
                if codes::class(*code) == Class::Permanent {
                    self.for_good.insert(pair.clone());
                }
            }
            Event::Released { pair, .. } | Event::Resolved { pair, submitted: false } => {
                self.free(pair);
            }
            _ => {}
        }
    }

    /// An intent that was cut off may be legible as far as its model.
    fn learn_torn(&mut self, event: &Event) {
        if let Event::Intent { pair } = event {
            let all = (0..9).map(|n| At(n).pair());
            self.perhaps.extend(all.filter(|other| other.model == pair.model));
        }
    }

    fn free(&mut self, pair: &Pair) {
        assert!(!self.accepted.contains(pair), "{pair} was accepted, and is freed");
        self.taken.remove(pair);
    }

    fn assert_is_known(&self, history: &History, at: u64) {
        let horizon = Horizon { now: at, window: 3_240, cooldown: 86_400 };
        for n in 0..9 {
            let pair = At(n).pair();
            if self.taken.contains(&pair) {
                assert!(history.takes(&pair), "{pair} is free");
            } else if !self.perhaps.contains(&pair) {
                assert!(!history.takes(&pair), "{pair} is taken");
            }
            if self.for_good.contains(&pair) {
                assert!(history.blocks().code(&pair, &horizon).is_some(), "{pair} has no mark");
            }
        }
    }
}

fuzz_target!(|steps: Vec<(Step, u16)>| {
    let disk = Memory::holding(EMPTY);
    let resume = |at, compact: bool| {
        let bytes = disk.bytes();
        let read = replay(&bytes).expect("what is written is read");
        let compact_from = if compact { 0 } else { u64::MAX };
        Journal::resume(disk.clone(), &bytes, read, at, compact_from).expect("no write fails")
    };
    let mut at = 1_000_000;
    let mut journal = resume(at, false);
    let mut truth = Truth::default();
    for (step, later) in steps {
        at += u64::from(later);
        match &step {
            Step::Restart { compact } => {
                let before = journal.history().compacted(at);
                journal = resume(at, *compact);
                assert_eq!(journal.history().compacted(at), before);
            }
            Step::Crash(len) => disk.cut_next(usize::from(*len)),
            _ => {
                let event = step.event().expect("an event");
                let will_cut = disk.will_cut();
                if journal.record(at, event.clone()).is_ok() {
                    truth.learn(&event);
                } else {
                    // It does not follow what is there, or was cut off: the run ends.
                    if will_cut && !disk.will_cut() {
                        truth.learn_torn(&event);
                    }
                    journal = resume(at, false);
                }
            }
        }
        truth.assert_is_known(journal.history(), at);
    }
});
