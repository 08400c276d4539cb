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
/// POST. A folder that no run has used is told: the pause may be in the wrong one.
///
/// # Errors
/// `state_write_failed`.
pub fn pause(state_dir: &Path, reason: Option<&str>, clock: &dyn Clock) -> Result<(), Hold> {
    if !file::is_in_use(state_dir) {
        crate::text::warn(format_args!(
            "no run has used {}: if the cron job has another state folder, name it with --state-dir",
            state_dir.display()
        ));
    }
    let reason = reason.unwrap_or("paused by hand").to_owned();
    let file = PauseFile::in_dir(state_dir);
    crate::disk::make_private_dir(state_dir)
        .and_then(|()| file.write(&Pause { at: clock.now(), reason }))
        .map_err(|error| {
            let path = state_dir.display();
            Hold::because(Reason::StateWriteFailed, format!("writing the pause in {path}: {error}"))
        })
}

/// Ends a pause. Missing tasks that it named are acknowledged; their pairs stay taken. Makes no
/// journal where there is none.
///
/// # Errors
/// `paused` where another one was set meanwhile; `another_run` where a run still holds the journal after a few seconds, `journal_damaged`,
/// `state_write_failed`; the pause then stays.
pub fn resume(state_dir: &Path, clock: &dyn Clock) -> Result<Resumed, Hold> {
    let failed = |error: std::io::Error| {
        let path = state_dir.display();
        Hold::because(Reason::StateWriteFailed, format!("ending the pause in {path}: {error}"))
    };
    let pause = PauseFile::in_dir(state_dir);
    // One that is set while this waits for a run is meant to stay.
    let seen = pause.read();
    if !file::is_in_use(state_dir) {
        pause.remove().map_err(failed)?;
        return Ok(Resumed { was_paused: seen.is_some(), acknowledged: Vec::new() });
    }
    let mut journal = open_patiently(state_dir, clock)?;
    let was_paused = seen.is_some() || journal.history().pause().is_some();
    if pause.read() != seen {
        let what = "a new pause was set meanwhile, and stays; look at it, then resume again";
        return Err(Hold::because(Reason::Paused, what));
    }
    let acknowledged = end_pause(&mut journal, &pause, clock.now()).map_err(failed)?;
    Ok(Resumed { was_paused, acknowledged })
}

/// What the end of a pause has changed.
#[derive(Debug)]
pub struct Resumed {
    /// There was a pause to end.
    pub was_paused: bool,
    /// Pairs whose missing tasks are known to be gone.
    pub acknowledged: Vec<Pair>,
}

/// The journal of a state folder, waiting a few seconds for a run that holds it.
///
/// # Errors
/// As [`file::open_dir`]; `not_in_doubt` where there is none, since only a run makes one.
pub fn open_patiently(state_dir: &Path, clock: &dyn Clock) -> Result<Journal<JournalFile>, Hold> {
    if !file::is_in_use(state_dir) {
        let dir = state_dir.display();
        let what = format!("no run has used {dir}: name the cron job's folder with --state-dir");
        return Err(Hold::because(Reason::NotInDoubt, what));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A clock on which something happens while somebody waits.
    struct Meanwhile<'a> {
        waited: AtomicU64,
        happens: Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>,
    }

    impl Clock for Meanwhile<'_> {
        fn now(&self) -> u64 {
            1_000
        }
        fn elapsed(&self) -> Duration {
            Duration::from_millis(self.waited.load(Ordering::SeqCst))
        }
        fn sleep(&self, _: Duration) {
            self.waited.fetch_add(100, Ordering::SeqCst);
            if let Some(happens) = self.happens.lock().unwrap().take() {
                happens();
            }
        }
    }

    /// A run holds the journal; while `resume` waits for it, somebody pauses, and the run ends.
    #[test]
    fn a_pause_that_is_set_while_resume_waits_stays() {
        let dir = tempfile::tempdir().unwrap();
        let newer = Pause { at: 2, reason: "stop now".into() };
        let pause = PauseFile::in_dir(dir.path());
        let run = Mutex::new(Some(file::open_dir(dir.path(), 1, Duration::MAX).unwrap()));
        let happens: Box<dyn FnOnce() + Send + '_> = Box::new(|| {
            pause.write(&newer).unwrap();
            drop(run.lock().unwrap().take());
        });
        let clock = Meanwhile { waited: AtomicU64::new(0), happens: Mutex::new(Some(happens)) };
        assert_eq!(resume(dir.path(), &clock).unwrap_err().reason, Reason::Paused);
        assert_eq!(pause.read(), Some(newer.clone()));
        drop(clock);
        assert!(resume(dir.path(), &crate::clock::SystemClock::start()).unwrap().was_paused);
        assert_eq!(pause.read(), None);
    }
}
