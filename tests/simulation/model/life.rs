//! One seed: an account, a list of candidates, and a dozen cycles through bad weather, then
//! fair weather until nothing is left to do.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use submitter::clock::{Clock, Watch};
use submitter::cycle::{Cycle, Limits, Sending};
use submitter::exit::{Hold, Reason};
use submitter::gpu::{Catalog, Gpu};
use submitter::journal::event::Event;
use submitter::journal::{Journal, replay};
use submitter::operator;
use submitter::pair::{ModelKey, Pair};
use submitter::pause::{Pause, PauseStore};
use submitter::report::Report;
use submitter::sources::baked::Data;
use submitter::submit::{Live, Rehearsal};

use super::coverage::{CRASH_POINTS, Coverage};
use super::disk::{SimLog, SimPause};
use super::platform::SimPlatform;
use super::world::{Run, Shared, Weather};

const HEADER: &[u8] = b"{\"submitter_journal\":1}\n";
const CYCLE_SECONDS: u64 = 3_600;
pub(super) const WINDOW: u64 = CYCLE_SECONDS * 9 / 10;

/// What a life ended with.
#[derive(Debug)]
pub(crate) struct Lived {
    pub(crate) cycles: u64,
    pub(crate) coverage: Coverage,
    pub(crate) violations: BTreeSet<String>,
}

pub(super) struct Life {
    pub(super) shared: Shared,
    pub(super) data: Data,
    pub(super) limits: Limits,
    pub(super) sending: Sending,
    pub(super) cycles: u64,
    /// A journal larger than this is compacted, in bytes.
    pub(super) compact_from: u64,
}

/// Lives one seed.
pub(crate) fn live(seed: u64, catalog: &Catalog) -> Lived {
    let mut life = Life::draw(seed, catalog);
    let storms = 4 + life.roll(8);
    for _ in 0..storms {
        life.cycle();
        life.between_cycles();
    }
    life.fair_weather();
    let world = life.shared.world.into_inner();
    Lived { cycles: life.cycles, coverage: world.coverage, violations: world.violations }
}

impl Life {
    fn roll(&self, sides: u64) -> u64 {
        self.shared.world.borrow_mut().dice.roll(sides)
    }

    fn chance(&self, permille: u64) -> bool {
        self.shared.world.borrow_mut().dice.chance(permille)
    }

    fn hit(&self, name: &'static str) {
        self.shared.world.borrow_mut().coverage.hit(name);
    }

    fn watch(&self) -> Watch<'_> {
        let deadline = Duration::from_secs(600);
        Watch { clock: &self.shared.clock, deadline, stop: &self.shared.stop }
    }

    /// Opens the journal as `journal::file` does: made whole where it is missing, locked, replayed.
    fn open(&self) -> Result<Journal<SimLog<'_>>, Reason> {
        let bytes = {
            let mut world = self.shared.world.borrow_mut();
            let disk = &mut world.disk;
            if disk.inode == 0 {
                (disk.inode, disk.cached, disk.durable) = (1, HEADER.to_vec(), HEADER.len());
            }
            if disk.locked {
                return Err(Reason::AnotherRun);
            }
            disk.locked = true;
            disk.cached.clone()
        };
        let opened = replay(&bytes).map_err(|_| Reason::JournalDamaged).and_then(|replay| {
            let inode = self.shared.world.borrow().disk.inode;
            let log = SimLog { shared: &self.shared, inode, orphan: None };
            Journal::resume(log, &bytes, replay, self.shared.clock.now(), self.compact_from)
                .map_err(|_| Reason::StateWriteFailed)
        });
        if opened.is_err() {
            self.shared.world.borrow_mut().disk.locked = false;
        }
        opened
    }

    /// One run of the program, which may die, and what must be true of it as a whole.
    fn cycle(&mut self) {
        self.cycles += 1;
        let storm = self.shared.world.borrow().stormy;
        self.shared.clock.run_ms.store(0, Ordering::Relaxed);
        self.shared.stop.store(false, Ordering::SeqCst);
        {
            let mut world = self.shared.world.borrow_mut();
            let crash = storm && world.dice.chance(300);
            let crash_at = if crash { Some(1 + world.dice.roll(60)) } else { None };
            let aimed = storm && world.dice.chance(300);
            let point = (*world.dice.pick(CRASH_POINTS), 1 + world.dice.roll(3));
            let crash_point = aimed.then_some(point);
            let power_loss = world.dice.chance(400);
            world.run = Run { crash_at, crash_point, stormy: storm, power_loss, ..Run::default() };
        }
        if self.chance(30) {
            self.rehearse();
            return;
        }
        let reason = match self.open() {
            Ok(journal) => self.run(journal).reason,
            Err(reason) => reason,
        };
        let mut world = self.shared.world.borrow_mut();
        world.disk.locked = false;
        if reason == Reason::JournalDamaged {
            world.violate("the journal that we wrote is damaged");
        }
        if world.run.counted > self.limits.max_submits as u64 {
            let counted = world.run.counted;
            world.violate(format!("{counted} submissions in one cycle"));
        }
        let recent = world.true_seconds.saturating_sub(WINDOW);
        let recent = world.submissions.iter().filter(|(at, _)| *at > recent).count();
        if !world.clock_jumped && recent > self.limits.max_submits {
            world.violate(format!("{recent} submissions in {WINDOW} s"));
        }
    }

    fn run<'a>(&'a self, journal: Journal<SimLog<'a>>) -> Hold {
        let platform = SimPlatform(&self.shared);
        let pause = SimPause(&self.shared);
        let mut desk = Live { journal, writer: platform, pause, watch: self.watch() };
        if self.chance(30) && self.shared.world.borrow().weather.people > 0 {
            self.overlap();
        }
        let mut report = Report::new(false, 0);
        let hold = self.cycle_with(&mut desk, &mut report);
        report.hold(&hold);
        let _ = desk.journal.note(0, Event::Stats(submitter::remote::Stats::default()));
        hold
    }

    fn cycle_with(&self, desk: &mut impl submitter::submit::Desk, report: &mut Report) -> Hold {
        let cycle = Cycle {
            api: &SimPlatform(&self.shared),
            desk,
            data: &self.data,
            carried_over: &[],
            slices: None,
            limits: &self.limits,
            sending: &self.sending,
            watch: self.watch(),
            report,
        };
        cycle.run().0
    }

    /// Another run starts while this one holds the journal; or, worse, somebody puts a copy of
    /// the journal in its place first, which is then free to lock.
    fn overlap(&self) {
        self.hit("fault overlapping run");
        assert_eq!(self.open().err(), Some(Reason::AnotherRun));
        if self.chance(300) {
            self.hit("fault journal replaced under the run");
            let mut world = self.shared.world.borrow_mut();
            world.disk.inode += 1;
            world.disk.durable = world.disk.cached.len();
        }
    }

    /// A dry run: nothing outside may change.
    fn rehearse(&self) {
        let bytes = self.shared.world.borrow().disk.cached.clone();
        let Ok(replayed) = replay(if bytes.is_empty() { HEADER } else { &bytes }) else { return };
        let (tasks, pause, late) = {
            let mut world = self.shared.world.borrow_mut();
            world.run = Run::default();
            (world.accepted.clone(), world.pause.clone(), world.late.clone())
        };
        let pause_file = SimPause(&self.shared);
        let mut desk =
            Rehearsal { history: replayed.history, pause: pause_file, watch: self.watch() };
        self.cycle_with(&mut desk, &mut Report::new(true, 0));
        let mut world = self.shared.world.borrow_mut();
        if world.disk.cached != bytes || (late.is_empty() && world.accepted != tasks) {
            world.violate("a dry run changed something");
        }
        if pause.is_some() && world.pause.is_none() {
            world.violate("a dry run ended a pause");
        }
    }

    /// An hour, more or less, and an operator who pauses, resumes and settles.
    fn between_cycles(&self) {
        {
            let mut world = self.shared.world.borrow_mut();
            let seconds = *world.dice.pick(&[60, 600, 3_300, 3_600, 7_200, 90_000]);
            world.true_seconds += seconds;
            self.shared.clock.wall.fetch_add(seconds, Ordering::Relaxed);
            let done = world.dice.roll(600);
            for at in 0..world.tasks.len() {
                if world.dice.chance(done) {
                    world.tasks[at].open = false;
                }
            }
            let removals = world.weather.people / 3;
            let removed = world.dice.chance(removals);
            let ours = world.tasks.iter().position(|task| task.ours);
            if let Some(at) = ours.filter(|_| removed) {
                world.coverage.hit("fault task removed by the platform");
                world.tasks.remove(at);
            }
            world.run = Run::default();
        }
        match self.roll(10) {
            0 => {
                self.hit("operator pauses");
                let pause = Pause { at: 0, reason: "operator".into() };
                SimPause(&self.shared).write(&pause).unwrap();
            }
            1..4 => self.resume(),
            4..6 => self.settle(),
            _ => {}
        }
    }

    /// A careful person: nobody acknowledges a task as gone while it is only late to be listed.
    fn resume(&self) {
        {
            let world = self.shared.world.borrow();
            if world.tasks.iter().any(|task| task.ours && task.visible_from > world.reads) {
                return;
            }
        }
        let Ok(mut journal) = self.open() else { return };
        let pause = SimPause(&self.shared);
        if operator::end_pause(&mut journal, &pause, 0).is_ok() {
            self.hit("operator resumes");
        }
        self.shared.world.borrow_mut().disk.locked = false;
    }

    /// Settles one pair in doubt by the truth, which a careful person can find out.
    fn settle(&self) {
        let Ok(mut journal) = self.open() else { return };
        let history = journal.history();
        let in_doubt = |pair: &&Pair| match history.submissions().find(|(own, _)| own == pair) {
            Some((_, submission)) => submission.accepted.is_none(),
            None => history.takes(pair),
        };
        let pairs = self.shared.world.borrow().models.clone();
        if let Some(pair) = pairs.iter().find(in_doubt).cloned() {
            let world = self.shared.world.borrow();
            let submitted = world.accepted.contains_key(&pair);
            let late = world.late.iter().any(|(_, late)| *late == pair);
            drop(world);
            if !late {
                let event = Event::Resolved { pair: pair.clone(), submitted };
                let recorded = journal.record(0, event).is_ok();
                let mut world = self.shared.world.borrow_mut();
                // What was never taken does not count against the caps once that is known; and
                // a write that failed may be there all the same.
                world.submissions.retain(|(_, own)| submitted || *own != pair);
                let name = if submitted {
                    "operator resolves submitted"
                } else {
                    "operator resolves absent"
                };
                if recorded {
                    world.coverage.hit(name);
                }
            }
        }
        self.shared.world.borrow_mut().disk.locked = false;
    }

    /// Faults stop, people settle what is theirs to settle: then work goes on and finishes.
    fn fair_weather(&mut self) {
        {
            let mut world = self.shared.world.borrow_mut();
            let clamp = world.weather.clamp;
            world.weather = Weather { clamp, ..Weather::default() };
            world.stormy = false;
            let late = std::mem::take(&mut world.late);
            for (_, pair) in late {
                world.commit(&pair, true);
            }
            world.reads += 20;
        }
        for _ in 0..60 {
            self.resume();
            self.settle();
            {
                let mut world = self.shared.world.borrow_mut();
                world.tasks.iter_mut().for_each(|task| task.open = false);
                world.true_seconds += 90_000;
                self.shared.clock.wall.fetch_add(90_000, Ordering::Relaxed);
            }
            self.cycle();
            if self.left().is_empty() {
                return;
            }
        }
        let left = self.left();
        self.shared.world.borrow_mut().violate(format!("never finished: {left:?}"));
    }

    /// Pairs that should be submitted sooner or later, and are not.
    fn left(&self) -> Vec<String> {
        let world = self.shared.world.borrow();
        let history = replay(&world.disk.cached).map(|replay| replay.history).unwrap_or_default();
        // Settled by somebody else's task, which may be gone since: taken for good.
        let settled: BTreeSet<&Pair> = history
            .submissions()
            .filter(|(_, submission)| submission.accepted.is_some())
            .map(|(pair, _)| pair)
            .collect();
        let is_done = |pair: &Pair| {
            settled.contains(pair)
                || world.accepted.contains_key(pair)
                || world.rejections.contains_key(pair)
                || world.tasks.iter().any(|task| {
                    task.pair == *pair || (task.odd_card && task.pair.model == pair.model)
                })
        };
        let wanted = self.data.candidates.iter().flat_map(|candidate| {
            let key = ModelKey::parse(&candidate.address).unwrap();
            let cards = candidate.cards.clone().unwrap_or_default();
            cards.into_iter().map(move |card| Pair::new(key.clone(), Gpu::verbatim(&card)))
        });
        wanted.filter(|pair| !is_done(pair)).map(|pair| pair.to_string()).collect()
    }
}
