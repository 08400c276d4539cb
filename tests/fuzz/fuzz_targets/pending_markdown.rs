//! Candidates as Markdown tables.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter_fuzz::pending::{Kind, check};

fuzz_target!(|text: &str| {
    let _ = check(Kind::Markdown, text);
});
