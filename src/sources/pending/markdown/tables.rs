//! The tables of a Markdown text, with the sections that they stand in and their lines.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Section;
use super::section::section_of;

/// What is of interest in a text.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) tables: Vec<Table>,
    pub(super) strays: Vec<Stray>,
    /// Whether any heading opens section A or B.
    pub(super) has_sections: bool,
}

/// A table: its head, then its rows.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) section: Option<Section>,
    pub(super) lines: Vec<Line>,
}

/// One line of a table.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number in the text, from 1.
    pub(super) number: usize,
    /// How many cells are written there. `cells` has as many as the head, whatever is written:
    /// the missing ones empty, the superfluous ones dropped (I04).
    pub(super) count: usize,
    /// Whether nothing but pipes is written there.
    pub(super) is_blank: bool,
    pub(super) cells: Vec<Cell>,
}

/// A cell, as it reads when it is rendered.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Where its first link goes.
    pub(super) link: Option<String>,
    source: Range<usize>,
}

/// A line of a paragraph that was meant for a table.
#[derive(Debug)]
pub(super) struct Stray {
    pub(super) section: Option<Section>,
    pub(super) number: usize,
}

/// Reads a text whose lines end in `\n`.
pub(super) fn read(text: &str) -> Document {
    let newlines = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = Reader {
        text,
        newlines,
        headings: Vec::new(),
        heading: None,
        table: None,
        document: Document::default(),
    };
    for (event, source) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        reader.take(event, source);
    }
    reader.document
}

struct Reader<'a> {
    text: &'a str,
    /// Where lines end.
    newlines: Vec<usize>,
    /// The headings that enclose the place where the reader is.
    headings: Vec<(HeadingLevel, Option<Section>)>,
    /// The text of the heading that is being read.
    heading: Option<String>,
    /// The table that is being read.
    table: Option<Table>,
    document: Document,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, source: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { .. }) => self.heading = Some(String::new()),
            Event::End(TagEnd::Heading(level)) => self.end_heading(level),
            Event::Start(Tag::Table(_)) => {
                self.table = Some(Table { section: self.section(), lines: Vec::new() });
            }
            Event::End(TagEnd::Table) => self.document.tables.extend(self.table.take()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                let number = self.number(source.start);
                let line = &self.text[source];
                let count = count_cells(line);
                let is_blank = line.chars().all(|c| c == '|' || c.is_whitespace());
                if let Some(table) = &mut self.table {
                    table.lines.push(Line { number, count, is_blank, cells: Vec::new() });
                }
            }
            Event::Start(Tag::TableCell) => {
                if let Some(line) = self.table.as_mut().and_then(|table| table.lines.last_mut()) {
                    line.cells.push(Cell { text: String::new(), link: None, source });
                }
            }
            Event::Start(Tag::Paragraph) => self.paragraph(source),
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Some(cell) = self.cell() {
                    cell.link.get_or_insert_with(|| dest_url.into_string());
                }
            }
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => {
                self.underscores("_", &source);
            }
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => {
                self.underscores("__", &source);
            }
            Event::Text(text) | Event::Code(text) => self.write(&text),
            // As it is: `<org>/<model>` is a placeholder, and no model without its tags.
            Event::InlineHtml(tag) if !is_line_break(&tag) => self.write(&tag),
            Event::InlineHtml(_) | Event::SoftBreak | Event::HardBreak => self.write(" "),
            _ => {}
        }
    }

    /// The number of the line of a place in the text, from 1.
    fn number(&self, at: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < at) + 1
    }

    fn cell(&mut self) -> Option<&mut Cell> {
        self.table.as_mut()?.lines.last_mut()?.cells.last_mut()
    }

    fn write(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        } else if let Some(cell) = self.cell() {
            cell.text.push_str(text);
        }
    }

    /// Emphasis by underscores around a part of a cell stays as it is written: `org/_name_` is
    /// not the model `org/name`.
    fn underscores(&mut self, mark: &str, source: &Range<usize>) {
        let text = self.text;
        let emphasised = &text[source.clone()];
        if let Some(cell) = self.cell()
            && emphasised.starts_with('_')
            && text[cell.source.clone()].trim() != emphasised
        {
            cell.text.push_str(mark);
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let section = self.heading.take().and_then(|text| section_of(&text));
        self.document.has_sections |= section.is_some();
        self.headings.retain(|(outer, _)| *outer < level);
        self.headings.push((level, section));
    }

    /// The section of the innermost heading that opens one.
    fn section(&self) -> Option<Section> {
        self.headings.iter().rev().find_map(|(_, section)| *section)
    }

    /// Looks for rows in a paragraph: a head without its line of dashes, rows after an empty
    /// line. They look like a table to whoever wrote them.
    fn paragraph(&mut self, source: Range<usize>) {
        let first = self.number(source.start);
        let is_row = |line: &str| line.trim_start_matches([' ', '\t', '>']).starts_with('|');
        let rows = self.text[source].lines().enumerate().filter(|(_, line)| is_row(line));
        let section = self.section();
        let strays = rows.map(|(at, _)| Stray { section, number: first + at });
        self.document.strays.extend(strays);
    }
}

/// How many cells a line of a table has by the rule of GFM: a pipe parts two cells unless a
/// backslash stands before it, in code as elsewhere, and the ones at both ends may be left out.
fn count_cells(line: &str) -> usize {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let bytes = line.as_bytes();
    let pipes = (0..bytes.len()).filter(|at| parts_cells(bytes, *at)).count();
    let ends_in_one = bytes.len().checked_sub(1).is_some_and(|last| parts_cells(bytes, last));
    if ends_in_one { pipes } else { pipes + 1 }
}

fn parts_cells(line: &[u8], at: usize) -> bool {
    line[at] == b'|' && (at == 0 || line[at - 1] != b'\\')
}

fn is_line_break(tag: &str) -> bool {
    let tag: String = tag.chars().filter(|c| !c.is_whitespace() && *c != '/').collect();
    tag.eq_ignore_ascii_case("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_by_the_rule_of_gfm() {
        for (line, count) in [
            ("| a | b |\n", 2),
            ("a | b", 2),
            ("| a | b", 2),
            ("a | b |  ", 2),
            ("| a |", 1),
            ("a", 1),
            ("||", 1),
            ("|||", 2),
            ("| | |", 2),
            (r"| a \| b | c |", 2),
            (r"| `a \| b` | c |", 2),
            ("| `a | b` | c |", 3),
            (r"| a | b \|", 2),
            (r"| a \\| b |", 1),
            ("| 壁砺 | 曦望 |", 2),
        ] {
            assert_eq!(count_cells(line), count, "{line}");
        }
    }
}
