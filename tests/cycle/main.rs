//! Behaviour of the real binary against the simulated platform, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test should stop where it stands, and it has a clock of its own"
)]

#[path = "../platform/mod.rs"]
mod platform;

mod account;
mod ahead;
mod answers;
mod caps;
mod check;
mod config;
mod crash;
mod credential;
mod dry_run;
mod explain;
mod happy;
mod hourly;
mod kit;
mod lists;
mod lists_refused;
mod logs;
mod marks;
mod missing;
mod pausing;
mod payloads;
mod pings;
mod queue;
mod readme;
mod reads;
mod refusals;
mod regressions;
mod reporting;
mod rows;
mod schedulers;
mod secrets;
mod settling;
mod signals;
mod slices;
mod status;
mod sweep;
mod taken;
mod terminal;
mod transport;
mod units;
