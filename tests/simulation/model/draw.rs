//! What a seed draws: an account, candidates, limits, and the weather.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64};

use submitter::cycle::{Limits, Sending};
use submitter::gpu::{Catalog, Gpu};
use submitter::pair::{ModelKey, Pair};
use submitter::rules::Rules;
use submitter::settings::Refresh;
use submitter::sources::Candidate;
use submitter::sources::baked::{BakedLedger, Data};

use super::coverage::Coverage;
use super::dice::Dice;
use super::disk::Disk;
use super::life::{Life, WINDOW};
use super::world::{Run, Shared, SimClock, Weather, World};

const CARDS: [&str; 4] = ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"];

impl Life {
    /// The life of a seed, before its first cycle.
    pub(super) fn draw(seed: u64, catalog: &Catalog) -> Self {
        let mut dice = Dice::new(seed);
        let models = 1 + dice.roll(5);
        let mut pairs = Vec::new();
        let mut candidates = Vec::new();
        for n in 0..models {
            let model = format!("Org/m{n}");
            let cards: Vec<String> =
                CARDS.iter().filter(|_| dice.chance(600)).map(|card| (*card).to_owned()).collect();
            let key = ModelKey::parse(&model).unwrap();
            pairs.extend(CARDS.iter().map(|gpu| Pair::new(key.clone(), Gpu::verbatim(gpu))));
            candidates.push(Candidate { cards: Some(cards), ..Candidate::new(&model) });
        }
        let rough = |dice: &mut Dice, most: u64| if dice.chance(500) { dice.roll(most) } else { 0 };
        let weather = Weather {
            list: rough(&mut dice, 120),
            post: rough(&mut dice, 700),
            precheck: rough(&mut dice, 300),
            disk: rough(&mut dice, 60),
            clock: rough(&mut dice, 40),
            people: rough(&mut dice, 120),
            late: rough(&mut dice, 500),
            unstable: dice.chance(200),
            shuffled: dice.chance(200),
            clamp: dice.chance(200).then(|| 2 + dice.roll(6)),
        };
        let threshold = 3 + dice.roll(12);
        let rejections = pairs
            .iter()
            .filter(|_| dice.chance(100))
            .map(|pair| (pair.clone(), 60_022))
            .collect::<BTreeMap<_, _>>();
        let limits = Limits {
            max_submits: 1 + usize::try_from(dice.roll(4)).unwrap(),
            queue_threshold: threshold,
            hints: vec![],
            max_attempts: 1 + usize::try_from(dice.roll(8)).unwrap(),
            max_prechecks: dice.chance(800).then(|| 1 + usize::try_from(dice.roll(6)).unwrap()),
            window: WINDOW,
            cooldown: 86_400,
            page_size: 1 + dice.roll(6),
            refresh: if dice.chance(800) { Refresh::Auto } else { Refresh::Full },
        };
        let mut world = World {
            dice,
            weather,
            coverage: Coverage::default(),
            tasks: vec![],
            next_id: 1_000,
            reads: 0,
            late: vec![],
            accepted: BTreeMap::new(),
            rejections,
            disk: Disk::default(),
            pause: None,
            run: Run::default(),
            submissions: vec![],
            true_seconds: 0,
            clock_jumped: false,
            models: pairs,
            violations: BTreeSet::new(),
            threshold,
            page_size: limits.page_size,
            hollow: false,
            stale: None,
            blind: false,
            always_full: limits.refresh == Refresh::Full,
            last_first_page: None,
            stormy: true,
        };
        let compact_from = 200 + world.dice.roll(4_000);
        for _ in 0..world.dice.roll(14) {
            let pair = world.dice.pick(&world.models).clone();
            if !world.tasks.iter().any(|task| task.pair == pair) {
                world.commit(&pair, false);
            }
        }
        if let Some(newest) = world.tasks.iter_mut().max_by_key(|task| task.id) {
            // In order as far as page 1 shows, whatever stands below.
            newest.place = u64::MAX;
        }
        world.tasks.sort_by_key(|task| std::cmp::Reverse(task.place));
        let open = world.dice.roll(400);
        for at in 0..world.tasks.len() {
            world.tasks[at].open = world.dice.chance(open);
        }
        world.coverage = Coverage::default();
        let clock = SimClock { wall: AtomicU64::new(1_800_000_000), run_ms: AtomicU64::new(0) };
        let data = Data {
            catalog: catalog.clone(),
            rules: Rules::parse(r#"{"version":1,"rules":[]}"#).unwrap(),
            marks: std::collections::HashMap::new(),
            ledger: BakedLedger {
                pairs: std::collections::HashSet::new(),
                blocked: std::collections::HashSet::new(),
            },
            candidates,
            samples: BTreeMap::from([("vllm".to_owned(), "a: 1".to_owned())]),
        };
        let sending = Sending { strategy_id: "s".into(), build_config: Err("not_configured") };
        let shared = Shared { world: RefCell::new(world), clock, stop: AtomicBool::new(false) };
        Self { shared, data, limits, sending, cycles: 0, compact_from }
    }
}
