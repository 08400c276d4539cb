//! `candidates.json`: what is read is what is written, and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::exit::{Hold, Reason};
use submitter::sources::candidates;
use submitter_fuzz::assert_told_safely;

fuzz_target!(|text: &str| {
    let rows = match candidates::parse(text) {
        Ok(rows) => rows,
        Err(why) => return assert_told_safely(&Hold::because(Reason::CandidateReadFailed, why)),
    };
    for row in &rows {
        let blank = |text: &String| text.trim().is_empty();
        assert!(!blank(&row.framework) && !blank(&row.task_type));
        assert!(!row.cards.iter().flatten().any(blank));
        let texts = [&row.name, &row.foothold_text, &row.evidence_source, &row.skip_reason];
        assert!(!texts.into_iter().flatten().any(blank));
    }
    let written = candidates::to_text(&rows).expect("written");
    assert_eq!(candidates::parse(&written).as_ref(), Ok(&rows), "{written}");
});
