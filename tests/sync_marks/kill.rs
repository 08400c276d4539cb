//! Syncs that are killed, and syncs that meet.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::desk::{Desk, rejected};

/// A desk whose marks take a while to write, and the file before and after a sync.
fn desk_with_much_to_write() -> (Desk, Vec<u8>, Vec<u8>) {
    let desk = Desk::new();
    let log = |from: usize, to: usize| -> String {
        let line = |n| rejected(&format!("org/model-{n}"), "Biren_166m", 60022) + "\n";
        (from..to).map(line).collect()
    };
    desk.write("old.log", log(0, 1000)).write("run.log", log(1000, 2000));
    let date = "2026-11-02";
    assert_eq!(desk.says(&["old.log", "--date", date]), "added 1000 total 1000\n");
    let old = desk.bytes();
    assert_eq!(desk.says(&["run.log", "--date", date]), "added 1000 total 2000\n");
    let new = desk.bytes();
    (desk, old, new)
}

/// The old file or the new one, and no wish for anything else afterwards.
fn assert_whole(desk: &Desk, old: &[u8], new: &[u8], place: &str) {
    let found = desk.bytes();
    assert!(found == old || found == new, "{place}: {} bytes", found.len());
}

fn assert_mended(desk: &Desk, new: &[u8]) {
    let said = desk.says(&["run.log", "--date", "2026-11-02"]);
    assert!(["added 1000 total 2000\n", "added 0 total 2000\n"].contains(&&*said), "{said}");
    assert_eq!(desk.bytes(), new);
    assert_eq!(desk.data(), ["reject-marks.json"], "what a killed sync left is removed");
}

/// The kernel kills the program in the middle of writing, at places that do not depend on time:
/// when the new file reaches a size.
#[test]
fn a_sync_killed_while_it_writes_leaves_the_old_file() {
    let (desk, old, new) = desk_with_much_to_write();
    let mut killed = 0;
    // In blocks of 512 or 1024 bytes, as the shell has it.
    for blocks in [0, 1, 2, 8, 64, 100, 150, 200] {
        desk.write("data/reject-marks.json", &old);
        let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" sync-marks run.log");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_submitter")])
            .current_dir(desk.path(""))
            .env_clear()
            .output()
            .unwrap();
        killed += usize::from(output.status.signal().is_some());
        assert_eq!(desk.bytes(), old, "{blocks} blocks, {:?}", output.status);
    }
    assert_eq!(killed, 8, "the limit no longer kills: this test shows nothing");
    assert!(desk.data().len() > 1, "nothing was left behind: this test shows nothing");
    assert_mended(&desk, &new);
}

/// SIGKILL at places spread over the whole of a sync.
#[test]
fn a_sync_killed_at_any_moment_leaves_the_old_file_or_the_new_one() {
    const KILLS: u32 = 40;
    let (desk, old, new) = desk_with_much_to_write();
    let began = Instant::now();
    assert_eq!(desk.says(&["run.log"]), "added 0 total 2000\n");
    let whole = began.elapsed() * 2;
    let mut killed = 0;
    for kill in 0..KILLS {
        desk.write("data/reject-marks.json", &old);
        let mut command = desk.command(&["run.log", "--date", "2026-11-02"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * kill / KILLS);
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
        assert_whole(&desk, &old, &new, &format!("kill {kill} of {KILLS}"));
    }
    assert!(killed > 0, "every sync had ended before it was killed");
    assert_mended(&desk, &new);
}

#[test]
fn syncs_that_meet_lose_no_mark() {
    const SYNCS: usize = 12;
    let desk = Desk::new();
    for sync in 0..SYNCS {
        let line = |n| rejected(&format!("org/model-{sync}-{n}"), "Biren_166m", 60022) + "\n";
        desk.write(&format!("{sync}.log"), (0..20).map(line).collect::<String>());
    }
    // Pipes that end at the same moment let all of them reach the file together.
    let mut children: Vec<_> = (0..SYNCS)
        .map(|sync| {
            let mut command = desk.command(&[&format!("{sync}.log"), "-"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    for child in &mut children {
        drop(child.stdin.take());
    }
    let mut totals = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let total = said.strip_prefix("added 20 total ").unwrap_or_else(|| {
            panic!("{said} {}", String::from_utf8_lossy(&output.stderr));
        });
        totals.push(total.trim().parse::<usize>().unwrap());
    }
    totals.sort_unstable();
    let expected: Vec<_> = (1..=SYNCS).map(|n| n * 20).collect();
    assert_eq!(totals, expected, "each saw what those before it had written");
    assert_eq!(desk.rows().len(), SYNCS * 20);
    assert_eq!(desk.data(), ["reject-marks.json"]);
}

#[test]
fn a_sync_waits_for_one_that_holds_the_folder() {
    let desk = Desk::new();
    desk.write("run.log", rejected("org/a", "Biren_166m", 60022) + "\n");
    let folder = fs::File::open(desk.path("data")).unwrap();
    folder.lock().unwrap();
    let mut command = desk.command(&["run.log"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    assert!(desk.data().is_empty());
    folder.unlock().unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"added 1 total 1\n");
}

/// SIGTERM is for `run` to answer in its own time; a sync has nothing to bring to an end.
#[test]
fn a_sync_that_waits_for_its_input_can_be_ended() {
    let desk = Desk::new();
    let mut child = desk.command(&["-"]).stdin(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(status.signal(), Some(15));
    assert!(desk.data().is_empty());
}
