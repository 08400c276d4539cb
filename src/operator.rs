//! What a person does by hand: `pause`, `resume`, `resolve`, `repair`.

pub mod repair;
pub mod resolve;

use std::path::Path;
use std::time::Duration;

use crate::clock::Clock;
use crate::exit::{Hold, Reason};
use crate::journal::event::Event;
use crate::journal::file::{self, JournalFile};
use crate::journal::{Journal, LogFile};
use crate::pair::Pair;
use crate::pause::{Pause, PauseFile, PauseStore};

/// How long a command waits for a run that holds the journal.
const PATIENCE: Duration = Duration::from_secs(5);
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Pauses submission. Works while a run holds the journal, and stops that run before its next
/// POST.
///
/// # Errors
/// `state_write_failed`.
pub fn pause(state_dir: &Path, reason: Option<&str>, clock: &dyn Clock) -> Result<(), Hold> {
    let reason = reason.unwrap_or("paused by hand").to_owned();
    let file = PauseFile::in_dir(state_dir);
    crate::disk::make_private_dir(state_dir)
        .and_then(|()| file.write(&Pause { at: clock.now(), reason }))
        .map_err(|error| {
            let path = state_dir.display();
            Hold::because(Reason::StateWriteFailed, format!("writing the pause in {path}: {error}"))
        })
}

/// Ends a pause. Missing tasks are acknowledged, and returned by pair; their pairs stay taken.
///
/// # Errors
/// `another_run` where a run still holds the journal after a few seconds, `journal_damaged`,
/// `state_write_failed`; the pause then stays.
pub fn resume(state_dir: &Path, clock: &dyn Clock) -> Result<Vec<Pair>, Hold> {
    let mut journal = open_patiently(state_dir, clock)?;
    let pause = PauseFile::in_dir(state_dir);
    end_pause(&mut journal, &pause, clock.now()).map_err(|error| {
        let path = state_dir.display();
        Hold::because(Reason::StateWriteFailed, format!("ending the pause in {path}: {error}"))
    })
}

/// The journal of a state folder, waiting a few seconds for a run that holds it.
///
/// # Errors
/// As [`file::open_dir`].
pub fn open_patiently(state_dir: &Path, clock: &dyn Clock) -> Result<Journal<JournalFile>, Hold> {
    loop {
        match file::open_dir(state_dir, clock.now(), Duration::MAX) {
            Err(hold) if hold.reason == Reason::AnotherRun && clock.elapsed() < PATIENCE => {
                clock.sleep(ASK_AGAIN);
            }
            opened => return opened.map(|opened| opened.journal),
        }
    }
}

/// Ends a pause: the journal first, so that a crash in between leaves the pause in force.
///
/// # Errors
/// Something could not be written; the pause stays, at least until the next try.
pub fn end_pause<L: LogFile>(
    journal: &mut Journal<L>,
    pause: &impl PauseStore,
    now: u64,
) -> std::io::Result<Vec<Pair>> {
    // Only a pause for missing tasks has named them.
    let history = journal.history();
    let named = history.pause() == Some(Reason::TaskVanished.name());
    let mut missing: Vec<Pair> = history.missing().filter(|_| named).cloned().collect();
    missing.sort();
    journal.record(now, Event::Resumed { acknowledged: missing.clone() })?;
    pause.remove()?;
    Ok(missing)
}
