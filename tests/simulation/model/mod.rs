//! A deterministic simulation: the real cycle, with clock, disk and platform replaced by seeded
//! models behind the traits that production uses.

mod coverage;
mod dice;
mod disk;
mod draw;
mod life;
mod platform;
mod world;

pub(crate) use self::coverage::{Coverage, KINDS};
pub(crate) use self::life::{Lived, live};
