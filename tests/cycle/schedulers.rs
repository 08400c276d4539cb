//! What cron, systemd and a NAS see: exit codes, bare environments, two streams.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::{Ended, Machine, TOKEN, account, exists, models, strs};
use crate::platform::{Fault, Kind, Rejection, Task, Trigger};

fn machine() -> Machine {
    Machine::new(account(), &["Org/Model-0"])
}

fn full() -> Machine {
    let mut machine = Machine::new(account().with_history(20, &["Past/One"]), &["Org/Model-0"]);
    machine.set("LIVE_QUEUE_THRESHOLD", "1");
    machine
}

#[test]
fn k03_a_bare_environment_needs_no_home() {
    let machine = machine();
    let token = machine.write("token", TOKEN);
    let state = machine.state().display().to_string();
    let base = machine.platform.base();
    let data = machine.folder.path().join("data").display().to_string();
    let flags = ["run", "--strategy-id", "s", "--api-base", &base, "--data-dir", &data];
    let started = |more: &[&str], env: &[(&str, &str)]| {
        let mut command = machine.command(&flags);
        command.env_clear().envs(env.iter().copied()).args(more);
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let token = ["--token-file", &token];
    let (code, log) = started(&token, &[]);
    assert_eq!(code, 32, "{log}");
    assert!(log.contains("[live] hold reason=no_state_folder"), "{log}");
    assert!(log.contains("--state-dir"), "{log}");
    assert_eq!(machine.asked(), 0);

    let (code, log) = started(&[token[0], token[1], "--state-dir", &state], &[]);
    assert_eq!(code, 0, "{log}");
    let (code, log) = started(&token, &[("STATE_DIRECTORY", &state)]);
    assert_eq!(code, 0, "{log}");
    assert_eq!(machine.posts(), 2, "by the second card");
    assert_eq!(machine.most_posts(), (1, 1), "both runs know one journal");

    let home = machine.folder.path().join("home").display().to_string();
    let (code, log) = started(&token, &[("HOME", &home)]);
    assert_eq!(code, 0, "{log}");
    assert!(exists(&machine.folder.path().join("home/.local/state/submitter/journal.jsonl")));
}

/// K08: cron mails whatever a job writes.
#[test]
fn k08_a_day_of_runs_that_submit_and_hold_is_silent_with_quiet() {
    let mut machine = Machine::one_card_each(account(), &strs(&models(20)));
    // What is only told, and a setting that a terminal alone would follow.
    machine.set("LIVE_PAGE_SIZE", "many").set("SUBMITTER_LOG_FORMAT", "?").set("TERM", "xterm");
    let mut submitted = 0;
    for hour in 0..24 {
        let ended = machine.run(&["run", "--quiet"]);
        assert_eq!((&*ended.log, &*ended.stdout), ("", ""), "hour {hour}");
        assert!(matches!(ended.code, 0 | 10), "hour {hour}: {}", ended.code);
        submitted += usize::from(ended.code == 0);
        machine.age_journal(3_600);
    }
    assert_eq!((submitted, machine.posts()), (4, 20), "the others held");
}

#[test]
fn k08_runs_that_submit_or_must_wait_for_the_platform_are_silent_with_q() {
    let machine = Machine::new(account(), &strs(&models(2)));
    let ended = machine.run(&["run", "-q"]);
    assert_eq!((ended.code, &*ended.log, &*ended.stdout), (0, "", ""));
    machine.platform.fault(Trigger::nth(Kind::Own, 1), Fault::html());
    let ended = machine.run(&["run", "-q"]);
    assert_eq!((ended.code, &*ended.log, &*ended.stdout), (20, "", ""));
}

#[test]
fn k08_one_line_is_told_with_q_when_a_person_must_look() {
    let one_line = |ended: &Ended, code: i32, reason: &str| {
        assert_eq!(ended.code, code, "{}", ended.log);
        assert_eq!(ended.log.lines().count(), 1, "{}", ended.log);
        assert_eq!(ended.held(), reason);
        assert_eq!(ended.stdout, "");
    };
    let machine = Machine::new(account().rejecting(Rejection::all(60014)), &["Org/Model-0"]);
    one_line(&machine.run(&["run", "-q"]), 30, "script_submit_disabled");
    one_line(&machine.run(&["run", "-q"]), 30, "paused");
    machine.run(&["resume"]);
    machine.platform.set_token("another");
    one_line(&machine.run(&["run", "-q"]), 31, "credential_refused");
    let mut machine = self::machine();
    machine.set("STRATEGY_ID", "");
    one_line(&machine.run(&["run", "-q"]), 32, "missing_strategy_id");
}

#[test]
fn k09_every_kind_of_end_has_its_exit_code() {
    assert_eq!(machine().run(&["run"]).code, 0);
    assert_eq!(machine().run(&["run", "--dry-run"]).code, 0);
    assert_eq!(full().run(&["run"]).code, 10);
    let broken = machine();
    broken.platform.fault(Trigger::every(Kind::Own), Fault::html());
    assert_eq!(broken.run(&["run"]).code, 20);
    let doubtful = machine();
    doubtful.platform.fault(Trigger::every(Kind::Add), Fault::fin().after_commit());
    assert_eq!(doubtful.run(&["run"]).code, 20, "only submissions in doubt");
    let paused = machine();
    assert_eq!(paused.run(&["pause"]).code, 0);
    assert_eq!(paused.run(&["run"]).code, 30);
    assert_eq!(machine().set("XC_TOKEN", "").run(&["run"]).code, 31);
    assert_eq!(machine().set("STRATEGY_ID", "").run(&["run"]).code, 32);
    for usage in [&["ruin"][..], &["run", "--unheard-of"], &[], &["run", "--held-exit-code", "300"]]
    {
        let ended = machine().run(usage);
        assert_eq!(ended.code, 2, "{usage:?}");
        assert_eq!(ended.stdout, "");
    }
    assert_eq!(machine().run(&["--help"]).code, 0);
    assert_eq!(machine().run(&["--version"]).code, 0);
}

#[test]
fn held_exit_code_maps_10_and_nothing_else() {
    let held = |machine: &Machine, n: &str| machine.run(&["run", "--held-exit-code", n]).code;
    assert_eq!(held(&full(), "0"), 0);
    assert_eq!(held(&full(), "75"), 75);
    assert_eq!(held(&machine(), "75"), 0);
    let broken = machine();
    broken.platform.fault(Trigger::every(Kind::Own), Fault::html());
    assert_eq!(held(&broken, "0"), 20);
    let paused = machine();
    paused.run(&["pause"]);
    assert_eq!(held(&paused, "0"), 30);
    assert_eq!(held(machine().set("STRATEGY_ID", ""), "0"), 32);
}

#[test]
fn the_cycle_line_is_last_and_its_fields_stand_in_order() {
    let account = account().rejecting(Rejection::all(60022).model("Org/Model-0"));
    let machine = Machine::new(account, &strs(&models(8)));
    machine.platform.set_precheck("Org/Model-1", "壁砺", "已验证");
    let submitted = machine.cycle(0);
    let held = full().cycle(10);
    let paused = machine.run(&["pause"]);
    assert_eq!(paused.code, 0);
    let paused = machine.cycle(30);
    for ended in [&submitted, &held, &paused] {
        let last = ended.log.lines().last().unwrap();
        assert!(last.starts_with("[live] cycle result="), "{last}");
        assert!(ended.log.ends_with('\n'));
        let names: Vec<&str> =
            last.split(' ').skip(2).map(|field| field.split_once('=').unwrap().0).collect();
        assert_eq!(
            names,
            [
                "result",
                "submitted",
                "rejected",
                "in_doubt",
                "skipped",
                "prechecks",
                "requests",
                "elapsed_ms",
                "reason",
            ]
        );
        assert!(last.ends_with(&format!(" reason={}", ended.held())));
    }
    let line = submitted.line("[live] cycle ");
    let start = "[live] cycle result=submitted submitted=6 rejected=1 in_doubt=0 skipped=1 \
                 prechecks=7 requests=";
    assert!(line.starts_with(start), "{line}");
    assert_eq!(submitted.counted("requests") + held.counted("requests"), machine.asked() + 1);
    assert!(held.line("[live] cycle ").starts_with("[live] cycle result=held submitted=0 "));
    assert_eq!(paused.counted("requests"), 0);
}

#[test]
fn the_report_has_every_field_and_stands_alone_on_standard_output() {
    let account = account()
        .rejecting(Rejection::all(60022).model("Org/Model-0"))
        .with_task(Task::new(9, "Past/One", "壁砺").with("success", Some(1)).with_points(25));
    let machine = Machine::new(account, &strs(&models(3)));
    machine.platform.fault(Trigger::every(Kind::Add).model("Org/Model-2"), Fault::status(502));
    let ended = machine.run(&["run", "--json"]);
    let report = ended.json();
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut expected = vec![
        "version",
        "result",
        "exit",
        "reason",
        "dry_run",
        "started_at",
        "elapsed_ms",
        "requests",
        "stats",
        "ledger",
        "counts",
        "decisions",
    ];
    expected.sort_unstable();
    assert_eq!(fields(&report), expected);
    assert_eq!(report["version"], 1);
    assert_eq!((&report["result"], &report["exit"]), (&json!("submitted"), &json!(0)));
    assert_eq!(report["reason"], "candidates_done");
    assert_eq!(report["dry_run"], false);
    assert!(report["started_at"].as_u64().unwrap() > 1_700_000_000);
    assert!(report["elapsed_ms"].is_u64());
    assert_eq!(report["requests"], machine.asked());
    let stats = json!({"total": 1, "queue": 0, "verify_pass": 1, "verify_fail": 0, "failed": 0,
        "unknown": 0, "points": 25.0});
    assert_eq!(report["stats"], stats);
    assert_eq!(report["ledger"], json!({"remote": 1, "baked": 0, "marks": 16}));
    let counts =
        json!({"submitted": 1, "rejected": 1, "in_doubt": 1, "skipped": 0, "prechecks": 3});
    assert_eq!(report["counts"], counts);
    let gpu = "Biren_166m";
    let without_detail = |mut decision: Value| {
        decision.as_object_mut().unwrap().remove("detail");
        decision
    };
    let decisions: Vec<Value> =
        report["decisions"].as_array().unwrap().iter().cloned().map(without_detail).collect();
    assert_eq!(
        decisions,
        [
            json!({"action": "rejected", "model": "Org/Model-0", "gpu": gpu, "code": 60022,
                "http": 200, "queue_before": 0,
                "reason": "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED"}),
            json!({"action": "submitted", "model": "Org/Model-1", "gpu": gpu, "code": 0,
                "http": 200, "task": "33512", "queue_before": 0, "reason": "task_add_response"}),
            json!({"action": "in_doubt", "model": "Org/Model-2", "gpu": gpu, "http": 502,
                "queue_before": 1, "reason": "transport_error"}),
            json!({"action": "hold", "reason": "candidates_done"}),
        ]
    );
}

#[test]
fn the_report_tells_mapped_exit_codes_skips_and_holds_before_the_first_request() {
    let mut machine = full();
    let report = machine.run(&["run", "--json", "--held-exit-code", "3"]).json();
    assert_eq!((&report["exit"], &report["result"]), (&json!(3), &json!("held")));
    assert_eq!(report["reason"], "queue_full");
    machine.set("STRATEGY_ID", "");
    let ended = machine.run(&["run", "--json", "--held-exit-code", "3"]);
    let report = ended.json();
    assert_eq!((ended.code, &report["exit"]), (32, &json!(32)));
    assert_eq!(report["reason"], "missing_strategy_id");
    assert_eq!((&report["requests"], &report["stats"]), (&json!(0), &Value::Null));
    assert_eq!(report["decisions"][0]["action"], "hold");

    let machine = Machine::new(account(), &["gpt-neo"]);
    let report = machine.run(&["run", "--json", "-q"]).json();
    let skip = &report["decisions"][0];
    assert_eq!((&skip["action"], &skip["reason"]), (&json!("skip"), &json!("malformed")));
    assert_eq!(report["counts"]["skipped"], 1);
}

/// K05: the shipped line survives cron's own reading of it.
#[test]
fn k05_the_crontab_line_is_one_that_cron_reads_as_it_is_meant() {
    let text = include_str!("../../crontab.example");
    let is_job = |line: &&str| !line.starts_with('#') && !line.contains("SHELL=");
    let jobs: Vec<&str> = text.lines().filter(is_job).collect();
    assert_eq!(jobs.len(), 1, "{text}");
    let (minute, rest) = jobs[0].split_once(' ').unwrap();
    assert!(minute.parse::<u32>().is_ok_and(|minute| minute < 60 && minute % 2 == 1), "{minute}");
    let command = rest.strip_prefix("* * * * ").expect("once an hour");
    assert!(!command.contains(['%', '"', '\'', '`']), "{command}");
    assert!(command.ends_with("exec /usr/local/bin/submitter run"), "{command}");
    assert!(command.contains(">>/var/log/") && command.contains("2>&1"), "{command}");
}

/// The line itself, with the paths of this test in the place of the shipped ones.
#[test]
fn k05_the_crontab_line_runs_the_program_with_the_settings_of_its_file() {
    let machine = Machine::new(account(), &["Org/Model"]);
    let at = |name: &str| machine.folder.path().join(name).display().to_string();
    std::fs::write(at("token"), format!("{TOKEN}\n")).unwrap();
    let env = format!(
        "XC_TOKEN_FILE={}\nSTRATEGY_ID='strategy of mine'\nSUBMITTER_STATE_DIR={}\n\
         SUBMITTER_DATA_DIR={}\nMODELHUB_API_BASE={}\n",
        at("token"),
        at("state"),
        at("data"),
        machine.platform.base()
    );
    std::fs::write(at("env"), env).unwrap();
    let text = include_str!("../../crontab.example");
    let (_, command) = text.lines().last().unwrap().split_once(" * * * * ").unwrap();
    let command = command
        .replace("/etc/submitter/env", &at("env"))
        .replace("/var/log/submitter/run.log", &at("run.log"))
        .replace("/usr/local/bin/submitter", env!("CARGO_BIN_EXE_submitter"));
    let status = std::process::Command::new("/bin/sh").args(["-c", &command]).env_clear().status();
    assert!(status.unwrap().success(), "{}", std::fs::read_to_string(at("run.log")).unwrap());
    assert_eq!(machine.most_posts(), (1, 1));
    let log = std::fs::read_to_string(at("run.log")).unwrap();
    assert!(log.contains("[foothold] reason=ok") && log.contains("result=submitted"), "{log}");
}

#[test]
fn the_readme_names_every_reason_and_every_setting() {
    let readme = include_str!("../../README.md");
    for reason in submitter::exit::Reason::ALL {
        let code = reason.exit().code();
        let section = readme.split(&format!("\n**{code}, ")).nth(1).unwrap();
        let section = section.split("\n**").next().unwrap();
        assert!(section.contains(&format!("\n| `{reason}` | ")), "{code} {reason}");
    }
    for name in [
        "EXTERNAL_SERVICE_TOKEN",
        "XC_TOKEN_FILE",
        "XC_TOKEN",
        "MODELHUB_XC_TOKEN",
        "STRATEGY_ID",
        "SUBMITTER_STATE_DIR",
        "SUBMITTER_DATA_DIR",
        "LIVE_MAX_SUBMITS_PER_CYCLE",
        "LIVE_QUEUE_THRESHOLD",
        "ALL_TASKS_FOOTHOLD",
        "PENDING_SUBMIT_MD",
        "PENDING_SUBMIT_TXT",
        "PENDING_SECTION",
        "MODELHUB_API_BASE",
        "LIVE_MAX_ATTEMPTS_PER_CYCLE",
        "LIVE_PRECHECK",
        "LIVE_MAX_PRECHECKS_PER_CYCLE",
        "LIVE_CYCLE_SECONDS",
        "LIVE_CYCLE_DEADLINE_SECONDS",
        "LIVE_PAGE_SIZE",
        "LIVE_READ_CONNECTIONS",
        "LIVE_REFRESH",
        "ASYNC_QUEUE_DEPTH",
        "QUEUE_SNAPSHOT_JSON",
        "ALL_TASKS_PAGE_SIZE",
        "CONFIG_PARAMS_SOURCE",
        "MODELHUB_BUILD_CONFIG_PATH",
        "LIVE_STATE_FILE",
        "LIVE_CONFIRM",
        "LIVE_REJECT_COOLDOWN_HOURS",
        "LIVE_REQUEST_TIMEOUT_SECONDS",
        "SUBMITTER_LOG_FORMAT",
        "SUBMITTER_LOG_TIMESTAMPS",
        "SUBMITTER_PING_URL",
        "NO_COLOR",
    ] {
        assert!(readme.contains(name), "{name}");
    }
    for command in ["cargo run --release --example demo", "cargo test --locked"] {
        assert!(readme.contains(&format!("\n{command}\n")), "{command}");
    }
}
