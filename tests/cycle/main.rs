//! Behaviour of the real binary against the simulated platform, over real sockets.

#[path = "../platform/mod.rs"]
mod platform;

mod happy;
mod kit;
