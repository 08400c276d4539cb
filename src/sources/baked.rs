//! The data files: compiled in, and a folder whose files replace them or, where they name what
//! must not be submitted, are added to them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

mod survey;

pub use self::survey::{own_files, problems};
pub use super::baked_ledger::BakedLedger;
use super::{Candidate, candidates, not_there, read_text};
use crate::exit::{Hold, Reason};
use crate::gpu::{Catalog, Gpu};
use crate::marks::MarksFile;
use crate::pair::Pair;
use crate::rules::Rules;

const GPUS: &str = include_str!("../../data/gpus.json");
const BANNED: &str = include_str!("../../data/banned.json");
const MARKS: &str = include_str!("../../data/reject-marks.json");
const LEDGER: &str = include_str!("../../data/submitted-ledger.json");
const CANDIDATES: &str = include_str!("../../data/candidates.json");
const SAMPLES: [(&str, &str); 1] = [("vllm", include_str!("../../data/config-params/vllm.yaml"))];

/// What to do about a bad file that replaces a compiled-in one.
const REPLACES: &str =
    "correct it, or take it out of the data folder to use the one that is compiled in";
/// What to do about a bad file that is added: without it a taken pair could be free.
const ADDS: &str = "correct it; nothing is submitted without it";

/// All data files, read and checked.
#[derive(Debug, Clone)]
pub struct Data {
    /// The known cards.
    pub catalog: Catalog,
    /// Families that are never submitted.
    pub rules: Rules,
    /// Pairs that the platform will not take, with its code.
    pub marks: HashMap<Pair, u32>,
    /// What is taken whatever the platform lists.
    pub ledger: BakedLedger,
    /// Models that may be submitted; empty where they were not wanted.
    pub candidates: Vec<Candidate>,
    /// Sample `configParams` (YAML) by framework.
    pub samples: BTreeMap<String, String>,
}

/// Reads the compiled-in data files and, where one is named, the data folder. A file of the
/// folder replaces the compiled-in one; marks and ledger are added to it, the first mark of a
/// pair counting; `config-params/*.yaml` add frameworks or replace theirs. Without
/// `want_candidates`, `candidates.json` is not looked at.
///
/// # Errors
/// A hold with the file, the place, the reason and what to do, for a folder that is not there
/// and for every file that is there and cannot be read or is not as it should be.
pub fn load(dir: Option<&Path>, want_candidates: bool) -> Result<Data, Hold> {
    let folder = Folder::open(dir)?;
    let shipped = compiled(Reason::DataReadFailed, "gpus.json", GPUS, Catalog::parse)?;
    let catalog = cards(&folder)?;
    Ok(Data {
        rules: folder.replace(Reason::DataReadFailed, "banned.json", BANNED, Rules::parse)?,
        marks: marks(&folder, &shipped, &catalog)?,
        ledger: ledger(&folder, &shipped, &catalog)?,
        candidates: if want_candidates {
            let reason = Reason::CandidateReadFailed;
            folder.replace(reason, "candidates.json", CANDIDATES, candidates::parse)?
        } else {
            Vec::new()
        },
        samples: samples(&folder)?,
        catalog,
    })
}

/// Reads the known cards alone, for commands that need no other data file.
///
/// # Errors
/// As [`load`], for the folder and its `gpus.json`.
pub fn catalog(dir: Option<&Path>) -> Result<Catalog, Hold> {
    cards(&Folder::open(dir)?)
}

fn cards(folder: &Folder<'_>) -> Result<Catalog, Hold> {
    folder.replace(Reason::DataReadFailed, "gpus.json", GPUS, Catalog::parse)
}

fn marks(
    folder: &Folder<'_>,
    shipped: &Catalog,
    catalog: &Catalog,
) -> Result<HashMap<Pair, u32>, Hold> {
    let (reason, name) = (Reason::MarksReadFailed, "reject-marks.json");
    // What is compiled in was written for the compiled-in cards: a folder whose gpus.json lacks
    // one of these must not make it unreadable.
    let baked = compiled(reason, name, MARKS, |text| MarksFile::parse(text, shipped))?;
    let added = folder.read(reason, name, ADDS, |text| MarksFile::parse(text, catalog))?;
    let mut marks = HashMap::new();
    for mark in baked.iter().chain(added.iter().flatten()) {
        let gpu = current(catalog, &mark.gpu);
        marks.entry(Pair::new(mark.key.clone(), gpu)).or_insert(mark.code);
    }
    Ok(marks)
}

/// The card under which `catalog` knows a compiled-in one: its gpus.json may spell it otherwise,
/// and a pair under the old spelling would be free.
fn current(catalog: &Catalog, gpu: &Gpu) -> Gpu {
    catalog.find(gpu.as_str()).unwrap_or(gpu).clone()
}

fn ledger(folder: &Folder<'_>, shipped: &Catalog, catalog: &Catalog) -> Result<BakedLedger, Hold> {
    let (reason, name) = (Reason::StateReadFailed, "submitted-ledger.json");
    let baked = compiled(reason, name, LEDGER, |text| BakedLedger::parse(text, shipped))?;
    let added = folder.read(reason, name, ADDS, |text| BakedLedger::parse(text, catalog))?;
    Ok(joined(baked, added.unwrap_or_default(), catalog))
}

/// Two ledgers in one, the compiled-in cards under their current names.
fn joined(baked: BakedLedger, mut ledger: BakedLedger, catalog: &Catalog) -> BakedLedger {
    ledger.blocked.extend(baked.blocked);
    for pair in baked.pairs {
        let gpu = current(catalog, &pair.gpu);
        ledger.pairs.insert(Pair::new(pair.model, gpu));
    }
    ledger
}

fn samples(folder: &Folder<'_>) -> Result<BTreeMap<String, String>, Hold> {
    let mut samples: BTreeMap<String, String> = SAMPLES
        .iter()
        .map(|(framework, text)| ((*framework).to_owned(), (*text).to_owned()))
        .collect();
    samples.extend(folder.samples()?);
    Ok(samples)
}

fn compiled<T>(
    reason: Reason,
    name: &str,
    text: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Hold> {
    // The file may have been baked with a byte order mark.
    parse(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|why| {
        let detail = format!("the compiled-in {name}: {why}; correct data/{name} and build again");
        Hold::because(reason, detail)
    })
}

/// The data folder, if one is named.
struct Folder<'a>(Option<&'a Path>);

impl<'a> Folder<'a> {
    fn open(dir: Option<&'a Path>) -> Result<Self, Hold> {
        if let Some(dir) = dir {
            let why = match fs::metadata(dir) {
                Ok(found) if found.is_dir() => None,
                Ok(_) => Some("is not a folder".to_owned()),
                Err(error) => Some(format!("cannot be read: {error}")),
            };
            if let Some(why) = why {
                let what = "name a folder with --data-dir or SUBMITTER_DATA_DIR, or neither";
                return Err(hold(Reason::DataReadFailed, dir, &why, what));
            }
        }
        Ok(Self(dir))
    }

    /// The folder's own file, if there is one.
    fn read<T>(
        &self,
        reason: Reason,
        name: &str,
        what: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Hold> {
        let Some(path) = self.0.map(|dir| dir.join(name)) else {
            return Ok(None);
        };
        read_text(&path)
            .and_then(|text| text.map(|text| parse(&text)).transpose())
            .map_err(|why| hold(reason, &path, &why, what))
    }

    /// The folder's own file in place of the compiled-in one.
    fn replace<T>(
        &self,
        reason: Reason,
        name: &str,
        text: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Hold> {
        match self.read(reason, name, REPLACES, &parse)? {
            Some(own) => Ok(own),
            None => compiled(reason, name, text, parse),
        }
    }

    /// The folder's own samples, by framework.
    fn samples(&self) -> Result<Vec<(String, String)>, Hold> {
        let Some(folder) = self.0.map(|dir| dir.join("config-params")) else {
            return Ok(Vec::new());
        };
        let failed = |path: &Path, why: &str| hold(Reason::DataReadFailed, path, why, REPLACES);
        let mut samples = Vec::new();
        for path in list(&folder).map_err(|why| failed(&folder, &why))? {
            if let Some(framework) = framework(&path).map_err(|why| failed(&path, &why))? {
                let sample = read_text(&path).and_then(|text| checked_sample(text.as_deref()));
                samples.push((framework, sample.map_err(|why| failed(&path, &why))?));
            }
        }
        Ok(samples)
    }
}

/// The paths in a folder; none where there is no such folder.
fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return not_there(folder).map(|()| Vec::new());
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("cannot be read to its end: {error}"))
}

/// The framework whose sample a file is; none for hidden files and those of another ending.
fn framework(path: &Path) -> Result<Option<String>, String> {
    let ending = path.extension().unwrap_or_default();
    if ending.eq_ignore_ascii_case("yml") {
        return Err("a sample's name ends in .yaml, not .yml".to_owned());
    }
    if ending != "yaml" {
        return Ok(None);
    }
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some(stem) if stem.starts_with('.') => Ok(None),
        Some(stem) => Ok(Some(stem.to_owned())),
        None => Err("the name is not UTF-8".to_owned()),
    }
}

/// A sample that says something: the platform refuses an empty one for each pair anew.
fn checked_sample(text: Option<&str>) -> Result<String, String> {
    let text = text.ok_or("vanished while it was read")?;
    let says = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
    if !text.lines().any(says) {
        return Err("is empty".to_owned());
    }
    // The platform would refuse these, pair after pair, and for good.
    if let Some(at) = text.lines().position(|line| line.trim_start_matches(' ').starts_with('\t')) {
        return Err(format!("line {}: YAML is not indented by tabs", at + 1));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err("holds control characters".to_owned());
    }
    Ok(text.to_owned())
}

fn hold(reason: Reason, path: &Path, why: &str, what: &str) -> Hold {
    Hold::because(reason, format!("{}: {why}; {what}", path.display()))
}

#[cfg(test)]
mod tests;
