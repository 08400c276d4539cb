//! A run on pending files.

use crate::kit::{Machine, account};
use crate::{example, planned};

fn machine() -> Machine {
    Machine::with_shipped_data(account())
}

#[test]
fn the_example_is_tried_in_order_and_what_is_not_used_is_told() {
    let mut machine = machine();
    machine.write_data("candidates.json", "damaged, and not looked at");
    let (md, txt) = (example("pending.md"), example("pending.txt"));
    machine.set("PENDING_SUBMIT_MD", md.to_str().unwrap());
    machine.set("PENDING_SUBMIT_TXT", txt.to_str().unwrap());
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "9");
    let ended = machine.run(&["run", "--dry-run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(
        planned(&ended),
        [
            "Qwen/Qwen3-0.6B Biren_166m",
            "Qwen/Qwen3-4B Biren_166m",
            "HuggingFaceTB/SmolLM2-135M MetaX_c-500",
            "EleutherAI/pythia-410m Sunrise_pt-200-x1",
            "bigscience/bloom-560m Biren_166m",
            "EleutherAI/pythia-1b Biren_166m",
        ]
    );
    let skips: Vec<_> = ended.lines("[live] skip ").collect();
    assert_eq!(
        skips,
        [
            "[live] skip model=facebook/opt-350m reason=pending_filter",
            "[live] skip model=bigscience/bloom-1b1 reason=all_gpus_done_or_unmapped",
            "[live] skip model=tiiuae/Falcon3-1B-Instruct reason=pending_filter",
            "[live] skip model=01-ai/Yi-1.5-6B-Chat reason=pending_filter",
        ]
    );
    let told = ended.line("[live] warning ");
    let place = format!("{}:", md.display());
    assert!(told.contains(&place) && told.contains("outside the sections A and B"), "{told}");
}

#[test]
fn a_section_alone_is_used() {
    let machine = machine();
    let md = example("pending.md");
    let ended =
        machine.run(&["run", "--dry-run", "--pending-md", md.to_str().unwrap(), "--section", "B"]);
    assert_eq!(planned(&ended), ["bigscience/bloom-560m Biren_166m"], "{}", ended.log);
}

#[test]
fn a_bad_row_is_told_by_file_and_line_and_the_others_are_submitted() {
    let machine = machine();
    let path = machine.folder.path().join("p.md");
    let text =
        "| model | GPU |\r\n|---|---|\r\n| a/1 | 壁砺 |\r\n| a/2 |\r\n| x\u{1b}y | 壁砺 |\r\n";
    std::fs::write(&path, text).unwrap();
    let ended = machine.run(&["run", "--pending-md", path.to_str().unwrap()]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(ended.lines("[live] submitted ").count(), 1);
    assert_eq!(machine.most_posts(), (1, 1));
    let told: Vec<_> = ended.lines("[live] warning ").collect();
    let start = |line| format!("[live] warning {}:{line}: ", path.display());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with(&(start(4) + "1 cells where the head has 2")), "{}", told[0]);
    assert!(told[1].starts_with(&(start(5) + "the model \"x\\u{1b}y\"")), "{}", told[1]);
}

#[test]
fn a_file_that_yields_nothing_holds_before_any_request() {
    let machine = machine();
    let path = machine.folder.path().join("p.txt");
    std::fs::write(&path, "# nothing yet\n").unwrap();
    for name in ["p.txt", "none.txt"] {
        let path = machine.folder.path().join(name);
        let ended = machine.run(&["run", "--pending-txt", path.to_str().unwrap()]);
        assert_eq!((ended.code, ended.held()), (32, "candidate_read_failed"));
        assert!(ended.log.contains(name), "{}", ended.log);
    }
    assert_eq!(machine.platform.requests().len(), 0);
}
