//! Logs as they are found: decorated, damaged, rotated, compressed, half written.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};

use crate::desk::{Desk, rejected, row};

fn gzip(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Ten lines, each about a model of its own.
fn ten() -> Vec<String> {
    (0..10).map(|n| rejected(&format!("org/m{n}"), "Biren_166m", 60022)).collect()
}

#[test]
fn the_example_log_is_read() {
    let desk = Desk::new();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/run.log");
    assert_eq!(desk.says(&[&log]), "added 2 total 2\n");
    assert_eq!(
        desk.rows(),
        [
            row("Qwen/Qwen2.5-0.5B-Instruct", "Biren_166m", 60027),
            row("TinyOrg/Small-Model-1B", "Biren_166m", 60022),
        ]
    );
}

#[test]
fn times_colours_and_prefixes_are_passed_over() {
    let desk = Desk::new();
    let [a, b, c, d] = ["a/a", "b/b", "c/c", "d/d"].map(|m| rejected(m, "Biren_166m", 60020));
    let log = format!(
        "2026-11-02T03:00:07+08:00 {a}\n\
         \x1b[2m2026-11-02\x1b[0m \x1b[32m{b}\x1b[0m\n\
         <30>Nov  2 03:00:07 host submitter[812]: {c}\n\
         submitter-1  | \x1b[1m{d} \n"
    );
    desk.write("run.log", log);
    assert_eq!(desk.says(&["run.log"]), "added 4 total 4\n");
}

/// I01: a line that is not UTF-8 is no end, and is told.
#[test]
fn i01_bytes_that_are_not_utf8_lose_no_record() {
    let desk = Desk::new();
    let mut lines: Vec<Vec<u8>> = ten().into_iter().map(String::into_bytes).collect();
    lines[1] = b"\xff\xfe 0xff alone".to_vec();
    // GBK, around a record.
    lines[4] = [b"\xd6\xd0\xb9\xfa ", &lines[4][..], b" \xce\xc4"].concat();
    lines.push(Vec::new());
    desk.write("run.log", lines.join(&b'\n'));
    let output = desk.sync(&["run.log"]);
    assert_eq!(output.stdout, b"added 9 total 9\n");
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        log, "[sync] log=run.log lines=10 records=9 not_utf8=2 too_long=0 unended=0\n",
        "the summary of what was odd"
    );
}

/// I02: the same marks as of the LF file.
#[test]
fn i02_a_byte_order_mark_and_every_line_end_are_tolerated() {
    for end in ["\n", "\r\n", "\r"] {
        let desk = Desk::new();
        desk.write("run.log", format!("\u{feff}{}{end}", ten().join(end)));
        assert_eq!(desk.says(&["run.log"]), "added 10 total 10\n", "{end:?}");
    }
}

#[test]
fn a_last_line_without_its_end_is_left_for_the_next_sync() {
    let desk = Desk::new();
    let log = ten().join("\n");
    desk.write("run.log", &log);
    assert_eq!(desk.says(&["run.log"]), "added 9 total 9\n");
    desk.write("run.log", log + "\n");
    assert_eq!(desk.says(&["run.log"]), "added 1 total 10\n");
}

#[test]
fn a_very_long_line_is_passed_over_and_told() {
    let desk = Desk::new();
    let [a, b] = ["a/a", "b/b"].map(|m| rejected(m, "Biren_166m", 60020));
    desk.write("run.log", format!("{a}{}\n{b}\n", "x".repeat(1 << 20)));
    let output = desk.sync(&["run.log"]);
    assert_eq!(output.stdout, b"added 1 total 1\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("too_long=1"));
}

#[test]
fn gzipped_logs_are_known_by_their_bytes() {
    let desk = Desk::new();
    let lines = ten();
    let half = |from: usize| lines[from..from + 5].join("\n") + "\n";
    // Two rotations into one file, and names that say nothing, or the wrong thing.
    desk.write("old", [gzip(half(0)), gzip(half(5))].concat());
    assert_eq!(desk.says(&["--dry-run", "old"]), "added 10 total 10\n");
    desk.write("plain.gz", half(0)).write("run.log", gzip(half(5)));
    assert_eq!(desk.says(&["plain.gz", "run.log"]), "added 10 total 10\n");
}

#[test]
fn the_first_record_of_a_pair_wins_over_all_logs() {
    let desk = Desk::new();
    desk.write("run.log.2.gz", gzip(rejected("Org/Model", "Biren_166m", 60020) + "\n"));
    let later = rejected("org/MODEL", "壁砺", 60022) + "\n";
    desk.write("run.log.1", later.clone() + &rejected("org/model", "Biren_166m", 60024) + "\n");
    desk.write("run.log", rejected("Org/Model", "Iluvatar_bi-150", 60021) + "\n");
    let rotated = ["run.log.2.gz", "run.log.1", "run.log"];
    assert_eq!(desk.says(&rotated), "added 2 total 2\n");
    assert_eq!(
        desk.rows(),
        [row("Org/Model", "Biren_166m", 60020), row("Org/Model", "Iluvatar_bi-150", 60021)]
    );
    let desk_of_later = Desk::new();
    desk_of_later.write("run.log", later);
    desk_of_later.says(&["run.log"]);
    assert_eq!(desk_of_later.rows(), [row("org/MODEL", "Biren_166m", 60022)]);
}

#[test]
fn standard_input_is_one_of_the_logs() {
    let desk = Desk::new();
    let log = ten().join("\n") + "\n";
    assert_eq!(desk.says_of_stdin(&["--dry-run", "-"], log.as_bytes()), "added 10 total 10\n");
    assert_eq!(desk.says_of_stdin(&["--dry-run", "-"], &gzip(&log)), "added 10 total 10\n");
    assert_eq!(desk.says_of_stdin(&["--dry-run", "-"], b""), "added 0 total 0\n");
    desk.write("run.log", rejected("org/first", "Biren_166m", 60022) + "\n");
    assert_eq!(desk.says_of_stdin(&["run.log", "-"], log.as_bytes()), "added 11 total 11\n");
}

#[test]
fn a_log_that_cannot_be_read_to_its_end_changes_nothing() {
    let desk = Desk::new();
    let good = rejected("org/good", "Biren_166m", 60022) + "\n";
    let whole = gzip(ten().join("\n") + "\n");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    desk.write("good.log", &good);
    desk.write("cut.gz", &whole[..whole.len() - 9]).write("damaged.gz", damaged);
    desk.write("log.xz", b"\xfd7zXZ\0\0\x04").write("log.zst", b"\x28\xb5\x2f\xfd\x04\x58");
    fs::create_dir(desk.path("folder")).unwrap();
    for bad in ["cut.gz", "damaged.gz", "log.xz", "log.zst", "folder", "gone.log", ""] {
        for logs in [["good.log", bad], [bad, "good.log"]] {
            let log = desk.fails(&logs, if bad.is_empty() { 2 } else { 32 });
            assert!(log.contains(bad), "{log}");
            assert!(bad.is_empty() || log.contains("[live] hold reason=data_read_failed"), "{log}");
        }
    }
    assert!(desk.data().is_empty(), "{:?}", desk.data());
    assert!(desk.fails(&["log.xz"], 32).contains("xz -dc"));
}

#[test]
fn what_is_no_evidence_is_not_taken() {
    let desk = Desk::new();
    let log = [
        rejected("org/unknown-card", "Newcomer_x-1", 60022),
        rejected("org/cool-down", "Biren_166m", 60018),
        rejected("org/limit", "Biren_166m", 60007),
        rejected("gpt2", "Biren_166m", 60022),
        rejected("org/a\\u{20}b", "Biren_166m", 60022),
        rejected("<org>/<model>", "Biren_166m", 60022),
        "[live] skip model=org/known gpu=Biren_166m reason=marked:60027".to_owned(),
        "[live] skip model=org/cool gpu=Biren_166m reason=marked:precheck_60018".to_owned(),
        "[live] submitted model=org/taken gpu=Biren_166m code=60022".to_owned(),
        "[live] skipped marked:precheck_60027=1".to_owned(),
        String::new(),
    ];
    desk.write("run.log", log.join("\n"));
    assert_eq!(desk.says(&["run.log"]), "added 0 total 0\n");
}
