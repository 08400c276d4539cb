//! Candidates as text: one model a line, then its cards, then a comment.

use super::{Found, Row, Section, cards};
use crate::gpu::Catalog;

/// Reads lines of `org/model card, card # comment`, in section B. A line without cards is for
/// every target card; the comment is both foothold and note.
pub(super) fn parse(text: &str, catalog: &Catalog) -> Found {
    let mut found = Found::default();
    for (at, line) in text.lines().enumerate() {
        match row(line, catalog).and_then(|row| row.map(Row::candidate).transpose()) {
            Ok(candidate) => found.candidates.extend(candidate),
            Err(why) => found.refused.push((at + 1, why)),
        }
    }
    found
}

/// A line's row; none in a blank line or one of comment alone.
fn row<'a>(line: &'a str, catalog: &Catalog) -> Result<Option<Row<'a>>, String> {
    // Every `#` begins the comment, since a ban behind one that does not would be lost.
    let (said, comment) = line.split_once(['#', '＃']).unwrap_or((line, ""));
    let said = said.trim_start();
    if said.is_empty() {
        return Ok(None);
    }
    let after = |c: char| c.is_whitespace() || ",，、;；".contains(c);
    let (address, cards) = match said.find(after) {
        Some(end) => said.split_at(end),
        // Cards behind it would have become comment, and the row one for all cards.
        None if said.contains("://") && !comment.is_empty() => {
            return Err(format!(
                "a # directly behind the URL {said:?}: put a space before a comment, leave out a \
                 fragment; the row is not used"
            ));
        }
        None => (said, ""),
    };
    let cards = cards::split(cards, catalog);
    Ok(Some(Row {
        address,
        name: None,
        section: Section::B,
        cards: (!cards.is_empty()).then_some(cards),
        foothold: comment,
        note: comment,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{Candidate, Foothold};

    fn parse(text: &str) -> Found {
        super::parse(text, &Catalog::parse(include_str!("../../../data/gpus.json")).unwrap())
    }

    fn one(line: &str) -> Candidate {
        let mut found = parse(line);
        assert_eq!((found.candidates.len(), &found.refused), (1, &vec![]), "{line}");
        found.candidates.remove(0)
    }

    #[test]
    fn a_line_is_a_model_its_cards_and_a_comment() {
        let row = one("  Org/Model-1  壁砺、天垓 150 Newcomer_x-1  # 曦望 已验证成功，未下载 ");
        assert_eq!(
            row,
            Candidate {
                section: Section::B,
                foothold: Foothold::VerifiedReuse,
                foothold_text: Some("曦望 已验证成功，未下载".into()),
                evidence_source: Some("pending-foothold".into()),
                cards: Some(vec!["壁砺".into(), "天垓 150".into(), "Newcomer_x-1".into()]),
                skip_reason: Some("no_download".into()),
                ..Candidate::new("Org/Model-1")
            }
        );
    }

    #[test]
    fn a_line_without_cards_is_for_every_target() {
        for line in ["a/b", "a/b ", "a/b # 壁砺", "a/b#壁砺", "a/b，# 壁砺"] {
            assert_eq!(one(line).cards, None, "{line}");
        }
        for line in ["a/b 壁砺", "a/b,壁砺", "a/b，壁砺", "a/b\t壁砺#x", "a/b; 壁砺"] {
            assert_eq!(one(line).cards, Some(vec!["壁砺".into()]), "{line}");
        }
    }

    #[test]
    fn a_comment_begins_at_any_number_sign() {
        for line in ["a/b # 禁提", "a/b#禁提", "a/b 壁砺#x # 禁提", "a/b ＃禁提"] {
            assert_eq!(one(line).skip_reason.as_deref(), Some("禁提"), "{line}");
        }
        let bare = one("a/b 壁砺");
        assert_eq!((bare.foothold_text, bare.evidence_source.as_deref()), (None, Some("GAP")));
        let found = parse("https://huggingface.co/a/b#files 壁砺\nhttps://huggingface.co/a/b 壁砺");
        assert_eq!(found.candidates.len(), 1);
        assert_eq!(found.refused[0].0, 1);
        assert!(found.refused[0].1.contains("a # directly behind the URL"), "{found:?}");
    }

    #[test]
    fn a_bad_line_is_refused_by_its_number_and_the_others_are_used() {
        let found = parse("# list\n\na/b\ngpt2 壁砺\n   \nc/d # x\n- e/f\n<org>/<model>");
        let models: Vec<_> = found.candidates.iter().map(|c| c.address.as_str()).collect();
        assert_eq!(models, ["a/b", "c/d"]);
        let lines: Vec<_> = found.refused.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 7, 8]);
        assert_eq!(
            found.refused[0].1,
            "the model \"gpt2\": no owner: expected org/name; the row is not used, correct it"
        );
    }
}
