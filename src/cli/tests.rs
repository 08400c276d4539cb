use super::*;
use crate::env::Env;
use log::LevelFilter;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(["submitter"].into_iter().chain(line.split(' ')))
}

fn run(line: &str) -> Run {
    match parse(line).unwrap().command {
        Command::Run(run) => *run,
        other => panic!("{other:?}"),
    }
}

fn help(line: &str) -> String {
    let error = parse(line).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DisplayHelp);
    error.to_string()
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn what_is_not_known_is_a_usage_error() {
    for line in [
        "",
        "run --unknown",
        "run --token abc",
        "run extra",
        "walk",
        "run --held-exit-code 256",
        "run --held-exit-code -1",
        "run -q -v",
        "run --state-dir",
        "run --max-submits 1 --max-submits 2",
        "pause --data-dir d",
        "explain",
        "explain gpt2",
        "status --data-dir d",
    ] {
        let error = parse(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
    }
    assert_eq!(parse("--help").unwrap_err().exit_code(), 0);
}

/// A wrong value of a setting is judged where the settings are resolved.
#[test]
fn values_of_settings_are_kept_as_they_are_written() {
    let run = run("run --max-submits -1 --queue-threshold x --page-size 0 --section C");
    assert_eq!(run.flags.max_submits, Some("-1".into()));
    assert_eq!(run.flags.queue_threshold, Some("x".into()));
    assert_eq!(run.flags.page_size, Some("0".into()));
    assert_eq!(run.flags.section, Some("C".into()));
    let line = ["submitter", "run", "--state-dir", "", "--strategy-id", ""];
    let Command::Run(run) = Cli::try_parse_from(line).unwrap().command else {
        panic!("another command");
    };
    assert_eq!(run.flags.state_dir, Some("".into()));
    assert_eq!(run.flags.strategy_id, Some("".into()));
}

#[test]
fn foothold_is_a_switch_that_can_be_turned_off() {
    assert_eq!(run("run").flags.foothold, None);
    assert_eq!(run("run --foothold").flags.foothold, Some("1".into()));
    assert_eq!(run("run --foothold=0").flags.foothold, Some("0".into()));
    assert_eq!(run("run --foothold 0").flags.foothold, Some("0".into()));
    let run = run("run --foothold --dry-run");
    assert_eq!((run.flags.foothold, run.dry_run), (Some("1".into()), true));
}

#[test]
fn a_usage_error_says_where_an_option_belongs() {
    let said = |line: &str| hinted(parse(line).unwrap_err()).to_string();
    for (line, hint) in [
        ("--dry-run", "--dry-run stands behind its command: run, "),
        ("--max-submits=1 run", "--max-submits stands behind its command: run"),
        ("pause --data-dir d", "--data-dir stands behind its command: run, "),
        ("run --no-precheck 0", "the option before it takes no value"),
        ("run --dry-run=1", "unexpected value '1' for '--dry-run'"),
        ("run --dry-rum", "'--dry-run'"),
        ("report", "<--output <FILE>|--prometheus <FILE>>"),
        ("resolve org/m A_1", "<--submitted|--absent>"),
        ("walk", "unrecognized subcommand 'walk'"),
    ] {
        assert!(said(line).contains(hint), "{line}: {}", said(line));
    }
}

#[test]
fn pause_and_resume_take_the_state_folder() {
    let line = ["submitter", "pause", "--reason", "a b", "--state-dir", "s"];
    match Cli::try_parse_from(line).unwrap().command {
        Command::Pause(pause) => {
            assert_eq!(pause.reason.as_deref(), Some("a b"));
            assert_eq!(pause.state.state_dir, Some("s".into()));
        }
        other => panic!("{other:?}"),
    }
    match parse("resume --state-dir s").unwrap().command {
        Command::Resume(resume) => assert_eq!(resume.state.state_dir, Some("s".into())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_held_exit_code_replaces_10_alone() {
    assert_eq!(run("run").exit_code(Exit::Held), 10);
    let run = run("run --held-exit-code 0");
    assert_eq!(run.exit_code(Exit::Held), 0);
    for exit in [Exit::Submitted, Exit::Unavailable, Exit::Attention, Exit::Bug] {
        assert_eq!(run.exit_code(exit), exit.code());
    }
}

#[test]
fn help_names_every_variable_and_exit_code() {
    let text = help("run --help");
    for name in [
        "EXTERNAL_SERVICE_TOKEN",
        "XC_TOKEN_FILE",
        "XC_TOKEN ",
        "MODELHUB_XC_TOKEN",
        "[env: STRATEGY_ID]",
        "[env: SUBMITTER_STATE_DIR]",
        "$STATE_DIRECTORY",
        "$XDG_STATE_HOME/submitter",
        "[env: SUBMITTER_DATA_DIR]",
        "[env: LIVE_MAX_SUBMITS_PER_CYCLE]",
        "[env: LIVE_QUEUE_THRESHOLD]",
        "[env: ALL_TASKS_FOOTHOLD]",
        "[env: PENDING_SUBMIT_MD]",
        "[env: PENDING_SUBMIT_TXT]",
        "[env: PENDING_SECTION]",
        "[env: MODELHUB_API_BASE]",
        "[env: LIVE_MAX_ATTEMPTS_PER_CYCLE]",
        "[env: LIVE_PRECHECK=0]",
        "[env: LIVE_MAX_PRECHECKS_PER_CYCLE]",
        "[env: LIVE_CYCLE_SECONDS]",
        "[env: LIVE_CYCLE_DEADLINE_SECONDS]",
        "[env: LIVE_REJECT_COOLDOWN_HOURS]",
        "[env: LIVE_PAGE_SIZE]",
        "[env: LIVE_READ_CONNECTIONS]",
        "[env: LIVE_REFRESH]",
        "[env: LIVE_REQUEST_TIMEOUT_SECONDS]",
        "SUBMITTER_LOG",
        "ASYNC_QUEUE_DEPTH",
        "QUEUE_SNAPSHOT_JSON",
        "ALL_TASKS_MAX_PAGES_PASS",
        "ALL_TASKS_MAX_PAGES_FAIL",
        "ALL_TASKS_MAX_PAGES_RUNNING",
        "ALL_TASKS_PAGE_SIZE",
        "CONFIG_PARAMS_SOURCE",
        "MODELHUB_BUILD_CONFIG_PATH",
        "LIVE_STATE_FILE",
        "LIVE_CONFIRM",
        "SUBMITTER_PING_URL",
        "[env: SUBMITTER_LOG_FORMAT]",
        "[env: SUBMITTER_LOG_TIMESTAMPS=1]",
    ] {
        assert!(text.contains(name), "{name} is not in:\n{text}");
    }
    for exit in [
        Exit::Submitted,
        Exit::Bug,
        Exit::Usage,
        Exit::Held,
        Exit::Unavailable,
        Exit::Attention,
        Exit::Credential,
        Exit::Config,
    ] {
        let line = format!("\n  {:>2}  ", exit.code());
        assert!(text.contains(&line), "{exit:?} is not in:\n{text}");
    }
    assert!(!text.contains("--token "), "a flag that takes a token");
}

#[test]
fn help_says_what_a_looking_command_needs_and_where_it_looks() {
    for command in ["status", "report", "pause"] {
        assert!(help(&format!("{command} --help")).contains("[default: $STATE_DIRECTORY, else"));
    }
    assert!(help("explain --help").contains("Not needed here"));
    assert!(help("run --help").contains("into every submission; required"));
}

#[test]
fn advanced_flags_stand_apart() {
    let text = help("run --help");
    let (plain, advanced) = text.split_once("\nAdvanced:").unwrap();
    for flag in ["--strategy-id", "--state-dir", "--max-submits", "--token-file", "--section"] {
        assert!(plain.contains(flag) && !advanced.contains(&format!("  {flag} ")));
    }
    for flag in ["--api-base", "--no-precheck", "--refresh", "--request-timeout"] {
        assert!(advanced.contains(flag) && !plain.contains(flag));
    }
}

#[test]
fn loudness_is_set_by_flags_then_the_variable_then_the_kind_of_run() {
    use LevelFilter::{Debug, Error, Info, Off, Trace, Warn};
    for (line, variable, level) in [
        ("run", "", Info),
        ("run", "off", Off),
        ("run", "error", Error),
        ("run", "warn", Warn),
        ("run", "info", Info),
        ("run", "debug", Debug),
        ("run", "trace", Trace),
        ("run -q", "trace", Error),
        ("-q run", "", Error),
        ("run -v", "error", Debug),
        ("-v run", "", Debug),
        ("run -vv", "", Trace),
        ("run --dry-run", "", Debug),
        ("run --dry-run", "warn", Debug),
        ("run --dry-run", "trace", Trace),
        ("run --dry-run -q", "", Error),
        ("run --dry-run -vv", "", Trace),
    ] {
        let cli = parse(line).unwrap();
        let env = Env::from_pairs([("SUBMITTER_LOG", variable)]);
        let dry_run = line.contains("--dry-run");
        let found = cli.logging.level(dry_run, &env);
        assert_eq!(found, (level, None), "{line} with {variable:?}");
    }
}

#[test]
fn a_wrong_level_is_told_and_info() {
    let env = Env::from_pairs([("SUBMITTER_LOG", "submitter=debug")]);
    let (level, warning) = Logging::default().level(false, &env);
    assert_eq!(level, LevelFilter::Info);
    assert!(warning.unwrap().to_string().contains("SUBMITTER_LOG"));
    let (level, warning) = Logging::default().level(true, &env);
    assert_eq!((level, warning.is_some()), (LevelFilter::Debug, true));
}
