//! `submitter report`: the state folder as a page for people and as metrics. Reads the journal and
//! the account that the last run has kept; needs no lock, no network and no credential.

mod chart;
mod coverage;
mod days;
mod facts;
mod html;
mod metrics;
mod page;
mod time;

use std::io::{self, Write};
use std::path::Path;

pub use self::facts::Facts;
pub use self::metrics::metrics;
pub use self::page::page;

use crate::account;
use crate::disk;
use crate::exit::{Hold, Reason};
use crate::journal::file;
use crate::pause::{Pause, PauseFile, PauseStore};
use crate::text::redacted;

/// What is to be shown of a state folder, at `now` (seconds since 1970). A folder that no run has
/// used and an account file that cannot be read are told, and shown as what they are: nothing
/// known. A person's words are shown without any of the `secrets`.
///
/// # Errors
/// Those of [`file::peek`].
pub fn facts(dir: &Path, now: u64, secrets: &[String]) -> Result<Facts, Hold> {
    let (history, _) = file::peek(dir, now)?;
    if !file::is_in_use(dir) {
        crate::text::warn(format_args!(
            "no run has used {}: if the cron job has another state folder, name it with --state-dir",
            dir.display()
        ));
    }
    let account = account::read_or_warn(dir);
    let pause = PauseFile::in_dir(dir).read().map(|pause| match pause {
        // Its words name the folder, which is no business of a page that others may see.
        Pause { at: 0, .. } => {
            Pause { at: 0, reason: "the pause file has no legible reason".into() }
        }
        // Here, since in HTML a secret may read differently.
        Pause { at, reason } => Pause { at, reason: redacted(reason, secrets) },
    });
    Ok(Facts::gather(&history, account.as_ref(), pause, now))
}

/// Replaces a file by `text` in one step, or prints it where the path is `-`. The state folder
/// itself takes no report: one that is put in the place of the journal would be the loss of it.
///
/// # Errors
/// `state_write_failed`; the file is then as it was.
pub fn write(path: &Path, text: &str, state_dir: &Path) -> Result<(), Hold> {
    let failed = |error: &io::Error| {
        let what = format!("writing {}: {error}", path.display());
        Hold::because(Reason::StateWriteFailed, what)
    };
    if path == Path::new("-") {
        let mut out = io::stdout();
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(&error)),
            _ => Ok(()),
        };
    }
    // Two names of one folder are one folder; where there is none, nothing can be lost.
    let real = |dir: &Path| dir.canonicalize().ok();
    if real(state_dir).is_some_and(|state| real(disk::folder_of(path)) == Some(state)) {
        let why = "the state folder takes no report, lest one replaces the journal";
        return Err(failed(&io::Error::other(why)));
    }
    disk::require_regular(path)
        .and_then(|()| disk::replace_keeping_mode(path, text.as_bytes(), 0o644))
        .map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests;
