//! Cards that the platform is known not to take: by marks, and by prechecks.

use serde_json::json;

use crate::kit::{Ended, Machine, account, models, strs};
use crate::platform::{Fault, Kind, Precheck, Trigger};

const TARGETS: [&str; 4] =
    ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"];

fn one() -> Machine {
    Machine::new(account(), &["Org/Model-0"])
}

fn skips(ended: &Ended) -> Vec<&str> {
    ended.lines("[live] skip ").collect()
}

fn results(machine: &Machine, model: &str, result: &str) {
    for card in TARGETS {
        machine.platform.set_precheck(model, card, result);
    }
}

#[test]
fn a_mark_of_the_data_folder_chooses_the_next_card() {
    let machine = one();
    let marks = json!({"version": 1, "marks": [
        {"model": "org/MODEL-0", "gpu": "壁砺", "code": 60022},
        {"model": "https://huggingface.co/Org/Model-0", "gpu": "Sunrise_pt-200-x1", "code": 60029},
    ]});
    machine.write_data("reject-marks.json", &marks.to_string());
    let ended = machine.run(&["-v", "run"]);
    assert_eq!(
        skips(&ended),
        [
            "[live] skip model=Org/Model-0 gpu=Biren_166m reason=marked:60022",
            "[live] skip model=Org/Model-0 gpu=Sunrise_pt-200-x1 reason=marked:60029",
        ]
    );
    assert_eq!(machine.posted(), ["org/model-0 Iluvatar_bi-150"]);
}

#[test]
fn marks_of_the_data_folder_are_added_to_the_shipped_ones() {
    let row = json!([{"model_address": "MadeAgents/Hammer2.1-0.5b", "try_next_gpus": TARGETS}]);
    let machine = Machine::with_rows(account(), &row);
    let none = json!({"version": 1, "marks": []});
    machine.write_data("reject-marks.json", &none.to_string());
    let ended = machine.run(&["-v", "run"]);
    assert_eq!(
        skips(&ended),
        ["[live] skip model=MadeAgents/Hammer2.1-0.5b gpu=Biren_166m reason=marked:60027"]
    );
    assert_eq!(machine.posted(), ["madeagents/hammer2.1-0.5b Sunrise_pt-200-x1"]);
}

#[test]
fn precheck_results_choose_the_next_card_and_are_told_for_every_known_card() {
    let machine = one();
    machine.platform.set_precheck("Org/Model-0", "壁砺", "已验证");
    machine.platform.set_precheck("Org/Model-0", "Sunrise_pt-200-x1", "验证中");
    machine.platform.set_precheck("Org/Model-0", "Ascend_910-b4", "已验证");
    machine.platform.set_precheck("Org/Model-0", "Iluvatar_bi-150", "验证失败");
    machine.platform.set_precheck("Org/Model-0", "Unheard_of-1", "已验证");
    let ended = machine.cycle(0);
    let mut told = skips(&ended);
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "[live] skip model=Org/Model-0 gpu=Ascend_910-b4 reason=marked:precheck_60027",
            "[live] skip model=Org/Model-0 gpu=Biren_166m reason=marked:precheck_60027",
            "[live] skip model=Org/Model-0 gpu=Sunrise_pt-200-x1 reason=marked:precheck_60028",
        ]
    );
    assert_eq!(machine.posted(), ["org/model-0 Iluvatar_bi-150"]);
    assert_eq!(ended.counted("skipped"), 3);
    assert_eq!(ended.counted("prechecks"), 1);
}

#[test]
fn an_unknown_model_blocks_nothing_with_http_200_and_404() {
    for status in [200, 404] {
        let machine = one();
        let body = r#"{"code":40400,"message":"m","data":null}"#;
        let fault = Fault::body(body).with_status(status);
        machine.platform.fault(Trigger::every(Kind::Precheck), fault);
        let ended = machine.cycle(0);
        assert_eq!(ended.lines("[live] precheck ").count(), 0, "{}", ended.log);
        assert_eq!(machine.posted(), ["org/model-0 Biren_166m"]);
    }
}

#[test]
fn a_precheck_that_fails_is_logged_and_leaves_the_verdict_to_task_add() {
    let faults = [
        (Fault::status(403), "http_error"),
        (Fault::html().with_status(500).with_header("Retry-After", "30"), "http_error"),
        (Fault::html(), "malformed_json"),
        (Fault::body(r#"{"code":50000,"message":"m","data":null}"#), "platform_error"),
        (Fault::body(r#"{"code":0,"message":"m","data":{}}"#), "malformed_data"),
        (Fault::body(r#"{"code":0,"data":{"verifyResult":[]}}"#), "malformed_data"),
    ];
    for (fault, reason) in faults {
        let mut machine = one();
        // A wait that the deadline does not allow is no wait.
        machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "20");
        machine.platform.fault(Trigger::every(Kind::Precheck), fault);
        let ended = machine.cycle(0);
        let told = format!("[live] precheck model=Org/Model-0 reason={reason}");
        assert_eq!(ended.line("[live] precheck "), told);
        assert_eq!(machine.platform.count(Kind::Precheck), 1);
        assert_eq!(machine.posted(), ["org/model-0 Biren_166m"]);
    }
}

#[test]
fn a_precheck_without_an_answer_is_a_transport_error_and_asked_three_times() {
    let machine = one();
    machine.platform.fault(Trigger::every(Kind::Precheck), Fault::rst());
    let ended = machine.cycle(0);
    assert_eq!(
        ended.line("[live] precheck "),
        "[live] precheck model=Org/Model-0 reason=transport_error"
    );
    assert_eq!(machine.platform.count(Kind::Precheck), 3);
    assert_eq!(ended.counted("prechecks"), 1);
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m"]);
}

#[test]
fn a_malformed_row_of_a_known_card_voids_the_answer_and_of_an_unknown_card_does_not() {
    for (card, row) in [
        ("曦望", r#"{"result":null}"#),
        ("Sunrise_pt-200-x1", "{}"),
        ("Ascend_910-b4", "null"),
        ("Ascend_910-b4", r#"{"result":7}"#),
        ("Ascend_910-b4", r#""已验证""#),
    ] {
        let machine = one();
        let answer = format!(
            r#"{{"code":0,"data":{{"verifyResult":{{"壁砺":{{"result":"已验证"}},"{card}":{row}}}}}}}"#
        );
        machine.platform.set_precheck_answer("Org/Model-0", Precheck::Raw(answer));
        let ended = machine.cycle(0);
        let told = "[live] precheck model=Org/Model-0 reason=malformed_data";
        assert_eq!(ended.line("[live] precheck "), told);
        assert_eq!(skips(&ended), [""; 0]);
        assert_eq!(machine.posted(), ["org/model-0 Biren_166m"], "nothing of it counts");
    }
    let machine = one();
    let answer = r#"{"code":0,"data":{"verifyResult":{"壁砺":{"result":"已验证"},"新卡":null}}}"#;
    machine.platform.set_precheck_answer("Org/Model-0", Precheck::Raw(answer.into()));
    let ended = machine.cycle(0);
    assert_eq!(ended.lines("[live] precheck ").count(), 0);
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn the_precheck_asks_for_org_and_name_in_their_own_case() {
    let machine = Machine::new(account(), &["https://huggingface.co/Org/My-Model.v2/tree/main"]);
    machine.cycle(0);
    let requests = machine.platform.requests();
    let asked = requests.iter().find(|asked| asked.kind == Kind::Precheck).unwrap();
    assert_eq!(asked.query, [("modelId".to_owned(), "Org/My-Model.v2".to_owned())]);
}

#[test]
fn precheck_results_are_remembered_over_runs() {
    let machine = Machine::new(account(), &strs(&models(3)));
    for model in models(3) {
        results(&machine, &model, "已验证");
    }
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "nothing_eligible");
    assert_eq!((ended.counted("prechecks"), skips(&ended).len()), (3, 12));
    machine.age_journal(400 * 86_400);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!((ended.code, ended.held()), (10, "nothing_eligible"));
    assert_eq!(machine.platform.count(Kind::Precheck), 3, "none in the second run");
    let marked = ended.log.matches("reason=marked:60027\n").count();
    let done = ended.log.matches("reason=all_gpus_done_or_unmapped\n").count();
    assert_eq!((marked, done), (12, 3), "{}", ended.log);
    assert!(ended.line("[live] ledger ").ends_with(" marks=28"), "12 and the 16 shipped");
    assert_eq!(machine.posts(), 0);
}

#[test]
fn a_prechecks_60028_ends_after_24_hours_and_its_60027_never() {
    let rows = json!([{"model_address": "Org/Model-0", "try_next_gpus": ["壁砺", "曦望"]}]);
    let machine = Machine::with_rows(account(), &rows);
    machine.platform.set_precheck("Org/Model-0", "Biren_166m", "已验证");
    machine.platform.set_precheck("Org/Model-0", "Sunrise_pt-200-x1", "验证中");
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    // What the platform says from now on would free both cards.
    machine.platform.set_precheck_answer("Org/Model-0", Precheck::Results([].into()));
    machine.age_journal(24 * 3_600 - 120);
    assert_eq!(machine.cycle(10).held(), "nothing_eligible");
    assert_eq!((machine.platform.count(Kind::Precheck), machine.posts()), (1, 0));
    machine.age_journal(121);
    machine.cycle(0);
    assert_eq!(machine.platform.count(Kind::Precheck), 2);
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn a_mark_that_a_precheck_found_is_told_once_and_later_only_at_v() {
    let machine = Machine::new(account(), &strs(&models(2)));
    results(&machine, "Org/Model-0", "验证中");
    let ended = machine.cycle(0);
    assert_eq!(skips(&ended).len(), 4);
    let ended = machine.cycle(0);
    assert_eq!(skips(&ended), [""; 0], "{}", ended.log);
    assert_eq!(machine.most_posts(), (1, 1));
}
