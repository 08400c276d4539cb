//! `submitter sync-marks` through the real binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test should stop where it stands, and it has a clock of its own"
)]

#[path = "../platform/mod.rs"]
mod platform;

#[path = "../cycle/kit.rs"]
#[allow(dead_code, clippy::pedantic, reason = "the tests of cycles use the rest, and are linted")]
mod kit;

mod desk;
mod kill;
mod logs;
mod marks;
mod of_a_run;
