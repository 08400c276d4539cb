//! Everything outside the program: a platform, a disk, a clock, other people; and the watch over
//! what must never happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use submitter::api::{TaskId, TaskPage};
use submitter::clock::Clock;
use submitter::pair::{ModelKey, Pair};
use submitter::pause::Pause;

use super::coverage::{Coverage, RARE_POINTS};
use super::dice::Dice;
use super::disk::Disk;

/// A wall clock that may jump and a run clock that may not.
#[derive(Debug, Default)]
pub(crate) struct SimClock {
    pub(crate) wall: AtomicU64,
    pub(crate) run_ms: AtomicU64,
}

impl SimClock {
    pub(crate) fn pass(&self, ms: u64) {
        let before = self.run_ms.fetch_add(ms, Ordering::Relaxed);
        self.wall.fetch_add((before % 1_000 + ms) / 1_000, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    fn now(&self) -> u64 {
        self.wall.load(Ordering::Relaxed)
    }
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.run_ms.load(Ordering::Relaxed))
    }
    fn sleep(&self, time: Duration) {
        self.pass(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    }
}

/// A task as the platform has it.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    pub(crate) id: TaskId,
    pub(crate) pair: Pair,
    pub(crate) ours: bool,
    pub(crate) open: bool,
    /// Its card is written in a way that nobody can read.
    pub(crate) odd_card: bool,
    /// The list shows it from this request on.
    pub(crate) visible_from: u64,
    /// Where it stands in the list: by id, on most platforms.
    pub(crate) place: u64,
}

/// How likely each kind of fault is, in thousandths, and what the platform is like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weather {
    pub(crate) list: u64,
    pub(crate) post: u64,
    pub(crate) precheck: u64,
    pub(crate) disk: u64,
    pub(crate) clock: u64,
    pub(crate) people: u64,
    pub(crate) late: u64,
    pub(crate) unstable: bool,
    /// The list is in no order that ids show.
    pub(crate) shuffled: bool,
    pub(crate) clamp: Option<u64>,
}

/// What a run has done so far, as the world saw it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not one state")]
pub(crate) struct Run {
    /// Nothing that a dead process does has an effect.
    pub(crate) dead: bool,
    /// It dies at this effect, or at the so-manieth effect of this kind.
    pub(crate) crash_at: Option<u64>,
    pub(crate) crash_point: Option<(&'static str, u64)>,
    /// Faults may still happen.
    pub(crate) stormy: bool,
    pub(crate) power_loss: bool,
    pub(crate) effects: u64,
    pub(crate) credential_refused: bool,
    /// POSTs that were taken or whose outcome was withheld.
    pub(crate) counted: u64,
    /// The list request with which the last refresh began.
    pub(crate) refresh_from: u64,
    pub(crate) refreshing: bool,
    /// When the list was last answered, in the run's milliseconds.
    pub(crate) listed_at: u64,
    /// The model that it asked a precheck for last: somebody else is after it too.
    pub(crate) eyed: Option<ModelKey>,
    /// The fewest open tasks that the list could have shown during the last refresh.
    pub(crate) open_at_refresh: u64,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not one state")]
pub(crate) struct World {
    pub(crate) dice: Dice,
    pub(crate) weather: Weather,
    pub(crate) coverage: Coverage,
    pub(crate) tasks: Vec<Committed>,
    pub(crate) next_id: u64,
    /// List requests so far.
    pub(crate) reads: u64,
    /// POSTs that the platform will commit later, by the list request after which it does.
    pub(crate) late: Vec<(u64, Pair)>,
    pub(crate) accepted: BTreeMap<Pair, u64>,
    pub(crate) rejections: BTreeMap<Pair, i64>,
    pub(crate) disk: Disk,
    pub(crate) pause: Option<Pause>,
    pub(crate) run: Run,
    /// When we submitted, in seconds of a clock that never jumps.
    pub(crate) submissions: Vec<(u64, Pair)>,
    pub(crate) true_seconds: u64,
    pub(crate) clock_jumped: bool,
    pub(crate) models: Vec<Pair>,
    pub(crate) violations: BTreeSet<String>,
    pub(crate) threshold: u64,
    pub(crate) page_size: u64,
    /// A task below page 1 was removed since the list was last read beyond it: with another that
    /// was added there, no first page can show it, and no first page is asked to.
    pub(crate) hollow: bool,
    /// Page 1 as it was before our last POST: a cache gives it out once more.
    pub(crate) stale: Option<(u64, TaskPage)>,
    /// The last list was one whole page, and it came from there.
    pub(crate) blind: bool,
    /// The program never refreshes by page 1 alone.
    pub(crate) always_full: bool,
    pub(crate) last_first_page: Option<(u64, TaskPage)>,
    /// Faults and crashes may happen.
    pub(crate) stormy: bool,
}

impl World {
    /// One effect of the running process begins. False: the process is dead, or dies here.
    pub(crate) fn effect(&mut self, point: &'static str) -> bool {
        if self.run.dead {
            return false;
        }
        self.run.effects += 1;
        let mut dies = self.run.crash_at == Some(self.run.effects);
        if let Some((_, left)) = self.run.crash_point.as_mut().filter(|(own, _)| *own == point) {
            *left -= 1;
            dies |= *left == 0;
        }
        // Effects that few runs have are aimed at wherever they come.
        dies |= self.run.stormy && RARE_POINTS.contains(&point) && self.dice.chance(300);
        if dies {
            self.die(point);
            return false;
        }
        true
    }

    pub(crate) fn die(&mut self, point: &'static str) {
        self.coverage.hit(point);
        self.run.dead = true;
        if self.run.power_loss {
            self.coverage.hit("crash by power loss");
            if self.disk.lose_power(&mut self.dice) {
                self.coverage.hit("fault torn tail after power loss");
            }
        }
    }

    /// Tasks that the list shows at this moment, in its order.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Committed> {
        self.tasks.iter().filter(|task| task.visible_from <= self.reads)
    }

    /// Adds a task. Its id may be lower than that of a task which is there already: ids are
    /// drawn before they commit.
    pub(crate) fn commit(&mut self, pair: &Pair, ours: bool) -> TaskId {
        let is_late = self.dice.chance(self.weather.late);
        self.commit_with(pair, ours, is_late.then_some(600))
    }

    /// The same, with an id that stands lower for each time that so many in a thousand come up.
    fn commit_with(&mut self, pair: &Pair, ours: bool, lower: Option<u64>) -> TaskId {
        let mut id = self.next_id;
        if let Some(permille) = lower {
            self.coverage.hit("fault task id commits out of order");
            // Below the newest few that are there already.
            id -= 3;
            let is_there = |id: u64| self.tasks.iter().any(|task| task.id.0 == id);
            while id > 4 && self.dice.chance(permille) && !is_there(id - 2) {
                id -= 2;
            }
        }
        self.next_id += 2;
        let mut visible_from = self.reads;
        if ours && self.dice.chance(self.weather.late) {
            self.coverage.hit("fault task visible late");
            visible_from += self.dice.roll(12);
        }
        let id = TaskId(id);
        let place = if self.weather.shuffled { self.dice.roll(1 << 40) } else { id.0 };
        let (pair, open, odd_card) = (pair.clone(), true, false);
        let task = Committed { id, pair, ours, open, odd_card, visible_from, place };
        let pair = task.pair.clone();
        if ours {
            let times = self.accepted.entry(pair.clone()).or_default();
            *times += 1;
            if *times > 1 {
                self.violations.insert(format!("{pair} was taken {times} times because of us"));
            }
        }
        self.tasks.push(task);
        self.tasks.sort_by_key(|task| std::cmp::Reverse(task.place));
        id
    }

    pub(crate) fn violate(&mut self, what: impl Into<String>) {
        self.violations.insert(what.into());
    }

    /// What other people do while nobody looks.
    pub(crate) fn people(&mut self) {
        if !self.dice.chance(self.weather.people) {
            return;
        }
        let pair = self.somebodys_pair();
        match self.dice.roll(5) {
            0 if !self.tasks.iter().any(|task| task.pair == pair) => {
                self.coverage.hit("fault foreign task during the cycle");
                self.commit(&pair, false);
            }
            1 if !self.tasks.iter().any(|task| task.pair.model == pair.model) => {
                self.coverage.hit("fault foreign task on an odd card");
                let id = self.commit(&pair, false);
                self.tasks
                    .iter_mut()
                    .filter(|task| task.id == id)
                    .for_each(|task| task.odd_card = true);
            }
            2 => {
                if let Some(task) = self.tasks.iter_mut().find(|task| task.open) {
                    task.open = false;
                }
            }
            3 => self.remove_foreign(),
            _ => self.exchange(&pair),
        }
    }

    /// In one moment somebody's task goes from page 1 and another comes, whose id was drawn long ago:
    /// the total stays as it was.
    fn exchange(&mut self, pair: &Pair) {
        let gone = self.tasks.iter().position(|task| !task.ours && !task.open);
        if gone.is_none_or(|at| at as u64 >= self.first_page()) {
            return;
        }
        self.remove_foreign();
        if !self.tasks.iter().any(|task| task.pair == *pair) {
            self.coverage.hit("fault task exchanged for an older one");
            self.commit_with(pair, false, Some(900));
        }
    }

    /// A pair that somebody submits by hand: often of the model that we have just asked for.
    pub(crate) fn somebodys_pair(&mut self) -> Pair {
        let pair = self.dice.pick(&self.models).clone();
        match &self.run.eyed {
            Some(model) if self.dice.chance(700) => Pair::new(model.clone(), pair.gpu),
            _ => pair,
        }
    }

    /// A foreign, finished task goes: the program does not miss it.
    pub(crate) fn remove_foreign(&mut self) {
        let gone = self.tasks.iter().position(|task| !task.ours && !task.open);
        if let Some(at) = gone {
            self.coverage.hit("fault list deleted between pages");
            // In an unstable order, page 1 may have shown another in its place.
            self.hollow |= self.weather.unstable || at as u64 >= self.first_page();
            self.tasks.remove(at);
        }
    }

    /// Rows that page 1 shows.
    fn first_page(&self) -> u64 {
        self.weather.clamp.unwrap_or(self.page_size).min(self.page_size)
    }

    /// Whether a task stands below page 1.
    pub(crate) fn is_below(&self, id: TaskId) -> bool {
        let page = usize::try_from(self.first_page()).unwrap_or(usize::MAX);
        self.listed().position(|task| task.id == id).is_some_and(|at| at >= page)
    }

    /// Whether the list is in strictly descending ids.
    pub(crate) fn is_ordered(&self) -> bool {
        self.listed().is_sorted_by(|a, b| a.id > b.id)
    }
}

/// The world as every part of the program holds it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) world: std::cell::RefCell<World>,
    pub(crate) clock: SimClock,
    pub(crate) stop: AtomicBool,
}

impl Shared {
    /// Time passes with every effect: mostly little, now and then a stall.
    pub(crate) fn pass_time(&self) {
        let mut world = self.world.borrow_mut();
        let mut ms = world.dice.roll(120);
        let clock = world.weather.clock;
        if world.dice.chance(clock) {
            ms += world.dice.roll(8_000);
        }
        let before = self.clock.run_ms.load(Ordering::Relaxed);
        self.clock.pass(ms);
        world.true_seconds += (before % 1_000 + ms) / 1_000;
        if world.dice.chance(clock / 2) {
            world.coverage.hit("fault clock jumps");
            world.clock_jumped = true;
            let seconds = world.dice.roll(20_000);
            let forward = world.dice.chance(500);
            let _ = self.clock.wall.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                Some(if forward { now + seconds } else { now.saturating_sub(seconds) })
            });
        }
        let people = world.weather.people;
        if world.dice.chance(people / 8) {
            world.coverage.hit("fault signal");
            self.stop.store(true, Ordering::SeqCst);
        }
        if world.dice.chance(people / 8) && world.pause.is_none() {
            world.coverage.hit("fault pause during the cycle");
            world.pause = Some(Pause { at: 0, reason: "somebody".into() });
        }
    }
}
