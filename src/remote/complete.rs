//! The proof that a read of the own tasks is complete.
//!
//! Paging there has known faults: rows repeat or vanish between pages when sort keys are equal
//! (P04) or rows come and go (P05), a page past the end answers page 1 (P02), a clamped page
//! size makes later pages empty (P01). A missed row is a duplicate submission, so a read counts
//! only if everything that it could have missed shows in its numbers.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use super::{Names, Remote, Task};
use crate::api::{ReadApi, ReadError, TaskId, TaskPage};
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::text::progress;

/// The largest list that a second pass asks for in one page, where nothing can shift.
const MAX_SINGLE_PAGE: u64 = 5_000;

/// What to do about a list that cannot be read.
const NEXT: &str = "; the next run reads again: if this stays, look at the network of this machine, \
                    at MODELHUB_API_BASE, and whether the platform's web page works";

/// Why a list is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// A page could not be read.
    Request {
        /// The page asked for.
        page: u64,
        /// What happened.
        error: ReadError,
    },
    /// Every page was read, and they do not prove a complete list.
    Incomplete(Gap),
}

/// What does not fit in a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The page that shows it.
    pub page: u64,
    /// Rows in the list, by the server's first word; none: it could not be read.
    pub total: Option<u64>,
    /// Distinct tasks seen until then.
    pub distinct: usize,
    /// In words.
    pub what: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { page, error } => write!(f, "GET task/page, page {page}: {error}"),
            Self::Incomplete(Gap { page, total, distinct, what }) => {
                let total = total.map_or("unknown".to_owned(), |total| total.to_string());
                let counts = format!("total {total}, distinct tasks {distinct}");
                write!(f, "GET task/page, page {page}: {what} ({counts})")
            }
        }
    }
}

/// The hold of a run that needed the list.
impl From<Unknown> for Hold {
    fn from(unknown: Unknown) -> Self {
        let detail = unknown.to_string();
        match unknown {
            Unknown::Incomplete(_) => Self::because(Reason::LedgerIncomplete, detail),
            Unknown::Request { page, error } => error
                .ends_cycle(&format!("GET task/page, page {page}"))
                .unwrap_or_else(|| Self::because(Reason::LedgerRebuildFailed, detail + NEXT)),
        }
    }
}

/// Reads all own tasks, `size` rows a page: one pass, and where that proves nothing a fresh
/// second one, as a single page if the list is short enough.
///
/// # Errors
/// A page that cannot be read at all ends the read at once, wherever it stands: it is never the
/// end of the list (P11).
pub fn read_all(api: &impl ReadApi, catalog: &Catalog, size: u64) -> Result<Remote, Unknown> {
    let mut reader = Reader { api, catalog, clamp: None, seen: Vec::new() };
    let gap = match reader.pass_within_clamp(size) {
        Ok(tasks) => return Ok(reader.remote(tasks, size)),
        Err(Unknown::Incomplete(gap)) => gap,
        Err(failed) => return Err(failed),
    };
    let limit = reader.clamp.unwrap_or(u64::MAX);
    let single = gap.total.filter(|total| (1..=MAX_SINGLE_PAGE.min(limit)).contains(total));
    let again = single.unwrap_or(size.min(limit));
    let tasks = reader.pass_within_clamp(again)?;
    // A single page of all rows is no size to go on with.
    Ok(reader.remote(tasks, size))
}

struct Reader<'a, A> {
    api: &'a A,
    catalog: &'a Catalog,
    /// The page size that the server clamps to, once it has shown it.
    clamp: Option<u64>,
    /// The tasks of the passes that proved nothing.
    seen: Vec<Task>,
}

enum Pass {
    Complete(Vec<Task>),
    Clamped(u64),
}

impl<A: ReadApi> Reader<'_, A> {
    /// What a complete pass has shown, asked for by pages of `size`.
    fn remote(self, tasks: Vec<Task>, size: u64) -> Remote {
        let page_size = size.min(self.clamp.unwrap_or(u64::MAX));
        Remote { tasks, also_seen: self.seen, page_size }
    }

    /// One pass; where the server clamps the page size, one more with that size.
    fn pass_within_clamp(&mut self, size: u64) -> Result<Vec<Task>, Unknown> {
        match self.pass(size)? {
            Pass::Complete(tasks) => Ok(tasks),
            Pass::Clamped(limit) => {
                self.clamp = Some(limit);
                match self.pass(limit)? {
                    Pass::Complete(tasks) => Ok(tasks),
                    Pass::Clamped(again) => Err(Unknown::Incomplete(Gap {
                        page: 1,
                        total: None,
                        distinct: 0,
                        what: format!("page size {limit} was clamped once more, to {again}"),
                    })),
                }
            }
        }
    }

    fn pass(&mut self, size: u64) -> Result<Pass, Unknown> {
        let mut tasks = Vec::new();
        let end = self.pages(size, &mut tasks);
        match end {
            Ok(None) => Ok(Pass::Complete(tasks)),
            Ok(Some(limit)) => {
                self.seen.append(&mut tasks);
                Ok(Pass::Clamped(limit))
            }
            Err(unknown) => {
                self.seen.append(&mut tasks);
                Err(unknown)
            }
        }
    }

    /// Reads every page into `tasks`, or until one shows a clamp or proves nothing.
    fn pages(&self, size: u64, tasks: &mut Vec<Task>) -> Result<Option<u64>, Unknown> {
        let mut proof = Proof { size, total: 0, pages: 0, tasks };
        progress(format_args!("own tasks: first page"));
        let first = self.api.own_tasks(1, size).map_err(|error| proof.failed(1, error))?;
        let pages = first.total.div_ceil(size).max(1);
        (proof.total, proof.pages) = (first.total, pages);
        let first_ids: Vec<TaskId> = first.rows.iter().map(|row| row.id).collect();
        let mut names = Names::new(self.catalog);
        // Only before the first clamp is a smaller size an answer to act on.
        let follow_clamp = self.clamp.is_none();
        let mut end = proof.take(1, &first, follow_clamp, &mut names)?;
        if end.is_none() && pages > 1 {
            let mut outcome = Ok(None);
            self.api.own_task_pages(2..=pages, size, &mut |number, page| {
                progress(format_args!("own tasks: {number} of {pages} pages"));
                outcome = page
                    .map_err(|error| proof.failed(number, error))
                    .and_then(|page| proof.take(number, &page, follow_clamp, &mut names));
                if let Ok(None) = outcome {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            end = outcome?;
        }
        if end.is_some() {
            return Ok(end);
        }
        if pages > 1 {
            let again = self.api.own_tasks(1, size).map_err(|error| proof.failed(1, error))?;
            proof.check(1, &again)?;
            if !again.rows.iter().map(|row| row.id).eq(first_ids) {
                return Err(proof.gap(1, "rows moved while the list was read".into()));
            }
        }
        if proof.distinct() as u64 != proof.total {
            return Err(proof.gap(pages, "rows are missing or repeated".into()));
        }
        Ok(None)
    }
}

/// What one pass has shown so far.
struct Proof<'a> {
    size: u64,
    /// By the first page; 0 before it.
    total: u64,
    /// As many as `total` makes; 0 before the first.
    pages: u64,
    tasks: &'a mut Vec<Task>,
}

impl Proof<'_> {
    /// Takes a page in: its rows are seen whatever else it shows. Some: the size to start again
    /// with, where the server clamps it and that is to be followed.
    fn take(
        &mut self,
        number: u64,
        page: &TaskPage,
        follow_clamp: bool,
        names: &mut Names<'_>,
    ) -> Result<Option<u64>, Unknown> {
        self.tasks.extend(page.rows.iter().map(|row| names.task(row)));
        if follow_clamp && (1..self.size).contains(&page.size) {
            return Ok(Some(page.size));
        }
        self.check(number, page).map(|()| None)
    }

    /// Whether a page is the one asked for, and whole.
    fn check(&self, number: u64, page: &TaskPage) -> Result<(), Unknown> {
        let rows = (page.rows.len() + page.unreadable) as u64;
        let what = if page.current != number {
            format!("the server answered page {}", page.current)
        } else if page.size != self.size {
            format!("page size {} was asked for, {} answered", self.size, page.size)
        } else if page.total != self.total {
            format!("the total changed to {}", page.total)
        } else if page.unreadable > 0 {
            format!("{} rows without a readable task id, model, card or status", page.unreadable)
        } else if rows > self.size || (number < self.pages && rows != self.size) {
            format!("{rows} rows where {} were asked for", self.size)
        } else {
            return Ok(());
        };
        Err(self.gap(number, what))
    }

    /// Odd data may be gone in a second pass; a page that cannot be read at all ends the read.
    fn failed(&self, page: u64, error: ReadError) -> Unknown {
        match error {
            ReadError::MalformedData(what) => self.gap(page, what),
            error => Unknown::Request { page, error },
        }
    }

    fn gap(&self, page: u64, what: String) -> Unknown {
        let total = (self.pages > 0).then_some(self.total);
        Unknown::Incomplete(Gap { page, total, distinct: self.distinct(), what })
    }

    /// How many tasks it has seen, each counted once. In a list that descends, all are distinct.
    fn distinct(&self) -> usize {
        if self.tasks.is_sorted_by(|a, b| a.id > b.id) {
            self.tasks.len()
        } else {
            self.tasks.iter().map(|task| task.id).collect::<HashSet<_>>().len()
        }
    }
}
