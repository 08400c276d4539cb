//! The pause: a file of its own, so that it can be set while a run holds the journal. That it is
//! there is what counts; its content only explains.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk;

const PAUSE: &str = "pause.json";

/// Why submission rests, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Seconds since 1970.
    pub at: u64,
    /// A person's words, or a hold reason.
    pub reason: String,
}

/// Where the pause is kept.
pub trait PauseStore {
    /// The pause in force. Only a file that is not there means none: one that cannot be read
    /// pauses too.
    fn read(&self) -> Option<Pause>;
    /// Pauses, durably.
    fn write(&self, pause: &Pause) -> io::Result<()>;
    /// Ends the pause, durably. No pause is no error.
    fn remove(&self) -> io::Result<()>;
}

/// The pause file of a state folder.
#[derive(Debug, Clone)]
pub struct PauseFile(PathBuf);

impl PauseFile {
    /// The one in `dir`.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self(dir.join(PAUSE))
    }

    /// The pause that the file asks for, for those who only look.
    ///
    /// # Errors
    /// It cannot be read: a run would take that for a pause.
    pub fn look(&self) -> io::Result<Option<Pause>> {
        match disk::require_regular(&self.0).and_then(|()| std::fs::read(&self.0)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| {
                unexplained(format!("{} is there, without a legible reason", self.0.display()))
            }))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn unexplained(reason: String) -> Pause {
    Pause { at: 0, reason }
}

impl PauseStore for PauseFile {
    fn read(&self) -> Option<Pause> {
        self.look().unwrap_or_else(|error| {
            Some(unexplained(format!("{} cannot be read: {error}", self.0.display())))
        })
    }

    fn write(&self, pause: &Pause) -> io::Result<()> {
        disk::replace(&self.0, &serde_json::to_vec(pause)?, 0o600)
    }

    fn remove(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => disk::sync_dir(self.0.parent().unwrap_or(Path::new("."))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stands_in_the_place_of_the_pause_pauses() {
        let dir = tempfile::tempdir().unwrap();
        let file = PauseFile::in_dir(dir.path());
        assert_eq!(file.read(), None);
        file.remove().unwrap();
        let pause = Pause { at: 7, reason: "holiday".into() };
        file.write(&pause).unwrap();
        assert_eq!(file.read(), Some(pause));
        for content in ["", "{", "null", "{\"at\":-1}"] {
            std::fs::write(dir.path().join(PAUSE), content).unwrap();
            assert!(file.read().is_some(), "{content:?}");
        }
        file.remove().unwrap();
        assert_eq!(file.read(), None);
        std::fs::create_dir(dir.path().join(PAUSE)).unwrap();
        assert!(file.read().is_some());
    }
}
