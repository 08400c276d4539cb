//! What a rejection by task/add does to its pair, to the cycle and to later runs.

use serde_json::json;

use crate::kit::{Machine, account, exists, models, strs};
use crate::platform::{Kind, Rejection};

const DAY: u64 = 24 * 3_600;

/// A machine with one candidate that has one card, and the next answer to it.
fn one_card(code: i64) -> Machine {
    let rows = json!([{"model_address": "Org/Model-0", "target_gpu": "壁砺"}]);
    Machine::with_rows(account().rejecting(Rejection::all(code)), &rows)
}

#[test]
fn permanent_codes_mark_the_pair_for_good() {
    let codes = [
        (60012, "MULTI_GPU_UNSUPPORTED"),
        (60019, "SUBMISSION_GPU_TYPE_MISMATCH"),
        (60020, "MODEL_NOT_DOWNLOADED"),
        (60021, "FRAMEWORK_UNRESOLVED"),
        (60022, "GPU_CONFIG_UNSUPPORTED"),
        (60023, "YAML_CONFIG_EMPTY"),
        (60024, "YAML_CONFIG_INVALID"),
        (60025, "GPU_TYPE_UNSUPPORTED"),
        (60026, "MODEL_NOT_FOUND"),
        (60027, "MODEL_ALREADY_VERIFIED"),
        (60028, "MODEL_VERIFY_RUNNING"),
        (60029, "TRANSFORMERS_REQUIRES_FAILED_BASELINE"),
    ];
    let names = models(codes.len());
    let mut account = account();
    let mut rows = Vec::new();
    for (model, (code, _)) in names.iter().zip(codes) {
        account = account.rejecting(Rejection::all(code).model(model).http(400));
        rows.push(json!({"model_address": model, "target_gpu": "壁砺"}));
    }
    let machine = Machine::with_rows(account, &json!(rows));
    let ended = machine.cycle(10);
    let told: Vec<&str> = ended.lines("[live] rejected ").collect();
    let expected: Vec<String> = names
        .iter()
        .zip(codes)
        .map(|(model, (code, name))| {
            format!(
                "[live] rejected model={model} gpu=Biren_166m code={code} http=400 \
                 queue_before=0 reason=CREATE_CONTEST_TASK_{name}"
            )
        })
        .collect();
    assert_eq!(told, expected);
    machine.platform.clear_rejections();
    machine.age_journal(900 * DAY);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!((ended.code, ended.held()), (10, "nothing_eligible"));
    for (model, (code, _)) in names.iter().zip(codes) {
        let skip = format!("[live] skip model={model} gpu=Biren_166m reason=marked:{code}");
        assert_eq!(ended.lines(&skip).count(), 1, "{skip}");
    }
    assert_eq!(machine.posts(), codes.len());
}

#[test]
fn other_codes_rest_their_pair_for_24_hours() {
    let codes = [
        (60008, "CREATE_CONTEST_TASK_REQUEST_EMPTY"),
        (60018, "CREATE_CONTEST_TASK_CONTRIBUTOR_NOT_FOUND"),
        (60999, "unknown"),
        (40400, "unknown"),
        (49999, "unknown"),
    ];
    for (code, name) in codes {
        let machine = one_card(code);
        let ended = machine.cycle(10);
        let told = ended.line("[live] rejected ");
        assert!(told.contains(&format!(" code={code} http=200 queue_before=0 ")), "{told}");
        assert!(told.ends_with(&format!(" reason={name}")), "{told}");
        machine.platform.clear_rejections();
        assert_eq!(machine.cycle(10).held(), "nothing_eligible");
        machine.age_journal(DAY - 60);
        assert_eq!(machine.cycle(10).held(), "nothing_eligible");
        assert_eq!(machine.posts(), 1);
        machine.age_journal(60);
        machine.cycle(0);
        assert_eq!(machine.most_posts(), (2, 1), "the first POST was provably not taken");
    }
}

#[test]
fn the_rest_of_a_pair_may_be_set_shorter() {
    let mut machine = one_card(60008);
    machine.set("LIVE_REJECT_COOLDOWN_HOURS", "2").cycle(10);
    machine.platform.clear_rejections();
    machine.age_journal(2 * 3_600 - 60);
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    machine.age_journal(60);
    machine.cycle(0);
}

#[test]
fn code_60007_ends_the_cycle_and_the_next_run_tries_the_same_pair() {
    let machine = Machine::new(account().task_limit(0), &strs(&models(3)));
    for n in 1..=2 {
        let ended = machine.cycle(10);
        assert_eq!(ended.held(), "task_num_limit");
        assert_eq!(
            ended.line("[live] rejected "),
            "[live] rejected model=Org/Model-0 gpu=Biren_166m code=60007 http=200 \
             queue_before=0 reason=MODEL_VERIFY_TASK_NUM_LIMIT"
        );
        assert_eq!(machine.posts(), n);
    }
    machine.platform.change(|account| account.task_limit = None);
    assert_eq!(machine.cycle(0).counted("submitted"), 3);
    assert_eq!(
        machine.posted(),
        [
            "org/model-0 Biren_166m",
            "org/model-0 Biren_166m",
            "org/model-0 Biren_166m",
            "org/model-1 Biren_166m",
            "org/model-2 Biren_166m",
        ]
    );
    assert_eq!(machine.most_posts(), (3, 1));
}

#[test]
fn code_60007_after_accepted_tasks_is_a_success() {
    let machine = Machine::new(account().task_limit(2), &strs(&models(5)));
    let ended = machine.cycle(0);
    assert_eq!((ended.held(), machine.posts()), ("task_num_limit", 3));
}

#[test]
fn a_refused_account_needs_a_person_and_marks_nothing() {
    for (code, name) in [
        (60006, "CANNOT_CREATE_CONTEST_TASK_BECAUSE_NOT_IN_WHITE_LIST"),
        (60030, "CREATE_CONTEST_TASK_API_VERSION_UNSUPPORTED"),
    ] {
        let machine = Machine::new(account().rejecting(Rejection::all(code)), &strs(&models(2)));
        let ended = machine.cycle(30);
        assert_eq!(ended.held(), "account_refused");
        assert!(ended.line("[live] rejected ").ends_with(&format!(" reason={name}")));
        assert_eq!(machine.posts(), 1);
        machine.platform.clear_rejections();
        machine.cycle(0);
        assert_eq!(machine.posted()[..2], ["org/model-0 Biren_166m"; 2]);
    }
}

/// One accepted task does not hide that a person is needed.
#[test]
fn code_60014_stops_this_and_all_later_runs_until_a_person_resumes() {
    let account = account().rejecting(Rejection::all(60014).model("Org/Model-1"));
    let machine = Machine::new(account, &strs(&models(4)));
    let ended = machine.cycle(30);
    assert_eq!(ended.held(), "script_submit_disabled");
    assert_eq!((ended.counted("submitted"), machine.posts()), (1, 2));
    machine.platform.clear_rejections();
    let asked = machine.asked();
    let pause = machine.state().join("pause.json");
    assert!(exists(&pause));
    for _ in 0..2 {
        let ended = machine.cycle(30);
        assert_eq!(ended.held(), "paused");
        assert!(ended.line("[live] hold ").contains("script_submit_disabled"), "{}", ended.log);
        let dry = machine.run(&["run", "--dry-run"]);
        assert_eq!((dry.code, dry.held()), (30, "paused"));
        // The second time without the file: the journal remembers.
        drop(std::fs::remove_file(&pause));
    }
    assert_eq!(machine.asked(), asked);
    assert_eq!(machine.run(&["resume"]).code, 0);
    machine.cycle(0);
    assert_eq!(machine.posts(), 6, "the refused pair, two more, and the first one's next card");
    assert_eq!(machine.platform.accepted().len(), 5);
    assert_eq!(machine.most_posts(), (2, 1));
}

#[test]
fn an_early_pause_by_hand_is_not_what_ends_a_pause_by_the_platform() {
    let machine = Machine::new(account().rejecting(Rejection::all(60014)), &strs(&models(2)));
    machine.cycle(30);
    assert_eq!(machine.run(&["pause", "--reason", "holiday"]).code, 0);
    assert_eq!(machine.cycle(30).held(), "paused");
    assert_eq!(machine.run(&["resume"]).code, 0);
    assert_eq!(machine.cycle(30).held(), "script_submit_disabled");
    assert_eq!(machine.posts(), 2);
}

#[test]
fn a_row_whose_card_was_refused_takes_its_next_card_in_the_next_cycle_only() {
    let machine = Machine::new(account().rejecting(Rejection::all(60008)), &["Org/Model-0"]);
    let cards = ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"];
    for n in 1..=4 {
        assert_eq!(machine.cycle(10).held(), "candidates_done");
        assert_eq!(machine.posts(), n);
    }
    assert_eq!(machine.posted(), cards.map(|card| format!("org/model-0 {card}")));
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    assert_eq!(machine.platform.count(Kind::Precheck), 4);
}
