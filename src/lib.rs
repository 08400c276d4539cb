//! `submitter` submits model verification tasks to `ModelHub` XC: one run is one cycle, and no
//! (model, GPU) pair is ever sent twice.

pub mod codes;
pub mod env;
pub mod exit;
pub mod gpu;
mod json;
pub mod marks;
pub mod pair;
pub mod rules;
pub mod secret;
pub mod sources;
