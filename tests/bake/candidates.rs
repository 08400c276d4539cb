//! `submitter bake-candidates`.

use std::os::unix::fs::PermissionsExt;

use crate::kit::{Machine, account, exists};
use crate::{example, example_text, planned};

fn machine() -> Machine {
    Machine::with_shipped_data(account())
}

/// The example of the output is what the examples of the input give, byte for byte, and a run
/// reads it back in the order in which it is written.
#[test]
fn the_examples_are_baked_and_read_back_by_a_run() {
    let mut machine = machine();
    let (md, txt) = (example("pending.md"), example("pending.txt"));
    let args = ["bake-candidates", "--md", md.to_str().unwrap(), "--txt", txt.to_str().unwrap()];
    let ended = machine.run(&args);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "candidates 10 (A 3, B 7)\n"));
    assert!(ended.line("[live] warning ").contains("pending.md:"), "{}", ended.log);
    let path = machine.folder.path().join("data/candidates.json");
    let baked = std::fs::read_to_string(&path).unwrap();
    assert_eq!(baked, example_text("candidates.json"));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);

    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "9");
    let from_baked = machine.run(&["run", "--dry-run"]);
    machine.set("PENDING_SUBMIT_MD", args[2]).set("PENDING_SUBMIT_TXT", args[4]);
    let from_pending = machine.run(&["run", "--dry-run"]);
    assert_eq!(planned(&from_baked).len(), 6, "{}", from_baked.log);
    assert_eq!(planned(&from_baked), planned(&from_pending));
    assert_eq!(machine.platform.writes(), 0);
}

#[test]
fn the_variables_name_the_files_where_no_flag_does() {
    let mut machine = machine();
    let file = |name: &str, text: &str| {
        let path = machine.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two, out) = (file("1.txt", "a/1\n"), file("2.txt", "a/2\na/3\n"), file("o", ""));
    let none = machine.run(&["bake-candidates", "-o", &out]);
    assert_eq!((none.code, none.held()), (32, "candidate_read_failed"));
    for name in ["--md", "--txt", "PENDING_SUBMIT_MD", "PENDING_SUBMIT_TXT"] {
        assert!(none.log.contains(name), "{}", none.log);
    }
    machine.set("PENDING_SUBMIT_TXT", &two).set("PENDING_SECTION", "A");
    assert_eq!(machine.run(&["bake-candidates", "-o", &out]).stdout, "candidates 2 (A 0, B 2)\n");
    let ended = machine.run(&["bake-candidates", "--txt", &one, "--output", &out]);
    assert_eq!(ended.stdout, "candidates 1 (A 0, B 1)\n");
    let written = std::fs::read_to_string(&out).unwrap();
    assert_eq!(
        written,
        "{\n  \"version\": 1,\n  \"candidates\": [\n    {\"model_address\":\"a/1\",\"section\":\"B\",\
         \"foothold_class\":\"unknown\",\"evidence_source\":\"GAP\"}\n  ]\n}\n"
    );
    assert!(!exists(&machine.folder.path().join("data/candidates.json")));
}

/// Without a data folder the file of the current folder is written.
#[test]
fn the_current_folder_is_the_last_choice() {
    let mut machine = machine();
    machine.set("SUBMITTER_DATA_DIR", "");
    let txt = example("pending.txt");
    let bake = |machine: &Machine, folder: &std::path::Path| {
        let mut command = machine.command(&["bake-candidates", "--txt", txt.to_str().unwrap()]);
        command.current_dir(folder).output().unwrap()
    };
    let ended = bake(&machine, machine.folder.path());
    assert!(ended.status.success());
    assert!(exists(&machine.folder.path().join("data/candidates.json")));
    let ended = bake(&machine, &machine.folder.path().join("data"));
    assert_eq!(ended.status.code(), Some(30));
    let log = String::from_utf8(ended.stderr).unwrap();
    assert!(log.contains("data/candidates.json cannot be written: "), "{log}");
    assert!(log.contains("-o FILE"), "{log}");
}

#[test]
fn nothing_usable_leaves_the_file_as_it_was() {
    let machine = machine();
    machine.write_data("candidates.json", "old");
    let path = machine.folder.path().join("p.md");
    std::fs::write(&path, "| model |\n|---|\n| gpt2 |\n").unwrap();
    let ended = machine.run(&["bake-candidates", "--md", path.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (32, ""));
    assert!(ended.log.contains("p.md:3: "), "{}", ended.log);
    let data = machine.folder.path().join("data");
    assert_eq!(std::fs::read_to_string(data.join("candidates.json")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 1, "nothing is left beside it");
}
