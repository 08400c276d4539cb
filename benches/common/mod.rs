//! What the benchmarks measure with: child processes, `/proc`, Markdown.
#![allow(dead_code, reason = "each bench uses its own part")]

use std::fmt::Display;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Linux tells CPU time in hundredths of a second, whatever the kernel counts in.
const TICK: Duration = Duration::from_millis(10);

/// How often the memory of a child is looked at. Its peak is the kernel's own, so that only what
/// is taken in the very last moment can be missed.
const LOOK: Duration = Duration::from_micros(500);

/// What one process took.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    /// Peak resident memory.
    pub(crate) peak_kib: u64,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command to its end, start-up included.
pub(crate) fn run(command: &mut Command) -> Taken {
    let cpu_before = children_cpu();
    let began = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let pid = child.id();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let peak = scope.spawn(|| watch_peak(pid, &ended));
        let output = child.wait_with_output().expect("the program ends");
        let wall = began.elapsed();
        ended.store(true, Ordering::Relaxed);
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Taken {
            wall,
            cpu: children_cpu().saturating_sub(cpu_before),
            peak_kib: peak.join().expect("the peak is watched"),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    })
}

/// The same many times: the median of the wall time, the mean of the CPU time, the largest peak.
/// No more runs than `most`, and none is begun after `patience`.
pub(crate) fn repeat(most: usize, patience: Duration, mut run: impl FnMut() -> Taken) -> Taken {
    let began = Instant::now();
    let mut all = vec![run()];
    while all.len() < most && began.elapsed() < patience {
        all.push(run());
    }
    all.sort_by_key(|taken| taken.wall);
    let runs = u32::try_from(all.len()).expect("few runs");
    let cpu = all.iter().map(|taken| taken.cpu).sum::<Duration>() / runs;
    let peak_kib = all.iter().map(|taken| taken.peak_kib).max().unwrap_or(0);
    let median = all.swap_remove(all.len() / 2);
    Taken { cpu, peak_kib, ..median }
}

fn watch_peak(pid: u32, ended: &AtomicBool) -> u64 {
    let mut peak = 0;
    while !ended.load(Ordering::Relaxed) {
        peak = peak_kib(&pid.to_string()).unwrap_or(0).max(peak);
        thread::sleep(LOOK);
    }
    peak
}

/// Peak resident memory of a process that runs; `self` is this one.
pub(crate) fn peak_kib(pid: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// CPU time of all children that have ended.
fn children_cpu() -> Duration {
    ticks(15) + ticks(16)
}

/// CPU time of this process.
pub(crate) fn own_cpu() -> Duration {
    ticks(13) + ticks(14)
}

/// A field of `/proc/self/stat`, counted from 0.
fn ticks(field: usize) -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux with /proc");
    // The second field is a name in parentheses, which may hold spaces.
    let (_, rest) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks = rest.split_whitespace().nth(field - 2).and_then(|text| text.parse().ok());
    TICK * ticks.expect("CPU time in ticks")
}

/// Prints a row of a Markdown table; a head has its rule below it.
pub(crate) fn row<const N: usize>(cells: [&dyn Display; N]) {
    let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
    println!("| {} |", cells.join(" | "));
}

pub(crate) fn head<const N: usize>(cells: [&str; N]) {
    println!("\n| {} |\n|{}", cells.join(" | "), "---|".repeat(N));
}

/// Milliseconds, with as many digits as are worth reading.
pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.1}") } else { grouped(ms) }
}

/// In MiB.
#[expect(clippy::cast_precision_loss, reason = "memory is no 2^53 KiB")]
pub(crate) fn mib(kib: u64) -> String {
    format!("{:.1}", kib as f64 / 1024.0)
}

/// A whole number with commas between its thousands.
pub(crate) fn grouped(number: impl Into<f64>) -> String {
    let digits = format!("{:.0}", number.into());
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
