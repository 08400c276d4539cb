use super::*;
use crate::gpu::Gpu;

fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../../data/gpus.json")).unwrap()
}

fn page(data: &str) -> Result<TaskPage, ReadError> {
    task_page(format!(r#"{{"code":0,"message":"secret words","data":{data}}}"#).as_bytes())
}

const ROW: &str = r#"{"taskId":"33260","modelId":"Org/Model","gpuType":"壁砺","status":" Waiting ",
    "verifyResult":"1","points":"2.5","author":{"name":"x"},"tags":[1,{"a":null}]}"#;

/// P07: int64 arrives as strings, int32 as numbers, and either may be either.
#[test]
fn p07_numbers_are_read_as_numbers_or_digit_strings() {
    for (total, size) in [("1", "100"), (r#""1""#, "100"), (r#""1""#, r#""100""#)] {
        let read = page(&format!(
            r#"{{"records":[{ROW}],"total":{total},"size":{size},"current":1,"pages":"x"}}"#
        ))
        .unwrap();
        assert_eq!((read.total, read.size, read.current, read.unreadable), (1, 100, 1, 0));
        let expected = TaskRow {
            id: TaskId(33_260),
            model: "Org/Model".into(),
            card: "壁砺".into(),
            status: "waiting".into(),
            verify_result: Some(1),
            points: 2.5,
        };
        assert_eq!(read.rows, [expected]);
    }
    for total in [r#""""#, r#""1e3""#, r#""-1""#, "-1", "20.0", "1e3", "null", r#"" 5""#, "[]"] {
        let error = page(&format!(r#"{{"records":[],"total":{total},"size":1,"current":1}}"#));
        assert!(matches!(error, Err(ReadError::MalformedData(_))), "{total}: {error:?}");
    }
}

/// P09: no records is an empty list only when the total is 0.
#[test]
fn p09_null_records_are_empty_only_where_nothing_should_be() {
    let empty = page(r#"{"records":null,"total":0,"size":1,"current":1}"#).unwrap();
    assert_eq!(empty.rows, []);
    for records in [r#""records":null,"#, ""] {
        let error = page(&format!(r#"{{{records}"total":5,"size":1,"current":1}}"#));
        assert!(matches!(error, Err(ReadError::MalformedData(_))), "{error:?}");
    }
}

#[test]
fn p09_a_record_without_its_fields_is_counted_and_not_dropped() {
    for (field, odd) in [
        ("taskId", "null"),
        ("taskId", "\"x\""),
        ("taskId", "1.5"),
        ("modelId", "\" \""),
        ("modelId", "{}"),
        ("gpuType", "7"),
        ("status", "[]"),
    ] {
        let mut row: serde_json::Value = serde_json::from_str(ROW).unwrap();
        row[field] = serde_json::from_str(odd).unwrap();
        let records = format!("[{ROW},{row},null]");
        let read = page(&format!(r#"{{"records":{records},"total":3,"size":3,"current":1}}"#));
        let read = read.unwrap();
        assert_eq!((read.rows.len(), read.unreadable), (1, 2), "{field} {odd}");
    }
}

#[test]
fn an_answer_is_the_apis_or_says_how_it_is_not() {
    let read = |body: &str| task_page(body.as_bytes()).unwrap_err();
    assert_eq!(read(r#"{"code":50000,"data":"?"}"#), ReadError::Platform(50_000));
    assert!(matches!(read(r#"{"code":"40100"}"#), ReadError::Credential(_)));
    assert!(matches!(read(r#"{"code":40101,"data":null}"#), ReadError::Credential(_)));
    for body in
        ["", "<html>", "[]", "[0,null]", "{}", r#"{"code":null}"#, r#"{"code":0"#, "\u{feff}{}"]
    {
        assert!(matches!(read(body), ReadError::MalformedJson(_)), "{body:?}");
    }
    for data in ["null", "[]", "[1,1,0,[]]", "\"x\"", "{}"] {
        let error = read(&format!(r#"{{"code":"0","data":{data}}}"#));
        assert!(matches!(error, ReadError::MalformedData(_)), "{data}: {error:?}");
    }
}

/// N10: whatever a body holds, no error shows it.
#[test]
fn n10_no_error_quotes_a_body() {
    for body in [
        "MARKER",
        "<html>MARKER</html>",
        r#"{"code":0,"data":{"records":"MARKER","total":1,"size":1,"current":1}}"#,
        r#"{"code":0,"data":{"records":["MARKER"],"total":1,"size":1,"current":1}}"#,
        r#"{"code":0,"data":{"records":[],"total":"MARKER","size":1,"current":1}}"#,
        r#"{"code":0,"data":{"MARKER":1,"MARKER":2}}"#,
        r#"{"code":"MARKER"}"#,
        r#"{"code":7,"message":"MARKER"}"#,
        r#"{"code":0,"data":{"verifyResult":{"MARKER":1,"壁砺":"MARKER"}}}"#,
    ] {
        let errors = [
            task_page(body.as_bytes()).err(),
            precheck(body.as_bytes(), &catalog()).err(),
            build_config(body.as_bytes()).err(),
        ];
        assert!(errors.iter().flatten().count() > 0, "{body}");
        for error in errors.into_iter().flatten() {
            assert!(!format!("{error} {error:?}").contains("MARKER"), "{error:?}");
        }
    }
}

#[test]
fn a_precheck_names_the_cards_that_are_not_free() {
    let read = |rows: &str| {
        let body = format!(r#"{{"code":0,"data":{{"verifyResult":{rows}}}}}"#);
        precheck(body.as_bytes(), &catalog())
    };
    let found = read(
        r#"{"壁砺":{"result":"已验证","records":[{}]},"Sunrise_pt-200-x1":{"result":" 验证中 "},
            "Iluvatar_bi-150":{"result":"验证失败"},"New_x":{"result":5},"A card":null}"#,
    );
    let blocked =
        vec![(Gpu::verbatim("Biren_166m"), 60_027), (Gpu::verbatim("Sunrise_pt-200-x1"), 60_028)];
    assert_eq!(found, Ok(blocked));
    assert_eq!(read("{}"), Ok(vec![]));
    for malformed in
        ["null", "[]", r#"{"壁砺":null}"#, r#"{"壁砺":{}}"#, r#"{"壁砺":{"result":1}}"#]
    {
        let error = read(malformed);
        assert!(matches!(error, Err(ReadError::MalformedData(_))), "{malformed}: {error:?}");
    }
    let unknown = precheck(br#"{"code":40400,"message":"no such model"}"#, &catalog());
    assert_eq!(unknown, Ok(vec![]));
}

#[test]
fn a_build_config_is_a_text_or_an_object_that_holds_one() {
    let read = |data: &str| build_config(format!(r#"{{"code":0,"data":{data}}}"#).as_bytes());
    assert_eq!(read(r#""a: 1""#).unwrap(), "a: 1");
    assert_eq!(read(r#"{"configParams":"a: 1","x":2}"#).unwrap(), "a: 1");
    for malformed in ["null", "5", r#"" ""#, r#"{"configParams":""}"#, "{}", "[]"] {
        assert!(matches!(read(malformed), Err(ReadError::MalformedData(_))), "{malformed}");
    }
}
