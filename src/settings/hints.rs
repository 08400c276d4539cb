//! What other systems say of the queue. A hint can only block further, and one that cannot be
//! read blocks.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;

use super::read::{Given, digits};
use crate::env::Env;

/// Bytes of a snapshot file; one number needs a few.
const MAX_FILE: u64 = 64 * 1024;

/// A second opinion on how many tasks are unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The variable that gave it.
    pub source: &'static str,
    /// Unfinished tasks; `None` where the hint cannot be read, which blocks submission.
    pub depth: Option<u64>,
    /// Why it cannot be read and what to do; empty where it can.
    pub detail: String,
}

impl Hint {
    fn new(source: &'static str, read: Result<u64, String>) -> Self {
        let (depth, detail) = match read {
            Ok(depth) => (Some(depth), String::new()),
            Err(detail) => (None, detail),
        };
        Self { source, depth, detail }
    }
}

#[derive(Deserialize)]
struct Snapshot {
    queue: u64,
}

/// The hints that are given, each read now; `read_file` reads a snapshot file.
pub(super) fn read(env: &Env, read_file: &dyn Fn(&Path) -> io::Result<String>) -> Vec<Hint> {
    let mut hints = Vec::new();
    if let Some(given) = Given::variable(env, "ASYNC_QUEUE_DEPTH") {
        let depth = given.digits();
        let depth = depth.ok_or_else(|| given.wrong("a whole number, or unset"));
        hints.push(Hint::new(given.origin, depth));
    }
    if let Some(given) = Given::variable(env, "QUEUE_SNAPSHOT_JSON") {
        hints.push(Hint::new(given.origin, snapshot(&given, read_file)));
    }
    hints
}

fn snapshot(
    given: &Given<'_>,
    read_file: &dyn Fn(&Path) -> io::Result<String>,
) -> Result<u64, String> {
    const MUST_BE: &str = "{\"queue\":N}, N, or the path of a file with one of them";
    if let Some(text) = given.raw.to_str().map(str::trim) {
        // Anything that is JSON is meant inline, also where it is not what it should be.
        let inline = text.starts_with('{')
            || digits::<u64>(text).is_some()
            || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if inline {
            return depth(text).ok_or_else(|| given.wrong(MUST_BE));
        }
    }
    let path = Path::new(given.raw);
    let (origin, shown) = (given.origin, path.to_string_lossy());
    match read_file(path) {
        Ok(text) => depth(text.trim_start_matches('\u{feff}')).ok_or_else(|| {
            format!(
                "{origin}: {shown:?} holds neither {{\"queue\":N}} nor N: write it anew or unset \
                 {origin}"
            )
        }),
        Err(error) => Err(format!(
            "{origin}: cannot read {shown:?} ({}): write it or unset {origin}",
            error.kind()
        )),
    }
}

fn depth(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.starts_with('{') {
        let snapshot: Snapshot = serde_json::from_str(text).ok()?;
        return Some(snapshot.queue);
    }
    digits(text)
}

/// Reads a snapshot file of at most 64 KiB.
///
/// # Errors
/// Those of opening and reading; `InvalidData` where it is larger or not UTF-8.
pub fn read_snapshot_file(path: &Path) -> io::Result<String> {
    crate::disk::require_regular(path)?;
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &str, file: &dyn Fn(&Path) -> io::Result<String>) -> Hint {
        let mut hints = read(&Env::from_pairs([(name, value)]), file);
        assert_eq!(hints.len(), 1);
        hints.remove(0)
    }

    fn no_file(path: &Path) -> io::Result<String> {
        panic!("{path:?} was read");
    }

    #[test]
    fn no_hint_is_given_by_unset_and_empty_variables() {
        assert_eq!(read(&Env::default(), &no_file), []);
        let env = Env::from_pairs([("ASYNC_QUEUE_DEPTH", ""), ("QUEUE_SNAPSHOT_JSON", "")]);
        assert_eq!(read(&env, &no_file), []);
    }

    #[test]
    fn a_depth_is_digits_and_anything_else_blocks() {
        let hint = one("ASYNC_QUEUE_DEPTH", "12", &no_file);
        assert_eq!((hint.source, hint.depth), ("ASYNC_QUEUE_DEPTH", Some(12)));
        assert_eq!(hint.detail, "");
        for odd in ["-1", "+1", " 1", "1e3", "many", "99999999999999999999"] {
            let hint = one("ASYNC_QUEUE_DEPTH", odd, &no_file);
            assert_eq!(hint.depth, None, "{odd}");
            assert!(hint.detail.contains("ASYNC_QUEUE_DEPTH"));
        }
    }

    #[test]
    fn an_inline_snapshot_is_an_object_or_a_number() {
        for (text, depth) in [
            (r#"{"queue":7}"#, Some(7)),
            (r#" {"queue": 7, "at": "now"} "#, Some(7)),
            ("7", Some(7)),
            ("0", Some(0)),
            (r#"{"queue":"7"}"#, None),
            (r#"{"queue":7.0}"#, None),
            (r#"{"queue":-7}"#, None),
            (r#"{"queue":1,"queue":7}"#, None),
            (r#"{"depth":7}"#, None),
            (r#"{"queue":7"#, None),
            ("{}", None),
            ("[7]", None),
            ("-7", None),
            ("1e3", None),
            ("null", None),
            (r#""/queue.json""#, None),
            ("99999999999999999999", None),
        ] {
            let hint = one("QUEUE_SNAPSHOT_JSON", text, &no_file);
            assert_eq!(hint.depth, depth, "{text}");
            assert_eq!(hint.detail.is_empty(), depth.is_some(), "{text}");
        }
    }

    #[test]
    fn a_snapshot_may_be_a_file_and_an_illegible_one_blocks() {
        for (content, depth) in [
            ("\u{feff}{\"queue\":96}\n", Some(96)),
            ("96\n", Some(96)),
            ("", None),
            ("<html>", None),
        ] {
            let hint = one("QUEUE_SNAPSHOT_JSON", "/run/queue.json", &|path| {
                assert_eq!(path, Path::new("/run/queue.json"));
                Ok(content.to_owned())
            });
            assert_eq!(hint.depth, depth, "{content:?}");
        }
        let hint =
            one("QUEUE_SNAPSHOT_JSON", "/run/queue.json", &|_| Err(io::ErrorKind::NotFound.into()));
        assert_eq!(hint.depth, None);
        assert_eq!(
            hint.detail,
            "QUEUE_SNAPSHOT_JSON: cannot read \"/run/queue.json\" (entity not found): \
             write it or unset QUEUE_SNAPSHOT_JSON"
        );
    }

    #[test]
    fn a_snapshot_file_is_read_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("queue.json");
        std::fs::write(&path, "5\n").unwrap();
        assert_eq!(read_snapshot_file(&path).unwrap(), "5\n");
        std::fs::write(&path, vec![b'5'; 64 * 1024 + 1]).unwrap();
        let error = read_snapshot_file(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = read_snapshot_file(dir.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
