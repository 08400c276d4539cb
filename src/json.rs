//! What all our own JSON files share: version 1, and errors that name the element of a list.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Reads the text of a data file.
///
/// # Errors
/// The place and the reason. A list is refused: serde would read one as an object of its values.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    let begins = text.trim_start();
    if begins.starts_with('[') {
        let line = text[..text.len() - begins.len()].matches('\n').count() + 1;
        let what = "a list where an object is expected, {\"version\": 1, ...}";
        return Err(format!("line {line}: {what}"));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Reads the `version` of a data file, for `deserialize_with`.
///
/// # Errors
/// Any other version than 1: a later one may mean something else by the same keys.
pub(crate) fn version_1<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match u64::deserialize(deserializer)? {
        1 => Ok(()),
        other => Err(D::Error::custom(format_args!("version {other} where 1 is known"))),
    }
}

/// A JSON list with an element a line, indented to stand in a top-level key: a change of one
/// element is a change of one line.
///
/// # Errors
/// An element that cannot be serialised.
pub(crate) fn lines<T: Serialize>(elements: &[T]) -> Result<String, serde_json::Error> {
    let rows: Result<Vec<String>, _> = elements.iter().map(serde_json::to_string).collect();
    let rows = rows?;
    Ok(if rows.is_empty() {
        "[]".to_owned()
    } else {
        format!("[\n    {}\n  ]", rows.join(",\n    "))
    })
}

/// Reads a list of `T`, for `deserialize_with`.
///
/// # Errors
/// An element that is no `T`, as `name[7]: ...`; line and column stay at the end.
pub(crate) fn list<'de, D, T>(deserializer: D, name: &'static str) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(List(name, PhantomData))
}

struct List<T>(&'static str, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the list {:?}", self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        loop {
            match seq.next_element() {
                Ok(Some(row)) => rows.push(row),
                Ok(None) => return Ok(rows),
                Err(error) => {
                    let place = format_args!("{}[{}]: {error}", self.0, rows.len()).to_string();
                    return Err(A::Error::custom(place));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        #[serde(rename = "version", deserialize_with = "version_1")]
        _version: (),
        #[serde(deserialize_with = "numbers")]
        numbers: Vec<u8>,
    }

    fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        list(deserializer, "numbers")
    }

    fn error(text: &str) -> String {
        serde_json::from_str::<File>(text).unwrap_err().to_string()
    }

    #[test]
    fn a_list_is_no_file_of_ours() {
        for parse in [
            |text: &str| crate::rules::Rules::parse(text).map(drop),
            |text: &str| crate::gpu::Catalog::parse(text).map(drop),
            |text: &str| crate::sources::candidates::parse(text).map(drop),
        ] {
            assert!(parse(" [1,[]]").unwrap_err().contains("a list where an object"));
        }
    }

    #[test]
    fn a_list_is_read_whole() {
        let file: File = serde_json::from_str(r#"{"version":1,"numbers":[3,2,1]}"#).unwrap();
        assert_eq!(file.numbers, [3, 2, 1]);
    }

    #[test]
    fn an_error_names_the_element_and_the_line() {
        let says = error("{\"version\":1,\n\"numbers\":[1,\n2,\"x\"]}");
        assert!(says.starts_with("numbers[2]: invalid type: string"), "{says}");
        assert!(says.contains("at line 3 column"), "{says}");
        assert_eq!(says.matches("at line").count(), 1, "{says}");
    }

    #[test]
    fn only_version_1_is_read() {
        for (version, says) in [
            ("2", "version 2 where 1 is known"),
            ("\"1\"", "invalid type: string"),
            ("1.0", "invalid type: floating point"),
            ("-1", "invalid value"),
            ("null", "invalid type: null"),
        ] {
            let error = error(&format!("{{\"version\":{version},\"numbers\":[]}}"));
            assert!(error.contains(says), "{error}");
        }
        assert!(error(r#"{"numbers":[]}"#).contains("missing field `version`"));
    }
}
