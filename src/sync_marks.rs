//! `submitter sync-marks`: takes pairs that the platform will never take from the logs of runs
//! into the marks file, so that they stay known when the journal is gone or on another machine.

mod date;
mod input;
pub mod line;
mod lines;
mod store;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

pub use date::{local as local_date, parse as parse_date};

use crate::clock::Clock;
use crate::codes;
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::marks::MarksFile;
use crate::pair::Pair;
use crate::text::Field;
use line::Found;
use store::Store;

/// What is to be read, and how it is to be written down.
#[derive(Debug, Clone, Copy)]
pub struct Sync<'a> {
    /// Logs, plain or gzipped, in order: the first record of a pair counts. `-` is standard
    /// input.
    pub logs: &'a [PathBuf],
    /// The marks file; made where there is none, in a folder that is there.
    pub marks: &'a Path,
    /// The date of new marks, as YYYY-MM-DD.
    pub date: &'a str,
    /// The known cards.
    pub catalog: &'a Catalog,
}

/// What was done, or would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synced {
    /// New marks.
    pub added: usize,
    /// All marks.
    pub total: usize,
}

impl fmt::Display for Synced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "added {} total {}", self.added, self.total)
    }
}

impl Sync<'_> {
    /// Adds what the logs say to the marks file. Marks that are in it stay as they are; where
    /// there is nothing to add, so does the file.
    ///
    /// # Errors
    /// `data_read_failed` for a log that cannot be read to its end, `marks_read_failed` for a
    /// damaged marks file or a missing folder, `state_write_failed`. The file is then as it was.
    pub fn run(&self, clock: &dyn Clock) -> Result<Synced, Hold> {
        let found = self.read_logs()?;
        let store = Store::at(self.marks)?;
        let writer = store.lock(clock)?;
        let old = store.read(self.catalog)?;
        let is_new = old.is_none();
        let (marks, synced) = self.add(old, &found);
        if is_new || synced.added > 0 {
            writer.replace(&marks)?;
        }
        Ok(synced)
    }

    /// Says what [`Self::run`] would do. Writes and locks nothing.
    ///
    /// # Errors
    /// As [`Self::run`], for what can be known without writing.
    pub fn preview(&self) -> Result<Synced, Hold> {
        let found = self.read_logs()?;
        let old = Store::at(self.marks)?.read(self.catalog)?;
        Ok(self.add(old, &found).1)
    }

    fn add(&self, old: Option<MarksFile>, found: &[Found]) -> (MarksFile, Synced) {
        let mut marks = old.unwrap_or_default();
        let before = marks.len();
        for Found { model, gpu, code } in found {
            marks.insert_if_new(model, gpu, *code, codes::name(i64::from(*code)), self.date);
        }
        let total = marks.len();
        (marks, Synced { added: total - before, total })
    }

    /// The first record of each pair, in the order of the logs. Memory grows with the pairs, not
    /// with the logs.
    fn read_logs(&self) -> Result<Vec<Found>, Hold> {
        let mut found = Vec::new();
        let mut pairs = HashSet::new();
        for log in self.logs {
            self.read_log(log, |record| {
                if pairs.insert(Pair::new(record.model.key(), record.gpu.clone())) {
                    found.push(record);
                }
            })?;
        }
        Ok(found)
    }

    fn read_log(&self, path: &Path, mut each: impl FnMut(Found)) -> Result<(), Hold> {
        let (mut records, mut not_utf8) = (0_u64, 0_u64);
        let counts = input::open(path)
            .and_then(|mut reader| {
                lines::for_each(&mut reader, |line| {
                    not_utf8 += u64::from(std::str::from_utf8(line).is_err());
                    if let Some(record) = line::parse(line, self.catalog) {
                        records += 1;
                        each(record);
                    }
                })
            })
            .map_err(|error| unreadable(path, &error))?;
        let lines::Counts { lines, too_long, unended } = counts;
        // What was not read as it should be is told without being asked for.
        let is_clean = not_utf8 == 0 && too_long == 0;
        log::log!(
            if is_clean { log::Level::Debug } else { log::Level::Info },
            "[sync] log={} lines={lines} records={records} not_utf8={not_utf8} \
             too_long={too_long} unended={}",
            Field(&path.to_string_lossy()),
            u8::from(unended),
        );
        Ok(())
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Hold {
    let next = "no mark was written: mend this log or leave it out, and sync again";
    let detail = format!("the log {} cannot be read to its end: {error}; {next}", path.display());
    Hold::because(Reason::DataReadFailed, detail)
}
