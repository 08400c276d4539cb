//! A taken pair is never sent again, whoever took it and however it is spelled; the row's next card
//! is used in its stead.

use serde_json::{Value, json};

use crate::kit::{Machine, account, models, strs};
use crate::platform::{CardNames, Fault, Kind, Task, Trigger};

/// Every way to write the model that `candidates.json` calls `Org/Model-N`.
fn spellings(n: usize) -> Vec<String> {
    vec![
        format!("Org/Model-{n}"),
        format!("org/model-{n}"),
        format!("ORG/MODEL-{n}.git"),
        format!("https://huggingface.co/Org/Model-{n}/"),
        format!("http://hf-mirror.com/org/model-{n}/tree/main?x=1"),
        format!("https://www.modelscope.cn/models/Org/Model-{n}/summary"),
        format!("org%2Fmodel-{n}"),
        format!(" Org/Model-{n} "),
        format!("Org/Mod\u{200b}el-{n}"),
    ]
}

/// The two names of one card.
const CARD: [&str; 2] = ["壁砺", "Biren_166m"];

const STATES: [(&str, Option<i64>); 11] = [
    ("waiting", Some(1)),
    ("running", Some(0)),
    ("running", None),
    ("success", Some(1)),
    ("success", Some(-1)),
    ("failed", Some(1)),
    ("stopped", Some(1)),
    ("canceled", Some(1)),
    ("cancelled", Some(1)),
    (" Success ", Some(1)),
    ("quantum", None),
];

/// `org/model-N CARD` for the first `n` models.
fn all_on(card: &str, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("org/model-{i} {card}")).collect()
}

#[test]
fn i05_i06_a_pair_on_the_platform_is_taken_in_every_spelling_and_state() {
    let cards = ["壁砺", "Biren_166m", "biren_166M", " 壁 砺 "];
    for card in cards {
        let mut account = account();
        let mut n = 0;
        for (status, result) in STATES {
            let spelling = &spellings(n)[n % 9];
            let id = 100 + u64::try_from(n).unwrap();
            account = account.with_task(Task::new(id, spelling, card).with(status, result));
            n += 1;
        }
        let mut machine = Machine::new(account, &strs(&models(n)));
        machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "50");
        let ended = machine.cycle(0);
        assert_eq!(machine.posted(), all_on("Sunrise_pt-200-x1", n), "{card}: {}", ended.log);
    }
}

#[test]
fn i06_every_spelling_of_a_model_is_the_same_on_the_platform() {
    let mut account = account();
    for (n, id) in (0..9).zip(1..) {
        account = account.with_task(Task::new(id, &spellings(n)[n], "壁砺"));
    }
    let mut machine = Machine::new(account, &strs(&models(9)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "50").cycle(0);
    assert_eq!(machine.posted(), all_on("Sunrise_pt-200-x1", 9));
}

#[test]
fn i05_two_rows_of_one_model_in_two_spellings_are_one_pair() {
    let rows = json!([
        {"model_address": "Org/Model-0", "target_gpu": "壁砺"},
        {"model_address": "https://huggingface.co/org/MODEL-0", "target_gpu": "Biren_166m"},
    ]);
    let machine = Machine::with_rows(account(), &rows);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m"]);
    let skipped = "[live] skip model=org/MODEL-0 reason=all_gpus_done_or_unmapped";
    assert_eq!(ended.line("[live] skip "), skipped);
}

/// The list shows the card by its Chinese name; the submission was for the enum.
#[test]
fn i05_our_own_tasks_are_recognised_by_either_name_of_their_card() {
    for cards in [CardNames::Chinese, CardNames::Enum] {
        let machine = Machine::new(account().cards(cards), &["Org/Model-0", "Org/Model-0"]);
        machine.cycle(0);
        assert_eq!(
            machine.posted(),
            ["org/model-0 Biren_166m", "org/model-0 Sunrise_pt-200-x1"],
            "two rows, each in its place"
        );
        machine.age_journal(7_200);
        machine.cycle(0);
        assert_eq!(machine.most_posts(), (1, 1));
        assert_eq!(machine.posts(), 4);
    }
}

#[test]
fn i05_i06_pairs_of_submitted_ledger_json_are_taken() {
    let pairs: Vec<Value> =
        (0..6).map(|n| json!({"model": spellings(n)[n], "gpu": CARD[n % 2]})).collect();
    let machine = Machine::new(account(), &strs(&models(6)));
    let ledger = json!({"version": 1, "pairs": pairs, "blocked_models": []});
    machine.write_data("submitted-ledger.json", &ledger.to_string());
    let ended = machine.cycle(0);
    assert_eq!(machine.posted(), all_on("Sunrise_pt-200-x1", 6));
    assert!(ended.line("[live] ledger ").starts_with("[live] ledger rebuilt remote=0 baked=6 "));
}

#[test]
fn i05_i06_pairs_of_live_state_file_are_taken() {
    let mut machine = Machine::new(account(), &strs(&models(6)));
    let pairs: Vec<String> =
        (0..6).map(|n| format!("{}|{}", spellings(n)[n], CARD[n % 2])).collect();
    let path = machine.write("state.json", &json!(pairs).to_string());
    machine.set("LIVE_STATE_FILE", &path).cycle(0);
    assert_eq!(machine.posted(), all_on("Sunrise_pt-200-x1", 6));
}

/// The platform never had the task, and nothing but the journal says that it might have.
#[test]
fn i05_a_pair_that_only_the_journal_knows_is_taken() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    machine.cycle(20);
    machine.write_candidates(&json!({"version": 1, "candidates": [
        {"model_address": "http://hf-mirror.com/org/model-0/tree/main", "try_next_gpus":
            ["壁砺", "曦望"]}]}));
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m", "org/model-0 Sunrise_pt-200-x1"]);
    machine.cycle(10);
    assert_eq!(machine.most_posts(), (1, 1));
    assert_eq!(machine.posts(), 2);
}

#[test]
fn a_card_that_the_folder_does_not_know_blocks_no_other() {
    let machine = Machine::new(account(), &["Org/Model-0"]);
    let ledger = json!({"version": 1, "pairs": [{"model": "Org/Model-0", "gpu": "New_card-1"}]});
    machine.write_data("submitted-ledger.json", &ledger.to_string());
    machine.cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m"]);
}

#[test]
fn all_sources_together_leave_only_the_last_card() {
    let account = account().with_task(Task::new(1, "Org/Model-0", "曦望").with("failed", Some(1)));
    let mut machine = Machine::new(account, &["Org/Model-0"]);
    let ledger = json!({"version": 1, "pairs": [{"model": "org/model-0", "gpu": "壁砺"}]});
    machine.write_data("submitted-ledger.json", &ledger.to_string());
    let path = machine.write("state.json", r#"["org/model-0|Iluvatar_bi-150"]"#);
    machine.set("LIVE_STATE_FILE", &path).cycle(0);
    assert_eq!(machine.posted(), ["org/model-0 Iluvatar_mrv-100"]);
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "nothing_eligible");
    assert_eq!(machine.posts(), 1);
}
