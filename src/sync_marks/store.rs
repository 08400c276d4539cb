//! The marks file: read by anyone, replaced by one at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;
use crate::disk;
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::marks::MarksFile;
use crate::sources::read_text;

/// How long another sync may hold the folder; it does so for milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whoever may read the list of candidates may read this.
const MODE_OF_A_NEW_FILE: u32 = 0o644;

/// Where the marks are. Cannot write.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    folder: PathBuf,
}

/// The right to replace the marks. Ends with the process, however that ends, since the lock is
/// the kernel's; and nothing is left over, since it is on the folder itself.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    store: &'a Store,
    _lock: File,
}

impl Store {
    /// The marks file at `path`, or the one to be made there. A link is followed, so that it
    /// stays one.
    ///
    /// # Errors
    /// `marks_read_failed` where there is no folder to hold it.
    pub(super) fn at(path: &Path) -> Result<Self, Hold> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = disk::folder_of(&path).to_owned();
        let why = match fs::metadata(&folder) {
            Ok(found) if found.is_dir() => return Ok(Self { path, folder }),
            Ok(_) => "is not a folder".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        let name = path.file_name().unwrap_or_default().display();
        Err(Hold::because(
            Reason::MarksReadFailed,
            format!(
                "the folder of {name}: {}: {why}; make it, or name a marks file with --marks",
                folder.display()
            ),
        ))
    }

    /// The marks as they are now; `None` where there is no file.
    ///
    /// # Errors
    /// `marks_read_failed` with the place: what is there is not a marks file.
    pub(super) fn read(&self, catalog: &Catalog) -> Result<Option<MarksFile>, Hold> {
        read_text(&self.path)
            .and_then(|text| text.map(|text| MarksFile::parse(&text, catalog)).transpose())
            .map_err(|why| {
                let path = self.path.display();
                let next = "nothing was changed: correct it, or move it away to begin a new one";
                Hold::because(Reason::MarksReadFailed, format!("{path}: {why}; {next}"))
            })
    }

    /// Waits for other syncs to end. What was read before is then no longer to be trusted.
    ///
    /// # Errors
    /// `state_write_failed`: the folder cannot be locked, or is not let go of.
    pub(super) fn lock(&self, clock: &dyn Clock) -> Result<Writer<'_>, Hold> {
        let lock = disk::lock_folder(&self.folder, clock, PATIENCE)
            .map_err(|error| self.failed("locking", &error))?;
        // Only a sync that was killed leaves one, and no other sync is at work now.
        disk::remove_leftovers(&self.path).map_err(|error| self.failed("clearing", &error))?;
        Ok(Writer { store: self, _lock: lock })
    }

    fn failed(&self, doing: &str, why: &dyn std::fmt::Display) -> Hold {
        Hold::because(
            Reason::StateWriteFailed,
            format!(
                "{doing} the folder {} to write {}: {why}; the marks are as they were: mend this \
                 and sync again",
                self.folder.display(),
                self.path.file_name().unwrap_or_default().display()
            ),
        )
    }
}

impl Writer<'_> {
    /// Replaces the file in one step, or makes it.
    ///
    /// # Errors
    /// `state_write_failed`; the file is then as it was.
    pub(super) fn replace(&self, marks: &MarksFile) -> Result<(), Hold> {
        marks
            .to_text()
            .map_err(std::io::Error::other)
            .and_then(|text| {
                disk::replace_keeping_mode(&self.store.path, text.as_bytes(), MODE_OF_A_NEW_FILE)
            })
            .map_err(|error| {
                let path = self.store.path.display();
                let next = "the marks are as they were: make room or give leave, and sync again";
                let detail = format!("replacing {path}: {error}; {next}");
                Hold::because(Reason::StateWriteFailed, detail)
            })
    }
}
