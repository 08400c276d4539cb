//! Lives as many seeds of the simulation as are wanted, and tells what they met.
//!
//!     cargo run --release --example simulate -- --seeds 50000
//!     cargo run --release --example simulate -- --seed 17     # one, with its log
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "an example shows its work, and measures its own time"
)]

#[path = "../tests/simulation/model/mod.rs"]
mod model;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use model::{Coverage, KINDS, Lived, live};
use submitter::gpu::Catalog;

/// Simulated cycles with faults; exits with 1 if a promise was broken.
#[derive(Debug, Parser)]
struct Args {
    /// How many lives, of about a dozen cycles each
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// One seed alone, with its log
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let (from, seeds) = match args.seed {
        Some(seed) => {
            env_logger::Builder::new()
                .filter_module("submitter", log::LevelFilter::Debug)
                .format(|line, record| writeln!(line, "{}", record.args()))
                .init();
            (seed, 1)
        }
        None => (args.from, args.seeds),
    };
    let began = Instant::now();
    let (coverage, cycles, broken) = live_all(from, seeds);
    println!("{seeds} lives, {cycles} cycles in {:.1} s", began.elapsed().as_secs_f64());
    for kind in KINDS {
        println!("{:>9}  {kind}", coverage.of(kind));
    }
    let unmet = KINDS.iter().filter(|kind| coverage.of(kind) == 0).count();
    println!("{broken} lives with a broken promise, {unmet} of {} kinds never met", KINDS.len());
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Lives the seeds on all cores: what was met, how many cycles, how many lives broke a promise.
fn live_all(from: u64, seeds: u64) -> (Coverage, u64, u64) {
    let catalog = Catalog::parse(include_str!("../data/gpus.json")).unwrap();
    let next = AtomicU64::new(from);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let work = || {
            let (mut met, mut cycles, mut broken) = (Coverage::default(), 0, 0);
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= from + seeds {
                    return (met, cycles, broken);
                }
                let lived: Lived = live(seed, &catalog);
                met.add(&lived.coverage);
                cycles += lived.cycles;
                if !lived.violations.is_empty() {
                    broken += 1;
                    println!("seed {seed}: {:?} (replay: --seed {seed})", lived.violations);
                }
            }
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut sum = (Coverage::default(), 0, 0);
        for worker in workers {
            let (met, cycles, broken) = worker.join().unwrap();
            sum.0.add(&met);
            sum.1 += cycles;
            sum.2 += broken;
        }
        sum
    })
}
