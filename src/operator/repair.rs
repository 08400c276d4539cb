//! `submitter repair`: a damaged journal is moved aside, and what is legible of it stays taken.

use std::path::Path;

use crate::clock::Clock;
use crate::exit::Hold;
use crate::journal::file::{self, Repaired};
use crate::journal::salvage::Salvage;

/// Repairs the journal of a state folder. A sound one is left alone.
///
/// # Errors
/// `another_run`, `journal_damaged` where it was written by a newer program, and
/// `state_write_failed`; the damaged journal is then still in its place.
pub fn repair(state_dir: &Path, clock: &dyn Clock) -> Result<String, Hold> {
    match file::repair(state_dir, clock.now())? {
        Repaired::Sound => Ok("the journal is sound; nothing was changed".to_owned()),
        Repaired::Saved { aside, salvage } => {
            let Salvage { history, illegible } = *salvage;
            let pairs = history.submissions().count();
            let torn = history.torn_models().count();
            Ok(format!(
                "repaired: {pairs} pairs and {torn} whole models stay taken, {illegible} lines \
                 were not legible; the damaged journal is {}; submission is paused: look at the account, \
                 then `submitter resume`",
                aside.display()
            ))
        }
    }
}
