//! Kills, torn and damaged journals, full disks, and runs that overlap.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::kit::{CARD, Ended, Machine, Running, account, exists, models, strs, together};
use crate::platform::{Fault, Gate, Kind, Trigger};

const SOON: Duration = Duration::from_secs(20);
const AN_HOUR: u64 = 3_600;

/// The rebuild, and precheck, refresh and POST of each of two candidates.
const REQUESTS: usize = 7;

fn two_pairs() -> Machine {
    Machine::one_card_each(account(), &strs(&models(2)))
}

fn journal_path(machine: &Machine) -> PathBuf {
    machine.state().join("journal.jsonl")
}

/// Runs an hour apart until nothing is left to do.
fn run_until_done(machine: &Machine, name: &str) -> Ended {
    for _ in 0..4 {
        machine.age_journal(AN_HOUR);
        let ended = machine.run(&["run"]);
        if ended.held() == "nothing_eligible" {
            assert_eq!(ended.code, 10, "{name}: {}", ended.log);
            return ended;
        }
        assert_eq!(ended.code, 0, "{name}: {}", ended.log);
    }
    panic!("{name}: there is always something left to do");
}

/// When a held request takes effect, as seen from the run that is killed while it waits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    Before,
    After,
    Never,
}

fn hold(machine: &Machine, trigger: Trigger, effect: Effect) -> Gate {
    if effect == Effect::Never {
        // The hold is shared, and the connection ends behind it.
        machine.platform.fault(trigger.clone(), Fault::fin());
    }
    match effect {
        Effect::Before => machine.platform.hold(trigger),
        Effect::After | Effect::Never => machine.platform.hold_before_commit(trigger),
    }
}

#[test]
fn c01_a_kill_at_any_request_leaves_at_most_one_post_for_a_pair() {
    let healthy = two_pairs();
    healthy.cycle(0);
    assert_eq!(healthy.platform.requests().len(), REQUESTS);
    for nth in 1..=REQUESTS {
        for effect in [Effect::Before, Effect::After, Effect::Never] {
            let name = format!("request {nth}, its effect {effect:?} the kill");
            let machine = two_pairs();
            let gate = hold(&machine, Trigger::nth(Kind::Any, nth), effect);
            let mut running = machine.start(&["run"]);
            assert!(gate.wait_reached(SOON), "{name}");
            running.kill();
            // What is on its way may arrive at any time: before the next run, or after it.
            run_until_done(&machine, &name);
            gate.release();
            run_until_done(&machine, &name);
            assert_eq!(machine.most_posts().0, 1, "{name}");
            // The pair whose intent was the last word stays taken, whether its POST had any effect
            // or, killed at the precheck beside it, was not even made.
            let is_posting = matches!(nth, 4 | 5 | 7);
            let posts = machine.platform.count(Kind::Add);
            let taken = machine.platform.accepted().len();
            assert!(posts == 2 || is_posting && posts == 1, "{name}: {posts} POSTs");
            assert!(taken == 2 || is_posting && taken == 1, "{name}: {taken} tasks");
        }
    }
}

/// The limit on the size of files stops a write in its middle, as a full disk does. The shell
/// has the signal that comes with it ignored.
fn with_file_limit(machine: &Machine, blocks: u64) -> Ended {
    let command = machine.command(&["run"]);
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        log: String::from_utf8(output.stderr).unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
    }
}

/// What one write can leave, wherever the disk is full: the journal grows by a few bytes from
/// machine to machine, so that the limit strikes each record of the cycle once.
#[test]
fn c03_a_journal_that_cannot_grow_stops_the_run_and_keeps_every_pair() {
    let stopped = Mutex::new(0);
    let posted_before = Mutex::new([0; 3]);
    together((0..900).step_by(25), |filling| {
        let machine = two_pairs();
        std::fs::create_dir(machine.state()).unwrap();
        let torn = "x".repeat(filling);
        let torn = serde_json::json!({"at": 1_700_000_000, "event": {"torn": {"text": torn}}});
        let before = format!("{{\"submitter_journal\":1}}\n{torn}\n");
        std::fs::write(journal_path(&machine), &before).unwrap();
        let ended = with_file_limit(&machine, 2);
        if ended.code != 0 || ended.held() == "state_write_failed" {
            *stopped.lock().unwrap() += 1;
            assert_eq!((ended.code, ended.held()), (30, "state_write_failed"), "{}", ended.log);
        }
        posted_before.lock().unwrap()[machine.platform.count(Kind::Add)] += 1;
        assert!(machine.journal().starts_with(&before), "old records are lost");
        let committed = ended.lines("[live] submitted ").count();
        assert_eq!(machine.platform.count(Kind::Add), committed, "{}", ended.log);
        // There is room again.
        run_until_done(&machine, &format!("filling {filling}"));
        assert_eq!(machine.platform.posts().len(), 2);
        assert_eq!(machine.most_posts(), (1, 1), "filling {filling}");
    });
    let (stopped, posted_before) =
        (stopped.into_inner().unwrap(), posted_before.into_inner().unwrap());
    assert!(stopped > 5, "the limit never struck");
    assert!(posted_before.iter().all(|n| *n > 0), "it struck in one place: {posted_before:?}");
}

/// A file system of 64 KiB. Mounting one takes a privilege that most machines do not give.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf) -> Option<Self> {
        std::fs::create_dir(&at).unwrap();
        let options = ["-t", "tmpfs", "-o", "size=64k", "submitter-test"];
        let mounted = Command::new("mount").args(options).arg(&at).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn c03_a_full_disk_stops_the_run_and_leaves_the_journal_as_it_was() {
    let machine = Machine::one_card_each(account(), &strs(&models(8)));
    let Some(disk) = SmallDisk::mount(machine.state()) else {
        eprintln!("skipped: no tmpfs can be mounted here; the test of the file limit stands in");
        return;
    };
    machine.cycle(0);
    machine.age_journal(AN_HOUR);
    let before = machine.journal();
    let ballast = disk.0.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    drop(file);
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "state_write_failed");
    assert_eq!(machine.platform.count(Kind::Add), 6);
    assert!(machine.journal().starts_with(&before));
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(machine.cycle(0).held(), "candidates_done");
    assert_eq!(machine.platform.posts().len(), 8);
    assert_eq!(machine.most_posts(), (1, 1));
}

/// A machine whose run was killed while its POST was on the way, committed but not listed: all
/// that stands between the pair and a second POST is the journal.
fn killed_in_the_post() -> Machine {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    machine.platform.change(|account| account.visible_after = 1_000);
    let gate = machine.platform.hold(Trigger::nth(Kind::Add, 1));
    let mut running = machine.start(&["run"]);
    assert!(gate.wait_reached(SOON));
    running.kill();
    machine
}

#[test]
fn c04_a_tail_that_is_torn_anywhere_frees_no_pair() {
    let machine = killed_in_the_post();
    let whole = machine.journal();
    let accepted = format!(
        "{{\"at\":1,\"event\":{{\"accepted\":{{\"pair\":[\"org/model\",\"{CARD}\"],\"task\":1}}}}}}"
    );
    let released =
        accepted.replace("accepted", "released").replace("\"task\":1", "\"reason\":\"\"");
    // The intent itself, from the end of its card on; then what was to be written behind it.
    let card_ends = whole.rfind(CARD).unwrap() + CARD.len() + 1;
    let mut tails: Vec<String> =
        (card_ends..whole.len()).map(|end| whole[..end].to_owned()).collect();
    for outcome in [&accepted, &released] {
        tails.extend((1..=outcome.len()).step_by(7).map(|end| whole.clone() + &outcome[..end]));
        tails.push(whole.clone() + outcome);
    }
    tails.push(whole.clone() + "\0\0\0");
    tails.push(whole.clone() + "{\"at\":1,\"event\":{\"intent\":{\"pair\":[\"org/m");
    for torn in tails {
        std::fs::write(journal_path(&machine), &torn).unwrap();
        let ended = machine.cycle(10);
        assert_eq!(ended.held(), "nothing_eligible", "{torn}");
        assert_eq!(ended.lines("[live] warning the journal ended in ").count(), 1, "{torn}");
        // What was torn is not there to be appended to; the second run finds nothing new.
        let lines = machine.journal();
        assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        let again = machine.cycle(10);
        assert_eq!(again.lines("[live] warning ").count(), 0, "{}", again.log);
        assert_eq!(machine.platform.count(Kind::Add), 1, "{torn}");
    }
}

#[test]
fn c05_a_journal_that_is_not_one_holds_and_is_not_touched() {
    let machine = killed_in_the_post();
    let whole = machine.journal();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let asked = machine.platform.requests().len();
    let cases: [(&str, String); 13] = [
        ("nothing", String::new()),
        ("a newline", "\n".into()),
        ("1879 NULs", "\0".repeat(1_879)),
        ("NULs of the same length", "\0".repeat(whole.len())),
        ("NULs in the middle", whole.replacen("\"event\"", "\0\0\0\0\0\0\0", 1)),
        ("another schema", "{\"version\":1,\"pairs\":[]}\n".into()),
        ("a later version", whole.replacen(":1}", ":2}", 1)),
        ("no header", lines[1..].concat()),
        ("a torn header", lines[0].trim_end().into()),
        ("an empty line", format!("{}\n{}", lines[0], lines[1..].concat())),
        ("a cut in the middle", whole.replacen("\"event\":", "\n", 1)),
        ("an unknown event", whole.replacen("\"intent\"", "\"intention\"", 1)),
        ("an intent twice", whole.clone() + lines[lines.len() - 1]),
    ];
    for (name, damaged) in cases {
        assert_ne!(damaged, whole, "{name}");
        std::fs::write(journal_path(&machine), &damaged).unwrap();
        for args in [&["run"][..], &["run", "--dry-run"]] {
            let ended = machine.run(args);
            assert_eq!((ended.code, ended.held()), (30, "journal_damaged"), "{name}: {ended:?}");
            assert_eq!(machine.journal(), damaged, "{name}");
        }
    }
    std::fs::write(journal_path(&machine), [whole.as_bytes(), b"\xff\xfe\n"].concat()).unwrap();
    assert_eq!(machine.cycle(30).held(), "journal_damaged", "a line that is not UTF-8");
    assert_eq!(machine.platform.requests().len(), asked, "a request was made");
}

/// Waits for runs to end, telling each end as it comes.
fn ends(runs: Vec<Running>) -> mpsc::Receiver<Ended> {
    let (tell, told) = mpsc::channel();
    for running in runs {
        let tell = tell.clone();
        thread::spawn(move || tell.send(running.end()));
    }
    told
}

#[test]
fn c13_of_twenty_runs_started_at_once_one_runs() {
    let machine = Machine::one_card_each(account(), &strs(&models(8)));
    let gate = machine.platform.hold(Trigger::nth(Kind::Own, 1));
    let told = ends((0..20).map(|_| machine.start(&["run"])).collect());
    for _ in 0..19 {
        let ended = told.recv_timeout(SOON).unwrap();
        assert_eq!((ended.code, ended.held()), (10, "another_run"), "{}", ended.log);
    }
    assert_eq!(machine.platform.requests().len(), 1, "only one run asks");
    gate.release();
    assert_eq!(told.recv_timeout(SOON).unwrap().code, 0);
    assert_eq!(machine.platform.count(Kind::Add), 6);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn c13_twenty_runs_at_once_submit_no_more_than_one() {
    let machine = Machine::one_card_each(account(), &strs(&models(20)));
    let told = ends((0..20).map(|_| machine.start(&["run"])).collect());
    let codes: Vec<i32> = (0..20).map(|_| told.recv_timeout(SOON).unwrap().code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, 0 | 10)), "{codes:?}");
    assert_eq!(machine.platform.count(Kind::Add), 6);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn c13_a_run_whose_journal_was_moved_or_replaced_posts_nothing() {
    type Change = fn(&Machine);
    let changes: [(&str, Change); 4] = [
        ("deleted", |m| std::fs::remove_file(journal_path(m)).unwrap()),
        ("moved", |m| std::fs::rename(journal_path(m), m.state().join("old")).unwrap()),
        ("replaced by a copy", |m| {
            std::fs::copy(journal_path(m), m.state().join("copy")).unwrap();
            std::fs::rename(m.state().join("copy"), journal_path(m)).unwrap();
        }),
        ("with its folder", |m| {
            std::fs::rename(m.state(), m.folder.path().join("elsewhere")).unwrap();
        }),
    ];
    for (name, change) in changes {
        for held in [Kind::Own, Kind::Precheck] {
            let machine = two_pairs();
            let gate = machine.platform.hold(Trigger::nth(held, 1));
            let running = machine.start(&["run"]);
            assert!(gate.wait_reached(SOON));
            change(&machine);
            // Another run finds no lock on what stands there now, and does the work.
            assert_eq!(machine.cycle(0).lines("[live] submitted ").count(), 2, "{name}");
            let done = machine.platform.count(Kind::Add);
            gate.release();
            let ended = running.end();
            assert_eq!((ended.code, ended.held()), (30, "state_write_failed"), "{}", ended.log);
            assert_eq!(machine.platform.count(Kind::Add), done, "{name}");
            assert_eq!(machine.most_posts(), (1, 1), "{name}");
            assert!(exists(&journal_path(&machine)));
        }
    }
}
