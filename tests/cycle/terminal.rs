//! What a person at a terminal sees, and what a machine reads in its place.

use std::fs::OpenOptions;
use std::io::Read;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::kit::{CARD, Machine, account, models, strs};
use crate::platform::Rejection;

const CLEAR: &str = "\r\u{1b}[K";
const WIDTH: u16 = 40;
/// Green, yellow, red, none.
const COLOURS: [&str; 4] = ["\u{1b}[32m", "\u{1b}[33m", "\u{1b}[31m", "\u{1b}[0m"];

/// Twenty pages to read, six models that are taken, one that is refused, one that is known.
fn machine() -> Machine {
    let account = account()
        .with_history(40, &["Past/One"])
        .rejecting(Rejection::all(60022).model("Org/Model-0"))
        .with_precheck("Org/Model-1", CARD, "已验证");
    let mut machine = Machine::one_card_each(account, &strs(&models(8)));
    machine.set("LIVE_PAGE_SIZE", "2").set("TERM", "xterm");
    machine
}

/// Everything that the program writes to a terminal.
pub(crate) fn on_terminal(machine: &Machine, args: &[&str]) -> String {
    let mut terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map(std::fs::File::from);
    let terminal = terminal.as_mut().unwrap();
    grantpt(&*terminal).unwrap();
    unlockpt(&*terminal).unwrap();
    let size = Winsize { ws_row: 24, ws_col: WIDTH, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&*terminal, size).unwrap();
    let name = ptsname(&*terminal, Vec::new()).unwrap().into_string().unwrap();
    let shown = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let stdout = shown.try_clone().unwrap();
    let mut child = machine.command(args).stdout(stdout).stderr(shown).spawn().unwrap();
    let mut seen = Vec::new();
    // It ends with an error once the program, which has the only other handle, is gone.
    drop(terminal.read_to_end(&mut seen));
    child.wait().unwrap();
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

/// What stood on the line that is written anew, and what was left in the end.
fn watched(seen: &str) -> (Vec<&str>, Vec<&str>) {
    let mut progress = Vec::new();
    let mut left = Vec::new();
    for line in seen.split('\n') {
        let mut pieces: Vec<_> = line.split(CLEAR).collect();
        left.extend(pieces.pop());
        progress.extend(pieces.into_iter().filter(|piece| !piece.is_empty()));
    }
    (progress, left)
}

/// A line without its colours, and without how long it took.
fn bare(line: &str) -> String {
    let line = line.split(" elapsed_ms=").next().unwrap();
    COLOURS.iter().fold(line.to_owned(), |line, colour| line.replace(colour, ""))
}

#[test]
fn a_terminal_shows_what_is_under_way_and_leaves_the_log() {
    let seen = on_terminal(&machine(), &["run", "--foothold"]);
    let (progress, left) = watched(&seen);
    let stages =
        ["own tasks: ", "other users' tasks: ", "precheck: Org/Model-", "submission: Org/Model-"];
    for stage in stages {
        assert!(progress.iter().any(|text| text.starts_with(stage)), "{stage}\n{seen:?}");
    }
    for text in &progress {
        assert!(text.len() < usize::from(WIDTH) && text.is_ascii(), "{text:?}");
    }
    assert_eq!(left.last(), Some(&""), "something is left on the line: {seen:?}");
    let [green, yellow, _, plain] = COLOURS;
    for (colour, start) in [
        (green, "[live] submitted "),
        (yellow, "[live] rejected "),
        (yellow, "[live] hold "),
        ("", "[live] stats "),
    ] {
        let line = left.iter().find(|line| line.contains(start)).unwrap();
        assert!(line.starts_with(&format!("{colour}{start}")), "{line:?}");
        assert_eq!(line.ends_with(plain), !colour.is_empty(), "{line:?}");
    }

    // What `grep` finds is what it finds in a file.
    let in_a_file = machine().run(&["run", "--foothold"]).log;
    assert!(!in_a_file.contains('\u{1b}') && !in_a_file.contains('\r'), "{in_a_file:?}");
    let same = |line: &String| !line.is_empty() && !line.starts_with("[live] journal created ");
    let left: Vec<_> = left.into_iter().map(bare).filter(same).collect();
    let in_a_file: Vec<_> = in_a_file.lines().map(bare).filter(same).collect();
    assert_eq!(left, in_a_file);
}

#[test]
fn a_terminal_is_left_alone_where_somebody_wants_it_so() {
    let set = |name: &str, value: &str| {
        let mut machine = machine();
        machine.set(name, value);
        machine
    };
    // No colour, and yet a terminal.
    let seen = on_terminal(&set("NO_COLOR", "1"), &["run"]);
    assert!(COLOURS.iter().all(|colour| !seen.contains(colour)), "{seen:?}");
    assert!(seen.contains(CLEAR), "{seen:?}");
    // An error is red; each request is a line, beside which no progress is needed.
    let seen = on_terminal(&set("STRATEGY_ID", ""), &["run"]);
    assert!(seen.starts_with("\u{1b}[31m[live] hold reason=missing_strategy_id "), "{seen:?}");
    let seen = on_terminal(&machine(), &["run", "-vv"]);
    assert!(seen.contains("[live] request ") && !seen.contains(CLEAR), "{seen:?}");
    for (machine, args) in [
        (set("TERM", "dumb"), &["run"][..]),
        (set("TERM", ""), &["run"]),
        (machine(), &["run", "--log-format", "json"]),
        (machine(), &["run", "-q"]),
    ] {
        let seen = on_terminal(&machine, args);
        assert!(!seen.contains(['\u{1b}', '\r']), "{args:?} {seen:?}");
        assert_eq!(seen.is_empty(), args.contains(&"-q"), "{seen:?}");
    }
}

#[test]
fn what_a_command_prints_stands_on_a_free_line() {
    let machine = machine();
    let seen = on_terminal(&machine, &["bake-ledger", "--from-remote"]);
    let (progress, left) = watched(&seen);
    assert!(progress.iter().any(|text| text.starts_with("own tasks: ")), "{seen:?}");
    let [.., said, ""] = left[..] else { panic!("{seen:?}") };
    assert!(said.starts_with("pairs "), "{seen:?}");
}
