use super::*;

const CONFIG: Option<ConfigNote> = Some(ConfigNote { source: "sample", reason: "not_configured" });

fn about(action: Action, reason: &str) -> Decision {
    Decision {
        model: Some("Org/Model".into()),
        gpu: Some("Biren_166m".into()),
        queue_before: Some(3),
        ..Decision::new(action, reason)
    }
}

#[test]
fn every_line_is_as_the_contract_writes_it() {
    let submitted = Decision {
        http: Some(200),
        code: Some(0),
        task: Some(TaskId(33_512)),
        config: CONFIG,
        ..about(Action::Submitted, "task_add_response")
    };
    let lost = about(Action::InDoubt, "transport_error");
    let lost = Decision { http: Some(502), config: CONFIG, ..lost };
    let rejected = about(Action::Rejected, "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED");
    let rejected = Decision { http: Some(200), code: Some(60_022), ..rejected };
    let skip = about(Action::Skip, "marked:precheck_60027");
    let plan = Decision { config: CONFIG, ..about(Action::Plan, "would_submit") };
    let no_card = Decision { gpu: None, ..about(Action::Skip, "all_gpus_done_or_unmapped") };
    for (decision, line) in [
        (
            submitted,
            "[live] submitted model=Org/Model gpu=Biren_166m queue_before=3 http=200 code=0 \
             task=33512 config_source=sample config_reason=not_configured reason=task_add_response",
        ),
        (
            lost,
            "[live] submitted model=Org/Model gpu=Biren_166m queue_before=3 http=502 \
             outcome=unknown config_source=sample config_reason=not_configured \
             reason=transport_error",
        ),
        (
            rejected,
            "[live] rejected model=Org/Model gpu=Biren_166m code=60022 http=200 queue_before=3 \
             reason=CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED",
        ),
        (skip, "[live] skip model=Org/Model gpu=Biren_166m reason=marked:precheck_60027"),
        (no_card, "[live] skip model=Org/Model reason=all_gpus_done_or_unmapped"),
        (
            plan,
            "[live] plan model=Org/Model gpu=Biren_166m queue_before=3 config_source=sample \
             config_reason=not_configured reason=would_submit",
        ),
        (Decision::from(&Hold::new(Reason::Deadline)), "[live] hold reason=deadline"),
        (
            Decision::from(&Hold::because(Reason::QueueFull, "queue 95, threshold 95")),
            "[live] hold reason=queue_full detail=\"queue 95, threshold 95\"",
        ),
    ] {
        assert_eq!(decision.to_string(), line);
    }
}

#[test]
fn skips_that_are_told_one_by_one_are_not_summed_up() {
    let mut report = Report::new(false, 0);
    report.decide(about(Action::Skip, "marked:precheck_60027"));
    report.decide(about(Action::Skip, "blocked_model"));
    assert_eq!(report.skips.into_iter().collect::<Vec<_>>(), [("blocked_model".to_owned(), 1)]);
    assert_eq!(report.counts.skipped, 2);
}

#[test]
fn a_dry_run_never_says_that_it_submitted() {
    let end = End {
        reason: Reason::CycleCap,
        exit: Exit::Submitted,
        requests: 1,
        elapsed: Duration::from_millis(5),
    };
    assert_eq!(Report::new(true, 0).to_json(&end, 0)["result"], "would_submit");
    assert_eq!(Report::new(false, 0).to_json(&end, 0)["result"], "submitted");
}

#[test]
fn the_json_holds_what_the_contract_names() {
    let mut report = Report::new(false, 1_790_000_000);
    report.count_precheck();
    report.decide(Decision {
        http: Some(200),
        code: Some(0),
        task: Some(TaskId(7)),
        ..about(Action::Submitted, "task_add_response")
    });
    report.hold(&Hold::new(Reason::CycleCap));
    let end = End {
        reason: Reason::CycleCap,
        exit: Exit::Submitted,
        requests: 9,
        elapsed: Duration::from_millis(5),
    };
    let expected = serde_json::json!({
        "version": 1, "result": "submitted", "exit": 0, "reason": "cycle_cap", "dry_run": false,
        "started_at": 1_790_000_000, "elapsed_ms": 5, "requests": 9, "stats": null,
        "ledger": null,
        "counts": {"submitted": 1, "rejected": 0, "in_doubt": 0, "skipped": 0, "prechecks": 1},
        "decisions": [
            {"action": "submitted", "model": "Org/Model", "gpu": "Biren_166m",
             "reason": "task_add_response", "code": 0, "http": 200, "task": "7",
             "queue_before": 3},
            {"action": "hold", "reason": "cycle_cap"},
        ],
    });
    assert_eq!(report.to_json(&end, 0), expected);
}
