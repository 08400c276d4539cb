//! The state folder, looked at without a word into it: the journal, its lock, the pause, what is
//! in doubt, the submit cap.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::{Item, Status};
use crate::clock::Clock;
use crate::disk::{self, mounts::network_file_system};
use crate::exit::{Hold, Reason};
use crate::journal::file::{held, path_in, peek};
use crate::journal::history::{History, Horizon};
use crate::pause::{Pause, PauseFile, PauseStore};
use crate::settings::Settings;
use crate::submit::paused;

/// A journal of a year, and its copy while it is compacted, fit into a part of this.
const AMPLE: u64 = 32 << 20;

/// What the journal says, where it can be read, and what is to be said of the folder.
pub(super) fn items(settings: &Settings, clock: &dyn Clock) -> (Option<History>, Vec<Item>) {
    let (dir, now) = (settings.state_dir.as_path(), clock.now());
    let mut items = vec![folder(dir)];
    items.extend(owner(dir, fs::metadata(dir).ok().map(|dir| dir.uid()), disk::user()));
    items.push(file_system(network_file_system(dir), settings.allow_network_state));
    let deadline = Duration::from_secs(settings.deadline_seconds);
    items.push(match held(dir, now, deadline) {
        Some(hold) => Item::hold("lock", hold),
        None => Item::ok("lock", "no run is under way"),
    });
    let (history, torn) = match peek(dir, now) {
        Ok(read) => read,
        Err(hold) => {
            items.push(Item::hold("journal", hold));
            items.push(match PauseFile::in_dir(dir).look() {
                Ok(found) => pause(found),
                Err(_) => Item::skip("pause", "not known: it cannot be read"),
            });
            let unknown = |item| Item::skip(item, "not known without the journal");
            items.extend(["in_doubt", "hourly_cap"].map(unknown));
            return (None, items);
        }
    };
    items.push(journal(dir, &history, torn));
    let journaled = || history.pause().map(|reason| Pause { at: 0, reason: reason.to_owned() });
    items.push(pause(PauseFile::in_dir(dir).read().or_else(journaled)));
    items.push(doubt(&history, now));
    items.push(hourly_cap(&history, settings, now));
    (Some(history), items)
}

/// Whether the folder, or the one in which it would be made, can be written to.
fn folder(dir: &Path) -> Item {
    let fail = |path: &Path, what: &str| {
        let detail = format!("{}: {what}", path.display());
        Item::hold("state", Hold::because(Reason::StateWriteFailed, detail))
    };
    let existing = dir.ancestors().find(|path| path.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("/"));
    match fs::metadata(existing) {
        Ok(found) if !found.is_dir() => {
            return fail(existing, "is not a folder")
                .todo("name a folder with SUBMITTER_STATE_DIR");
        }
        Err(error) => return fail(existing, &error.to_string()).todo(mend(error.kind())),
        Ok(_) => {}
    }
    // A run writes to the journal, and replaces the other files.
    for path in [existing, &path_in(dir)] {
        match disk::may_write(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return fail(path, &format!("this user may not write here ({error})"))
                    .todo(mend(error.kind()));
            }
            _ => {}
        }
    }
    let would = if existing == dir { "can be written to" } else { "would be made" };
    room(&format!("{} {would}", dir.display()), disk::free_space(existing))
}

/// What makes a folder one that can be used.
fn mend(why: io::ErrorKind) -> &'static str {
    match why {
        io::ErrorKind::ReadOnlyFilesystem => {
            "remount its file system so that it can be written to, or name another folder"
        }
        io::ErrorKind::NotADirectory => "name a folder with SUBMITTER_STATE_DIR",
        _ => "give the folder to the user that runs this, or name another",
    }
}

/// Root may write to anybody's folder, and what it makes there is root's.
fn owner(dir: &Path, owner: Option<u32>, user: u32) -> Option<Item> {
    let owner = owner.filter(|owner| user == 0 && *owner != 0)?;
    let found = format!(
        "{} is owned by uid {owner}: what root makes here that user may not write",
        dir.display()
    );
    Some(Item::warn("state", found).todo("run it as that user"))
}

/// How much room there is.
fn room(found: &str, free: io::Result<u64>) -> Item {
    let todo = "make room on its disk";
    match free {
        Ok(0) => {
            let hold =
                Hold::because(Reason::StateWriteFailed, format!("{found}, but its disk is full"));
            Item::hold("state", hold).todo(todo)
        }
        Ok(free) if free < AMPLE => {
            Item::warn("state", format!("{found}, {} KiB free", free >> 10)).todo(todo)
        }
        Ok(free) => Item::ok("state", format!("{found}, {} MiB free", free >> 20)),
        Err(error) => Item::warn("state", format!("{found}; free space is not known ({error})")),
    }
}

/// Two hosts can hold one lock on a network file system.
fn file_system(network: Option<String>, is_allowed: bool) -> Item {
    match network {
        None => Item::ok("file_system", "local, as far as the system says"),
        Some(kind) => {
            let found =
                format!("the state folder is on {kind}: a lock may not exclude another host");
            if is_allowed {
                Item::warn("file_system", found).todo("see that one host alone ever runs")
            } else {
                let hold = Hold::because(Reason::NetworkState, found);
                Item::hold("file_system", hold).todo("keep the state folder on a local disk")
            }
        }
    }
}

fn journal(dir: &Path, history: &History, torn: usize) -> Item {
    let path = path_in(dir);
    let Ok(found) = fs::metadata(&path) else {
        let found = "none yet: the first run makes it (after earlier runs this means: lost)";
        return Item::ok("journal", found);
    };
    let submissions = history.submissions().count();
    let found = format!(
        "{}, {} KiB, {submissions} pairs submitted or in doubt",
        path.display(),
        found.len().div_ceil(1 << 10)
    );
    if torn == 0 {
        Item::ok("journal", found)
    } else {
        let found = format!("{found}; it ends in {torn} bytes of a write that was cut off");
        Item::warn("journal", found).todo(
            "nothing: the next run cuts them off, and takes from them \
                                           what is legible",
        )
    }
}

fn pause(pause: Option<Pause>) -> Item {
    match pause {
        None => Item::ok("pause", "none"),
        Some(pause) => Item::hold("pause", paused(&pause)),
    }
}

/// Pairs of which nobody knows whether the platform has them.
fn doubt(history: &History, now: u64) -> Item {
    let open = history.submissions().filter(|(_, submission)| submission.accepted.is_none());
    let mut named: Vec<String> = open
        .map(|(pair, submission)| format!("{pair} for {} s", now.saturating_sub(submission.at)))
        .chain(history.torn_models().map(|model| format!("{model} on a card that was not written")))
        .collect();
    named.sort();
    if named.is_empty() {
        return Item::ok("in_doubt", "no pair");
    }
    let todo = "nothing: they stay taken until the list shows them; else `submitter resolve`";
    Item::warn("in_doubt", format!("{}: {}", named.len(), named.join(", "))).todo(todo)
}

/// The submit cap over the trailing window, and records from the future.
fn hourly_cap(history: &History, settings: &Settings, now: u64) -> Item {
    let window = settings.window();
    let horizon = Horizon { now, window, cooldown: settings.cooldown_hours * 3_600 };
    let (used, cap) = (history.submitted_within(&horizon), settings.max_submits);
    let found = format!("{used} of {cap} submissions in the last {window} s");
    let ahead = history.dated_ahead(&horizon);
    if used >= cap {
        Item::hold("hourly_cap", Hold::because(Reason::HourlyCap, found))
    } else if ahead > 0 {
        let found = format!("{found}; {ahead} records are dated ahead of the clock");
        Item::new("hourly_cap", Status::Warn, found).todo("check the machine's time")
    } else {
        Item::ok("hourly_cap", found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_told() {
        let home = tempfile::tempdir().unwrap();
        let made = folder(home.path());
        assert!(made.found.contains("can be written to, "), "{made}");
        let made = folder(&home.path().join("a/b"));
        assert!(made.found.contains("a/b would be made, "), "{made}");
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink("nowhere", home.path().join("link")).unwrap();
        for (path, says) in [
            (file.clone(), "is not a folder"),
            (file.join("below"), "is not a folder"),
            (home.path().join("link"), "No such file"),
        ] {
            let item = folder(&path);
            assert_eq!(item.reason, Some(Reason::StateWriteFailed), "{item}");
            assert!(item.found.contains(says), "{item}");
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing was made");
    }

    #[test]
    fn what_mends_a_folder_depends_on_what_is_wrong_with_it() {
        for (kind, says) in [
            (io::ErrorKind::ReadOnlyFilesystem, "remount"),
            (io::ErrorKind::NotADirectory, "name a folder"),
            (io::ErrorKind::PermissionDenied, "give the folder"),
        ] {
            assert!(mend(kind).starts_with(says), "{kind}");
        }
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "").unwrap();
        let item = folder(&home.path().join("file")).to_string();
        assert!(item.contains("-> name a folder"), "{item}");
        let told = owner(Path::new("/s"), Some(7), 0).unwrap().to_string();
        assert!(told.starts_with("[check] warn state: /s is owned by uid 7: what root"), "{told}");
        for (of, user) in [(Some(0), 0), (Some(7), 7), (None, 0)] {
            assert_eq!(owner(Path::new("/s"), of, user), None);
        }
    }

    #[test]
    fn a_network_file_system_needs_a_word_of_the_operator() {
        for (kind, is_allowed, status, reason) in [
            (None, false, Status::Ok, None),
            (Some("nfs4"), true, Status::Warn, None),
            (Some("nfs4"), false, Status::Fail, Some(Reason::NetworkState)),
        ] {
            let item = file_system(kind.map(str::to_owned), is_allowed);
            assert_eq!((item.status, item.reason), (status, reason), "{item}");
        }
    }

    #[test]
    fn little_room_is_told_and_none_fails() {
        for (free, status) in
            [(0, Status::Fail), (1, Status::Warn), (AMPLE - 1, Status::Warn), (AMPLE, Status::Ok)]
        {
            assert_eq!(room("x", Ok(free)).status, status, "{free}");
        }
        assert_eq!(room("x", Err(io::ErrorKind::Other.into())).status, Status::Warn);
    }
}
