use std::ffi::OsString;
use std::path::PathBuf;

use super::*;

const MARKER: &str = "marker-7f3a";

fn env(pairs: &[(&str, &str)]) -> Env {
    Env::from_pairs(pairs.iter().copied())
}

fn refusal(pairs: &[(&str, &str)]) -> Refused {
    choose(&env(pairs), None).unwrap_err()
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("token");
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

#[test]
fn sources_are_asked_in_order() {
    let (_dir, path) = file(b"from-file\n");
    let mut pairs = vec![
        ("EXTERNAL_SERVICE_TOKEN", "first"),
        ("XC_TOKEN_FILE", path.to_str().unwrap()),
        ("XC_TOKEN", "third"),
        ("MODELHUB_XC_TOKEN", "fourth"),
    ];
    for token in ["first", "from-file", "third", "fourth"] {
        let chosen = choose(&env(&pairs), None).unwrap();
        assert_eq!((chosen.token.expose(), chosen.source), (token, pairs[0].0));
        pairs.remove(0);
    }
    let refused = choose(&env(&pairs), None).unwrap_err();
    assert_eq!(refused.reason, Reason::MissingToken);
    assert_eq!(
        refused.token_probe(),
        "EXTERNAL_SERVICE_TOKEN=absent XC_TOKEN_FILE=absent XC_TOKEN=absent \
         MODELHUB_XC_TOKEN=absent"
    );
}

#[test]
fn blank_and_placeholder_are_passed_over() {
    let (_dir, blank) = file(b"\xef\xbb\xbf \r\n\n");
    let pairs = [
        ("EXTERNAL_SERVICE_TOKEN", " \t"),
        ("XC_TOKEN_FILE", blank.to_str().unwrap()),
        ("XC_TOKEN", "<your token>"),
        ("MODELHUB_XC_TOKEN", "good"),
    ];
    let chosen = choose(&env(&pairs), None).unwrap();
    assert_eq!((chosen.token.expose(), chosen.source), ("good", "MODELHUB_XC_TOKEN"));
    assert_eq!(
        refusal(&pairs[..3]).token_probe(),
        "EXTERNAL_SERVICE_TOKEN=blank XC_TOKEN_FILE=blank XC_TOKEN=placeholder \
         MODELHUB_XC_TOKEN=absent"
    );
    for value in ["<", "token>", "\"<token>\""] {
        let refused = refusal(&[("XC_TOKEN", value)]);
        assert_eq!(refused.states[2], State::Placeholder, "{value}");
    }
    assert_eq!(refusal(&[("XC_TOKEN_FILE", "<path>")]).states[1], State::Placeholder);
    assert_eq!(refusal(&[("XC_TOKEN_FILE", " ")]).states[1], State::Blank);
}

/// The next source might hold another account's credential.
#[test]
fn malformed_and_unreadable_stop_the_search() {
    let refused = refusal(&[("EXTERNAL_SERVICE_TOKEN", "a b"), ("XC_TOKEN", "good")]);
    assert_eq!(refused.reason, Reason::InvalidToken);
    assert_eq!(
        refused.token_probe(),
        "EXTERNAL_SERVICE_TOKEN=malformed XC_TOKEN_FILE=not_read XC_TOKEN=not_read \
         MODELHUB_XC_TOKEN=not_read"
    );
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let folder = io::ErrorKind::IsADirectory.to_string();
    for (path, kind) in [(missing.as_path(), "no such file"), (dir.path(), folder.as_str())] {
        let refused = refusal(&[("XC_TOKEN_FILE", path.to_str().unwrap()), ("XC_TOKEN", "good")]);
        assert_eq!(refused.reason, Reason::InvalidToken);
        assert_eq!(
            refused.token_probe(),
            "EXTERNAL_SERVICE_TOKEN=absent XC_TOKEN_FILE=unreadable XC_TOKEN=not_read \
             MODELHUB_XC_TOKEN=not_read"
        );
        assert!(refused.detail.contains(kind), "{}", refused.detail);
    }
}

/// K06: `--env-file` and friends leave the quotes in.
#[test]
fn k06_a_quoted_token_is_refused_in_words() {
    assert_eq!(
        refusal(&[("XC_TOKEN", "\"abc\"")]).detail,
        "XC_TOKEN begins with a quote: remove the quotes"
    );
    for (value, says) in [
        ("'abc'", "XC_TOKEN begins with a quote"),
        ("abc\"", "XC_TOKEN ends with a quote"),
        ("\"\"", "XC_TOKEN begins with a quote"),
        ("ab\u{1}c", "XC_TOKEN contains a control character"),
        ("ab\u{7f}c", "XC_TOKEN contains a control character"),
        ("ab c", "XC_TOKEN contains white space inside"),
        ("ab\nc", "XC_TOKEN contains white space inside"),
        ("ab\u{a0}c", "XC_TOKEN contains white space inside"),
        ("“abc”", "XC_TOKEN contains characters outside ASCII"),
        ("\u{feff}abc", "XC_TOKEN contains characters outside ASCII"),
    ] {
        let refused = refusal(&[("XC_TOKEN", value)]);
        assert_eq!(refused.states[2], State::Malformed, "{value:?}");
        assert!(refused.detail.starts_with(says), "{}", refused.detail);
    }
    let refused = refusal(&[("XC_TOKEN_FILE", "\"/no/such/file\"")]);
    assert!(refused.detail.contains("begins with a quote"));
    assert_eq!(Hold::from(refused).reason.exit(), crate::exit::Exit::Credential);
}

#[test]
fn outer_white_space_is_not_part_of_a_token() {
    let chosen = choose(&env(&[("XC_TOKEN", " abc\r\n")]), None).unwrap();
    assert_eq!(chosen.token.expose(), "abc");
    for bytes in [&b"abc"[..], b"abc\n", b"abc\r\n\n", b"\xef\xbb\xbfabc\n", b"  abc  "] {
        let (_dir, path) = file(bytes);
        let chosen = choose(&env(&[]), Some(&path)).unwrap();
        assert_eq!(chosen.token.expose(), "abc");
    }
}

#[test]
fn a_file_that_is_no_token_is_malformed() {
    let mut full = vec![b'a'; 64 * 1024];
    let (_dir, path) = file(&full);
    assert!(choose(&env(&[]), Some(&path)).is_ok());
    full.push(b'\n');
    for (bytes, says) in [
        (&full[..], "larger than 64 KiB"),
        (b"abc\xff", "not UTF-8"),
        (b"abc\ndef\n", "white space inside"),
        (b"'abc'\n", "begins with a quote"),
        (b"abc\0", "control character"),
    ] {
        let (_dir, path) = file(bytes);
        let refused = refusal(&[("XC_TOKEN_FILE", path.to_str().unwrap())]);
        assert_eq!(refused.states[1], State::Malformed, "{says}");
        assert!(refused.detail.contains(says), "{}", refused.detail);
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8_is_malformed() {
    use std::os::unix::ffi::OsStringExt;
    let value = OsString::from_vec(vec![b'a', 0xff]);
    let env = Env::from_pairs([(OsString::from("XC_TOKEN"), value)]);
    let refused = choose(&env, None).unwrap_err();
    assert_eq!(refused.states[2], State::Malformed);
    assert!(refused.detail.contains("XC_TOKEN is not UTF-8"), "{}", refused.detail);
}

#[test]
fn a_token_file_flag_beats_every_variable() {
    let (_dir, path) = file(b"flag\n");
    let pairs = [("EXTERNAL_SERVICE_TOKEN", "first"), ("XC_TOKEN_FILE", "/no/such/file")];
    let chosen = choose(&env(&pairs), Some(&path)).unwrap();
    assert_eq!((chosen.token.expose(), chosen.source), ("flag", "XC_TOKEN_FILE"));

    // A person named this file: another account's token must not stand in for it.
    for (bytes, reason, state) in [
        (&b"\n"[..], Reason::MissingToken, "blank"),
        (b"<token>", Reason::MissingToken, "placeholder"),
        (b"a b", Reason::InvalidToken, "malformed"),
    ] {
        let (_dir, path) = file(bytes);
        let refused = choose(&env(&pairs), Some(&path)).unwrap_err();
        assert_eq!(refused.reason, reason);
        assert_eq!(
            refused.token_probe(),
            format!(
                "EXTERNAL_SERVICE_TOKEN=not_read XC_TOKEN_FILE={state} XC_TOKEN=not_read \
                 MODELHUB_XC_TOKEN=not_read"
            )
        );
        assert!(refused.detail.contains("--token-file"), "{}", refused.detail);
    }
    let empty = choose(&env(&pairs), Some(Path::new(""))).unwrap_err();
    assert_eq!(empty.states[1], State::Unreadable);
}

#[test]
fn a_token_is_found_in_what_came_from_outside() {
    let token = Token(MARKER.to_owned());
    assert!(token.is_in("org/marker-7f3a-x"));
    assert!(!token.is_in("org/model"));
}

/// N10: neither a good nor a bad credential is in anything that can be printed; nor is one
/// that was put where the path of its file belongs.
#[test]
fn n10_no_debug_text_or_detail_holds_a_token() {
    let chosen = choose(&env(&[("XC_TOKEN", MARKER)]), None).unwrap();
    assert_eq!(chosen.token.expose(), MARKER);
    assert_eq!(format!("{:?}", chosen.token), "Token(..)");
    let mut printed = vec![format!("{chosen:?} {chosen:#?}")];

    let (_dir, path) = file(format!("{MARKER} {MARKER}").as_bytes());
    let quoted = format!("\"{MARKER}\"");
    let spaced = format!("{MARKER} {MARKER}");
    let stand_in = format!("<{MARKER}>");
    for pairs in [
        [("XC_TOKEN", quoted.as_str())],
        [("XC_TOKEN", spaced.as_str())],
        [("XC_TOKEN", stand_in.as_str())],
        [("XC_TOKEN_FILE", path.to_str().unwrap())],
        [("XC_TOKEN_FILE", MARKER)],
    ] {
        let env = env(&pairs);
        let refused = choose(&env, None).unwrap_err();
        printed.extend([format!("{env:?} {refused:?}"), refused.token_probe()]);
        printed.push(format!("{:?}", Hold::from(refused)));
    }
    let refused = choose(&env(&[]), Some(Path::new(MARKER))).unwrap_err();
    printed.push(format!("{refused:?}"));
    let printed = printed.join("\n");
    assert!(!printed.contains("marker"), "{printed}");
}

#[test]
fn an_empty_file_and_a_missing_one_are_told_as_what_they_are() {
    let (dir, empty) = file(b"");
    let said = |path: &Path| refusal(&[("XC_TOKEN_FILE", path.to_str().unwrap())]).detail;
    assert_eq!(said(&empty), "the file that XC_TOKEN_FILE names is empty: put the token into it");
    let missing = said(&dir.path().join("missing"));
    assert!(missing.contains("cannot be read (no such file): "), "{missing}");
}
