//! The journal: what this program has submitted, intended and learnt, one fsynced line each.
//!
//! # Why no pair is submitted twice
//!
//! A pair is sent a second time only if, at that moment, neither the platform's list nor the
//! journal shows the first time. The order of a run excludes it:
//!
//! 1. **Lock.** The journal file itself is locked, so two runs of one state folder never both get
//!    past this point. Before each intent the locked file must still be the one under its name:
//!    whoever replaces or deletes it, the run that holds the old one writes no further intent.
//! 2. **Replay.** Every intent that was ever durable is known. One without an outcome, and one
//!    whose outcome is "in doubt", keeps its pair taken; nothing expires. A torn last line is a
//!    write that never finished, so its POST was never made; it is taken all the same as far as
//!    it is legible. Damage anywhere else stops the run.
//! 3. **Complete read.** What others submitted, and what an earlier system did, is in the
//!    platform's list: [`crate::remote::read_all`] returns only lists that are provably whole,
//!    and the last such read before a POST is at most five seconds old.
//! 4. **Intent**, appended and fsynced. If that fails, there is no POST. From here on, a crash at
//!    any point leaves the pair taken.
//! 5. **POST**, once, on its own connection ([`crate::submit`] is the only caller).
//! 6. **Outcome**, appended and fsynced. The pair is free again only after a documented rejection,
//!    a refused credential, a 4xx without a code, or a body of which no byte was asked for. If the
//!    outcome cannot be written, the next run finds the intent alone: in doubt.
//!
//! # What it assumes
//!
//! Of the platform: a list whose numbers agree hides no row; a task that a 2xx with code 0 names
//! is committed; a rejection code means that no task was made. Of the disk: `fsync` means durable,
//! a rename or link is atomic, `flock` excludes (one host; see [`crate::disk::mounts`]). Of people:
//! one state folder for each account, and no roll-back of it while a pair is in doubt.
//!
//! # What the operator sees
//!
//! `submitted … outcome=unknown` when an answer was lost; `in_doubt … reason=not_listed` in each
//! later run until a list shows the pair (`settled … reason=listed`) or a person says which it is
//! (`submitter resolve`); `task_missing`, then the pause `task_vanished`, when an accepted task is
//! gone from a complete list.

pub mod event;
pub mod file;
pub mod history;
mod holder;
pub mod salvage;

use std::fmt;
use std::io;

use self::event::{Event, Header, Record, VERSION};
use self::history::History;
pub use self::holder::Holder;

/// A journal is compacted when it is larger than this, in bytes: some months of hourly runs, and
/// a replay of a few milliseconds.
pub const COMPACT_FROM: u64 = 4 << 20;

/// Bytes of a compacted record, more or less.
const COMPACTED_RECORD: usize = 160;

/// The bytes under a journal.
pub trait LogFile {
    /// Whether the file that is locked is still the one that others find under its name.
    fn is_current(&self) -> io::Result<bool>;
    /// Appends one whole line; `durable`: returns only when it would survive a power cut.
    fn append(&mut self, line: &[u8], durable: bool) -> io::Result<()>;
    /// Puts other content in the place of all of it, durably and in one step: a crash leaves the
    /// old or the new. The lock is held throughout, on whichever file others find.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Length in bytes.
    fn length(&self) -> u64;
}

/// Why a journal cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// In words.
    pub what: String,
    /// It is no damage, but the format of another version of this program.
    pub is_newer: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// A journal's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// What the whole lines add up to.
    pub history: History,
    /// Length of the whole lines in bytes.
    pub whole: u64,
    /// Bytes that the last compaction left.
    pub compacted: u64,
    /// The bytes behind the last newline, as far as they are text.
    pub torn: Option<String>,
}

/// Reads a journal's bytes. Bytes behind the last newline are a write that was cut off; any
/// other line that cannot be read is damage.
///
/// # Errors
/// The first line that is not a journal's. An empty file is damage too: a journal is made with
/// its header, so emptiness is a loss and never "nothing submitted yet" (C05).
pub fn replay(bytes: &[u8]) -> Result<Replay, Damage> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let torn = String::from_utf8_lossy(&bytes[whole..]).into_owned();
    // Checked once as a whole, text is read faster than bytes.
    let is_text = |bytes| std::str::from_utf8(bytes);
    let text = is_text(&bytes[..whole])
        .or_else(|error| is_text(&bytes[..error.valid_up_to()]))
        .unwrap_or_default();
    let text = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
    let mut lines = text.strip_suffix('\n').unwrap_or_default().split('\n').zip(1..);
    let damage = |line, what| Damage { line, what, is_newer: false };
    let (header, _) = lines.next().unwrap_or_default();
    let header = check_header(header.as_bytes())?;
    // A compaction leaves a record for each submission, and little else.
    let compacted = usize::try_from(header.compacted).map_or(whole, |bytes| bytes.min(whole));
    let mut history = History::with_room(compacted / COMPACTED_RECORD);
    for (line, at) in lines {
        let record: Record = serde_json::from_str(line)
            .map_err(|error| damage(at, format!("not a record: {error}")))?;
        history.apply(record).map_err(|what| damage(at, what))?;
    }
    if text.len() < whole {
        let line = 1 + text.matches('\n').count();
        return Err(damage(line, "not a record: not UTF-8".to_owned()));
    }
    Ok(Replay {
        history,
        whole: whole as u64,
        compacted: header.compacted,
        torn: Some(torn).filter(|torn| !torn.is_empty()),
    })
}

fn check_header(line: &[u8]) -> Result<Header, Damage> {
    /// What every version's header has.
    #[derive(serde::Deserialize)]
    struct AnyVersion {
        submitter_journal: u32,
    }
    let missing = |_| Damage { line: 1, what: "the header is missing".to_owned(), is_newer: false };
    match serde_json::from_slice(line).map_err(missing)? {
        AnyVersion { submitter_journal: VERSION } => serde_json::from_slice(line).map_err(missing),
        AnyVersion { submitter_journal: other } => Err(Damage {
            line: 1,
            what: format!(
                "format {other}, where this program knows {VERSION}: use the newer program"
            ),
            is_newer: true,
        }),
    }
}

/// The first line of a journal.
fn header(compacted: u64) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Header { submitter_journal: VERSION, compacted })?;
    line.push(b'\n');
    Ok(line)
}

/// A whole journal of these records.
fn rewritten(records: &[Record]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for record in records {
        lines.extend(line_of(record)?);
    }
    let mut bytes = header(lines.len() as u64)?;
    bytes.extend(lines);
    Ok(bytes)
}

/// The line of an event, newline included.
fn line_of(record: &Record) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

/// A journal that this process holds the lock of.
#[derive(Debug)]
pub struct Journal<L> {
    log: L,
    history: History,
    broken: bool,
}

impl<L: LogFile> Journal<L> {
    /// Goes on with a journal whose `bytes` were replayed. A torn tail is replaced, in one step, by
    /// a record of it: nothing may be appended to it (C04), and what was legible of it must
    /// survive. A journal of more than `compact_from` bytes, and of more than twice what the last
    /// compaction left, is compacted.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn resume(
        log: L,
        bytes: &[u8],
        replay: Replay,
        now: u64,
        compact_from: u64,
    ) -> io::Result<Self> {
        let mut journal = Self { log, history: replay.history, broken: false };
        if let Some(text) = replay.torn {
            let record = Record { at: now, event: Event::Torn { text } };
            let whole = usize::try_from(replay.whole).unwrap_or(usize::MAX).min(bytes.len());
            let mended = [&bytes[..whole], &line_of(&record)?].concat();
            journal.history.apply(record).map_err(io::Error::other)?;
            journal.log.replace(&mended)?;
        }
        if journal.log.length() > compact_from.max(replay.compacted.saturating_mul(2)) {
            journal.compact(now)?;
        }
        Ok(journal)
    }

    /// Puts the fewest records that say the same in the place of all. The history itself comes
    /// from them, so that this run decides by what the next one will replay.
    fn compact(&mut self, now: u64) -> io::Result<()> {
        let bytes = rewritten(&self.history.compacted(now))?;
        let replayed = replay(&bytes).map_err(|damage| io::Error::other(damage.to_string()))?;
        self.log.replace(&bytes)?;
        self.history = replayed.history;
        Ok(())
    }

    /// What the journal knows.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Appends an event that must survive a power cut.
    ///
    /// # Errors
    /// It may not survive, or it cannot follow what is there. Nothing more is written then:
    /// after a failed write nobody knows what the file holds.
    pub fn record(&mut self, at: u64, event: Event) -> io::Result<()> {
        self.append(Record { at, event }, true)
    }

    /// Appends an event that may be lost: a fact that the next run can learn again.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub fn note(&mut self, at: u64, event: Event) -> io::Result<()> {
        self.append(Record { at, event }, false)
    }

    fn append(&mut self, record: Record, durable: bool) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.broken = true;
        if !self.log.is_current()? {
            return Err(io::Error::other("the journal was moved or replaced during the run"));
        }
        let line = line_of(&record)?;
        // A line that would be read as something else, or not at all, is damage in the making.
        if serde_json::from_slice::<Record>(&line).ok().as_ref() != Some(&record) {
            return Err(io::Error::other("a record that would not be read back as it is"));
        }
        self.history.apply(record).map_err(io::Error::other)?;
        self.log.append(&line, durable)?;
        self.broken = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
