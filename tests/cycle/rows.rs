//! What becomes of a row of the list: skipped with a reason, or sent as it is written.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::kit::{Machine, account, models, strs};
use crate::platform::{Kind, Rejection, Request};

/// A machine with a row for each reason to skip one.
fn nothing_but_skips() -> Machine {
    let rows = json!([
        {"model_address": "gpt-neo"},
        {"model_address": ""},
        {"model_address": "a/b/c"},
        {"model_address": "<org>/<model>"},
        {"model_address": "org/TODO"},
        {"model_address": "Org/Model-7B-GGUF"},
        {"model_address": "Org/plain", "model_name": "Llama LoRA"},
        {"model_address": "https://huggingface.co/Org/Blocked"},
        {"model_address": "Org/Filtered", "skip_reason": "禁提"},
        {"model_address": "Org/No-Card", "try_next_gpus": [], "target_gpu": "壁砺"},
        {"model_address": "Org/Unheard-Card", "try_next_gpus": ["天垓 999"]},
        {"model_address": "Org/Not-Listed", "target_gpu": "Newcomer_x-1"},
    ]);
    let machine = Machine::with_rows(account(), &rows);
    let ledger = json!({"version": 1, "pairs": [], "blocked_models": ["org/BLOCKED"]});
    machine.write_data("submitted-ledger.json", &ledger.to_string());
    machine
}

#[test]
fn each_skip_is_one_line_at_v() {
    let machine = nothing_but_skips();
    let ended = machine.run(&["-v", "run"]);
    assert_eq!((ended.code, ended.held()), (10, "nothing_eligible"));
    // A malformed address is told with what is wrong behind the reason.
    let lines: Vec<&str> = ended
        .lines("[live] skip ")
        .map(|line| line.split_once(" detail=").map_or(line, |(line, _)| line))
        .collect();
    assert_eq!(
        lines,
        [
            "[live] skip model=gpt-neo reason=malformed",
            "[live] skip model=- reason=malformed",
            "[live] skip model=a/b/c reason=malformed",
            "[live] skip model=\\u{3c}org\\u{3e}/\\u{3c}model\\u{3e} reason=placeholder",
            "[live] skip model=org/TODO reason=placeholder",
            "[live] skip model=Org/Model-7B-GGUF reason=banned:gguf",
            "[live] skip model=Org/plain reason=banned:peft-lora",
            "[live] skip model=Org/Blocked reason=blocked_model",
            "[live] skip model=Org/Filtered reason=pending_filter",
            "[live] skip model=Org/No-Card reason=all_gpus_done_or_unmapped",
            "[live] skip model=Org/Unheard-Card reason=all_gpus_done_or_unmapped",
            "[live] skip model=Org/Not-Listed reason=all_gpus_done_or_unmapped",
        ]
    );
    assert_eq!(machine.posts() + machine.platform.count(Kind::Precheck), 0);
}

#[test]
fn skips_are_counted_in_one_line_at_the_default_level() {
    let ended = nothing_but_skips().cycle(10);
    assert_eq!(ended.lines("[live] skip ").count(), 0, "{}", ended.log);
    let told: BTreeSet<&str> = ended.line("[live] skipped ").split(' ').skip(2).collect();
    let expected = [
        "malformed=3",
        "placeholder=2",
        "banned:gguf=1",
        "banned:peft-lora=1",
        "blocked_model=1",
        "pending_filter=1",
        "all_gpus_done_or_unmapped=3",
    ];
    assert_eq!(told, BTreeSet::from(expected));
    assert_eq!(ended.counted("skipped"), 12);
}

#[test]
fn nothing_in_a_row_can_forge_a_field_or_a_line() {
    let evil = "Evil/One gpu=Biren_166m reason=x\n[live] submitted model=Evil/Two\r\u{2028}task=1";
    let rows = json!([
        {"model_address": evil},
        {"model_address": format!("https://huggingface.co/{evil}")},
        {"model_address": format!("<{evil}>")},
        {"model_address": "Org/Filtered", "skip_reason": evil, "foothold_text": evil},
        {"model_address": "Org/Model-0", "model_name": evil, "framework": evil},
        {"model_address": "Org/Model-1", "task_type": evil, "evidence_source": evil,
            "try_next_gpus": [evil, "壁砺"]},
    ]);
    let machine = Machine::with_rows(account(), &rows);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    for line in ended.log.split(['\n', '\r', '\u{2028}']).filter(|line| !line.is_empty()) {
        assert!(line.starts_with("[live] "), "{line:?}");
        for field in [" model=", " gpu=", " reason="] {
            assert!(line.matches(field).count() <= 1, "{line:?}");
        }
        assert!(!line.contains("model=Evil/Two"), "{line:?}");
    }
    assert_eq!(ended.lines("[live] submitted ").count(), 1);
    assert!(ended.line("[live] submitted ").starts_with("[live] submitted model=Org/Model-1 gpu="));
    assert_eq!(machine.posted(), ["org/model-1 Biren_166m"]);
}

#[test]
fn a_row_has_one_post_a_cycle_and_its_next_card_waits_for_the_next() {
    let account = account().rejecting(Rejection::all(60022).gpu("壁砺"));
    let machine = Machine::new(account, &strs(&models(2)));
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "candidates_done");
    assert_eq!(machine.posted(), ["org/model-0 Biren_166m", "org/model-1 Biren_166m"]);
    assert_eq!(ended.counted("rejected"), 2);
    let ended = machine.cycle(0);
    assert_eq!(ended.counted("submitted"), 2);
    let second = ["org/model-0 Sunrise_pt-200-x1", "org/model-1 Sunrise_pt-200-x1"];
    assert_eq!(machine.posted()[2..], second);
}

#[test]
fn candidates_go_by_foothold_rank_then_section_then_list() {
    let rows = json!([
        {"model_address": "O/Unknown-B"},
        {"model_address": "O/Unknown-A", "section": "A"},
        {"model_address": "O/Bare-In-Flight", "foothold_class": "in_flight", "section": "A"},
        {"model_address": "O/In-Flight", "foothold_text": "昇腾: 正在验证"},
        {"model_address": "O/Failed-B", "foothold_class": "failed_foothold"},
        {"model_address": "O/Failed-A", "foothold_class": "failed_foothold", "section": "A"},
        {"model_address": "O/Reuse-B", "foothold_class": "verified_reuse"},
        {"model_address": "O/Reuse-B2", "foothold_class": "verified_reuse"},
        {"model_address": "O/Text-Beats", "foothold_class": "failed_foothold", "section": "A",
            "foothold_text": "验证失败, 已验证成功"},
        {"model_address": "O/Queued", "foothold_class": "verified_reuse",
            "foothold_text": "验证排队中", "section": "A"},
    ]);
    let mut machine = Machine::with_rows(account(), &rows);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "50").cycle(0);
    let order: Vec<String> = [
        "text-beats",
        "reuse-b",
        "reuse-b2",
        "failed-a",
        "failed-b",
        "in-flight",
        "unknown-a",
        "bare-in-flight",
        "queued",
        "unknown-b",
    ]
    .iter()
    .map(|name| format!("o/{name} Biren_166m"))
    .collect();
    assert_eq!(machine.posted(), order);
}

#[test]
fn a_task_is_sent_with_all_six_fields_as_strings_and_its_address_as_written() {
    let address = "https://huggingface.co/Org/My-Model/tree/main";
    let rows = json!([
        {"modelAddress": address, "modelName": "My", "targetGpu": "天垓 150"},
        {"model_address": "Org/Other", "task_type": "chat", "framework": "sglang",
            "target_gpu": "壁砺"},
    ]);
    let machine = Machine::with_rows(account(), &rows);
    std::fs::create_dir(machine.folder.path().join("data/config-params")).unwrap();
    machine.write_data("config-params/sglang.yaml", "own: 1\n");
    let ended = machine.cycle(0);
    let requests = machine.platform.requests();
    let bodies: Vec<Value> = requests
        .iter()
        .filter(|asked| asked.kind == Kind::Add)
        .map(|asked| serde_json::from_str(&asked.body).unwrap())
        .collect();
    let shipped = include_str!("../../data/config-params/vllm.yaml");
    let sent = |address: &str, task: &str, gpu: &str, framework: &str, yaml: &str| {
        json!({"modelAddress": address, "taskType": task, "targetGpu": gpu,
            "framework": framework, "strategyId": "strategy-1", "configParams": yaml})
    };
    assert_eq!(
        bodies,
        [
            sent(address, "text-generation", "Iluvatar_bi-150", "vllm", shipped),
            sent("Org/Other", "chat", "Biren_166m", "sglang", "own: 1\n"),
        ]
    );
    let told: Vec<&str> = ended.lines("[live] submitted ").collect();
    let fields = "http=200 code=0 task=33512 config_source=sample config_reason=not_configured \
                  reason=task_add_response";
    let first = "[live] submitted model=Org/My-Model gpu=Iluvatar_bi-150 queue_before=0 ";
    assert_eq!(told[0], first.to_owned() + fields);
    assert!(told[1].starts_with("[live] submitted model=Org/Other gpu=Biren_166m queue_before=1 "));
}

#[test]
fn the_last_request_before_each_post_reads_the_own_tasks() {
    let machine = Machine::new(account().with_history(7, &["Past/One"]), &strs(&models(3)));
    machine.cycle(0);
    let requests = machine.platform.requests();
    let mut last_of_own_model = Vec::new();
    for (at, post) in requests.iter().enumerate().filter(|(_, asked)| asked.kind == Kind::Add) {
        // The next model's precheck goes out together with the POST, and may be there first.
        let of_next =
            |asked: &&Request| asked.kind != Kind::Precheck || asked.model() == post.model();
        last_of_own_model.push(requests[..at].iter().rev().find(of_next).unwrap().kind);
    }
    assert_eq!(last_of_own_model, [Kind::Own; 3]);
}

#[test]
fn a_framework_without_any_sample_is_skipped_and_told() {
    let rows = json!([{"model_address": "Org/Model-0", "framework": "unheard-of"}]);
    let machine = Machine::with_rows(account(), &rows);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!((ended.code, ended.held()), (10, "nothing_eligible"));
    let skip = "[live] skip model=Org/Model-0 gpu=Biren_166m reason=no_config_params";
    assert_eq!(ended.line("[live] skip "), skip);
    assert_eq!(machine.posts(), 0);
}
