//! One line of a log: what it says of a pair that the platform will not take.

use std::borrow::Cow;

use crate::codes;
use crate::gpu::{Catalog, Gpu};
use crate::pair::ModelId;

/// Begins what this program says in a log.
const MARKER: &[u8] = b"[live]";
const ESCAPE: u8 = 0x1b;

/// A pair, and the code for which the platform will never take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The model, in the line's own case.
    pub model: ModelId,
    /// The card, by its enum.
    pub gpu: Gpu,
    /// The platform's code; a permanent one.
    pub code: u32,
}

/// Reads one line, without its end: `[live] rejected ...` or `[live] skip ...
/// reason=marked:precheck_CODE`, with anything before and behind it, and with terminal colours
/// anywhere. Of two such records in a line, and of a field that is there twice, the first
/// counts. Bytes that are not UTF-8 harm only the field that they stand in. Behind
/// `[live] warning` nothing counts: it repeats what others have written.
///
/// Returns nothing for any other line, and where a field is missing, the card is not in
/// `catalog`, the model is no id, or the code is not permanent. A value with an escape (`\u{..}`)
/// was no id when it was written, so it is none here.
#[must_use]
pub fn parse(line: &[u8], catalog: &Catalog) -> Option<Found> {
    let line = without_escapes(line);
    let (kind, fields) = record(&line)?;
    let code = match kind {
        Kind::Rejected => number(field(fields, b"code")?)?,
        // `marked:CODE` only repeats what a mark already says; it is no new evidence.
        Kind::Skip => number(field(fields, b"reason")?.strip_prefix(b"marked:precheck_")?)?,
    };
    if !codes::is_permanent(i64::from(code)) {
        return None;
    }
    let gpu = catalog.find(text(field(fields, b"gpu")?)?)?.clone();
    let model = ModelId::parse(text(field(fields, b"model")?)?).ok()?;
    Some(Found { model, gpu, code })
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Rejected,
    Skip,
}

/// The first record of a line, and its fields: they end where this program begins another
/// record, as when two processes write to one log.
fn record(line: &[u8]) -> Option<(Kind, &[u8])> {
    let mut rest = line;
    loop {
        rest = &rest[find_marker(rest)? + MARKER.len()..];
        let words = rest.trim_ascii_start();
        let end = words.iter().position(u8::is_ascii_whitespace).unwrap_or(words.len());
        let (word, fields) = words.split_at(end);
        let kind = match word {
            b"rejected" => Kind::Rejected,
            b"skip" => Kind::Skip,
            b"warning" => return None,
            _ => continue,
        };
        let end = find_marker(fields).unwrap_or(fields.len());
        return Some((kind, &fields[..end]));
    }
}

fn find_marker(line: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        from += line[from..].iter().position(|b| *b == MARKER[0])?;
        if line[from..].starts_with(MARKER) {
            return Some(from);
        }
        from += 1;
    }
}

/// The value of the first field of that name.
fn field<'a>(fields: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut words = fields.split(u8::is_ascii_whitespace);
    words.find_map(|word| word.strip_prefix(name)?.strip_prefix(b"="))
}

/// A name: text without an escape. Behind a `?` or `#` an id would not notice one.
fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok().filter(|text| !text.contains('\\'))
}

/// A number at the end of its word, or before what a log in JSON puts behind a message.
fn number(value: &[u8]) -> Option<u32> {
    let end = value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(value.len());
    let (digits, rest) = value.split_at(end);
    let ends = match rest {
        [] | [b'"' | b'\'' | b',' | b';' | b')' | b']' | b'}', ..] => true,
        [b'\\', end, ..] => matches!(end, b'n' | b'r'),
        _ => false,
    };
    if ends { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// The line without what only a terminal reads (ECMA-48). What a terminal would not
/// show, a title or a sequence without an end, is no evidence.
fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&ESCAPE) {
        return Cow::Borrowed(line);
    }
    let mut shown = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.iter().position(|b| *b == ESCAPE) {
        shown.extend_from_slice(&rest[..at]);
        rest = behind_escape(&rest[at + 1..]);
    }
    shown.extend_from_slice(rest);
    Cow::Owned(shown)
}

/// What follows an escape sequence, whose `ESC` is already off.
fn behind_escape(rest: &[u8]) -> &[u8] {
    let from = |at: usize| rest.get(at..).unwrap_or_default();
    match rest.first() {
        // Colours and the like: parameters, then one letter.
        Some(b'[') => {
            let end = from(1).iter().position(|b| matches!(b, 0x40..=0x7e));
            end.map_or(&[], |end| from(1 + end + 1))
        }
        // Titles and links: text up to BEL or `ESC \`. Any other `ESC` begins anew.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = rest.iter().position(|b| matches!(*b, 0x07 | ESCAPE)).unwrap_or(rest.len());
            let behind = from(end);
            let ended = behind.strip_prefix(b"\x1b\\").or_else(|| behind.strip_prefix(b"\x07"));
            ended.unwrap_or(behind)
        }
        // All others: perhaps some signs, then one more.
        _ => {
            let end = rest.iter().take_while(|b| matches!(b, 0x20..=0x2f)).count();
            from(end + usize::from(matches!(rest.get(end), Some(0x30..=0x7e))))
        }
    }
}

#[cfg(test)]
mod tests;
