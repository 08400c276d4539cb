//! The data files, looked at one by one.

use std::path::Path;

use super::{
    BANNED, CANDIDATES, Folder, GPUS, candidates, cards, compiled, ledger, marks, samples,
};
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::rules::Rules;

/// The files of a data folder, but for its `config-params`.
const FILES: [&str; 5] =
    ["candidates.json", "gpus.json", "reject-marks.json", "submitted-ledger.json", "banned.json"];

/// Every data file that is wrong, where [`super::load`] tells the first.
#[must_use]
pub fn problems(dir: Option<&Path>, want_candidates: bool) -> Vec<Hold> {
    let shipped = compiled(Reason::DataReadFailed, "gpus.json", GPUS, Catalog::parse);
    let (folder, shipped) = match (Folder::open(dir), shipped) {
        (Ok(folder), Ok(shipped)) => (folder, shipped),
        (folder, shipped) => return folder.err().into_iter().chain(shipped.err()).collect(),
    };
    let own = cards(&folder);
    let catalog = own.as_ref().unwrap_or(&shipped);
    let wrong = [
        folder.replace(Reason::DataReadFailed, "banned.json", BANNED, Rules::parse).err(),
        marks(&folder, &shipped, catalog).err(),
        ledger(&folder, &shipped, catalog).err(),
        want_candidates
            .then(|| {
                let reason = Reason::CandidateReadFailed;
                folder.replace(reason, "candidates.json", CANDIDATES, candidates::parse).err()
            })
            .flatten(),
        samples(&folder).err(),
    ];
    own.err().into_iter().chain(wrong.into_iter().flatten()).collect()
}

/// The files that a data folder has of its own.
#[must_use]
pub fn own_files(dir: &Path) -> Vec<&'static str> {
    let named = FILES.into_iter().filter(|name| dir.join(name).symlink_metadata().is_ok());
    named.chain(dir.join("config-params").is_dir().then_some("config-params")).collect()
}
