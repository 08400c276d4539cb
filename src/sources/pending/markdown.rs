//! Candidates as Markdown tables: which tables count, and what their rows say.
//!
//! Tables stand in the sections that headings A and B open. A file without such a heading is a
//! plain list: its tables are section B. In a file with one, a table of models elsewhere is
//! something else (what was submitted, what must not be), and is told and not used.

mod section;
mod tables;

use self::tables::{Cell, Line, Table};
use super::heads::{self, Columns};
use super::{Found, Row, Section, cards};
use crate::gpu::Catalog;
use crate::pair::ModelKey;
use crate::sources::Candidate;

/// Reads the candidate tables of a text whose lines end in `\n`. Tables without a column for
/// models are ignored.
pub(super) fn parse(text: &str, catalog: &Catalog) -> Found {
    let document = tables::read(text);
    let mut found = Found::default();
    for stray in &document.strays {
        if stray.section.is_some() || !document.has_sections {
            let why = "a row that is in no table: a table is a head, below it a line such as \
                       |---|---| with as many cells, and no empty line between its rows; it is \
                       not used";
            found.refused.push((stray.number, why.to_owned()));
        }
    }
    for table in &document.tables {
        read_table(table, document.has_sections, catalog, &mut found);
    }
    found.refused.sort_by_key(|(line, _)| *line);
    found
}

fn read_table(table: &Table, has_sections: bool, catalog: &Catalog, found: &mut Found) {
    let Some((head, rows)) = table.lines.split_first() else { return };
    let texts: Vec<&str> = head.cells.iter().map(|cell| cell.text.trim()).collect();
    let columns = match heads::columns(&texts) {
        Ok(Some(columns)) => columns,
        Ok(None) => return,
        Err(why) => return found.refused.push((head.number, why)),
    };
    let section = match table.section {
        Some(section) => section,
        None if !has_sections => Section::B,
        None => {
            let why = "a table of models outside the sections A and B: move what is to be \
                       submitted under one of their headings; the table is not used";
            return found.refused.push((head.number, why.to_owned()));
        }
    };
    for row in rows.iter().filter(|row| !row.is_blank) {
        let read = if row.count == head.count {
            read_row(row, &columns, section, catalog)
        } else {
            Err(format!(
                "{} cells where the head has {}: write a | between two cells, and \\| for one \
                 within a cell, also in backticks; the row is not used",
                row.count, head.count
            ))
        };
        match read {
            Ok(candidate) => found.candidates.push(candidate),
            Err(why) => found.refused.push((row.number, why)),
        }
    }
}

fn read_row(
    row: &Line,
    columns: &Columns,
    section: Section,
    catalog: &Catalog,
) -> Result<Candidate, String> {
    let text = |at: usize| row.cells.get(at).map_or("", |cell| cell.text.as_str());
    let joined = |all: &[usize]| all.iter().map(|at| text(*at)).collect::<Vec<_>>().join(" ");
    Row {
        address: row.cells.get(columns.model).map_or(Ok(""), address)?,
        name: columns.name.map(text),
        section,
        cards: columns.cards.map(|at| cards::split(text(at), catalog)),
        foothold: &joined(&columns.foothold),
        note: &joined(&columns.note),
    }
    .candidate()
}

/// The model that a cell names: what stands there, or else what it links to.
///
/// # Errors
/// It names one model and links to another.
fn address(cell: &Cell) -> Result<&str, String> {
    let text = cell.text.trim();
    let Some(link) = &cell.link else { return Ok(text) };
    match (ModelKey::parse(text), ModelKey::parse(link)) {
        (Ok(named), Ok(linked)) if named != linked => Err(format!(
            "the model {text:?} links to another, {link:?}: correct one; the row is not used"
        )),
        (Err(_), Ok(_)) => Ok(link),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests;
