//! The journal's file: its lock, its making, its fsyncs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::event::{Event, Record};
use super::history::History;
use super::holder::Holder;
use super::salvage::{self, Salvage};
use super::{COMPACT_FROM, Damage, Journal, LogFile, Replay, header, replay};
use crate::disk;
use crate::exit::{Hold, Reason};

const JOURNAL: &str = "journal.jsonl";

/// Why submission is paused after a repair that could not read everything.
const REPAIRED: &str = "the journal was repaired, and parts of it may be lost";

/// Ample time between taking the lock and telling who did.
const HOLDER_SPEAKS: Duration = Duration::from_millis(200);

/// An open, locked journal file. The kernel frees the lock when the process ends, however it
/// ends; the file itself is locked, so there is no lock file to be left behind (C08).
#[derive(Debug)]
pub struct JournalFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl LogFile for JournalFile {
    fn is_current(&self) -> io::Result<bool> {
        let ours = self.file.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn append(&mut self, line: &[u8], durable: bool) -> io::Result<()> {
        let written = self
            .file
            .write_all(line)
            .and_then(|()| if durable { self.file.sync_data() } else { Ok(()) });
        match written {
            Ok(()) => self.len += line.len() as u64,
            // Best effort: a tail that stays is found torn by the next run.
            Err(_) => drop(self.file.set_len(self.len).and_then(|()| self.file.sync_all())),
        }
        written
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (temporary, new) = disk::write_beside(&self.path, bytes, 0o600)?;
        let locked = keep_owner(&new, &self.file).and_then(|()| open(&temporary));
        let locked = locked.and_then(|file| {
            // Locked before anybody can find it under the journal's name. Whoever has opened the
            // old file finds, once it is free, that it is not the one at the path any more.
            file.try_lock()?;
            if !self.is_current()? {
                return Err(io::Error::other("the journal was replaced meanwhile"));
            }
            std::fs::rename(&temporary, &self.path)?;
            Ok(file)
        });
        self.file = locked.inspect_err(|_| drop(std::fs::remove_file(&temporary)))?;
        self.len = bytes.len() as u64;
        disk::sync_dir(self.path.parent().unwrap_or(Path::new(".")))
    }

    fn length(&self) -> u64 {
        self.len
    }
}

/// Gives a new file the owner and the mode of the one that it replaces, so that a person who acts
/// as root does not lock the cron job out.
fn keep_owner(new: &File, old: &File) -> io::Result<()> {
    let old = old.metadata()?;
    let made = new.metadata()?;
    if (old.uid(), old.gid()) != (made.uid(), made.gid()) {
        std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    new.set_permissions(old.permissions())
}

fn open(path: &Path) -> io::Result<File> {
    disk::require_regular(path)?;
    OpenOptions::new().read(true).append(true).open(path)
}

/// The result of opening a state folder.
#[derive(Debug)]
pub struct Opened {
    /// The journal.
    pub journal: Journal<JournalFile>,
    /// It was made just now.
    pub created: bool,
    /// Bytes of a torn tail that were cut off.
    pub torn: usize,
}

/// Whether a state folder has a journal: whether a run has ever used it. Where this user may not
/// look, somebody's run may have.
#[must_use]
pub fn is_in_use(dir: &Path) -> bool {
    may_be_there(&dir.join(JOURNAL).symlink_metadata())
}

fn may_be_there<T>(looked: &io::Result<T>) -> bool {
    let nothing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    !matches!(looked, Err(error) if nothing.contains(&error.kind()))
}

/// The process that holds the journal of a state folder now, without touching the lock; none where
/// nobody does, or the kernel does not say (no `/proc`).
#[must_use]
pub fn held_by(dir: &Path) -> Option<Holder> {
    let inode = std::fs::metadata(dir.join(JOURNAL)).ok()?.ino();
    Holder::last(dir).filter(|holder| holder.holds(inode))
}

/// Opens and locks the journal of a state folder, making both where they are missing, and
/// replays it.
///
/// # Errors
/// `another_run` (as stuck where the holder began more than twice `deadline` ago),
/// `journal_damaged`, `state_write_failed`.
pub fn open_dir(dir: &Path, now: u64, deadline: Duration) -> Result<Opened, Hold> {
    let path = dir.join(JOURNAL);
    let failed = |tried: &str, error: &io::Error| {
        Hold::because(Reason::StateWriteFailed, format!("{tried} {}: {error}", path.display()))
    };
    disk::make_private_dir(dir).map_err(|error| failed("making the folder of", &error))?;
    let (file, created) = open_or_create(&path).map_err(|error| failed("opening", &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(held_by_another(dir, now, deadline)),
        Err(TryLockError::Error(error)) => return Err(failed("locking", &error)),
    }
    let mut file = JournalFile { file, path: path.clone(), len: 0 };
    if !file.is_current().map_err(|error| failed("looking at", &error))? {
        let detail = format!("{} was replaced while it was opened", path.display());
        return Err(Hold::because(Reason::AnotherRun, detail));
    }
    let mut bytes = Vec::new();
    file.file.read_to_end(&mut bytes).map_err(|error| unreadable(&path, &error))?;
    file.len = bytes.len() as u64;
    let replay = replay(&bytes).map_err(|damage| not_replayed(&path, &damage))?;
    let torn = replay.torn.as_ref().map_or(0, String::len);
    let journal = Journal::resume(file, &bytes, replay, now, COMPACT_FROM)
        .map_err(|error| failed("cutting the tail of", &error))?;
    let holder = Holder { pid: std::process::id(), started_at: now };
    holder.tell(dir).map_err(|error| failed("writing beside", &error))?;
    Ok(Opened { journal, created, torn })
}

/// The result of a repair.
#[derive(Debug)]
pub enum Repaired {
    /// There was nothing to repair.
    Sound,
    /// The journal in place is a new one.
    Saved {
        /// Where the damaged one is now.
        aside: PathBuf,
        /// What the new one holds.
        salvage: Box<Salvage>,
    },
}

/// Replaces a damaged journal by what is legible of it, and keeps the damaged one aside. Submission
/// pauses until a person resumes.
///
/// # Errors
/// As [`open_dir`]. At every moment, the damaged journal or the repaired one is in its place.
pub fn repair(dir: &Path, now: u64) -> Result<Repaired, Hold> {
    let path = dir.join(JOURNAL);
    let failed = |tried: &str, error: &io::Error| {
        Hold::because(Reason::StateWriteFailed, format!("{tried} {}: {error}", path.display()))
    };
    let file = open(&path).map_err(|error| failed("opening", &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(held_by_another(dir, now, Duration::MAX)),
        Err(TryLockError::Error(error)) => return Err(failed("locking", &error)),
    }
    let mut file = JournalFile { file, path: path.clone(), len: 0 };
    if !file.is_current().map_err(|error| failed("looking at", &error))? {
        let detail = format!("{} was replaced while it was opened", path.display());
        return Err(Hold::because(Reason::AnotherRun, detail));
    }
    let mut bytes = Vec::new();
    file.file.read_to_end(&mut bytes).map_err(|error| unreadable(&path, &error))?;
    match replay(&bytes) {
        Ok(_) => return Ok(Repaired::Sound),
        Err(damage) if damage.is_newer => return Err(not_replayed(&path, &damage)),
        Err(_) => {}
    }
    let salvage = salvage::salvage(&bytes, now);
    let mut records = salvage.history.compacted(now);
    // Whole lines may be gone without a trace: a person must look, whatever is legible.
    records.push(Record { at: now, event: Event::Paused { reason: REPAIRED.into() } });
    let aside = dir.join(format!("{JOURNAL}.damaged-{now}"));
    // The new one is made from memory, so the damaged one must be safe under its second name.
    std::fs::hard_link(&path, &aside)
        .and_then(|()| disk::sync_dir(dir))
        .and_then(|()| file.replace(&super::rewritten(&records)?))
        .map_err(|error| failed("replacing", &error))?;
    Ok(Repaired::Saved { aside, salvage: Box::new(salvage) })
}

/// Reads a state folder without a lock and without writing: for dry runs and for looking. No
/// journal is an empty one. A torn tail is taken as a run would take it, and its length told.
///
/// # Errors
/// `journal_damaged`; `state_write_failed` where it cannot be read at all, which says nothing of
/// what is in it.
pub fn peek(dir: &Path, now: u64) -> Result<(History, usize), Hold> {
    let path = dir.join(JOURNAL);
    let bytes = match disk::require_regular(&path).and_then(|()| std::fs::read(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        read => read.map_err(|error| unreadable(&path, &error))?,
    };
    let Replay { mut history, torn, .. } =
        replay(&bytes).map_err(|damage| not_replayed(&path, &damage))?;
    let length = torn.as_ref().map_or(0, String::len);
    if let Some(text) = torn {
        let taken = history.apply(Record { at: now, event: Event::Torn { text } });
        taken.map_err(|what| damaged(&path, &what))?;
    }
    Ok((history, length))
}

/// The hold of a run that would find the journal locked by another, with who holds it and for how
/// long; none where nobody does, as far as [`held_by`] can tell.
#[must_use]
pub fn held(dir: &Path, now: u64, deadline: Duration) -> Option<Hold> {
    held_by(dir).map(|_| held_by_another(dir, now, deadline))
}

/// The journal's path in a state folder.
#[must_use]
pub fn path_in(dir: &Path) -> PathBuf {
    dir.join(JOURNAL)
}

fn open_or_create(path: &Path) -> io::Result<(File, bool)> {
    match open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let created = match disk::create_whole(path, &header(0)?, 0o600) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                other => other.map(|()| true)?,
            };
            Ok((open(path)?, created))
        }
        other => other.map(|file| (file, false)),
    }
}

fn held_by_another(dir: &Path, now: u64, deadline: Duration) -> Hold {
    let read = || Holder::last(dir);
    let age = |holder: &Holder| now.saturating_sub(holder.started_at);
    let mut holder = read();
    let stuck_after = deadline.as_secs().saturating_mul(2);
    if holder.as_ref().is_some_and(|holder| age(holder) > stuck_after) {
        // A holder that has only just locked has not said so yet: what is there may be the
        // word of the run before it.
        std::thread::sleep(HOLDER_SPEAKS);
        holder = read();
    }
    let Some(holder) = holder else {
        return Hold::because(Reason::AnotherRun, "another run holds the journal");
    };
    let seconds = age(&holder);
    let detail = format!("process {} has held the journal for {seconds} s", holder.pid);
    if seconds > stuck_after {
        let what_next = "more than twice the deadline: look at it, and end it if it is stuck";
        Hold::because(Reason::AnotherRunStuck, format!("{detail}, {what_next}"))
    } else {
        Hold::because(Reason::AnotherRun, detail)
    }
}

/// The hold for a journal that cannot be replayed.
fn not_replayed(path: &Path, damage: &Damage) -> Hold {
    if damage.is_newer {
        let detail = format!("{}: {}", path.display(), damage.what);
        return Hold::because(Reason::JournalDamaged, detail);
    }
    damaged(path, &damage.to_string())
}

/// The hold for a journal of which nothing is known: it may be sound.
fn unreadable(path: &Path, error: &io::Error) -> Hold {
    let next = match error.kind() {
        io::ErrorKind::PermissionDenied => "; run it as the owner of the folder",
        _ => "",
    };
    let detail = format!("{} cannot be read: {error}{next}", path.display());
    Hold::because(Reason::StateWriteFailed, detail)
}

fn damaged(path: &Path, what: &str) -> Hold {
    let next = "nothing was changed; `submitter repair` keeps what is legible";
    let detail = format!("{}, {what}; {next}", path.display());
    Hold::because(Reason::JournalDamaged, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    #[test]
    fn what_cannot_be_read_is_not_called_damaged_nor_unused() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let hold = unreadable(Path::new("/s/journal.jsonl"), &denied);
        assert_eq!(hold.reason, Reason::StateWriteFailed);
        let says = "/s/journal.jsonl cannot be read: permission denied; run it as the owner";
        assert!(hold.detail.starts_with(says), "{}", hold.detail);
        assert!(may_be_there::<()>(&Err(denied)));
        assert!(!may_be_there::<()>(&Err(io::ErrorKind::NotFound.into())));
        // A folder in its place cannot be read by root either.
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(JOURNAL)).unwrap();
        let hold = peek(dir.path(), 1).unwrap_err();
        assert_eq!(hold.reason, Reason::StateWriteFailed);
        assert!(!hold.detail.contains("repair"), "{}", hold.detail);
    }

    /// A pipe takes every write and cannot be synced: whoever does not sync does not notice.
    #[test]
    fn a_durable_line_is_synced_and_a_failed_sync_is_an_error() {
        let (reader, writer) = io::pipe().unwrap();
        let file = File::from(OwnedFd::from(writer));
        let mut log = JournalFile { file, path: PathBuf::from("/nonexistent"), len: 0 };
        log.append(b"a note\n", false).unwrap();
        assert_eq!(log.length(), 7);
        log.append(b"an intent\n", true).unwrap_err();
        assert_eq!(log.length(), 7, "what may not survive is not counted");
        drop(reader);
    }
}
