//! `submitter resolve`: a person settles a pair in doubt.

use crate::api::{ReadApi, ReadError};
use crate::clock::Clock;
use crate::exit::{Hold, Reason};
use crate::gate;
use crate::gpu::Catalog;
use crate::journal::event::Event;
use crate::journal::history::History;
use crate::journal::{Journal, LogFile};
use crate::pair::{ModelId, Pair};
use crate::remote;

/// How old an intent must be before its task is taken to be absent, in seconds: lists lag, and a
/// platform that lost an answer may still commit the task.
const YOUNG: u64 = 3_600;

/// A pair to settle, by the words of a person.
#[derive(Debug, Clone)]
pub struct Named {
    /// The model in its own case, as the platform is asked for it.
    pub model: ModelId,
    /// The pair.
    pub pair: Pair,
}

impl Named {
    /// Reads a model in any spelling and a card by any of its names.
    ///
    /// # Errors
    /// `not_in_doubt`, naming what is not a model or no known card.
    pub fn parse(model: &str, gpu: &str, catalog: &Catalog) -> Result<Self, Hold> {
        let refuse = |what: String| Hold::because(Reason::NotInDoubt, what);
        let id = ModelId::parse(model).map_err(|bad| refuse(format!("{model:?}: {bad}")))?;
        let gpu = catalog.find(gpu).ok_or_else(|| {
            refuse(format!("{gpu:?} is no card of gpus.json: write its enum, such as Biren_166m"))
        })?;
        Ok(Self { pair: Pair::new(id.key(), gpu.clone()), model: id })
    }
}

/// How long ago the intent of a pair in doubt was written, in seconds; none: its record was cut
/// off, and with it the time.
///
/// # Errors
/// `not_in_doubt`: the pair is free, or its task was accepted and is taken for good.
fn doubt(history: &History, pair: &Pair, now: u64) -> Result<Option<u64>, Hold> {
    let refuse = |what: &str| Err(Hold::because(Reason::NotInDoubt, format!("{pair}: {what}")));
    match history.submission(pair) {
        Some(submission) if submission.accepted.is_none() => {
            Ok(Some(now.saturating_sub(submission.at)))
        }
        Some(_) => refuse("accepted, and taken for good"),
        None if history.takes(pair) => Ok(None),
        None => refuse("nothing in the journal is in doubt about it"),
    }
}

/// Settles a pair as taken. Needs no request: whatever is true, the pair is not sent again.
///
/// # Errors
/// `not_in_doubt`, `state_write_failed`.
pub fn submitted<L: LogFile>(
    journal: &mut Journal<L>,
    pair: &Pair,
    now: u64,
) -> Result<String, Hold> {
    let age = doubt(journal.history(), pair, now)?;
    record(journal, pair, true, now)?;
    Ok(format!("{pair}: submitted, by your word; {}", told(age)))
}

/// Settles a pair as not taken, so that it may be sent again, after one more look: a complete
/// read and a precheck must both know nothing of it.
///
/// # Errors
/// `not_in_doubt` where the platform shows the pair, or the intent is young; `task_missing` where
/// the list is provably behind; the holds of a read that fails or proves
/// nothing; `state_write_failed`. The pair then stays taken.
pub fn absent<L: LogFile>(
    journal: &mut Journal<L>,
    named: &Named,
    api: &impl ReadApi,
    catalog: &Catalog,
    page_size: u64,
    although_young: bool,
    clock: &dyn Clock,
) -> Result<String, Hold> {
    let pair = &named.pair;
    let age = doubt(journal.history(), pair, clock.now())?;
    if let Some(age) = age.filter(|age| *age < YOUNG && !although_young) {
        let what = format!("{pair}: its intent is {age} s old, and its task may still appear");
        let next = format!("try again in {} s, or say --although-young", YOUNG - age);
        return Err(Hold::because(Reason::NotInDoubt, format!("{what}: {next}")));
    }
    let listed = remote::read_all(api, catalog, page_size)?;
    let behind = |other: &&Pair| journal.history().is_accepted(other);
    if let Some(other) = gate::unlisted(&listed, journal.history()).into_iter().find(behind) {
        let what =
            format!("the list lacks {other}, which was accepted: it proves nothing of {pair}");
        return Err(Hold::because(Reason::TaskMissing, what));
    }
    let refuse = |what: String| Err(Hold::because(Reason::NotInDoubt, format!("{pair}: {what}")));
    if let Some(task) = listed.all_seen().find(|task| task.takes(pair)) {
        return refuse(format!(
            "listed as task {}: it was taken, and the next run will record it",
            task.id
        ));
    }
    match api.precheck(&named.model) {
        Ok(blocked) => {
            if let Some((_, code)) = blocked.iter().find(|(gpu, _)| *gpu == pair.gpu) {
                return refuse(format!(
                    "the precheck answers {code}: somebody's task, maybe yours"
                ));
            }
        }
        Err(error) => return Err(unread(&error, &named.model)),
    }
    record(journal, pair, false, clock.now())?;
    Ok(format!("{pair}: not submitted, free again; {}", told(age)))
}

fn unread(error: &ReadError, model: &ModelId) -> Hold {
    let tried = format!("GET precheck of {model}");
    error.ends_cycle(&tried).unwrap_or_else(|| {
        Hold::because(Reason::HttpError, format!("{tried}: {error}; the pair stays taken"))
    })
}

fn record<L: LogFile>(
    journal: &mut Journal<L>,
    pair: &Pair,
    submitted: bool,
    now: u64,
) -> Result<(), Hold> {
    let event = Event::Resolved { pair: pair.clone(), submitted };
    journal.record(now, event).map_err(|error| {
        Hold::because(Reason::StateWriteFailed, format!("writing the journal: {error}"))
    })
}

fn told(age: Option<u64>) -> String {
    match age {
        Some(seconds) => format!("its intent is {seconds} s old"),
        None => "its intent was cut off, and its time with it".to_owned(),
    }
}
