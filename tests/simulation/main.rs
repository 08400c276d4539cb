//! A few thousand lives of the simulation. `cargo run --release --example simulate` lives more.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test should stop where it stands")]

mod model;

use model::{Coverage, KINDS, Lived, live};
use submitter::gpu::Catalog;

const SEEDS: u64 = 1_500;

#[test]
fn no_life_breaks_a_promise_and_every_fault_is_met() {
    let catalog = Catalog::parse(include_str!("../../data/gpus.json")).unwrap();
    let mut met = Coverage::default();
    let mut lived = 0;
    for seed in 0..SEEDS {
        let Lived { coverage, violations, cycles } = live(seed, &catalog);
        assert!(
            violations.is_empty(),
            "seed {seed}: {violations:#?}\nreplay: cargo run --release --example simulate -- --seed {seed}"
        );
        met.add(&coverage);
        lived += cycles;
    }
    assert!(lived > 5 * SEEDS, "{lived} cycles in {SEEDS} lives");
    let missed: Vec<_> = KINDS.iter().filter(|kind| met.of(kind) == 0).collect();
    assert!(missed.is_empty(), "never met: {missed:?}");
}
