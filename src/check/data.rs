//! The data files: where each comes from, what it holds, and rows that say nothing.

use std::fs;
use std::path::Path;

use super::Item;
use crate::gpu::Catalog;
use crate::plan;
use crate::settings::Survey;
use crate::sources::baked::{self, Data};
use crate::sources::{Candidate, carried_over, pending};

/// The variables that say where data is read.
const PATHS: [&str; 5] = [
    "SUBMITTER_DATA_DIR",
    "PENDING_SUBMIT_MD",
    "PENDING_SUBMIT_TXT",
    "PENDING_SECTION",
    "LIVE_STATE_FILE",
];

/// Rows that an item names.
const SHOWN: usize = 3;

/// The data, where all of it can be read, and what is to be said of it.
pub(super) fn items(survey: &Survey) -> (Option<Data>, Vec<Item>) {
    let settings = &survey.settings;
    if let Some(name) = PATHS.into_iter().find(|variable| survey.is_wrong(variable)) {
        let why = format!("not read: the setting of {name} is wrong");
        return (None, vec![Item::skip("data", why)]);
    }
    let (md, txt) = (settings.pending_md.as_deref(), settings.pending_txt.as_deref());
    let is_pending = md.is_some() || txt.is_some();
    let dir = settings.data_dir.as_deref();
    let problems = baked::problems(dir, !is_pending);
    let mut items: Vec<Item> = problems.into_iter().map(|hold| Item::hold("data", hold)).collect();
    let mut data = baked::load(dir, !is_pending).ok();
    let catalog = data.as_ref().map(|data| data.catalog.clone());
    let Some(catalog) = catalog.or_else(|| baked::catalog(None).ok()) else {
        return (None, items);
    };
    if is_pending {
        match pending::load(md, txt, settings.pending_section, &catalog) {
            Ok(pending) => {
                items.extend(refused(&pending.refused));
                data = data.map(|data| Data { candidates: pending.candidates, ..data });
            }
            Err(hold) => {
                items.push(Item::hold("candidates", hold));
                data = None;
            }
        }
    }
    if let Some(path) = &settings.live_state_file {
        items.push(match carried_over::read(path, &catalog) {
            Ok(pairs) => Item::ok("carried_over", format!("{} pairs", pairs.len())),
            Err(hold) => Item::hold("carried_over", hold),
        });
    }
    if let Some(data) = &data {
        items.push(Item::ok("data", holdings(data, &own(survey))));
        items.extend(settings.data_dir.as_deref().and_then(strangers));
        items.extend(cards(&data.candidates, &data.catalog));
    }
    (data, items)
}

/// Which files are not the compiled-in ones.
fn own(survey: &Survey) -> String {
    match survey.settings.data_dir.as_deref() {
        None => "all compiled in".to_owned(),
        Some(dir) => match baked::own_files(dir) {
            own if own.is_empty() => {
                format!("all compiled in: {} holds no data file", dir.display())
            }
            own => format!("from {}: {}; the others compiled in", dir.display(), own.join(", ")),
        },
    }
}

/// JSON and YAML files of a data folder that are no data files: their names may be misspelt.
fn strangers(dir: &Path) -> Option<Item> {
    let own = baked::own_files(dir);
    let entries = fs::read_dir(dir).ok()?.flatten().filter(|entry| !entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_data = |name: &String| [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    let mut odd: Vec<String> =
        names.filter(|name| is_data(name) && !own.contains(&name.as_str())).collect();
    odd.sort();
    let found = format!("no data file has the name of {} in {}", first(&odd), dir.display());
    let todo = "give it the name of a data file, such as candidates.json, or take it away";
    (!odd.is_empty()).then(|| Item::warn("data", found).todo(todo))
}

fn holdings(data: &Data, own: &str) -> String {
    let Data { rules, marks, ledger, candidates, samples, catalog } = data;
    format!(
        "{own}; {} candidates, {} marks, {} taken pairs and {} blocked models, {} ban rules, {} \
         target cards, samples for {}",
        candidates.len(),
        marks.len(),
        ledger.pairs.len(),
        ledger.blocked.len(),
        rules.count(),
        catalog.targets().len(),
        samples.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    )
}

fn refused(rows: &[String]) -> Option<Item> {
    let found = format!("{} rows are not used: {}", rows.len(), first(rows));
    (!rows.is_empty()).then(|| Item::warn("candidates", found).todo("correct these rows"))
}

/// Names that stand for no known card, which a run passes over without a word.
fn cards(candidates: &[Candidate], catalog: &Catalog) -> Option<Item> {
    let unknown: Vec<String> = candidates
        .iter()
        .flat_map(|row| row.cards.iter().flatten().map(move |card| (row, card)))
        .filter(|(_, card)| catalog.find(card).is_none())
        .map(|(row, card)| format!("{} names {card:?}", row.address))
        .collect();
    let without = candidates.iter().filter(|row| plan::cards(row, catalog).is_empty()).count();
    if candidates.is_empty() {
        None
    } else if unknown.is_empty() {
        Some(Item::ok("cards", format!("all names are known; {without} candidates have no card")))
    } else {
        let found = format!(
            "{} names stand for no known card: {}; {without} candidates have no card that can be \
             used",
            unknown.len(),
            first(&unknown)
        );
        Some(Item::warn("cards", found).todo("write the enum or an alias of gpus.json"))
    }
}

/// The first few, and how many more.
fn first(all: &[String]) -> String {
    let shown = all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_data_file_is_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("candidates.json"), "").unwrap();
        fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert_eq!(strangers(dir.path()), None);
        fs::write(dir.path().join("candidate.json"), "").unwrap();
        let told = strangers(dir.path()).unwrap().to_string();
        assert!(
            told.starts_with("[check] warn data: no data file has the name of candidate.json"),
            "{told}"
        );
    }
}
