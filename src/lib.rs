//! `submitter` submits model verification tasks to `ModelHub` XC: one run is one cycle, and no
//! (model, GPU) pair is ever sent twice.

pub mod access;
pub mod account;
pub mod api;
pub mod bake;
pub mod check;
pub mod cli;
pub mod clock;
pub mod codes;
pub mod command;
pub mod cycle;
pub mod disk;
pub mod env;
pub mod exit;
pub mod flags;
pub mod gate;
pub mod gpu;
pub mod journal;
mod json;
pub mod ledger;
pub mod logger;
pub mod marks;
pub mod operator;
pub mod pair;
pub mod pause;
pub mod ping;
pub mod plan;
pub mod remote;
pub mod report;
pub mod rules;
pub mod run;
pub mod secret;
pub mod settings;
pub mod sources;
pub mod submit;
pub mod sync_marks;
pub mod text;
