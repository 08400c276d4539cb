//! What holds for pending files of either kind.

use std::cell::RefCell;

use submitter::exit::{Hold, Reason};
use submitter::pair::ModelId;
use submitter::sources::pending::{self, Pending};
use submitter::sources::{Foothold, Section, candidates, merge};
use submitter::sync_marks::line;
use submitter::text::Sentence;

use crate::{Scratch, assert_one_plain_line, assert_told_safely, catalog};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Tables.
    Markdown,
    /// A model a line.
    Text,
}

thread_local! {
    static FILE: RefCell<Scratch> = RefCell::default();
}

fn read(kind: Kind, text: &str, section: Option<Section>) -> (Result<Pending, Hold>, String) {
    FILE.with_borrow_mut(|file| {
        let path = file.holding(text);
        let loaded = match kind {
            Kind::Markdown => pending::load(Some(path), None, section, catalog()),
            Kind::Text => pending::load(None, Some(path), section, catalog()),
        };
        (loaded, path.display().to_string())
    })
}

/// Reads `text`, and checks all that holds whatever stands in it. Returns what was read; nothing
/// where no row is usable.
#[must_use]
pub fn check(kind: Kind, text: &str) -> Option<Pending> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (read_plain, path) = read(kind, &text, None);
    assert_eq!(read(kind, &text.replace('\n', "\r\n"), None).0, read_plain, "by line ends");
    if !text.starts_with('\u{feff}') {
        assert_eq!(read(kind, &format!("\u{feff}{text}"), None).0, read_plain, "by a mark");
    }
    let pending = match read_plain {
        Ok(pending) => pending,
        Err(hold) => {
            assert_eq!(hold.reason, Reason::CandidateReadFailed);
            assert_told_safely(&hold);
            return None;
        }
    };
    check_refused(&pending, &path, text.lines().count());
    check_candidates(&pending);
    check_sections(kind, &text, &pending);
    Some(pending)
}

/// A refused row is told as it is, in a warning.
fn check_refused(pending: &Pending, path: &str, lines: usize) {
    let mut last = 1;
    for told in &pending.refused {
        let warning = format!("[live] warning {}", Sentence(told));
        assert_one_plain_line(&warning);
        assert_eq!(line::parse(warning.as_bytes(), catalog()), None, "{warning}");
        let place = told.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
        let (number, why) = place.and_then(|rest| rest.split_once(": ")).expect("file:line: why");
        let number: usize = number.parse().expect("a line");
        assert!((last..=lines).contains(&number), "line {number} of {lines}, behind {last}");
        assert!(!why.is_empty());
        last = number;
    }
}

fn check_candidates(pending: &Pending) {
    assert!(!pending.candidates.is_empty());
    for row in &pending.candidates {
        assert!(ModelId::parse(&row.address).is_ok(), "{row:?}");
        assert_eq!(row.address.trim(), row.address);
        assert!(!row.cards.iter().flatten().any(|card| card.trim() != card || card.is_empty()));
        let said = row.foothold_text.as_deref().and_then(merge::read_foothold);
        assert_eq!(row.foothold, said.unwrap_or_default());
        let source = if row.foothold == Foothold::Unknown { "GAP" } else { "pending-foothold" };
        assert_eq!(row.evidence_source.as_deref(), Some(source));
    }
    let baked = candidates::to_text(&pending.candidates).expect("written");
    assert_eq!(candidates::parse(&baked).as_ref(), Ok(&pending.candidates), "{baked}");
}

/// Each candidate stands in one section, and choosing a section only chooses.
fn check_sections(kind: Kind, text: &str, pending: &Pending) {
    for section in [Section::A, Section::B] {
        let mut expected = pending.candidates.clone();
        expected.retain(|row| row.section == section);
        let chosen = read(kind, text, Some(section)).0;
        assert_eq!(chosen.map(|chosen| chosen.candidates).unwrap_or_default(), expected);
    }
}
