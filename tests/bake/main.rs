//! Lists of candidates and of taken pairs, from the files that people keep to a run that uses
//! them, with the real binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test should stop where it stands, and it has a clock of its own"
)]

#[path = "../platform/mod.rs"]
mod platform;

#[path = "../cycle/kit.rs"]
#[allow(dead_code, reason = "the cycle's tests use the rest of it")]
mod kit;

mod candidates;
mod ledger;
mod pending;

use std::path::{Path, PathBuf};

/// A worked example that the documentation points to.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

fn example_text(name: &str) -> String {
    std::fs::read_to_string(example(name)).unwrap()
}

/// The planned submissions of a dry run, as `model gpu`.
fn planned(ended: &kit::Ended) -> Vec<String> {
    let field = |line: &str, name: &str| {
        let (_, rest) = line.split_once(name).unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    ended
        .lines("[live] plan ")
        .map(|line| format!("{} {}", field(line, " model="), field(line, " gpu=")))
        .collect()
}
