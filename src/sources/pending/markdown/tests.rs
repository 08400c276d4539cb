use super::*;
use crate::sources::Foothold;

const HEAD: &str = "| model | GPU(s) | foothold | note |\n|---|---|---|---|\n";

fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../../../data/gpus.json")).unwrap()
}

fn parse(text: &str) -> Found {
    super::parse(text, &catalog())
}

/// `A a/b` for a candidate a/b of section A.
fn rows(text: &str) -> Vec<String> {
    let found = parse(text);
    assert_eq!(found.refused, [], "{text}");
    found.candidates.iter().map(|c| format!("{:?} {}", c.section, c.address)).collect()
}

/// The one row of a table below [`HEAD`].
fn one(row: &str) -> Candidate {
    let mut found = parse(&format!("{HEAD}{row}\n"));
    assert_eq!((found.candidates.len(), &found.refused), (1, &vec![]), "{row}");
    found.candidates.remove(0)
}

/// The lines that are refused, with a part of the reason.
fn refused(text: &str, lines: &[(usize, &str)]) -> Vec<String> {
    let found = parse(text);
    let numbers: Vec<usize> = found.refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(numbers, lines.iter().map(|(line, _)| *line).collect::<Vec<_>>(), "{found:?}");
    for ((_, why), (_, says)) in found.refused.iter().zip(lines) {
        assert!(why.contains(says), "{why}");
    }
    found.candidates.into_iter().map(|candidate| candidate.address).collect()
}

#[test]
fn a_row_is_a_candidate() {
    let row = one("| Org/Model | 壁砺、曦望 | 昇腾 已验证成功 | 先提 |");
    assert_eq!(
        row,
        Candidate {
            foothold: Foothold::VerifiedReuse,
            foothold_text: Some("昇腾 已验证成功".into()),
            evidence_source: Some("pending-foothold".into()),
            cards: Some(vec!["壁砺".into(), "曦望".into()]),
            ..Candidate::new("Org/Model")
        }
    );
    let bare = one("| a/b | | | |");
    assert_eq!(bare.cards, Some(vec![]), "an empty cell is no card");
    assert_eq!((bare.foothold, bare.foothold_text), (Foothold::Unknown, None));
    assert_eq!(bare.evidence_source.as_deref(), Some("GAP"));
    let none = parse("| model |\n|---|\n| a/b |");
    assert_eq!(none.candidates[0].cards, None, "no column is no list");
}

#[test]
fn a_foothold_is_read_from_its_text() {
    for (text, foothold, source) in [
        ("已验证成功", Foothold::VerifiedReuse, "pending-foothold"),
        ("曦望 验证失败; 壁砺 验证通过", Foothold::VerifiedReuse, "pending-foothold"),
        ("正在验证", Foothold::InFlight, "pending-foothold"),
        ("验证进行中", Foothold::InFlight, "pending-foothold"),
        ("验证失败", Foothold::FailedFoothold, "pending-foothold"),
        ("验证排队中", Foothold::QueuedOnly, "pending-foothold"),
        ("**验证**通过", Foothold::VerifiedReuse, "pending-foothold"),
        ("verified", Foothold::Unknown, "GAP"),
    ] {
        let row = one(&format!("| a/b | 壁砺 | {text} | |"));
        assert_eq!((row.foothold, row.evidence_source.as_deref()), (foothold, Some(source)));
    }
}

#[test]
fn a_ban_in_the_note_is_a_skip_reason() {
    for (note, reason) in [
        ("禁提", Some("禁提")),
        ("**禁提**：原因", Some("禁提")),
        ("权重未下载", Some("no_download")),
        ("`NO_DOWNLOAD`", Some("no_download")),
        ("no\\_download", Some("no_download")),
        ("下载", None),
        ("", None),
    ] {
        let row = one(&format!("| a/b | 壁砺 | | {note} |"));
        assert_eq!(row.skip_reason.as_deref(), reason, "{note}");
    }
}

#[test]
fn sections_are_headings_and_nest() {
    let table = |model: &str| format!("\n| 模型 | 卡 |\n|:-:|---|\n| {model} | 壁砺 |\n\n");
    let text = format!(
        "# 待提交\n## A 组\n{}### 文本\n{}#### B\n{}### more\n{}## B 组(其余)\n{}A 组\n===\n{}",
        table("a/1"),
        table("a/2"),
        table("b/3"),
        table("a/4"),
        table("b/5"),
        table("a/6"),
    );
    assert_eq!(rows(&text), ["A a/1", "A a/2", "B b/3", "A a/4", "B b/5", "A a/6"]);
}

#[test]
fn without_a_section_all_tables_are_b_and_with_one_only_its_own() {
    let table = "\n| model |\n|---|\n| a/b |\n\n";
    assert_eq!(rows(table), ["B a/b"]);
    assert_eq!(rows(&format!("# 清单\n{table}")), ["B a/b"]);
    let text = format!("{table}## A\n{table}## 已提交\n{table}");
    assert_eq!(parse(&text).candidates.len(), 1);
    refused(&text, &[(2, "outside the sections A and B"), (14, "outside the sections A and B")]);
    // Other tables are nobody's business wherever they stand.
    let other = "| date | GPU |\n|---|---|\n| x | y |\n\n";
    assert_eq!(rows(&format!("{other}## A\n{other}{table}## C\n{other}")), ["A a/b"]);
}

/// I04: cells are neither padded, truncated nor shifted in silence.
#[test]
fn i04_a_row_with_another_number_of_cells_is_refused_by_its_line() {
    let text = format!(
        "{HEAD}| a/1 | 壁砺 | | |\n| a/2 | 壁砺 | |\n| a/3 | 壁砺 | | | x |\n| a/4 | `a|b` | | |\n\
         | a/5 | 壁砺 | x | y\n a/6 | 壁砺 | | z \nsome text\n\n"
    );
    let used = refused(
        &text,
        &[
            (4, "3 cells where the head has 4"),
            (5, "5 cells where the head has 4"),
            (6, "5 cells where the head has 4"),
            (9, "1 cells where the head has 4"),
        ],
    );
    assert_eq!(used, ["a/1", "a/5", "a/6"]);
}

/// I04: twelve columns, an escaped pipe, code, missing outer pipes.
#[test]
fn i04_pipes_within_cells_do_not_shift_the_columns() {
    let text = "h1 | h2 | h3 | h4 | h5 | h6 | h7 | h8 | h9 | Model | GPU | 备注\n\
                :--|--:|---|---|---|---|---|---|---|:-:|---|---\n\
                1 | 2 | 3 \\| 3 | `4 \\| 4` | 5 | 6 | 7 | | 9 | `org/model` | 壁砺 | a \\| b\n";
    let found = parse(text);
    assert_eq!((found.candidates.len(), &found.refused), (1, &vec![]));
    assert_eq!(found.candidates[0].address, "org/model");
    assert_eq!(found.candidates[0].cards, Some(vec!["壁砺".into()]));
}

#[test]
fn rows_that_are_in_no_table_are_told() {
    let used = refused(
        "| model | gpu |\n|---|\n| a/1 | 壁砺 |\n",
        &[(1, "in no table"), (2, "in no table"), (3, "in no table")],
    );
    assert_eq!(used, [""; 0]);
    let text = format!("{HEAD}| a/1 | | | |\n\n| a/2 | 壁砺 | | |\n");
    assert_eq!(refused(&text, &[(5, "in no table")]), ["a/1"]);
    // Code, quotes and comments are examples.
    assert_eq!(rows("```\n| a |\n```\n\n    | a |\n\n<!--\n| a |\n-->\n"), [""; 0]);
}

/// I06: a malformed model is refused, never guessed.
#[test]
fn i06_a_row_without_a_model_is_refused_and_the_others_are_used() {
    let text = format!(
        "{HEAD}| gpt2 | | | |\n| | 壁砺 | | |\n| <org>/<model> | | | |\n| ~~a/1~~ | | | |\n\
         | a/x y | | | |\n| | | | |\n||\n| a/2 | | | |\n| | | | | a/3 |\n"
    );
    let used = refused(
        &text,
        &[
            (3, "\"gpt2\": no owner"),
            (4, "\"\": the model is blank"),
            (5, "\"<org>/<model>\": a placeholder"),
            (6, "\"~~a/1~~\": character ~"),
            (7, "\"a/x y\": a blank"),
            (11, "5 cells"),
        ],
    );
    assert_eq!(used, ["a/2"]);
}

/// I06: a model may be a link or a URL.
#[test]
fn i06_a_model_is_what_it_says_or_else_what_it_links_to() {
    let hub = "https://huggingface.co/Org/Model";
    for (cell, address) in [
        ("**Org/Model**", "Org/Model"),
        ("__Org/Model__", "Org/Model"),
        ("Org/my\\_model", "Org/my_model"),
        ("Org/my_model_1", "Org/my_model_1"),
        ("Org/_model_", "Org/_model_"),
        ("Org/__model__", "Org/__model__"),
        ("`Org/_model_`", "Org/_model_"),
        (hub, hub),
        (&format!("<{hub}>"), hub),
        (&format!("[Org/Model]({hub}/tree/main)"), "Org/Model"),
        (&format!("[模型]({hub})"), hub),
        ("[Org/Model](https://example.com/x)", "Org/Model"),
    ] {
        let row = one(&format!("| {cell} | 壁砺 | | |"));
        assert_eq!(row.address, address, "{cell}");
    }
    let text = format!("{HEAD}| [Org/Other]({hub}) | | | |\n");
    refused(&text, &[(3, "links to another")]);
}

#[test]
fn cards_may_stand_on_lines_of_their_own_within_a_cell() {
    let row = one("| a/b | 壁砺<br>沐曦 C500<br/>`Biren_166m` | | |");
    assert_eq!(row.cards, Some(vec!["壁砺".into(), "沐曦 C500".into(), "Biren_166m".into()]));
}

#[test]
fn a_table_that_cannot_be_understood_is_refused_at_its_head() {
    let text = "\n\n| model | 模型 |\n|---|---|\n| a/b | c/d |\n";
    refused(text, &[(3, "could both be it")]);
}
