//! What holds a cycle before its first request, as functions of what is known.

use super::Limits;
use crate::exit::{Hold, Reason};
use crate::gpu::{Catalog, Gpu};
use crate::journal::history::History;

/// Whether the catalogue still knows every card of the journal by the name that it had. One that
/// was renamed would be free again under its new name.
///
/// # Errors
/// `data_read_failed`, naming the card.
pub fn known_cards(history: &History, catalog: &Catalog) -> Result<(), Hold> {
    let renamed = |gpu: &&Gpu| catalog.find(gpu.as_str()) != Some(gpu);
    let cards = history.submissions().map(|(pair, _)| &pair.gpu);
    match cards.filter(renamed).min() {
        None => Ok(()),
        Some(gpu) => {
            let what =
                format!("the journal has submitted on {gpu}, which gpus.json names otherwise");
            let next = "keep the enum as it was";
            Err(Hold::because(Reason::DataReadFailed, format!("{what}: {next}")))
        }
    }
}

/// Whether so many submissions in the trailing window leave room for one more.
///
/// # Errors
/// `hourly_cap`.
pub fn hourly_cap(submitted: usize, limits: &Limits) -> Result<(), Hold> {
    let Limits { max_submits, window, .. } = *limits;
    if submitted < max_submits {
        return Ok(());
    }
    let detail = format!("{submitted} submitted in the last {window} s, cap {max_submits}");
    Err(Hold::because(Reason::HourlyCap, detail))
}
