//! What other users' tasks say of models: slices of the whole platform's list, read with a small
//! budget and believed only as a whole. One record that is not what was asked for means that the
//! filter did not work, and then nothing of the rest can be believed either.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::Foothold;
use crate::api::{Bucket, ReadApi, ReadError, SlicePage, SliceRow, Verdict};
use crate::clock::{Clock, Stop};
use crate::exit::Hold;
use crate::gpu::{Catalog, Gpu, Seen};
use crate::pair::{ModelId, ModelKey};
use crate::secret::Token;
use crate::settings::FootholdPages;
use crate::text::progress;

/// Time for one request.
const REQUEST: Duration = Duration::from_secs(5);
/// Time for all of them.
const ALL: Duration = Duration::from_secs(20);

/// What the slices say, in the order in which models were first seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// A model and what is known of it.
    pub models: Vec<(ModelKey, Evidence)>,
}

/// What is known of a model elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The spelling that was seen first.
    pub id: ModelId,
    /// The best that was seen.
    pub class: Foothold,
    /// The cards on which it was seen, in any bucket.
    pub cards: HashSet<Gpu>,
}

/// Why a snapshot is dropped whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// The cycle goes on without it; the name in the log line.
    Because(&'static str),
    /// The cycle ends.
    Hold(Hold),
}

/// Reads the three buckets.
///
/// # Errors
/// The first thing that is not as it should be drops all of it.
pub fn read(
    api: &impl ReadApi,
    pages: FootholdPages,
    catalog: &Catalog,
    token: &Token,
    clock: &dyn Clock,
) -> Result<Snapshot, Dropped> {
    let size = u64::from(pages.size);
    let mut reader = Reader { api, token, clock, size, until: clock.elapsed() + ALL };
    let mut meanings: HashMap<Identity, Meaning> = HashMap::new();
    let mut gathered = Gathered { catalog, at: HashMap::new(), snapshot: Snapshot::default() };
    for (bucket, cap) in
        [(Bucket::Pass, pages.pass), (Bucket::Fail, pages.fail), (Bucket::Running, pages.running)]
    {
        let Slice { rows, pages, truncated } = reader.bucket(bucket, u64::from(cap))?;
        let valid = rows.len();
        let before = meanings.len();
        for row in rows {
            let meaning = Meaning { class: class_of(bucket), model: row.model, card: row.card };
            let identity = match row.task {
                Some(task) => Identity::Task(task),
                None => Identity::Meaning(meaning.clone()),
            };
            match meanings.get(&identity) {
                Some(known) if *known == meaning => {}
                Some(_) => return Err(Dropped::Because("conflicting_task")),
                None => {
                    gathered.add(&meaning);
                    meanings.insert(identity, meaning);
                }
            }
        }
        log::info!(
            "[foothold] bucket={} pages={pages} valid={valid} unique={} truncated={}",
            bucket.name(),
            meanings.len() - before,
            u8::from(truncated)
        );
    }
    Ok(gathered.snapshot)
}

fn class_of(bucket: Bucket) -> Foothold {
    match bucket {
        Bucket::Pass => Foothold::VerifiedReuse,
        Bucket::Fail => Foothold::FailedFoothold,
        Bucket::Running => Foothold::InFlight,
    }
}

/// What makes two records one.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    Task(String),
    Meaning(Meaning),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Meaning {
    class: Foothold,
    model: String,
    card: String,
}

struct Gathered<'a> {
    catalog: &'a Catalog,
    at: HashMap<ModelKey, usize>,
    snapshot: Snapshot,
}

impl Gathered<'_> {
    /// Takes one record in. An id of three parts is counted, and is nobody's candidate.
    fn add(&mut self, meaning: &Meaning) {
        let Ok(id) = ModelId::parse(&meaning.model) else { return };
        let models = &mut self.snapshot.models;
        let at = *self.at.entry(id.key()).or_insert_with(|| {
            let evidence = Evidence { class: meaning.class, cards: HashSet::new(), id: id.clone() };
            models.push((id.key(), evidence));
            models.len() - 1
        });
        let (_, evidence) = &mut models[at];
        evidence.class = evidence.class.min(meaning.class);
        if let Seen::Card(gpu) = self.catalog.seen(&meaning.card) {
            evidence.cards.insert(gpu);
        }
    }
}

struct Slice {
    rows: Vec<SliceRow>,
    pages: u64,
    truncated: bool,
}

struct Reader<'a, A> {
    api: &'a A,
    token: &'a Token,
    clock: &'a dyn Clock,
    size: u64,
    until: Duration,
}

impl<A: ReadApi> Reader<'_, A> {
    fn bucket(&mut self, bucket: Bucket, cap: u64) -> Result<Slice, Dropped> {
        let mut slice = Slice { rows: Vec::new(), pages: 0, truncated: false };
        let mut earlier: Vec<Vec<SliceRow>> = Vec::new();
        while slice.pages < cap {
            slice.pages += 1;
            let (name, number) = (bucket.name(), slice.pages);
            progress(format_args!("other users' tasks: {name}, page {number} of {cap} at most"));
            let page = self.page(bucket, number)?;
            if page.rows.len() as u64 > self.size {
                return Err(Dropped::Because("malformed_data"));
            }
            page.rows.iter().try_for_each(|row| self.check(bucket, row))?;
            if !page.rows.is_empty() && earlier.contains(&page.rows) {
                slice.truncated = true;
                return Ok(slice);
            }
            slice.rows.extend_from_slice(&page.rows);
            if page.rows.is_empty() || slice.pages * self.size >= page.total {
                return Ok(slice);
            }
            earlier.push(page.rows);
        }
        slice.truncated = true;
        Ok(slice)
    }

    fn page(&self, bucket: Bucket, number: u64) -> Result<SlicePage, Dropped> {
        let left = self.until.saturating_sub(self.clock.elapsed());
        if left.is_zero() {
            return Err(Dropped::Because("deadline"));
        }
        let answer = self.api.everyones_tasks(bucket, number, self.size, REQUEST.min(left));
        answer.map_err(|error| match &error {
            ReadError::Credential(_) | ReadError::Stopped(Stop::Interrupted) => {
                match error.ends_cycle("GET task/page of everyone") {
                    Some(hold) => Dropped::Hold(hold),
                    None => Dropped::Because("reader_error"),
                }
            }
            ReadError::Stopped(Stop::Deadline) => Dropped::Because("deadline"),
            ReadError::Transport(_) if self.clock.elapsed() >= self.until => {
                Dropped::Because("deadline")
            }
            ReadError::MalformedJson(_) => Dropped::Because("malformed_data"),
            error => Dropped::Because(error.reason()),
        })
    }

    /// Whether a record is one of those that were asked for, and harmless.
    fn check(&self, bucket: Bucket, row: &SliceRow) -> Result<(), Dropped> {
        if row.task.as_ref().is_some_and(String::is_empty) {
            return Err(Dropped::Because("malformed_data"));
        }
        let verdict_fits = match (bucket, row.verify_result) {
            (Bucket::Pass, verdict) => verdict == Verdict::Is(1),
            (Bucket::Fail, verdict) => verdict == Verdict::Is(-1),
            (Bucket::Running, verdict) => matches!(verdict, Verdict::Absent | Verdict::Is(0)),
        };
        let fits = verdict_fits
            && row.status == bucket.status()
            && is_model(&row.model)
            && is_card(&row.card)
            && !self.token.is_in(&row.model)
            && !self.token.is_in(&row.card);
        if fits { Ok(()) } else { Err(Dropped::Because("filter_mismatch")) }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `[\w.-]+/[\w./-]+`
fn is_model(text: &str) -> bool {
    text.split_once('/').is_some_and(|(org, name)| {
        let part = |part: &str, also: &str| {
            !part.is_empty() && part.chars().all(|c| is_word(c) || also.contains(c))
        };
        part(org, ".-") && part(name, "./-")
    })
}

/// Word characters, space, dot, dash.
fn is_card(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_word(c) || " .-".contains(c))
}

#[cfg(test)]
mod tests;
