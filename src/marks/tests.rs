use super::*;

const SHIPPED: &str = include_str!("../../data/reject-marks.json");

fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../data/gpus.json")).unwrap()
}

fn parse(text: &str) -> Result<MarksFile, String> {
    MarksFile::parse(text, &catalog())
}

fn file(rows: &[&str]) -> String {
    format!(r#"{{"version":1,"marks":[{}]}}"#, rows.join(","))
}

const GOOD: &str = r#"{"model":"Org/Model","gpu":"Biren_166m","code":60027}"#;

#[test]
fn the_shipped_file_is_written_back_byte_for_byte() {
    let marks = parse(SHIPPED).unwrap();
    assert_eq!(marks.len(), SHIPPED.matches("\"code\"").count());
    assert_eq!(marks.to_text().unwrap(), SHIPPED);
}

#[test]
fn a_mark_is_read_whole() {
    let marks = parse(&file(&[
        r#"{"date":"2026-10-17","model":"https://huggingface.co/Org/Model","gpu":"天垓 150","code":60029,"reason":"VERIFY_FAIL"}"#,
    ]))
    .unwrap();
    let mark = marks.iter().next().unwrap();
    assert_eq!(mark.model, "https://huggingface.co/Org/Model");
    assert_eq!(mark.key.as_str(), "org/model");
    assert_eq!(mark.gpu.as_str(), "Iluvatar_bi-150");
    assert_eq!(mark.code, 60029);
    assert_eq!(mark.reason.as_deref(), Some("VERIFY_FAIL"));
    assert_eq!(mark.date.as_deref(), Some("2026-10-17"));
}

#[test]
fn marks_are_written_sorted_and_unknown_fields_kept_in_order() {
    let marks = parse(&file(&[
        r#"{"z":1.50,"model":"b/x","a":{"d":1,"c":[2]},"gpu":"Biren_166m","code":60027}"#,
        r#"{"model":"B/x","gpu":"Iluvatar_bi-150","code":60027,"reason":null}"#,
        r#"{"model":"a/y","gpu":"Biren_166m","code":60028}"#,
        r#"{"model":"A/x","gpu":"Biren_166m","code":60028}"#,
    ]))
    .unwrap();
    let text = marks.to_text().unwrap();
    let models: Vec<_> = text
        .lines()
        .filter(|line| line.contains("\"model\""))
        .map(|line| line.trim().trim_start_matches("\"model\": "))
        .collect();
    assert_eq!(models, ["\"A/x\",", "\"a/y\",", "\"b/x\",", "\"B/x\","]);
    let kept = concat!(
        "      \"model\": \"b/x\",\n      \"gpu\": \"Biren_166m\",\n      \"code\": 60027,\n",
        "      \"z\": 1.50,\n      \"a\": {\"d\":1,\"c\":[2]}\n    },\n",
    );
    assert!(text.contains(kept), "{text}");
    assert!(text.ends_with("]\n}\n"), "{text}");
    assert_eq!(parse(&text).unwrap().to_text().unwrap(), text);
}

#[test]
fn the_first_mark_of_a_pair_counts() {
    let marks = parse(&file(&[
        GOOD,
        r#"{"model":"https://hf-mirror.com/org/model","gpu":"壁砺","code":60022}"#,
    ]))
    .unwrap();
    assert_eq!(marks.len(), 1);
    assert_eq!(marks.iter().next().unwrap().code, 60027);
}

#[test]
fn only_a_new_pair_is_added() {
    let mut marks = parse(&file(&[GOOD])).unwrap();
    let biren = Gpu::verbatim("Biren_166m");
    let known = ModelId::parse("org/MODEL").unwrap();
    let new = ModelId::parse("Org/New").unwrap();
    assert!(!marks.insert_if_new(&known, &biren, 60022, "R", "2026-11-01"));
    assert!(marks.insert_if_new(&new, &biren, 60022, "R", "2026-11-01"));
    assert!(!marks.insert_if_new(&new, &biren, 60023, "R", "2026-11-01"));
    assert_eq!(marks.len(), 2);
    let text = marks.to_text().unwrap();
    let added = "\"model\": \"Org/New\",\n      \"gpu\": \"Biren_166m\",\n      \"code\": 60022,\n      \
                 \"reason\": \"R\",\n      \"date\": \"2026-11-01\"\n";
    assert!(text.contains(added), "{text}");
}

#[test]
fn an_empty_file_can_be_made() {
    let marks = MarksFile::default();
    assert!(marks.is_empty());
    let text = marks.to_text().unwrap();
    assert_eq!(text, "{\n  \"version\": 1,\n  \"marks\": []\n}\n");
    assert_eq!(parse(&text).unwrap().len(), 0);
}

#[test]
fn one_bad_mark_refuses_the_file_and_names_the_place() {
    for (row, says) in [
        (r#"{"model":"a/b","gpu":"A_100","code":1}"#, "the card \"A_100\" is not in"),
        (r#"{"model":"a/b","gpu":"","code":1}"#, "the card \"\" is not in"),
        (r#"{"model":" ","gpu":"Biren_166m","code":1}"#, "the model \" \": the model is blank"),
        (r#"{"model":"gpt2","gpu":"Biren_166m","code":1}"#, "the model \"gpt2\": no owner"),
        (r#"{"model":"a/b c","gpu":"Biren_166m","code":1}"#, "the model \"a/b c\": a blank"),
        (r#"{"model":"<a>/b","gpu":"Biren_166m","code":1}"#, "the model \"<a>/b\": a placeholder"),
        (r#"{"model":null,"gpu":"Biren_166m","code":1}"#, "invalid type: null"),
        (r#"{"gpu":"Biren_166m","code":1}"#, "missing field `model`"),
        (r#"{"model":"a/b","code":1}"#, "missing field `gpu`"),
        (r#"{"model":"a/b","gpu":"Biren_166m"}"#, "missing field `code`"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":"60027"}"#, "invalid type: string"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":60027.0}"#, "invalid type: floating"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":-1}"#, "invalid value: integer `-1`"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":null}"#, "invalid type: null"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":1,"date":7}"#, "invalid type: integer"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":1,"code":2}"#, "\"code\" is there twice"),
        (r#"{"model":"a/b","gpu":"Biren_166m","code":1,"x":1,"x":2}"#, "\"x\" is there twice"),
        (r#"["a/b","Biren_166m",1]"#, "invalid type: sequence, expected a mark"),
        ("null", "invalid type: null, expected a mark"),
    ] {
        let error = parse(&file(&[GOOD, row])).unwrap_err();
        assert!(error.starts_with(&format!("marks[1]: {says}")), "{error}");
    }
}

#[test]
fn a_file_of_another_shape_is_refused() {
    for (text, says) in [
        ("", "line 1"),
        ("\0\0\0", "line 1"),
        ("[]", "a list where an object"),
        ("[1,[]]", "a list where an object"),
        (r#"{"version":1,"marks":[]} x"#, "trailing characters"),
        (r#"{"version":2,"marks":[]}"#, "version 2 where 1 is known"),
        (r#"{"version":"1","marks":[]}"#, "invalid type: string"),
        (r#"{"marks":[]}"#, "missing field `version`"),
        (r#"{"version":1}"#, "missing field `marks`"),
        (r#"{"version":1,"marks":{}}"#, "invalid type: map"),
        (r#"{"version":1,"marks":null}"#, "invalid type: null"),
        (r#"{"version":1,"marks":[],"more":1}"#, "unknown field `more`"),
        (r#"{"version":1,"marks":[{"model":"a/b""#, "marks[0]: EOF"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
}
