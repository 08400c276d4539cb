//! Candidates as text: every line is a candidate, is refused, or is blank or a comment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::sources::Section;
use submitter_fuzz::pending::{Kind, check};

fuzz_target!(|text: &str| {
    let Some(pending) = check(Kind::Text, text) else { return };
    assert!(pending.candidates.iter().all(|row| row.section == Section::B));
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let says_something = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with(['#', '＃'])
    };
    let rows = bare.split(['\n', '\r']).filter(says_something).count();
    assert_eq!(pending.candidates.len() + pending.refused.len(), rows);
});
