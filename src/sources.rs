//! Where candidates and the other data files come from.

pub mod baked;
mod baked_ledger;
pub mod candidates;
pub mod carried_over;
pub mod foothold;
pub mod merge;
pub mod pending;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::disk;

/// Framework of a candidate that names none.
pub const DEFAULT_FRAMEWORK: &str = "vllm";
/// Task type of a candidate that names none.
pub const DEFAULT_TASK_TYPE: &str = "text-generation";

/// A model that may be submitted. Reads and writes a row of `candidates.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "candidates::Row")]
pub struct Candidate {
    /// The model as written; may be blank or malformed, the cycle then skips the row.
    #[serde(rename = "model_address")]
    pub address: String,
    /// What people call the model.
    #[serde(rename = "model_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The list that the model stands in.
    pub section: Section,
    /// What is known of the model elsewhere on the platform.
    #[serde(rename = "foothold_class")]
    pub foothold: Foothold,
    /// The words that the foothold was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foothold_text: Option<String>,
    /// Where the foothold is known from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_source: Option<String>,
    /// Cards to try in order, as written: `None` is no list at all, an empty list is no card.
    #[serde(rename = "try_next_gpus", skip_serializing_if = "Option::is_none")]
    pub cards: Option<Vec<String>>,
    /// Framework to serve the model with.
    #[serde(skip_serializing_if = "is_default_framework")]
    pub framework: String,
    /// Task to verify.
    #[serde(skip_serializing_if = "is_default_task_type")]
    pub task_type: String,
    /// Why the model is not to be submitted, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_reason: Option<String>,
}

impl Candidate {
    /// A model of which nothing more is known: every other field as in a row without it.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            name: None,
            section: Section::default(),
            foothold: Foothold::default(),
            foothold_text: None,
            evidence_source: None,
            cards: None,
            framework: DEFAULT_FRAMEWORK.to_owned(),
            task_type: DEFAULT_TASK_TYPE.to_owned(),
            skip_reason: None,
        }
    }
}

/// The list that a candidate stands in: A goes before B.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub enum Section {
    /// Tried first.
    A,
    /// Tried after A.
    #[default]
    B,
}

/// What is known of a model elsewhere on the platform, the best first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Foothold {
    /// Verified on another card.
    VerifiedReuse,
    /// Verification failed on another card.
    FailedFoothold,
    /// Being verified on another card.
    InFlight,
    /// Only waiting elsewhere, which proves nothing.
    QueuedOnly,
    /// Nothing.
    #[default]
    Unknown,
}

fn is_default_framework(framework: &str) -> bool {
    framework == DEFAULT_FRAMEWORK
}

fn is_default_task_type(task_type: &str) -> bool {
    task_type == DEFAULT_TASK_TYPE
}

/// No data file of a person is nearly as large, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Reads a text file: UTF-8, with or without a byte order mark. `None` where there is none.
///
/// # Errors
/// The reason, without the path: the file is there and cannot be read, is not UTF-8, or is a
/// link to nothing.
pub fn read_text(path: &Path) -> Result<Option<String>, String> {
    disk::require_regular(path).map_err(|error| error.to_string())?;
    if fs::metadata(path).is_ok_and(|found| found.len() > MAX_FILE) {
        return Err(format!("larger than {} MiB", MAX_FILE >> 20));
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return not_there(path).map(|()| None);
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    Ok(Some(match text.strip_prefix('\u{feff}') {
        Some(bare) => bare.to_owned(),
        None => text,
    }))
}

/// Checks that nothing is at a path that was not found.
///
/// # Errors
/// A link stands there: somebody meant a file to be behind it.
fn not_there(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        _ => Err("a link to something that is not there".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_in_order() {
        assert!(Section::A < Section::B);
    }

    #[test]
    fn a_text_file_may_start_with_a_byte_order_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for (bytes, text) in [(&b"\xef\xbb\xbf{}"[..], "{}"), (b"{}", "{}"), (b"", "")] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_text(&path), Ok(Some(text.to_owned())));
        }
        fs::write(&path, b"\xff\xfe{\0").unwrap();
        assert_eq!(read_text(&path), Err("not UTF-8 at byte 0".to_owned()));
        fs::write(&path, b"{}\xd6\xd0").unwrap();
        assert_eq!(read_text(&path), Err("not UTF-8 at byte 2".to_owned()));
    }

    #[test]
    fn only_a_file_that_is_not_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_text(&dir.path().join("x")), Ok(None));
        let error = read_text(dir.path()).unwrap_err();
        assert!(error.starts_with("cannot be read: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_not_a_file_that_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("x");
        std::os::unix::fs::symlink(dir.path().join("gone"), &link).unwrap();
        let error = read_text(&link).unwrap_err();
        assert_eq!(error, "a link to something that is not there");
    }
}
