//! `bake-candidates` and `bake-ledger`: a person's own lists in the form of the data files. What
//! is written was read back by the parser of `run` before it replaces anything.

mod candidates;
mod ledger;

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use candidates::candidates;
pub use ledger::ledger;

use crate::clock::Clock;
use crate::disk;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::settings;
use crate::sources::baked;

/// How long another bake may hold the folder; it does so for milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Data files are for everyone to read.
const MODE: u32 = 0o644;

/// Where a baked file goes, and the cards that it may name.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    catalog: Catalog,
}

impl Target {
    /// The file that `-o` names, else `name` in the data folder, else in `data/` under the
    /// current folder.
    ///
    /// # Errors
    /// As of [`baked::load`]; or a flag or `SUBMITTER_DATA_DIR` is not a path.
    fn find(
        output: Option<&OsStr>,
        data_dir: Option<&OsStr>,
        env: &Env,
        name: &str,
    ) -> Result<Self, Hold> {
        let reason = Reason::DataReadFailed;
        let variable = Some("SUBMITTER_DATA_DIR");
        let folder = settings::path("--data-dir", data_dir, variable, env, reason)?;
        let path = match settings::path("-o", output, None, env, reason)? {
            Some(path) => path,
            None => folder.as_deref().unwrap_or(Path::new("data")).join(name),
        };
        let catalog = baked::load(folder.as_deref(), false)?.catalog;
        // A link is followed, so that it stays one.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { path, catalog })
    }

    /// Waits for other bakes into the same folder. What was read before is then read again.
    fn lock(&self, clock: &dyn Clock) -> Result<File, Hold> {
        disk::lock_folder(disk::folder_of(&self.path), clock, PATIENCE)
            .and_then(|lock| disk::remove_leftovers(&self.path).map(|()| lock))
            .map_err(|error| self.not_written(&error))
    }

    /// Replaces the file in one step. Who could read it before can read it then.
    fn write(&self, text: &str) -> Result<(), Hold> {
        disk::replace_keeping_mode(&self.path, text.as_bytes(), MODE)
            .map_err(|error| self.not_written(&error))
    }

    fn not_written(&self, error: &std::io::Error) -> Hold {
        let path = self.path.display();
        let next = "name another file with -o FILE";
        Hold::because(
            Reason::StateWriteFailed,
            format!("{path} cannot be written: {error}; {next}"),
        )
    }

    /// The hold for a text that its own parser does not read as it was meant. Nothing was
    /// written.
    fn not_read_back(&self, reason: Reason, why: &str) -> Hold {
        let path = self.path.display();
        Hold::because(reason, format!("{path} is left as it is: what would be written {why}"))
    }
}
