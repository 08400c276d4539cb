//! Whole cycles as processes against the simulated platform, beside the way it was done before.
//!
//!     cargo bench --bench cycle
//!
//! Requests are counted by the server, and too many of them are an error; times are only shown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time, prints it, and stops where it is wrong"
)]

mod common;
#[path = "common/old_way.rs"]
mod old_way;
#[path = "../tests/platform/mod.rs"]
mod platform;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use common::{Taken, grouped, head, mib, ms, repeat, row, run};
use platform::{Account, Kind, Platform, Task};

const TOKEN: &str = "token-of-the-simulated-platform";
const CARD: &str = "Biren_166m";
const SUBMISSIONS: usize = 6;

/// Calls this program as the way it was done before, so that its start-up counts too.
const OLD_WAY: &str = "--old-way";

const PAST_TASKS: [usize; 3] = [0, 2_000, 20_000];
const LATENCIES: [u64; 3] = [0, 20, 150];
const PAGE_SIZES: [u64; 2] = [100, 1_000];

/// What is measured more than once is measured again until so much time is used up.
const PATIENCE: Duration = Duration::from_secs(6);
const RUNS: usize = 5;
/// Held runs are short.
const HELD_RUNS: usize = 50;

/// The most requests that a cycle with 2,000 past tasks may take, by page size.
const MOST_REQUESTS: [(u64, usize); 2] = [(100, 40), (1_000, 22)];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some(OLD_WAY) => {
            old_way::cycle(&args[2], TOKEN, CARD, &models());
            ExitCode::SUCCESS
        }
        // `cargo test --all-targets` starts benches too.
        Some("--bench") => compare(),
        _ => ExitCode::SUCCESS,
    }
}

fn models() -> Vec<String> {
    (0..SUBMISSIONS).map(|n| format!("Org/Model-{n}")).collect()
}

fn compare() -> ExitCode {
    let mut too_many = Vec::new();
    head(["past tasks", "ms a request", "old way", "ours, 100 rows a page", "ours, 1,000 rows"]);
    for past in PAST_TASKS {
        let account = account_with(past);
        for latency in LATENCIES {
            let account = account.clone().latency(Duration::from_millis(latency));
            // 1,612 requests, one after the other, would take four minutes.
            let old = (past < 20_000 || latency < 150).then(|| old_way(&account));
            let [small, large] = PAGE_SIZES.map(|size| ours(&account, size));
            let (shown, latency) = (grouped(u32::try_from(past).unwrap()), latency.to_string());
            let old_cell = old.as_ref().map_or("–".into(), Cycle::cell);
            let faster = |ours: &Cycle| ours.cell_beside(old.as_ref());
            row([&shown, &latency, &old_cell, &faster(&small), &faster(&large)]);
            for ((size, most), cycle) in MOST_REQUESTS.iter().zip([small, large]) {
                if past == 2_000 && cycle.requests > *most {
                    too_many.push(format!("{} at {size} rows a page", cycle.requests));
                }
            }
        }
    }
    resources();
    for what in &too_many {
        println!("\nToo many requests: {what}");
    }
    if too_many.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What runs take of this machine, on a platform that answers at once.
fn resources() {
    head(["run", "requests", "wall ms", "CPU ms", "peak MiB"]);
    let show = |name: &str, Cycle { requests, taken }: Cycle| {
        row([&name, &requests, &ms(taken.wall), &ms(taken.cpu), &mib(taken.peak_kib)]);
    };
    for past in PAST_TASKS {
        let account = account_with(past);
        for size in PAGE_SIZES {
            show(&format!("six submissions, {past} past tasks, {size} rows a page"), {
                let folder = Folder::new();
                Cycle::measured(20, || folder.submit(&account, size))
            });
        }
    }
    let full = (0..95).fold(account_with(2_000), |account, n| {
        account.with_task(Task::new(50_000 + n, &format!("Past/Open-{n}"), CARD))
    });
    let folder = Folder::new();
    let held = || folder.fresh().hold(&full, "queue_full");
    show("held: queue_full, 2000 past tasks", Cycle::measured(HELD_RUNS, held));
    let account = account_with(2_000);
    folder.submit(&account, 100);
    let held = || folder.hold(&account, "hourly_cap");
    show("held: hourly_cap", Cycle::measured(HELD_RUNS, held));
}

/// Pairs of the past are distinct, and none is a candidate's.
fn account_with(past: usize) -> Account {
    let past_models: Vec<String> =
        (0..=past / platform::CARDS.len()).map(|n| format!("Past/Model-{n}")).collect();
    let past_models: Vec<&str> = past_models.iter().map(String::as_str).collect();
    Account::new(TOKEN).with_history(past, &past_models)
}

/// One way of running a cycle, as measured.
struct Cycle {
    requests: usize,
    taken: Taken,
}

impl Cycle {
    fn measured(most: usize, mut cycle: impl FnMut() -> (usize, Taken)) -> Self {
        let mut requests = 0;
        let taken = repeat(most, PATIENCE, || {
            let (asked, taken) = cycle();
            requests = asked.max(requests);
            taken
        });
        Self { requests, taken }
    }

    fn cell(&self) -> String {
        let requests = grouped(u32::try_from(self.requests).unwrap());
        format!("{requests} requests, {} ms", ms(self.taken.wall))
    }

    fn cell_beside(&self, old: Option<&Self>) -> String {
        let ratio = |old: &Self| old.taken.wall.as_secs_f64() / self.taken.wall.as_secs_f64();
        let ratio = old.map_or(String::new(), |old| format!(", 1/{:.1}", ratio(old)));
        format!("{}{ratio}", self.cell())
    }
}

fn old_way(account: &Account) -> Cycle {
    // Its own new tasks would make the list a page longer, and it does not need to see them: so
    // it is spared a few requests, and none of the comparison is by luck.
    let account = account.clone().visible_after(usize::MAX);
    Cycle::measured(RUNS, || {
        let platform = Platform::start(account.clone());
        let this = std::env::current_exe().unwrap();
        let taken = run(Command::new(this).args([OLD_WAY, &platform.address().to_string()]));
        assert_eq!(taken.code, Some(0), "{}", taken.stderr);
        assert_eq!(platform.accepted().len(), SUBMISSIONS);
        (platform.count(Kind::Any), taken)
    })
}

fn ours(account: &Account, page_size: u64) -> Cycle {
    let folder = Folder::new();
    Cycle::measured(RUNS, || folder.submit(account, page_size))
}

/// A machine's folder: candidates, and the state of one run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let row = |model| serde_json::json!({"model_address": model, "try_next_gpus": [CARD]});
        // One more than can be submitted: it is the cap that ends the cycle.
        let models = models().into_iter().chain(["Org/Model-not-due".to_owned()]);
        let rows: Vec<_> = models.map(row).collect();
        let file = serde_json::json!({"version": 1, "candidates": rows});
        std::fs::write(folder.path().join("candidates.json"), file.to_string()).unwrap();
        Self(folder)
    }

    fn state(&self) -> std::path::PathBuf {
        self.0.path().join("state")
    }

    /// The same without the state of an earlier run.
    fn fresh(&self) -> &Self {
        drop(std::fs::remove_dir_all(self.state()));
        self
    }

    /// A cycle that submits all that it may.
    fn submit(&self, account: &Account, page_size: u64) -> (usize, Taken) {
        let platform = Platform::start(account.clone());
        let mut command = submitter(&platform, self.0.path(), &self.fresh().state());
        let taken = run(command.env("LIVE_PAGE_SIZE", page_size.to_string()));
        assert_eq!(taken.code, Some(0), "{}", taken.stderr);
        assert_eq!(platform.accepted().len(), SUBMISSIONS, "{}", taken.stderr);
        (platform.count(Kind::Any), taken)
    }

    /// A cycle that submits nothing.
    fn hold(&self, account: &Account, reason: &str) -> (usize, Taken) {
        let platform = Platform::start(account.clone());
        let taken = run(&mut submitter(&platform, self.0.path(), &self.state()));
        assert!(taken.stderr.contains(&format!("hold reason={reason}")), "{}", taken.stderr);
        (platform.count(Kind::Any), taken)
    }
}

/// `submitter run` as cron would start it.
fn submitter(platform: &Platform, data: &Path, state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_submitter"));
    command
        .arg("run")
        .env_clear()
        .env("XC_TOKEN", TOKEN)
        .env("STRATEGY_ID", "strategy-1")
        .env("MODELHUB_API_BASE", platform.base())
        .env("SUBMITTER_DATA_DIR", data)
        .env("SUBMITTER_STATE_DIR", state);
    command
}
