//! Knowing again what the own tasks are, in one request.
//!
//! A complete list is known, and some time has passed. What can have changed? Tasks were added,
//! ours or others'; tasks were removed; tasks have moved on. Page 1 of a list in strictly
//! descending ids shows all of it, or shows that it cannot:
//!
//! - *The list was strictly descending when it was read whole.* Then a task that is added stands
//!   where its id puts it, and page 1 is the top. An unstable order proves nothing.
//! - *Every unknown id on the page is taken in*, wherever on the page it stands: ids are drawn
//!   before they commit, so a new task may stand below known ones. "An id above the largest known"
//!   proves nothing.
//! - *The known ids on the page are the first of the known list, unbroken.* A gap is a task that
//!   was removed; one more below the page may have come in its place.
//! - *Known and unknown together are the server's total.* A new task below the page makes it
//!   larger, a removed one smaller.
//! - *What this run has submitted is listed.* The list may lag behind; then it says nothing of what
//!   others did a moment ago.
//!
//! One thing it cannot show: a task that was removed and another that was added since the list
//! was read whole, both below page 1. The added one must have drawn its id before a whole page of
//! own tasks that are listed already; and the precheck of its model, at most seconds before, has not
//! seen it either. Whoever will not have that sets `LIVE_REFRESH=full`.
//!
//! Tasks that have moved on since the list was read whole have only left the queue, so their old
//! state counts at least as much as the new one; those on the page are brought up to date.

use std::collections::HashSet;

use super::{Names, Remote, Task, Unknown};
use crate::api::{ReadApi, ReadError, TaskId, TaskPage};
use crate::gpu::Catalog;

/// What one request has shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refreshed {
    /// The list is known again, as if it had been read whole. If not: read it whole.
    pub proved: bool,
    /// The tasks on the page. They are taken in either case.
    pub seen: Vec<Task>,
}

/// Brings a complete list up to date with its first page. `listed`: tasks that must be there.
///
/// # Errors
/// The page could not be read at all.
pub fn refresh(
    api: &impl ReadApi,
    catalog: &Catalog,
    remote: &mut Remote,
    listed: &[Option<TaskId>],
) -> Result<Refreshed, Unknown> {
    if !is_descending(remote.tasks.iter().map(|task| task.id)) {
        return Ok(Refreshed::default());
    }
    let page = match api.own_tasks(1, remote.page_size) {
        Ok(page) => page,
        Err(ReadError::MalformedData(_)) => return Ok(Refreshed::default()),
        Err(error) => return Err(Unknown::Request { page: 1, error }),
    };
    let mut names = Names::new(catalog);
    let seen: Vec<Task> = page.rows.iter().map(|row| names.task(row)).collect();
    let proved = proves(&page, remote, listed);
    for task in seen.iter().filter(|_| proved).cloned() {
        // From the largest id to the smallest, as the page has them.
        match remote.tasks.binary_search_by(|known| task.id.cmp(&known.id)) {
            Ok(at) => remote.tasks[at] = task,
            Err(at) => remote.tasks.insert(at, task),
        }
    }
    Ok(Refreshed { proved, seen })
}

fn is_descending(ids: impl Iterator<Item = TaskId>) -> bool {
    ids.is_sorted_by(|a, b| a > b)
}

fn proves(page: &TaskPage, remote: &Remote, listed: &[Option<TaskId>]) -> bool {
    let rows = page.rows.len() as u64;
    let whole = page.current == 1
        && page.size == remote.page_size
        && page.unreadable == 0
        && rows == page.total.min(page.size)
        && is_descending(page.rows.iter().map(|row| row.id));
    if !whole {
        return false;
    }
    let is_known = |id: TaskId| remote.tasks.binary_search_by(|known| id.cmp(&known.id)).is_ok();
    let ids = || page.rows.iter().map(|row| row.id);
    let known: Vec<TaskId> = ids().filter(|id| is_known(*id)).collect();
    let unbroken =
        remote.tasks.iter().map(|task| task.id).take(known.len()).eq(known.iter().copied())
            && (remote.tasks.is_empty() || !known.is_empty());
    let unknown = rows - known.len() as u64;
    let on_page: HashSet<TaskId> = ids().collect();
    let is_listed =
        |id: &Option<TaskId>| id.is_some_and(|id| on_page.contains(&id) || is_known(id));
    unbroken && remote.tasks.len() as u64 + unknown == page.total && listed.iter().all(is_listed)
}

#[cfg(test)]
mod tests;
