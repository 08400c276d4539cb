//! `explain` says of a model what the next run then does with it.

use serde_json::{Value, json};

use crate::kit::{CARD, Machine, account, models, strs};
use crate::platform::{Fault, Kind, Rejection, Task, Trigger};

const NEXT: &str = "Sunrise_pt-200-x1";

fn explain(machine: &Machine, model: &str) -> Value {
    let ended = machine.run(&["explain", model, "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    ended.json()
}

/// Action, card and reason of each decision about a model.
fn about<'a>(decisions: impl Iterator<Item = &'a Value>, model: &str) -> Vec<String> {
    let of_model = |decision: &&Value| {
        decision["model"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(model))
    };
    decisions
        .filter(of_model)
        .map(|d| format!("{} {} {}", d["action"], d["gpu"], d["reason"]))
        .collect()
}

/// Every way in which a row can be passed over or not, after a run that lost an answer and met two
/// rejections.
fn mixed() -> (Machine, Vec<String>) {
    let account = account()
        .with_task(Task::new(1, "Org/Done", CARD).with("success", Some(1)).with_points(7))
        .with_task(Task::new(2, "Org/Odd", "某卡"))
        .with_task(Task::new(3, "https://hf.co/Org/Disguised", CARD))
        .with_task(Task::new(4, "gpt2", CARD))
        .rejecting(Rejection::all(60018).model("org/cooling"))
        .rejecting(Rejection::all(60025).model("org/refused").gpu(CARD));
    let both = json!(["壁砺", "曦望"]);
    let rows: [(&str, Value); 19] = [
        ("Org/Doubt", json!({"try_next_gpus": both})),
        ("Org/Cooling", json!({"try_next_gpus": ["壁砺"]})),
        ("Org/Refused", json!({"try_next_gpus": both})),
        ("Org/Sent", json!({"try_next_gpus": ["壁砺"]})),
        ("Org/Free", json!({})),
        ("Org/Model-GGUF", json!({})),
        ("Org/Blocked", json!({})),
        ("Org/Filtered", json!({"skip_reason": "no_download"})),
        ("Org/Marked", json!({"try_next_gpus": both})),
        ("Org/All-Marked", json!({"try_next_gpus": ["壁砺"]})),
        ("Org/Done", json!({"try_next_gpus": both})),
        ("Org/Odd", json!({"try_next_gpus": both})),
        ("Org/Disguised", json!({"try_next_gpus": ["壁砺"]})),
        ("Org/Carried", json!({"try_next_gpus": both})),
        ("Org/Baked", json!({"try_next_gpus": ["壁砺", "unheard-of"]})),
        ("Org/Empty", json!({"try_next_gpus": []})),
        ("Org/Sglang", json!({"framework": "sglang"})),
        ("https://huggingface.co/Org/Twice", json!({"try_next_gpus": both})),
        ("org/TWICE", json!({"try_next_gpus": both, "foothold_class": "verified_reuse"})),
    ];
    let models = rows.iter().map(|(model, _)| model.replace("https://huggingface.co/", ""));
    let models: Vec<String> = models.collect();
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|(model, mut row)| {
            row["model_address"] = model.into();
            row
        })
        .collect();
    let mut machine = Machine::with_rows(account, &Value::from(rows.clone()));
    machine.write_data(
        "reject-marks.json",
        &json!({"version": 1, "marks": [
            {"model": "org/marked", "gpu": CARD, "code": 60022},
            {"model": "org/all-marked", "gpu": CARD, "code": 60027},
        ]})
        .to_string(),
    );
    machine.write_data(
        "submitted-ledger.json",
        &json!({"version": 1,
        "pairs": [{"model": "org/baked", "gpu": CARD}], "blocked_models": ["org/blocked"]})
        .to_string(),
    );
    let state = machine.write("state.json", &json!([format!("org/carried|{CARD}")]).to_string());
    machine.set("LIVE_STATE_FILE", &state).set("LIVE_MAX_SUBMITS_PER_CYCLE", "2");
    // The first run has the first four rows alone.
    machine.write_candidates(&json!({"version": 1, "candidates": rows[..4]}));
    machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
    machine.cycle(0);
    machine.write_candidates(&json!({"version": 1, "candidates": rows}));
    machine.age_journal(7_200);
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "50");
    (machine, models)
}

#[test]
fn the_verdict_is_what_the_next_run_decides() {
    let (machine, models) = mixed();
    let ended = machine.run(&["run", "--dry-run", "--json"]);
    assert_eq!((ended.code, ended.held()), (0, "candidates_done"), "{}", ended.log);
    let run = ended.json();
    let decided = || run["decisions"].as_array().unwrap().iter();
    let planned: Vec<&Value> = decided().filter(|d| d["action"] == "plan").collect();
    let mut reasons = std::collections::BTreeSet::new();
    for model in &models {
        let explained = explain(&machine, model);
        let rows = explained["rows"].as_array().unwrap();
        let said = || rows.iter().flat_map(|row| row["decisions"].as_array().unwrap());
        assert_eq!(about(said(), model), about(decided(), model), "{model}");
        assert!(!about(said(), model).is_empty(), "{model}");
        reasons.extend(said().map(|decision| decision["reason"].to_string()));
        for row in rows.iter().filter(|row| row["number"].is_u64()) {
            let at = usize::try_from(row["number"].as_u64().unwrap()).unwrap() - 1;
            assert_eq!(
                row["decisions"].as_array().unwrap().last().unwrap()["gpu"],
                planned[at]["gpu"]
            );
            assert!(planned[at]["model"].as_str().unwrap().eq_ignore_ascii_case(model), "{model}");
        }
        assert_eq!(explained["held"], json!(null));
    }
    let all = [
        "all_gpus_done_or_unmapped",
        "banned:gguf",
        "blocked_model",
        "marked:60018",
        "marked:60022",
        "marked:60025",
        "marked:60027",
        "no_config_params",
        "pending_filter",
        "would_submit",
    ];
    assert_eq!(reasons.into_iter().collect::<Vec<_>>(), all.map(|reason| format!("\"{reason}\"")));
}

#[test]
fn every_card_is_told_with_what_takes_it() {
    let (machine, _) = mixed();
    let card = |model: &str, gpu: &str| {
        let cards = explain(&machine, model)["cards"].take();
        cards.as_array().unwrap().iter().find(|card| card["gpu"] == gpu).unwrap().clone()
    };
    let done = card("https://huggingface.co/ORG/Done/tree/main", CARD);
    assert_eq!((&done["verdict"], &done["listed"]), (&json!("taken"), &json!(true)));
    assert_eq!(done["tasks"], json!([{"id": 1, "gpu": CARD, "state": "passed", "points": 7.0}]));
    assert_eq!(card("org/odd", NEXT)["tasks"][0]["gpu"], json!(null));
    assert_eq!(card("org/doubt", CARD)["submission"]["in_doubt"], json!(true));
    assert_eq!(card("org/sent", CARD)["submission"]["task"], json!(33_512));
    assert_eq!(card("org/carried", CARD)["taken_by"], json!(["LIVE_STATE_FILE"]));
    assert_eq!(card("org/baked", CARD)["taken_by"], json!(["submitted-ledger.json"]));
    let cooling = card("org/cooling", CARD);
    assert_eq!(
        (&cooling["verdict"], &cooling["mark"]["source"]),
        (&json!("marked:60018"), &json!("journal"))
    );
    assert!(cooling["mark"]["until"].is_u64());
    assert_eq!(
        card("org/marked", CARD)["mark"]["name"],
        "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED"
    );
    assert_eq!((&card("org/marked", NEXT)["verdict"]), &json!("free"));

    let text = |model: &str| machine.run(&["explain", model]).stdout;
    let marked = text("org/marked");
    assert!(
        marked.contains(
            "would be submitted on Sunrise_pt-200-x1, if its precheck finds nothing, as number "
        ),
        "{marked}"
    );
    assert!(text("org/cooling").contains("skipped: all_gpus_done_or_unmapped"));
    assert!(text("org/unheard-of").contains("no candidate is this model"));
    assert!(text("some/model-GGUF").contains("banned:gguf"));
    for bad in ["gpt2", "a/b c", "<model>"] {
        let ended = machine.run(&["explain", bad]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{bad}");
    }
}

/// What holds a run before its candidates is named as the run names it.
#[test]
fn a_hold_before_the_candidates_is_the_runs_own() {
    let mut machine = Machine::one_card_each(account(), &strs(&models(4)));
    machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "2").set("STRATEGY_ID", "s").cycle(0);
    let same = |machine: &Machine, reason: &str| {
        let explained = explain(machine, "Org/Model-2");
        assert_eq!(explained["held"]["reason"], reason);
        assert_eq!(machine.run(&["run", "--dry-run"]).held(), reason);
        explained
    };
    assert_eq!(same(&machine, "hourly_cap")["room"], json!(0));
    machine.age_journal(7_200);
    assert_eq!(explain(&machine, "Org/Model-2")["held"], json!(null));
    machine.set("LIVE_QUEUE_THRESHOLD", "2");
    same(&machine, "queue_full");
    machine.set("LIVE_QUEUE_THRESHOLD", "95").set("ASYNC_QUEUE_DEPTH", "95");
    same(&machine, "queue_full");
    machine.set("ASYNC_QUEUE_DEPTH", "");
    machine.platform.change(|account| account.tasks.remove(33_512));
    machine.cycle(20);
    same(&machine, "task_missing");
    machine.run(&["pause", "--reason", "holiday"]);
    same(&machine, "paused");
    let text = machine.run(&["explain", "Org/Model-3"]).stdout;
    assert!(text.contains("would hold: paused \"holiday"), "{text}");
    assert!(text.contains("would be submitted on Biren_166m"), "{text}");
}
