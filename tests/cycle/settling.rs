//! What a person does about pairs in doubt and a damaged journal.

use crate::kit::{CARD, Ended, Machine, account};
use crate::platform::{Fault, Kind, Task, Trigger};

/// A machine whose only pair is in doubt: the answer to its submission was lost.
fn in_doubt(committed: bool) -> Machine {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    let fault = Fault::fin();
    let fault = if committed { fault.after_commit() } else { fault };
    machine.platform.fault(Trigger::nth(Kind::Add, 1), fault);
    let ended = machine.cycle(20);
    assert_eq!(ended.lines("[live] submitted ").count(), 1, "{}", ended.log);
    machine.age_journal(3_600);
    machine
}

fn resolve(machine: &Machine, how: &str) -> Ended {
    machine.run(&["resolve", "https://huggingface.co/Org/Model", "壁砺", how])
}

#[test]
fn a_run_tells_what_is_in_doubt_and_the_command_to_go_on() {
    let machine = in_doubt(false);
    let ended = machine.cycle(10);
    let line = ended.line("[live] in_doubt ");
    assert!(line.contains("model=Org/Model gpu=Biren_166m age_s=36"), "{line}");
    assert!(line.contains("`submitter resolve Org/Model Biren_166m`"), "{line}");
    assert_eq!(machine.most_posts(), (1, 0));
}

#[test]
fn absent_looks_once_more_and_frees_the_pair() {
    let machine = in_doubt(false);
    let reads = machine.platform.count(Kind::Own);
    let ended = resolve(&machine, "--absent");
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert!(ended.stdout.contains("free again; its intent is 36"), "{}", ended.stdout);
    assert_eq!(machine.platform.count(Kind::Own), reads + 1);
    assert_eq!(machine.platform.count(Kind::Precheck), 2);
    machine.cycle(0);
    assert_eq!(machine.most_posts(), (2, 1));
}

#[test]
fn absent_is_refused_where_the_platform_shows_the_pair() {
    let machine = in_doubt(true);
    let ended = resolve(&machine, "--absent");
    assert_eq!((ended.code, ended.held()), (30, "not_in_doubt"), "{}", ended.log);
    assert!(ended.log.contains("listed as task 33512"), "{}", ended.log);
    // The list may lag behind; the precheck then says so.
    let machine = in_doubt(false);
    machine.platform.set_precheck("Org/Model", CARD, "验证中");
    let ended = resolve(&machine, "--absent");
    assert_eq!((ended.code, ended.held()), (30, "not_in_doubt"), "{}", ended.log);
    machine.cycle(10);
    assert_eq!(machine.most_posts(), (1, 0));
}

/// A list that lags, or an answer that was lost before the platform went on.
#[test]
fn absent_is_refused_while_the_intent_is_young() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    machine.cycle(20);
    let before = machine.platform.count(Kind::Any);
    let ended = resolve(&machine, "--absent");
    assert_eq!((ended.code, ended.held()), (30, "not_in_doubt"), "{}", ended.log);
    assert!(ended.log.contains("its task may still appear: try again in 3"), "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Any), before);
    let args = ["resolve", "Org/Model", CARD, "--absent", "--although-young"];
    assert_eq!(machine.run(&args).code, 0);
}

#[test]
fn absent_is_refused_where_the_list_lacks_what_was_accepted() {
    let machine = Machine::one_card_each(account(), &["Org/Lost", "Org/Model"]);
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin().after_commit());
    machine.cycle(0);
    machine.age_journal(3_600);
    for task in machine.platform.own_tasks() {
        machine.platform.remove_task(task.id);
    }
    let ended = machine.run(&["resolve", "Org/Lost", CARD, "--absent"]);
    assert_eq!((ended.code, ended.held()), (20, "task_missing"), "{}", ended.log);
    machine.cycle(20);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn absent_is_refused_where_the_platform_cannot_be_asked() {
    for (kind, reason) in [(Kind::Own, "ledger_rebuild_failed"), (Kind::Precheck, "http_error")] {
        let machine = in_doubt(false);
        machine.platform.fault(Trigger::every(kind), Fault::status(404));
        let ended = resolve(&machine, "--absent");
        assert_eq!((ended.code, ended.held()), (20, reason), "{}", ended.log);
        machine.platform.reset_faults();
        machine.cycle(10);
        assert_eq!(machine.most_posts(), (1, 0));
    }
}

#[test]
fn submitted_keeps_the_pair_taken_and_needs_no_request() {
    let machine = in_doubt(true);
    let before = machine.platform.count(Kind::Any);
    let ended = resolve(&machine, "--submitted");
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(machine.platform.count(Kind::Any), before);
    assert_eq!(machine.cycle(10).lines("[live] in_doubt ").count(), 0);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn only_a_pair_in_doubt_can_be_settled() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    machine.cycle(0);
    for args in [
        ["resolve", "Org/Model", CARD, "--absent"],
        ["resolve", "Org/Model", CARD, "--submitted"],
        ["resolve", "Org/Other", CARD, "--absent"],
        ["resolve", "no-owner", CARD, "--absent"],
        ["resolve", "Org/Model", "no card", "--absent"],
    ] {
        let ended = machine.run(&args);
        assert_eq!((ended.code, ended.held()), (30, "not_in_doubt"), "{args:?}: {}", ended.log);
    }
    assert_eq!(machine.run(&["resolve", "Org/Model", CARD]).code, 2);
    assert_eq!(machine.run(&["resolve", "Org/Model", CARD, "--absent", "--submitted"]).code, 2);
}

#[test]
fn resolve_waits_for_no_run_for_ever() {
    let machine = in_doubt(false);
    let gate = machine.platform.hold(Trigger::nth(Kind::Own, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(std::time::Duration::from_secs(20)));
    let ended = resolve(&machine, "--submitted");
    assert_eq!((ended.code, ended.held()), (10, "another_run"), "{}", ended.log);
    gate.release();
    running.end();
}

fn damage(machine: &Machine, edit: impl Fn(&str) -> String) -> String {
    let damaged = edit(&machine.journal());
    std::fs::write(machine.state().join("journal.jsonl"), &damaged).unwrap();
    damaged
}

#[test]
fn a_damaged_journal_is_moved_aside_and_its_pairs_stay_taken() {
    let machine = in_doubt(false);
    let damaged = damage(&machine, |text| text.replacen("\"event\"", "\"evnt\"", 1));
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "journal_damaged");
    assert!(ended.log.contains("submitter repair"), "{}", ended.log);

    let repaired = machine.run(&["repair"]);
    assert_eq!(repaired.code, 0, "{}", repaired.log);
    assert!(
        repaired.stdout.contains("1 pairs and 0 whole models stay taken"),
        "{}",
        repaired.stdout
    );
    let aside = std::fs::read_dir(machine.state()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> = aside.filter(|path| path.to_string_lossy().contains(".damaged-")).collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), damaged);

    // Something was not legible, so a person must say that it goes on.
    assert_eq!(machine.cycle(30).held(), "paused");
    assert_eq!(machine.run(&["resume"]).code, 0);
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    assert_eq!(machine.most_posts(), (1, 0));
}

/// Whole lines that are gone leave nothing illegible behind: a person must look all the same.
#[test]
fn a_repair_always_pauses() {
    for edit in [
        |_: &str| "\n".to_owned(),
        |text: &str| text.split_inclusive('\n').skip(1).collect(),
        |text: &str| text.lines().take(1).map(str::to_owned).collect(),
    ] {
        let machine = in_doubt(false);
        damage(&machine, edit);
        assert_eq!(machine.cycle(30).held(), "journal_damaged");
        assert_eq!(machine.run(&["repair"]).code, 0);
        assert_eq!(machine.cycle(30).held(), "paused");
        assert_eq!(machine.most_posts(), (1, 0));
    }
}

#[test]
fn a_sound_journal_and_one_of_a_newer_program_are_left_alone() {
    let machine = in_doubt(false);
    let before = machine.journal();
    let ended = machine.run(&["repair"]);
    assert_eq!((ended.code, ended.stdout.trim()), (0, "the journal is sound; nothing was changed"));
    assert_eq!(machine.journal(), before);
    let newer = damage(&machine, |text| text.replacen("_journal\":1", "_journal\":2", 1));
    let ended = machine.run(&["repair"]);
    assert_eq!((ended.code, ended.held()), (30, "journal_damaged"), "{}", ended.log);
    assert_eq!(machine.journal(), newer);
}

#[test]
fn an_emptied_journal_is_repaired_to_one_that_pauses() {
    let machine = in_doubt(true);
    damage(&machine, |_| String::new());
    assert_eq!(machine.cycle(30).held(), "journal_damaged");
    assert_eq!(machine.run(&["repair"]).code, 0);
    assert_eq!(machine.cycle(30).held(), "paused");
    machine.run(&["resume"]);
    machine.cycle(10);
    assert_eq!(machine.most_posts(), (1, 1), "the list still shows the task");
}

/// A task of ours that somebody removes stays taken after the pause that names it has ended.
#[test]
fn resume_names_the_missing_tasks_and_frees_none() {
    let machine = Machine::one_card_each(account(), &["Org/Model"]);
    machine.cycle(0);
    machine.platform.remove_task(33_512);
    machine.platform.insert_task(Task::new(1, "org/other", CARD));
    machine.age_journal(3_600);
    machine.cycle(20);
    machine.age_journal(3_600);
    let ended = machine.cycle(30);
    assert!(ended.line("[live] hold").contains("task 33512 (org/model on Biren_166m)"));
    let resumed = machine.run(&["resume"]);
    assert!(resumed.stdout.contains("known to be missing: org/model on Biren_166m"));
    machine.cycle(10);
    assert_eq!(machine.most_posts(), (1, 1));
}
