//! Pending files: lists of candidates that people keep by hand, as Markdown tables or as text.
//!
//! They are used in place of `candidates.json`. A row that cannot be read is refused and told,
//! with its file and line, and the others are used: a slip in one row must not stop the rest.

mod cards;
mod heads;
mod markdown;
mod text;

use std::path::Path;

use super::{Candidate, Foothold, Section, merge, read_text};
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::pair::ModelId;

/// Refused rows that the detail of a hold repeats.
const SHOWN: usize = 3;

/// What pending files hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending {
    /// The usable rows, as listed.
    pub candidates: Vec<Candidate>,
    /// The others, each as `file:line: what is wrong and what to do`.
    pub refused: Vec<String>,
}

/// Reads a Markdown file, then a text file, where they are named; of `section` alone where one
/// is named. A text file has no sections: its rows stand in B.
///
/// # Errors
/// `candidate_read_failed`, with the file: it is not there, cannot be read or is not UTF-8; or
/// it holds no usable row, in the section or at all, since a list of candidates that says
/// nothing is a mistake.
pub fn load(
    md: Option<&Path>,
    txt: Option<&Path>,
    section: Option<Section>,
    catalog: &Catalog,
) -> Result<Pending, Hold> {
    let mut pending = Pending::default();
    for (path, kind) in [(md, Kind::Markdown), (txt, Kind::Text)] {
        if let Some(path) = path {
            let one = read(path, kind, catalog)?;
            pending.candidates.extend(one.candidates);
            pending.refused.extend(one.refused);
        }
    }
    if let Some(section) = section {
        pending.candidates.retain(|candidate| candidate.section == section);
        if pending.candidates.is_empty() {
            let files: Vec<_> = [md, txt].into_iter().flatten().map(Path::display).collect();
            let files: Vec<_> = files.iter().map(ToString::to_string).collect();
            return Err(failed(format!(
                "{}: no row in section {section:?}; put its models under a heading {section:?} of \
                 the Markdown file, or unset PENDING_SECTION (a text file is section B)",
                files.join(" and ")
            )));
        }
    }
    Ok(pending)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Markdown,
    Text,
}

impl Kind {
    /// What a usable row looks like.
    fn expected(self) -> &'static str {
        match self {
            Self::Markdown => "a table with a column `model` under a heading A or B",
            Self::Text => "lines of `org/model card, card # comment`",
        }
    }
}

fn read(path: &Path, kind: Kind, catalog: &Catalog) -> Result<Pending, Hold> {
    let file = path.display();
    let text = read_text(path)
        .and_then(|text| text.ok_or_else(|| "there is no such file".to_owned()))
        .map_err(|why| {
            failed(format!("{file}: {why}; name a UTF-8 file of candidates, or none"))
        })?;
    // Markdown counts a lone carriage return as the end of a line, and so do we (I02).
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let found = match kind {
        Kind::Markdown => markdown::parse(&text, catalog),
        Kind::Text => text::parse(&text, catalog),
    };
    let refused: Vec<String> =
        found.refused.iter().map(|(line, what)| format!("{file}:{line}: {what}")).collect();
    if found.candidates.is_empty() {
        let mut detail = format!("{file}: no usable row; expected {}", kind.expected());
        for what in refused.iter().take(SHOWN) {
            detail = format!("{detail}; {what}");
        }
        if refused.len() > SHOWN {
            detail = format!("{detail}; and {} more", refused.len() - SHOWN);
        }
        return Err(failed(detail));
    }
    Ok(Pending { candidates: found.candidates, refused })
}

fn failed(detail: String) -> Hold {
    Hold::because(Reason::CandidateReadFailed, detail)
}

/// What a parser finds in a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    candidates: Vec<Candidate>,
    /// Lines from 1, and what is wrong there.
    refused: Vec<(usize, String)>,
}

/// What a row says, in whatever form it is written.
#[derive(Debug)]
struct Row<'a> {
    address: &'a str,
    name: Option<&'a str>,
    section: Section,
    /// `None`: no place for cards; empty: a place, and nothing in it.
    cards: Option<Vec<String>>,
    foothold: &'a str,
    note: &'a str,
}

impl Row<'_> {
    /// The row as a candidate.
    ///
    /// # Errors
    /// The model is not one, in words.
    fn candidate(self) -> Result<Candidate, String> {
        ModelId::parse(self.address).map_err(|bad| {
            format!("the model {:?}: {bad}; the row is not used, correct it", self.address)
        })?;
        let foothold = merge::read_foothold(self.foothold).unwrap_or_default();
        let source = if foothold == Foothold::Unknown { "GAP" } else { "pending-foothold" };
        let filled = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        Ok(Candidate {
            name: self.name.and_then(filled),
            section: self.section,
            foothold,
            foothold_text: filled(self.foothold),
            evidence_source: Some(source.to_owned()),
            cards: self.cards,
            skip_reason: skip_reason(self.note).map(str::to_owned),
            ..Candidate::new(self.address.trim())
        })
    }
}

/// Why a note keeps a model from being submitted, where it does.
fn skip_reason(note: &str) -> Option<&'static str> {
    if note.contains("禁提") {
        Some("禁提")
    } else if note.contains("未下载") || note.to_ascii_lowercase().contains("no_download") {
        Some("no_download")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
