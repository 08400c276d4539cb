//! The settings as a run would resolve them, and where each came from.

use std::path::PathBuf;

use super::{Item, Status};
use crate::env::Env;
use crate::flags::Flags;
use crate::ping::{self, Pinger};
use crate::secret::SOURCES;
use crate::settings::{ConfigSource, FootholdPages, Refresh, Settings, Survey};

/// How the long line of settings begins that nobody has given.
pub(super) const DEFAULTS: &str = "defaults: ";

/// How the names of our variables begin, where few others do.
const PREFIXES: [&str; 3] = ["LIVE_", "SUBMITTER_", "ALL_TASKS_"];

/// Variables of such a name that are no settings of a run.
const OTHERS: [&str; 5] = [
    "LIVE_CONFIRM",
    "SUBMITTER_LOG",
    "SUBMITTER_LOG_FORMAT",
    "SUBMITTER_LOG_TIMESTAMPS",
    ping::VARIABLE,
];

/// What was given, what is left at its default, and everything that is wrong.
pub(super) fn items(survey: &Survey, env: &Env) -> Vec<Item> {
    let Survey { settings, warnings, problems, origins } = survey;
    let mut items: Vec<Item> = problems
        .iter()
        .map(|hold| Item { status: Status::Fail, ..Item::hold("settings", hold.clone()) })
        .chain(warnings.iter().map(|warning| Item::warn("settings", warning.to_string())))
        .collect();
    let values = values(settings);
    let is_known =
        |name: &&str| OTHERS.contains(name) || values.iter().any(|(variable, _)| variable == name);
    let settings = values.iter().map(|(variable, _)| *variable).chain(OTHERS).chain(SOURCES);
    let known: Vec<&str> = settings.collect();
    items.extend(env.names().filter(|name| !is_known(name)).filter_map(|n| unknown(n, &known)));
    let (mut given, mut defaults) = (Vec::new(), Vec::new());
    for (variable, value) in values {
        match origins.get(variable).copied() {
            // Two settings have no default.
            None if value.is_empty() => {}
            None => defaults.push(format!("{variable} {value}")),
            Some(_) if survey.is_wrong(variable) => {}
            Some(origin) if origin == variable => given.push(format!("{variable} {value}")),
            Some(origin) => given.push(format!("{variable} {value} (by {origin})")),
        }
    }
    if !given.is_empty() {
        items.push(Item::ok("settings", format!("given: {}", given.join(", "))));
    }
    items.push(Item::ok("settings", format!("{DEFAULTS}{}", defaults.join(", "))));
    items
}

/// What is to be said of a variable that is not among the `known` ones; nothing where it is hardly
/// meant for this program.
fn unknown(name: &str, known: &[&str]) -> Option<Item> {
    if known.contains(&name) {
        return None;
    }
    let distance = |of: &&str| strsim::damerau_levenshtein(name, of);
    let meant = known.iter().copied().min_by_key(distance).filter(|of| distance(of) <= 2);
    let is_ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let item = Item::warn("settings", format!("{name} is no setting, and has no effect"));
    match meant {
        Some(meant) => Some(item.todo(format!("did you mean {meant}?"))),
        None => is_ours.then(|| item.todo("look for its name in `submitter run --help`")),
    }
}

/// Where the pings of real runs go, where they go anywhere. None is sent.
pub(super) fn pings(flags: &Flags, env: &Env) -> Option<Item> {
    Some(match Pinger::configured(flags, env)? {
        Ok(pinger) => Item::ok("ping", format!("real runs ping {}", pinger.host())),
        Err(wrong) => Item::warn("ping", format!("{} {wrong}: no pings are sent", ping::VARIABLE)),
    })
}

/// Every setting by its variable. The strategy is not told: people paste the token there.
fn values(settings: &Settings) -> Vec<(&'static str, String)> {
    let path = |path: &Option<PathBuf>| {
        path.as_ref().map_or("none".to_owned(), |path| path.display().to_string())
    };
    let switch = |on: bool| if on { "1" } else { "0" }.to_owned();
    let hint = |variable: &str| {
        let hint = settings.hints.iter().find(|hint| hint.source == variable);
        let depth = hint.map(|hint| hint.depth.map_or("unreadable".to_owned(), |n| n.to_string()));
        depth.unwrap_or("none".to_owned())
    };
    let s = settings;
    let FootholdPages { pass, fail, running, size } = s.foothold_pages;
    let is_set = if s.strategy_id.is_empty() { "" } else { "set" };
    let section = s.pending_section.map_or("both".to_owned(), |section| format!("{section:?}"));
    let refresh = if s.refresh == Refresh::Auto { "auto" } else { "full" };
    let is_sample = s.config_source == ConfigSource::Sample;
    let config_source = if is_sample { "sample" } else { "build-config" };
    vec![
        ("STRATEGY_ID", is_set.to_owned()),
        ("SUBMITTER_STATE_DIR", s.state_dir.display().to_string()),
        ("SUBMITTER_DATA_DIR", path(&s.data_dir)),
        ("LIVE_MAX_SUBMITS_PER_CYCLE", s.max_submits.to_string()),
        ("LIVE_QUEUE_THRESHOLD", s.queue_threshold.to_string()),
        ("ALL_TASKS_FOOTHOLD", switch(s.foothold)),
        ("PENDING_SUBMIT_MD", path(&s.pending_md)),
        ("PENDING_SUBMIT_TXT", path(&s.pending_txt)),
        ("PENDING_SECTION", section),
        ("SUBMITTER_ALLOW_NETWORK_STATE", switch(s.allow_network_state)),
        ("MODELHUB_API_BASE", s.api_base.clone()),
        ("LIVE_MAX_ATTEMPTS_PER_CYCLE", s.max_attempts.to_string()),
        ("LIVE_PRECHECK", switch(s.precheck)),
        ("LIVE_MAX_PRECHECKS_PER_CYCLE", s.max_prechecks.to_string()),
        ("LIVE_CYCLE_SECONDS", s.cycle_seconds.to_string()),
        ("LIVE_CYCLE_DEADLINE_SECONDS", s.deadline_seconds.to_string()),
        ("LIVE_REJECT_COOLDOWN_HOURS", s.cooldown_hours.to_string()),
        ("LIVE_PAGE_SIZE", s.page_size.to_string()),
        ("LIVE_READ_CONNECTIONS", s.read_connections.to_string()),
        ("LIVE_REFRESH", refresh.to_owned()),
        ("LIVE_REQUEST_TIMEOUT_SECONDS", s.request_timeout.as_secs().to_string()),
        ("ASYNC_QUEUE_DEPTH", hint("ASYNC_QUEUE_DEPTH")),
        ("QUEUE_SNAPSHOT_JSON", hint("QUEUE_SNAPSHOT_JSON")),
        ("ALL_TASKS_MAX_PAGES_PASS", pass.to_string()),
        ("ALL_TASKS_MAX_PAGES_FAIL", fail.to_string()),
        ("ALL_TASKS_MAX_PAGES_RUNNING", running.to_string()),
        ("ALL_TASKS_PAGE_SIZE", size.to_string()),
        ("CONFIG_PARAMS_SOURCE", config_source.to_owned()),
        ("MODELHUB_BUILD_CONFIG_PATH", s.build_config_path.clone().unwrap_or("none".to_owned())),
        ("LIVE_STATE_FILE", path(&s.live_state_file)),
    ]
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn of(flags: &Flags, pairs: &[(&str, &str)]) -> Vec<String> {
        let env = Env::from_pairs(pairs.iter().copied());
        let survey = Settings::survey(flags, &env, &|_| Err(std::io::ErrorKind::NotFound.into()));
        items(&survey, &env).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_value_is_told_with_where_it_came_from() {
        let flags = Flags {
            page_size: Some("1000".into()),
            no_precheck: true,
            strategy_id: Some("a-strategy".into()),
            ..Flags::default()
        };
        let env = [("LIVE_PAGE_SIZE", "7"), ("LIVE_MAX_SUBMITS_PER_CYCLE", "3"), ("HOME", "/h")];
        let lines = of(&flags, &env);
        let [given, defaults] = lines.as_slice() else { panic!("{lines:#?}") };
        for part in [
            "[check] ok settings: given: STRATEGY_ID set (by --strategy-id)",
            "SUBMITTER_STATE_DIR /h/.local/state/submitter (by HOME)",
            "LIVE_MAX_SUBMITS_PER_CYCLE 3,",
            "LIVE_PRECHECK 0 (by --no-precheck)",
            "LIVE_PAGE_SIZE 1000 (by --page-size)",
        ] {
            assert!(given.contains(part), "{part} in {given}");
        }
        assert!(defaults.starts_with("[check] ok settings: defaults: SUBMITTER_DATA_DIR none, "));
        assert!(
            defaults.contains("LIVE_QUEUE_THRESHOLD 95, ") && !defaults.contains("PAGE_SIZE 7")
        );
        assert!(!lines.concat().contains("a-strategy"));
    }

    #[test]
    fn a_slip_of_the_pen_is_told_and_other_peoples_variables_are_not() {
        let env = [
            ("STRATEGYID", "x"),
            ("XC_TOKENFILE", "x"),
            ("SUBMITER_STATE_DIR", "/s"),
            ("LIVE_QUEUE_TRESHOLD", "9"),
            ("LIVE_LONG", "x"),
            ("PATH", "/bin"),
            ("XDG_STATE_HOME", "/x"),
            ("XC_TOKEN", "x"),
        ];
        let lines = of(&Flags::default(), &env);
        let told: Vec<_> = lines.iter().filter(|line| line.contains("is no setting")).collect();
        for (name, todo) in [
            ("STRATEGYID", "did you mean STRATEGY_ID?"),
            ("XC_TOKENFILE", "did you mean XC_TOKEN_FILE?"),
            ("SUBMITER_STATE_DIR", "did you mean SUBMITTER_STATE_DIR?"),
            ("LIVE_QUEUE_TRESHOLD", "did you mean LIVE_QUEUE_THRESHOLD?"),
            ("LIVE_LONG", "look for its name in `submitter run --help`"),
        ] {
            let line =
                format!("[check] warn settings: {name} is no setting, and has no effect -> {todo}");
            assert!(told.iter().any(|told| **told == line), "{line} in {told:#?}");
        }
        assert_eq!(told.len(), 5, "{told:#?}");
    }

    #[test]
    fn all_that_is_wrong_is_told_and_no_wrong_value_passes_for_one_in_use() {
        let env = [
            ("LIVE_MAX_SUBMITS_PER_CYCLE", "0"),
            ("LIVE_QUEUE_THRESHOLD", "x"),
            ("MODELHUB_API_BASE", "http://modelhub.org.cn"),
            ("LIVE_PAGE_SIZE", "-1"),
            ("SUBMITTER_STATE_DIR", "~/state"),
        ];
        let lines = of(&Flags::default(), &env);
        let failed: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("[check] FAIL settings ("))
            .map(|line| line.split(')').next().unwrap())
            .collect();
        assert_eq!(
            failed,
            [
                "missing_strategy_id",
                "invalid_cycle_cap",
                "invalid_queue_threshold",
                "invalid_api_base",
                "no_state_folder"
            ]
        );
        let warned = |line: &&String| line.starts_with("[check] warn settings: LIVE_PAGE_SIZE is");
        assert_eq!(lines.iter().filter(warned).count(), 1, "{lines:#?}");
        let resolved = lines.last().unwrap();
        assert!(resolved.contains("LIVE_PAGE_SIZE 100"), "{resolved}");
        for name in env.iter().map(|(name, _)| *name).filter(|name| *name != "LIVE_PAGE_SIZE") {
            assert!(!resolved.contains(&format!("{name} ")), "{name} in {resolved}");
        }
    }

    #[test]
    fn a_misspelt_variable_is_told_with_what_it_was_meant_to_be_and_without_its_value() {
        for (name, todo) in [
            ("STRATEGYID", "did you mean STRATEGY_ID?"),
            ("XC_TOKENFILE", "did you mean XC_TOKEN_FILE?"),
            ("SUBMITER_STATE_DIR", "did you mean SUBMITTER_STATE_DIR?"),
            ("LIVE_UNHEARD_OF", "look for its name in `submitter run --help`"),
        ] {
            let says =
                format!("[check] warn settings: {name} is no setting, and has no effect -> {todo}");
            let lines = of(&Flags::default(), &[(name, "its-value")]);
            assert!(lines.contains(&says), "{lines:#?}");
            assert!(!lines.concat().contains("its-value"));
        }
        let others = [("XC_TOKEN", "x"), ("MODELHUB_XC_TOKEN", "x"), ("HOME", "/h"), ("PATH", "/")];
        let lines = of(&Flags::default(), &others);
        assert!(!lines.concat().contains("is no setting"), "{lines:#?}");
    }

    /// Every variable that the help of `run` names stands for a setting that is told here.
    #[test]
    fn no_setting_of_run_is_left_out() {
        let mut cli = Cli::command();
        let help = cli.find_subcommand_mut("run").unwrap().render_long_help().to_string();
        let flags = help.split("[env: ").skip(1).map(|rest| rest.split([']', '=']).next().unwrap());
        let (_, others) = help.split_once("Variables without a flag:\n").unwrap();
        let others = others.lines().take_while(|line| !line.is_empty());
        let others = others.filter_map(|line| line.split_whitespace().next());
        let survey = Settings::survey(&Flags::default(), &Env::default(), &|_| unreachable!());
        let told: Vec<_> = values(&survey.settings).iter().map(|(name, _)| *name).collect();
        let mut named = 0;
        for name in flags.chain(others) {
            // The credential is another item.
            if name == "XC_TOKEN_FILE" || OTHERS.contains(&name) {
                continue;
            }
            named += 1;
            assert!(told.contains(&name), "{name}");
        }
        assert!(named >= told.len(), "{named} in the help");
    }
}
