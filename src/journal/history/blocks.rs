//! Pairs that the platform will not take, for good or for a time.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Horizon;
use crate::codes::{self, Class};
use crate::pair::Pair;

/// How long a precheck's "being verified" blocks a pair, in seconds.
const VERIFY_RUNNING_SECONDS: u64 = 24 * 3_600;

/// Why a pair is not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The platform's code.
    pub code: i64,
    /// When it was said, in seconds since 1970.
    pub at: u64,
    /// For how long it holds.
    pub kind: BlockKind,
}

/// For how long a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// The platform will never take the pair.
    ForGood,
    /// A rejection that may pass.
    CoolDown,
    /// A precheck said that somebody's task is being verified.
    BeingVerified,
}

impl Block {
    /// What a rejection by task/add leaves; nothing where its code is not about the pair.
    #[must_use]
    pub fn of_rejection(code: i64, at: u64) -> Option<Self> {
        let kind = match codes::class(code) {
            Class::Permanent => BlockKind::ForGood,
            Class::CoolDown => BlockKind::CoolDown,
            _ => return None,
        };
        Some(Self { code, at, kind })
    }

    /// What a precheck leaves.
    #[must_use]
    pub fn of_precheck(code: i64, at: u64) -> Self {
        let running = code == codes::VERIFY_RUNNING;
        let kind = if running { BlockKind::BeingVerified } else { BlockKind::ForGood };
        Self { code, at, kind }
    }

    /// When it ends, in seconds since 1970; none: never.
    #[must_use]
    pub fn until(&self, horizon: &Horizon) -> Option<u64> {
        self.seconds(horizon).map(|seconds| self.at.saturating_add(seconds))
    }

    fn seconds(&self, horizon: &Horizon) -> Option<u64> {
        match self.kind {
            BlockKind::ForGood => None,
            BlockKind::CoolDown => Some(horizon.cooldown),
            BlockKind::BeingVerified => Some(VERIFY_RUNNING_SECONDS),
        }
    }

    /// Whether it holds now.
    #[must_use]
    pub fn is_in_force(&self, horizon: &Horizon) -> bool {
        self.seconds(horizon).is_none_or(|seconds| horizon.is_within(self.at, seconds))
    }
}

/// All blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blocks(HashMap<Pair, Block>);

impl Blocks {
    /// Adds one. What is for good stays.
    pub fn add(&mut self, pair: Pair, block: Block) {
        let known = self.0.entry(pair).or_insert(block);
        if known.kind != BlockKind::ForGood {
            *known = block;
        }
    }

    /// The code for which a pair is not to be tried now.
    #[must_use]
    pub fn code(&self, pair: &Pair, horizon: &Horizon) -> Option<i64> {
        self.0.get(pair).filter(|block| block.is_in_force(horizon)).map(|block| block.code)
    }

    /// What is known of a pair, whether in force or not.
    #[must_use]
    pub fn get(&self, pair: &Pair) -> Option<&Block> {
        self.0.get(pair)
    }

    /// How many are in force.
    #[must_use]
    pub fn count(&self, horizon: &Horizon) -> usize {
        self.0.values().filter(|block| block.is_in_force(horizon)).count()
    }

    /// Times of those that end.
    pub fn passing(&self) -> impl Iterator<Item = u64> {
        self.0.values().filter(|block| block.kind != BlockKind::ForGood).map(|block| block.at)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Pair, &Block)> {
        self.0.iter()
    }
}
