//! `candidates.json`: the models that may be submitted.

use serde::{Deserialize, Deserializer};

use super::{Candidate, DEFAULT_FRAMEWORK, DEFAULT_TASK_TYPE, Foothold, Section};
use crate::json;

/// Reads the text of a `candidates.json`; rows stay in order, a model twice is two rows.
///
/// An absent, null or blank field takes its default; unknown fields of a row are ignored. A
/// blank address is no error here: the row stays, and the cycle tells that it skips it. The
/// cards are `try_next_gpus` where that key is there, else `target_gpu`. Whoever wrote
/// `try_next_gpus` meant to choose the cards: as null it is an empty list, no card, like a list
/// of blanks. So is a `target_gpu` that is blank; null is none at all.
///
/// # Errors
/// The place (`candidates[12]: ...`) and the reason: not JSON, another version, an unknown
/// top-level key, a section or class of another value, a field of another type, or both
/// spellings of a field in one row.
pub fn parse(text: &str) -> Result<Vec<Candidate>, String> {
    let file: File = crate::json::read(text)?;
    Ok(file.candidates)
}

/// The text of a `candidates.json`: a row a line, as [`parse`] reads it.
///
/// # Errors
/// None that a candidate can cause.
pub fn to_text(candidates: &[Candidate]) -> Result<String, serde_json::Error> {
    Ok(format!("{{\n  \"version\": 1,\n  \"candidates\": {}\n}}\n", json::lines(candidates)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version", deserialize_with = "json::version_1")]
    _version: (),
    #[serde(deserialize_with = "rows")]
    candidates: Vec<Candidate>,
}

fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Candidate>, D::Error> {
    json::list(deserializer, "candidates")
}

/// A row as written. An alias beside its field is a duplicate field, and so refused.
#[derive(Deserialize)]
pub(super) struct Row {
    #[serde(alias = "modelAddress")]
    model_address: Option<String>,
    #[serde(alias = "modelName")]
    model_name: Option<String>,
    section: Option<Section>,
    foothold_class: Option<Foothold>,
    foothold_text: Option<String>,
    evidence_source: Option<String>,
    #[serde(default, deserialize_with = "present")]
    try_next_gpus: Option<Vec<String>>,
    #[serde(alias = "targetGpu")]
    target_gpu: Option<String>,
    framework: Option<String>,
    task_type: Option<String>,
    skip_reason: Option<String>,
}

/// Called only where the key is there: null is then an empty list.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(Some(Option::deserialize(deserializer)?.unwrap_or_default()))
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

impl From<Row> for Candidate {
    fn from(row: Row) -> Self {
        let cards = row.try_next_gpus.or_else(|| row.target_gpu.map(|card| vec![card]));
        Self {
            address: row.model_address.unwrap_or_default(),
            name: filled(row.model_name),
            section: row.section.unwrap_or_default(),
            foothold: row.foothold_class.unwrap_or_default(),
            foothold_text: filled(row.foothold_text),
            evidence_source: filled(row.evidence_source),
            cards: cards
                .map(|cards| cards.into_iter().filter(|card| !card.trim().is_empty()).collect()),
            framework: filled(row.framework).unwrap_or_else(|| DEFAULT_FRAMEWORK.to_owned()),
            task_type: filled(row.task_type).unwrap_or_else(|| DEFAULT_TASK_TYPE.to_owned()),
            skip_reason: filled(row.skip_reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(row: &str) -> Candidate {
        let text = format!(r#"{{"version":1,"candidates":[{row}]}}"#);
        let mut rows = parse(&text).unwrap();
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    fn cards(row: &str) -> Option<Vec<String>> {
        one(row).cards
    }

    #[test]
    fn the_shipped_file_is_read_whole() {
        let shipped = include_str!("../../data/candidates.json");
        let rows = parse(shipped).unwrap();
        assert_eq!(rows.len(), shipped.matches("\"model_address\"").count());
        for row in rows {
            assert!(crate::pair::ModelId::parse(&row.address).is_ok(), "{row:?}");
            assert!(row.cards.is_some_and(|cards| !cards.is_empty()), "{}", row.address);
        }
    }

    #[test]
    fn a_bare_row_takes_the_defaults() {
        let bare = Candidate {
            address: "Org/Model".to_owned(),
            name: None,
            section: Section::B,
            foothold: Foothold::Unknown,
            foothold_text: None,
            evidence_source: None,
            cards: None,
            framework: "vllm".to_owned(),
            task_type: "text-generation".to_owned(),
            skip_reason: None,
        };
        assert_eq!(one(r#"{"model_address":"Org/Model","note":[1]}"#), bare);
        let null = r#"{"model_address":"Org/Model","model_name":null,"section":null,
            "foothold_class":null,"foothold_text":null,"evidence_source":null,"target_gpu":null,
            "framework":null,"task_type":null,"skip_reason":null}"#;
        assert_eq!(one(null), bare);
        let blank = r#"{"model_address":"Org/Model","model_name":"","foothold_text":" ",
            "evidence_source":"","framework":" ","task_type":"","skip_reason":" "}"#;
        assert_eq!(one(blank), bare);
    }

    #[test]
    fn a_full_row_in_either_spelling_is_one_candidate() {
        let rest = r#""section":"A","foothold_class":"in_flight","foothold_text":"正在验证",
            "evidence_source":"s","framework":"transformers","task_type":"chat","skip_reason":"x"}"#;
        let snake = format!(
            r#"{{"model_address":" Org/Model ","model_name":"M","target_gpu":"壁砺",{rest}"#
        );
        let camel =
            format!(r#"{{"modelAddress":" Org/Model ","modelName":"M","targetGpu":"壁砺",{rest}"#);
        let row = one(&snake);
        assert_eq!(row, one(&camel));
        assert_eq!(row.address, " Org/Model ", "as written");
        assert_eq!(row.name.as_deref(), Some("M"));
        assert_eq!(row.section, Section::A);
        assert_eq!(row.foothold, Foothold::InFlight);
        assert_eq!(row.foothold_text.as_deref(), Some("正在验证"));
        assert_eq!(row.evidence_source.as_deref(), Some("s"));
        assert_eq!(row.cards, Some(vec!["壁砺".to_owned()]));
        assert_eq!(row.framework, "transformers");
        assert_eq!(row.task_type, "chat");
        assert_eq!(row.skip_reason.as_deref(), Some("x"));
    }

    #[test]
    fn a_list_that_is_there_never_falls_back() {
        let target = r#""target_gpu":"Biren_166m""#;
        let none = Some(Vec::new());
        assert_eq!(cards(&format!(r#"{{"try_next_gpus":[],{target}}}"#)), none);
        assert_eq!(cards(&format!(r#"{{"try_next_gpus":null,{target}}}"#)), none);
        assert_eq!(cards(&format!(r#"{{"try_next_gpus":[" "],{target}}}"#)), none);
        assert_eq!(cards(r#"{"try_next_gpus":[]}"#), none);
        assert_eq!(cards(r#"{"target_gpu":""}"#), none);
        let two = cards(&format!(r#"{{"try_next_gpus":["曦望","X_1"],{target}}}"#));
        assert_eq!(two, Some(vec!["曦望".to_owned(), "X_1".to_owned()]));
        assert_eq!(cards(&format!("{{{target}}}")), Some(vec!["Biren_166m".to_owned()]));
        assert_eq!(cards("{}"), None);
        assert_eq!(cards(r#"{"target_gpu":null}"#), None);
    }

    #[test]
    fn a_row_without_a_model_stays_for_the_cycle_to_tell() {
        for row in ["{}", r#"{"model_address":null}"#, r#"{"model_address":""}"#] {
            assert_eq!(one(row).address, "");
        }
    }

    #[test]
    fn one_model_twice_is_two_rows() {
        let row = r#"{"model_address":"a/b"}"#;
        let text = format!(r#"{{"version":1,"candidates":[{row},{row}]}}"#);
        assert_eq!(parse(&text).unwrap().len(), 2);
    }

    #[test]
    fn a_candidate_is_written_in_the_shape_it_is_read_in() {
        let shipped = include_str!("../../data/candidates.json");
        let rows = parse(shipped).unwrap();
        let value: serde_json::Value = serde_json::from_str(shipped).unwrap();
        assert_eq!(serde_json::to_value(&rows).unwrap(), value["candidates"]);
        let full = one(
            r#"{"model_address":"a/b","model_name":"M","section":"A","foothold_class":"queued_only",
                "foothold_text":"t","try_next_gpus":[],"framework":"f","task_type":"t",
                "skip_reason":"s"}"#,
        );
        assert_eq!(one(&serde_json::to_string(&full).unwrap()), full);
    }

    #[test]
    fn a_written_file_is_read_back() {
        let shipped = parse(include_str!("../../data/candidates.json")).unwrap();
        for rows in [&shipped[..], &shipped[..1], &[]] {
            let text = to_text(rows).unwrap();
            assert_eq!(parse(&text).as_deref(), Ok(rows), "{text}");
            assert!(text.ends_with("\n}\n"), "{text}");
        }
        let text = to_text(&shipped).unwrap();
        assert_eq!(text.lines().count(), shipped.len() + 5, "a row a line");
    }

    #[test]
    fn a_bad_file_names_the_place() {
        let good = r#"{"model_address":"a/b"}"#;
        for (row, says) in [
            (r#"{"section":"C"}"#, "unknown variant `C`, expected `A` or `B`"),
            (r#"{"section":"a"}"#, "unknown variant `a`"),
            (r#"{"section":""}"#, "unknown variant ``"),
            (r#"{"foothold_class":"verified"}"#, "unknown variant `verified`, expected one of"),
            (r#"{"model_address":"a/b","modelAddress":"a/b"}"#, "duplicate field `model_address`"),
            (r#"{"modelName":null,"model_name":"x"}"#, "duplicate field `model_name`"),
            (r#"{"target_gpu":"x","targetGpu":"x"}"#, "duplicate field `target_gpu`"),
            (r#"{"model_address":7}"#, "invalid type: integer"),
            (r#"{"try_next_gpus":"Biren_166m"}"#, "invalid type: string"),
            (r#"{"try_next_gpus":[null]}"#, "invalid type: null"),
            (r#"{"skip_reason":true}"#, "invalid type: boolean"),
            ("null", "invalid type: null"),
        ] {
            let text = format!("{{\"version\":1,\n\"candidates\":[{good},\n{row}]}}");
            let error = parse(&text).unwrap_err();
            assert!(error.starts_with(&format!("candidates[1]: {says}")), "{error}");
            assert!(error.contains("at line 3 column"), "{error}");
        }
        for (text, says) in [
            ("", "line 1"),
            (r#"{"version":2,"candidates":[]}"#, "version 2 where 1 is known"),
            (r#"{"candidates":[]}"#, "missing field `version`"),
            (r#"{"version":1}"#, "missing field `candidates`"),
            (r#"{"version":1,"candidates":[],"more":1}"#, "unknown field `more`"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
