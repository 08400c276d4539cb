//! What the journal's records add up to. Pure: records in, knowledge out.

use std::collections::{HashMap, HashSet};

use super::event::{CycleEnd, Event, Record};
use crate::api::TaskId;
use crate::codes::{self, Class};
use crate::pair::{ModelKey, Pair};
use crate::remote::Stats;

const HOUR: u64 = 3_600;

/// How long a precheck's "being verified" blocks a pair, in seconds.
const VERIFY_RUNNING_SECONDS: u64 = 24 * HOUR;

/// A pair that this program has submitted, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// When the intent was written, in seconds since 1970.
    pub at: u64,
    /// The outcome; none: in doubt.
    pub accepted: Option<AcceptedTask>,
}

/// An accepted submission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptedTask {
    /// Its number, where it is known.
    pub task: Option<TaskId>,
    /// Since when a complete list lacks it.
    pub missing_since: Option<u64>,
    /// A person knows that it is gone.
    pub acknowledged: bool,
}

/// Why a pair is not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    code: i64,
    at: u64,
    kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    ForGood,
    CoolDown,
    BeingVerified,
}

/// The times by which old records are judged, all in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// Now, since 1970.
    pub now: u64,
    /// The trailing window of the submit cap.
    pub window: u64,
    /// How long a rejected pair rests.
    pub cooldown: u64,
}

impl Horizon {
    /// Whether a record is dated ahead of the clock by more than the window, so that the clock
    /// (then or now) must be wrong.
    #[must_use]
    pub fn is_ahead(&self, at: u64) -> bool {
        at > self.now.saturating_add(self.window)
    }

    fn is_within(&self, at: u64, seconds: u64) -> bool {
        !self.is_ahead(at) && self.now < at.saturating_add(seconds)
    }
}

/// The journal, added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    submissions: HashMap<Pair, Submission>,
    open: HashSet<Pair>,
    whole_models: HashSet<ModelKey>,
    blocks: HashMap<Pair, Block>,
    pause: Option<String>,
    stats: Option<(u64, Stats)>,
    cycle: Option<(u64, CycleEnd)>,
}

impl History {
    /// Adds a record.
    ///
    /// # Errors
    /// A record that cannot follow those before it, in words: an outcome without its intent, a
    /// second intent for a taken pair. The journal is then not the one that this program wrote.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        let at = record.at;
        match record.event {
            Event::Intent { pair } => {
                if self.submissions.contains_key(&pair) {
                    return Err(format!("an intent for {pair}, which is taken"));
                }
                self.open.insert(pair.clone());
                self.submissions.insert(pair, Submission { at, accepted: None });
            }
            Event::Accepted { pair, task } => {
                self.close(&pair)?;
                self.accept(&pair, task)?;
            }
            Event::InDoubt { pair, .. } => self.close(&pair)?,
            Event::Rejected { pair, code } => {
                self.close(&pair)?;
                self.submissions.remove(&pair);
                let kind = match codes::class(code) {
                    Class::Permanent => BlockKind::ForGood,
                    Class::CoolDown => BlockKind::CoolDown,
                    _ => return Ok(()),
                };
                self.blocks.insert(pair, Block { code, at, kind });
            }
            Event::Released { pair, .. } => {
                self.close(&pair)?;
                self.submissions.remove(&pair);
            }
            Event::Settled { pair, task } => {
                self.open.remove(&pair);
                self.accept(&pair, task)?;
            }
            Event::Missing { pair } => self.accepted_mut(&pair)?.missing_since = Some(at),
            Event::Found { pair } => self.accepted_mut(&pair)?.missing_since = None,
            Event::Paused { reason } => self.pause = Some(reason),
            Event::Resumed { acknowledged } => {
                for pair in acknowledged {
                    self.accepted_mut(&pair)?.acknowledged = true;
                }
                self.pause = None;
            }
            Event::Precheck { model, blocked } => {
                for (gpu, code) in blocked {
                    let kind = if code == codes::VERIFY_RUNNING {
                        BlockKind::BeingVerified
                    } else {
                        BlockKind::ForGood
                    };
                    let pair = Pair::new(model.clone(), gpu);
                    let known = self.blocks.get(&pair);
                    if known.is_none_or(|block| block.kind != BlockKind::ForGood) {
                        self.blocks.insert(pair, Block { code, at, kind });
                    }
                }
            }
            Event::Stats(stats) => self.stats = Some((at, stats)),
            Event::Cycle(end) => self.cycle = Some((at, end)),
            Event::Torn { text } => self.take_torn(&text, at),
        }
        Ok(())
    }

    /// An outcome needs an intent that waits for one: it must never free a pair whose POST was
    /// lost in an earlier run.
    fn close(&mut self, pair: &Pair) -> Result<(), String> {
        if self.open.remove(pair) {
            Ok(())
        } else {
            Err(format!("an outcome for {pair} without its intent"))
        }
    }

    fn accept(&mut self, pair: &Pair, task: Option<TaskId>) -> Result<(), String> {
        let submission = self.submissions.get_mut(pair);
        let submission = submission.ok_or_else(|| format!("{pair} was never intended"))?;
        submission.accepted = Some(AcceptedTask { task, ..AcceptedTask::default() });
        Ok(())
    }

    fn accepted_mut(&mut self, pair: &Pair) -> Result<&mut AcceptedTask, String> {
        let submission = self.submissions.get_mut(pair);
        let accepted = submission.and_then(|submission| submission.accepted.as_mut());
        accepted.ok_or_else(|| format!("{pair} was never accepted"))
    }

    /// What a cut-off write may have been. By the order of writing its POST was never made, but
    /// a legible intent is taken all the same: the disk may not have kept that order.
    fn take_torn(&mut self, text: &str, at: u64) {
        let Some((_, rest)) = text.split_once(r#""intent":{"pair":[""#) else { return };
        let mut parts = rest.split('"');
        let Some(Ok(model)) = parts.next().map(ModelKey::parse) else { return };
        match (parts.next(), parts.next(), parts.next()) {
            (Some(","), Some(gpu), Some(_)) => {
                let pair = Pair::new(model, crate::gpu::Gpu::verbatim(gpu));
                self.submissions.entry(pair).or_insert(Submission { at, accepted: None });
            }
            (Some(_), ..) => drop(self.whole_models.insert(model)),
            _ => {}
        }
    }

    /// All pairs that were submitted or may have been.
    pub fn submissions(&self) -> impl Iterator<Item = (&Pair, &Submission)> {
        self.submissions.iter()
    }

    /// Pairs whose accepted task is missing, and of which no person has said so yet.
    pub fn missing(&self) -> impl Iterator<Item = &Pair> {
        let is_missing = |submission: &Submission| {
            submission
                .accepted
                .as_ref()
                .is_some_and(|accepted| accepted.missing_since.is_some() && !accepted.acknowledged)
        };
        self.submissions.iter().filter(move |(_, s)| is_missing(s)).map(|(pair, _)| pair)
    }

    /// Models that are taken on every card.
    pub fn whole_models(&self) -> impl Iterator<Item = &ModelKey> {
        self.whole_models.iter()
    }

    /// The code for which a pair is not to be tried now.
    #[must_use]
    pub fn blocked(&self, pair: &Pair, horizon: &Horizon) -> Option<i64> {
        let block = self.blocks.get(pair)?;
        let in_force = match block.kind {
            BlockKind::ForGood => true,
            BlockKind::CoolDown => horizon.is_within(block.at, horizon.cooldown),
            BlockKind::BeingVerified => horizon.is_within(block.at, VERIFY_RUNNING_SECONDS),
        };
        in_force.then_some(block.code)
    }

    /// How many pairs are blocked now.
    #[must_use]
    pub fn blocked_count(&self, horizon: &Horizon) -> usize {
        self.blocks.keys().filter(|pair| self.blocked(pair, horizon).is_some()).count()
    }

    /// Submissions, accepted and in doubt, within the trailing window.
    #[must_use]
    pub fn submitted_within(&self, horizon: &Horizon) -> usize {
        self.submissions.values().filter(|s| horizon.is_within(s.at, horizon.window)).count()
    }

    /// Records dated ahead of the clock by more than the window: they are told, not counted.
    #[must_use]
    pub fn dated_ahead(&self, horizon: &Horizon) -> usize {
        let submissions = self.submissions.values().map(|submission| submission.at);
        let blocks = self.blocks.values().filter(|block| block.kind != BlockKind::ForGood);
        let times = submissions.chain(blocks.map(|block| block.at));
        times.filter(|at| horizon.is_ahead(*at)).count()
    }

    /// Why the platform made us pause, until a person resumes.
    #[must_use]
    pub fn pause(&self) -> Option<&str> {
        self.pause.as_deref()
    }

    /// The numbers of the last complete read, and when it was.
    #[must_use]
    pub fn stats(&self) -> Option<&(u64, Stats)> {
        self.stats.as_ref()
    }

    /// How the last cycle ended, and when.
    #[must_use]
    pub fn cycle(&self) -> Option<&(u64, CycleEnd)> {
        self.cycle.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;

    const HORIZON: Horizon = Horizon { now: 1_000_000, window: 3_240, cooldown: 86_400 };

    fn pair(model: &str) -> Pair {
        Pair::new(ModelKey::parse(model).unwrap(), Gpu::verbatim("A_1"))
    }

    fn history(records: Vec<(u64, Event)>) -> Result<History, String> {
        let mut history = History::default();
        for (at, event) in records {
            history.apply(Record { at, event })?;
        }
        Ok(history)
    }

    fn intent(model: &str) -> Event {
        Event::Intent { pair: pair(model) }
    }

    #[test]
    fn a_pair_is_free_again_only_by_an_outcome_that_says_so() {
        let now = HORIZON.now;
        let released = Event::Released { pair: pair("a/b"), reason: "http_error".into() };
        let rejected = Event::Rejected { pair: pair("a/b"), code: 60_022 };
        let in_doubt = Event::InDoubt { pair: pair("a/b"), http: None };
        let accepted = Event::Accepted { pair: pair("a/b"), task: None };
        for (outcome, taken) in [
            (None, 1),
            (Some(in_doubt), 1),
            (Some(accepted), 1),
            (Some(released), 0),
            (Some(rejected), 0),
        ] {
            let mut records = vec![(now, intent("a/b"))];
            records.extend(outcome.map(|event| (now, event)));
            assert_eq!(history(records).unwrap().submitted_within(&HORIZON), taken);
        }
    }

    #[test]
    fn an_outcome_that_does_not_follow_its_intent_is_damage() {
        let now = HORIZON.now;
        let released = || Event::Released { pair: pair("a/b"), reason: "http_error".into() };
        let in_doubt = Event::InDoubt { pair: pair("a/b"), http: None };
        for records in [
            vec![(now, released())],
            vec![(now, intent("a/b")), (now, in_doubt), (now, released())],
            vec![(now, intent("a/b")), (now, intent("a/b"))],
            vec![(now, intent("a/b")), (now, Event::Missing { pair: pair("a/b") })],
            vec![(now, Event::Settled { pair: pair("a/b"), task: None })],
        ] {
            assert!(history(records.clone()).is_err(), "{records:?}");
        }
    }

    #[test]
    fn cool_downs_end_and_marks_do_not() {
        let long_ago = HORIZON.now - 86_400;
        let block = |at, code| {
            let rejected = Event::Rejected { pair: pair("a/b"), code };
            history(vec![(at, intent("a/b")), (at, rejected)])
                .unwrap()
                .blocked(&pair("a/b"), &HORIZON)
        };
        assert_eq!(block(long_ago, 60_008), None);
        assert_eq!(block(long_ago + 1, 60_008), Some(60_008));
        assert_eq!(block(long_ago, 60_028), Some(60_028));
        assert_eq!(block(HORIZON.now, 60_007), None);
        assert_eq!(block(HORIZON.now, 60_014), None);
        let precheck = |at, code| {
            let model = pair("a/b").model;
            let event = Event::Precheck { model, blocked: vec![(Gpu::verbatim("A_1"), code)] };
            history(vec![(at, event)]).unwrap().blocked(&pair("a/b"), &HORIZON)
        };
        assert_eq!(precheck(long_ago, 60_028), None);
        assert_eq!(precheck(long_ago + 1, 60_028), Some(60_028));
        assert_eq!(precheck(0, 60_027), Some(60_027));
    }

    #[test]
    fn records_of_a_wrong_clock_are_told_and_not_counted() {
        let edge = HORIZON.now + HORIZON.window;
        for (at, counted, ahead) in [
            (HORIZON.now - HORIZON.window, 0, 0),
            (HORIZON.now - HORIZON.window + 1, 1, 0),
            (edge, 1, 0),
            (edge + 1, 0, 1),
            (u64::MAX, 0, 1),
        ] {
            let history = history(vec![(at, intent("a/b"))]).unwrap();
            assert_eq!(history.submitted_within(&HORIZON), counted, "{at}");
            assert_eq!(history.dated_ahead(&HORIZON), ahead, "{at}");
        }
    }

    /// C04: a torn tail is a possible intent.
    #[test]
    fn c04_a_torn_intent_is_taken_as_far_as_it_is_legible() {
        let record = Record { at: 7, event: intent("org/model") };
        let whole = serde_json::to_string(&record).unwrap();
        for end in 0..=whole.len() {
            let torn = Event::Torn { text: whole[..end].to_owned() };
            let history = history(vec![(7, torn)]).unwrap();
            let pairs = history.submissions().count();
            let models = history.whole_models().count();
            let after_model = whole.find(r#"model""#).unwrap() + r#"model""#.len();
            let after_card = whole.find(r#"A_1""#).unwrap() + r#"A_1""#.len();
            let expected = match end {
                end if end >= after_card => (1, 0),
                end if end >= after_model => (0, 1),
                _ => (0, 0),
            };
            assert_eq!((pairs, models), expected, "{}", &whole[..end]);
        }
    }

    #[test]
    fn a_person_acknowledges_what_is_missing_and_frees_nothing() {
        let now = HORIZON.now;
        let history = history(vec![
            (now, intent("a/b")),
            (now, Event::Accepted { pair: pair("a/b"), task: Some(TaskId(5)) }),
            (now, Event::Missing { pair: pair("a/b") }),
            (now, Event::Paused { reason: "task_vanished".into() }),
            (now, Event::Resumed { acknowledged: vec![pair("a/b")] }),
        ])
        .unwrap();
        let (_, submission) = history.submissions().next().unwrap();
        assert!(submission.accepted.as_ref().unwrap().acknowledged);
        assert_eq!(history.pause(), None);
        assert_eq!(history.submitted_within(&HORIZON), 1);
    }
}
