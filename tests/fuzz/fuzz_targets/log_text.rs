//! Log lines: no value, wherever it stands, may forge a field, a line, or evidence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::pair::ModelId;
use submitter::report::{Action, Decision};
use submitter::sync_marks::line;
use submitter::text::{Field, Quoted, Sentence};
use submitter_fuzz::{assert_one_plain_line, catalog};

fuzz_target!(|text: &str| {
    let field = Field(text).to_string();
    assert!(!field.is_empty());
    assert!(!field.contains(|c: char| c.is_whitespace() || c.is_control() || "=\"'".contains(c)));
    assert_eq!(unescaped(&field), if text.is_empty() { "-" } else { text });

    let quoted = Quoted(text).to_string();
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("quotes");
    assert!(!inner.contains('"'), "{quoted}");
    let sentence = Sentence(text).to_string();
    for told in [inner, sentence.as_str()] {
        assert!(!told.contains('=') && !told.contains("[live]"), "{told}");
        assert!(told.chars().all(|c| c == ' ' || !c.is_whitespace() && !c.is_control()), "{told}");
        let hold = format!("[live] hold {told}");
        assert_eq!(line::parse(hold.as_bytes(), catalog()), None, "{hold}");
    }

    let decision = |action| Decision {
        model: Some(text.to_owned()),
        gpu: Some("Biren_166m".to_owned()),
        code: Some(60_022),
        detail: text.to_owned(),
        ..Decision::new(action, "marked:precheck_60027")
    };
    for action in [Action::Submitted, Action::InDoubt, Action::Plan, Action::Hold] {
        let line = decision(action).to_string();
        assert_one_plain_line(&line);
        assert_eq!(line::parse(line.as_bytes(), catalog()), None, "{line}");
    }
    for action in [Action::Rejected, Action::Skip] {
        let told = decision(action).to_string();
        assert_one_plain_line(&told);
        // A name that had to be escaped, or that is no id, is no evidence.
        let expected = ModelId::parse(text).ok().filter(|_| field == text);
        let found = line::parse(told.as_bytes(), catalog());
        assert_eq!(found.map(|found| found.model), expected, "{told}");

        let elsewhere = Decision {
            model: Some("org/model".to_owned()),
            gpu: Some(text.to_owned()),
            ..decision(action)
        };
        let told = elsewhere.to_string();
        assert_one_plain_line(&told);
        let found = line::parse(told.as_bytes(), catalog()).map(|found| found.gpu);
        let expected = catalog().find(text).filter(|_| field == text);
        assert_eq!(found.as_ref(), expected, "{told}");
    }
    let reason = Decision { model: Some("a/b".to_owned()), ..Decision::new(Action::Skip, text) };
    let told = reason.to_string();
    assert_one_plain_line(&told);
    assert_eq!(line::parse(told.as_bytes(), catalog()), None, "{told}");
});

/// The text behind `\u{hex}`.
fn unescaped(shown: &str) -> String {
    let mut parts = shown.split("\\u{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hex, rest) = part.split_once('}').expect("an escape ends");
        let code = u32::from_str_radix(hex, 16).expect("hex");
        text.push(char::from_u32(code).expect("a character"));
        text.push_str(rest);
    }
    text
}
