//! Parts of a run at sizes that no account has yet: what grows, and how fast.
//!
//!     cargo bench --bench parts
//!
//! Each part runs as a process of its own, which makes what it needs, takes its time for the part
//! alone, and tells its peak memory. Nothing here is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures time, prints it, and stops where it is wrong"
)]

mod common;
#[path = "common/records.rs"]
mod records;
#[path = "common/rows.rs"]
mod rows;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::{Taken, head, mib, ms, own_cpu, peak_kib, repeat, row, run};
use rows::Rows;
use submitter::gate;
use submitter::journal::file::{open_dir, peek};
use submitter::ledger::Ledger;
use submitter::pair::ModelId;
use submitter::remote::read_all;
use submitter::sources::foothold::{Evidence, Snapshot};
use submitter::sources::{Candidate, Foothold, baked, merge};

const PATIENCE: Duration = Duration::from_secs(10);
const PAGE_SIZE: u64 = 1_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[1..] {
        ["ledger", rows, models] => ledger(rows.parse().unwrap(), models.parse().unwrap()),
        ["journal", dir] => journal(Path::new(dir)),
        ["compact", dir] => compact(Path::new(dir)),
        ["records", dir] => records::write(Path::new(dir), 100_000, now()),
        ["merge", candidates] => merge(candidates.parse().unwrap()),
        ["--bench", ..] => all(),
        // `cargo test --all-targets` starts benches too.
        _ => {}
    }
}

fn all() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();

    head(["part", "wall ms", "CPU ms", "peak MiB"]);
    let ledger = "ledger rebuild, 1,000,000 rows";
    part(&format!("{ledger} of 250,000 models on 4 cards"), 3, &["ledger", "1000000", "250000"]);
    part(&format!("{ledger}, each its own model"), 3, &["ledger", "1000000", "1000000"]);
    records::write(folder.path().join("state").as_path(), 100_000, now());
    let size = |dir: &str| fs::metadata(format!("{dir}/journal.jsonl")).unwrap().len() >> 20;
    let state = path("state");
    let raw = format!("journal of 100,000 cycles, {} MiB", size(&state));
    part(&format!("{raw}: replay"), 5, &["journal", &state]);
    part(&format!("{raw}: replay and compaction, once"), 1, &["compact", &state]);
    let compacted = format!("the same compacted, {} MiB: replay", size(&state));
    part(&compacted, 5, &["journal", &state]);
    part("merge of 100,000 candidates with 800 models of others", 5, &["merge", "100000"]);

    fs::write(path("million.log"), log(1_000_000)).unwrap();
    let sync = || {
        drop(fs::remove_file(path("marks.json")));
        let mut command = submitter();
        run(command.args(["sync-marks", &path("million.log"), "--marks", &path("marks.json")]))
    };
    show("sync-marks, 1,000,000 lines (process)", &repeat(5, PATIENCE, sync));

    show("--version (process)", &repeat(100, PATIENCE, || run(submitter().arg("--version"))));
    let hour = path("hour");
    records::write_full_hour(Path::new(&hour), now());
    for (name, dir, cap) in [("", &hour, "6"), (", with that journal", &state, "1")] {
        let held = || {
            let taken = run(&mut held_run(dir, cap));
            assert!(taken.stderr.contains("hold reason=hourly_cap"), "{}", taken.stderr);
            taken
        };
        show(&format!("held run: hourly_cap{name} (process)"), &repeat(100, PATIENCE, held));
    }
}

/// Runs a part as a process; it tells its own times.
fn part(name: &str, most: usize, args: &[&str]) {
    let this = std::env::current_exe().unwrap();
    let taken = repeat(most, PATIENCE, || {
        let taken = run(Command::new(&this).args(args));
        assert_eq!(taken.code, Some(0), "{}", taken.stderr);
        let told: Vec<u64> = taken.stdout.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let [wall, cpu, peak_kib] = told[..] else { panic!("three numbers: {}", taken.stdout) };
        let (wall, cpu) = (Duration::from_micros(wall), Duration::from_micros(cpu));
        Taken { wall, cpu, peak_kib, ..taken }
    });
    show(name, &taken);
}

fn show(name: &str, taken: &Taken) {
    row([&name, &ms(taken.wall), &ms(taken.cpu), &mib(taken.peak_kib)]);
}

/// Times a part within its process, and ends with the three numbers that [`part`] reads.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, Duration, T) {
    let (cpu, began) = (own_cpu(), Instant::now());
    let done = black_box(work());
    (began.elapsed(), own_cpu().saturating_sub(cpu), done)
}

fn tell(wall: Duration, cpu: Duration) {
    println!("{} {} {}", wall.as_micros(), cpu.as_micros(), peak_kib("self").unwrap());
}

/// What every run does with the own tasks: reads and proves them, takes them into the ledger,
/// counts them, and looks its own submissions up. Making the pages up is not counted.
fn ledger(count: u64, models: u64) {
    let rows = Rows { count, models };
    let catalog = baked::catalog(None).unwrap();
    let history = tempfile::tempdir().unwrap();
    records::write_full_hour(history.path(), now());
    let (history, _) = peek(history.path(), now()).unwrap();
    let pages = count.div_ceil(PAGE_SIZE);
    let (wall_pages, cpu_pages, ()) = timed(|| {
        (1..=pages).chain([1]).for_each(|page| drop(black_box(rows.page(page, PAGE_SIZE))));
    });
    let (wall, cpu, known) = timed(|| {
        let remote = read_all(&rows, &catalog, PAGE_SIZE).unwrap();
        let mut ledger = Ledger::default();
        ledger.take_tasks(remote.all_seen());
        let queue = gate::queue(&remote.stats(), &remote, &history);
        (remote, ledger, queue)
    });
    assert_eq!((known.0.tasks.len() as u64, known.2), (count, 0));
    tell(wall.saturating_sub(wall_pages), cpu.saturating_sub(cpu_pages));
}

fn journal(dir: &Path) {
    let (wall, cpu, (history, torn)) = timed(|| peek(dir, now()).unwrap());
    assert_eq!((history.submissions().count(), torn), (100_000, 0));
    tell(wall, cpu);
}

fn compact(dir: &Path) {
    let (wall, cpu, opened) = timed(|| open_dir(dir, now(), Duration::ZERO).unwrap());
    assert_eq!(opened.journal.history().submissions().count(), 100_000);
    tell(wall, cpu);
}

fn merge(count: usize) {
    let catalog = baked::catalog(None).unwrap();
    let classes = [Foothold::VerifiedReuse, Foothold::FailedFoothold, Foothold::InFlight];
    let base: Vec<Candidate> = (0..count)
        .map(|n| Candidate {
            foothold_text: (n % 5 == 0).then(|| "壁砺 已验证成功, 曦望 验证失败".to_owned()),
            cards: (n % 2 == 0).then(|| vec!["曦望".to_owned(), "天垓150".to_owned()]),
            ..Candidate::new(&format!("https://huggingface.co/Org-{}/Model-{n}", n % 997))
        })
        .collect();
    let models = (0..800).map(|n| {
        // Half of them are listed.
        let id = ModelId::parse(&format!("Org-{}/Model-{n}", if n % 2 == 0 { n } else { n + 1 }));
        let id = id.unwrap();
        let cards = HashSet::from([catalog.targets()[n % 4].clone()]);
        (id.key(), Evidence { id, class: classes[n % 3], cards })
    });
    let snapshot = Snapshot { models: models.collect() };
    let (wall, cpu, ranked) = timed(|| merge::merge(&base, &snapshot, &catalog, None));
    assert_eq!(ranked.len(), count + 400);
    tell(wall, cpu);
}

/// The log of runs about 5,000 models: of ten lines, one is a rejection, one a precheck's finding.
fn log(lines: usize) -> String {
    let mut log = String::new();
    for n in 0..lines {
        let model = n / 10 % 5_000;
        let model = format!("Organisation-{}/Model-{model}", model % 97);
        match n % 10 {
            0 => writeln!(log, "[live] rejected model={model} gpu=Biren_166m code=60022 http=200 queue_before=4 reason=CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED"),
            1 => writeln!(log, "[live] skip model={model} gpu=Iluvatar_bi-150 reason=marked:precheck_60027"),
            _ => writeln!(log, "[live] submitted model={model} gpu=Iluvatar_mrv-100 queue_before=5 http=200 code=0 task={n} config_source=sample config_reason=not_configured reason=task_add_response"),
        }
        .expect("a text takes any text");
    }
    log
}

fn submitter() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_submitter"));
    command.env_clear();
    command
}

/// A run that has submitted as many as it may, and so asks nobody anything.
fn held_run(state: &str, cap: &str) -> Command {
    let mut command = submitter();
    command
        .arg("run")
        .env("XC_TOKEN", "token-of-no-platform")
        .env("STRATEGY_ID", "strategy-1")
        .env("MODELHUB_API_BASE", "http://127.0.0.1:9")
        .env("LIVE_MAX_SUBMITS_PER_CYCLE", cap)
        // The last submission of a long journal was an hour ago.
        .env("LIVE_CYCLE_SECONDS", "7200")
        .env("SUBMITTER_STATE_DIR", state);
    command
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
