//! Behaviour of the real binary against the simulated platform, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test should stop where it stands, and it has a clock of its own"
)]

#[path = "../platform/mod.rs"]
mod platform;

mod happy;
mod kit;
mod slices;
