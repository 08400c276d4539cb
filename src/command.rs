//! The commands: each one's end as an exit code, and what it prints for a person or a machine.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::access::Access;
use crate::bake;
use crate::check::check;
use crate::cli::{Check, Cli, Command, Report, Resolve, Run, SyncMarks};
use crate::clock::Clock;
use crate::env::Env;
use crate::exit::{Exit, Hold, Reason};
use crate::explain;
use crate::journal::file;
use crate::operator::{self, resolve::Named};
use crate::overview;
use crate::ping::{self, Pinger};
use crate::report::Decision;
use crate::run;
use crate::settings::{self, state_dir};
use crate::sources::baked;
use crate::status::Status;
use crate::sync_marks::{self, Sync};
use crate::text::redacted;

/// The state folder of the shipped settings, the unit and the package.
const USUAL: &str = "/var/lib/submitter";

/// Runs the command that was asked for, and returns the process's exit code.
pub fn run(cli: &Cli, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> u8 {
    if let Some(flag) = cli.command.state_dir()
        && let Some(warning) = second_folder(settings::default_state_dir(flag, env), USUAL.as_ref())
    {
        crate::text::warn(warning);
    }
    match &cli.command {
        Command::Run(args) => cycle(args, env, clock, stop),
        Command::Check(args) => look(args, env, clock, stop),
        Command::Status(args) => by_hand(args.state.state_dir.as_deref(), env, |dir| {
            let status = Status::read(dir, clock.now());
            let said = shown(&status, args.json, env);
            match status.damage {
                None => Ok(said),
                Some(damage) => print(&said).and(Err(damage)),
            }
        }),
        Command::Explain(args) => ended(
            explain::explain(&args.model, &args.flags, env, clock.now())
                .map(|explanation| shown(&explanation, args.json, env)),
        ),
        Command::BakeCandidates(args) => ended(bake::candidates(args, env)),
        Command::BakeLedger(args) => ended(bake::ledger(args, env, clock, stop)),
        Command::SyncMarks(args) => ended(sync_marks(args, env, clock)),
        Command::Report(args) => report(args, env, clock),
        Command::Pause(args) => by_hand(args.state.state_dir.as_deref(), env, |dir| {
            operator::pause(dir, args.reason.as_deref(), clock)?;
            Ok(format!("paused: nothing is submitted until `submitter resume` ({})", dir.display()))
        }),
        Command::Resume(args) => by_hand(args.state.state_dir.as_deref(), env, |dir| {
            let resumed = operator::resume(dir, clock)?;
            let known: Vec<_> = resumed.acknowledged.iter().map(ToString::to_string).collect();
            Ok(match known.as_slice() {
                [] if !resumed.was_paused => format!("not paused ({})", dir.display()),
                [] => "resumed".to_owned(),
                known => format!("resumed; known to be missing: {}", known.join(", ")),
            })
        }),
        Command::Resolve(args) => by_hand(args.state.state_dir.as_deref(), env, |dir| {
            resolve(args, dir, env, clock, stop)
        }),
        Command::Repair(args) => by_hand(args.state.state_dir.as_deref(), env, |dir| {
            operator::repair::repair(dir, clock)
        }),
    }
}

/// A person who forgets the settings of the job would give its account a second journal, or pause
/// nothing.
fn second_folder(default: Option<PathBuf>, usual: &Path) -> Option<String> {
    let dir = default.filter(|dir| dir != usual && file::is_in_use(usual))?;
    Some(format!(
        "the state folder is {} since none is named, and {} is in use: an account must have one \
         alone. Take the settings of the job, or name the folder with --state-dir",
        dir.display(),
        usual.display()
    ))
}

fn cycle(args: &Run, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> u8 {
    ping::around(Pinger::of_run(args, env), || {
        let run::Ran { report, end, last } = run::run(args, env, clock, stop);
        let exit = args.exit_code(end.exit);
        if args.json {
            let report = redacted(report.to_json(&end, exit).to_string(), &env.secrets());
            // The exit code says what was submitted, whoever reads the report.
            print(&report).unwrap_or_else(|hold| log::error!("{}", Decision::from(&hold)));
        }
        (exit, redacted(last, &env.secrets()))
    })
}

fn look(args: &Check, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> u8 {
    let findings = check(args, env, clock, stop);
    let said = if args.json {
        serde_json::to_string(&findings).unwrap_or_default()
    } else {
        let is_verbose = log::max_level() >= log::LevelFilter::Debug;
        let told = findings.clone();
        if is_verbose { told } else { told.in_brief() }.to_string()
    };
    match ended(Ok(said)) {
        0 => findings.exit().code(),
        unsaid => unsaid,
    }
}

fn resolve(
    args: &Resolve,
    dir: &Path,
    env: &Env,
    clock: &dyn Clock,
    stop: &AtomicBool,
) -> Result<String, Hold> {
    let data_dir = settings::data_dir(args.data_dir.as_deref(), env)?;
    let catalog = baked::catalog(data_dir.as_deref())?;
    let named = Named::parse(&args.model, &args.gpu, &catalog)?;
    if args.submitted {
        let mut journal = operator::open_patiently(dir, clock)?;
        return operator::resolve::submitted(&mut journal, &named.pair, clock.now());
    }
    let access = Access::prepare(&args.platform, env)?;
    let reader = access.reader(clock, stop, &catalog);
    // The lock is held while the platform is asked: no run submits meanwhile.
    let mut journal = operator::open_patiently(dir, clock)?;
    let size = access.page_size();
    operator::resolve::absent(
        &mut journal,
        &named,
        &reader,
        &catalog,
        size,
        args.although_young,
        clock,
    )
}

fn report(args: &Report, env: &Env, clock: &dyn Clock) -> u8 {
    if args.output == args.prometheus {
        log::error!("[live] -o and --prometheus name one file: the page and the metrics need two");
        return Exit::Usage.code();
    }
    by_hand(args.state.state_dir.as_deref(), env, |dir| {
        let secrets = env.secrets();
        let facts = overview::facts(dir, clock.now(), &secrets)?;
        if let Some(path) = &args.output {
            overview::write(path, &redacted(overview::page(&facts), &secrets), dir)?;
        }
        if let Some(path) = &args.prometheus {
            if path != Path::new("-") && path.extension() != Some(OsStr::new("prom")) {
                let what = "node_exporter reads only files that end in .prom";
                crate::text::warn(format_args!("{}: {what}", path.display()));
            }
            overview::write(path, &redacted(overview::metrics(&facts), &secrets), dir)?;
        }
        Ok(String::new())
    })
}

/// A command that needs nothing but the state folder.
fn by_hand(
    flag: Option<&OsStr>,
    env: &Env,
    command: impl FnOnce(&Path) -> Result<String, Hold>,
) -> u8 {
    ended(state_dir(flag, env).and_then(|(dir, warnings)| {
        for warning in warnings {
            crate::text::warn(warning);
        }
        command(&dir)
    }))
}

fn sync_marks(args: &SyncMarks, env: &Env, clock: &dyn Clock) -> Result<String, Hold> {
    let dir = settings::data_dir(args.data_dir.as_deref(), env)?;
    let marks = settings::marks_file(args.marks.as_deref(), dir.as_deref())?;
    let catalog = baked::catalog(dir.as_deref())?;
    let date = args.date.clone().unwrap_or_else(|| {
        let (date, warning) = sync_marks::local_date(clock.now());
        // Without TZ and without a zone of its own a machine is at UTC, which is no news.
        if let Some(why) = warning.filter(|_| env.get_os("TZ").is_some()) {
            crate::text::warn(format_args!("new marks get the date of UTC, {date}: {why}"));
        }
        date
    });
    let sync = Sync { logs: &args.logs, marks: &marks, date: &date, catalog: &catalog };
    let synced = if args.dry_run { sync.preview() } else { sync.run(clock) };
    synced.map(|synced| synced.to_string())
}

/// What was looked at, for a person or as JSON.
fn shown(seen: &(impl Display + Serialize), json: bool, env: &Env) -> String {
    let text = if json { serde_json::json!(seen).to_string() } else { seen.to_string() };
    redacted(text, &env.secrets())
}

/// Prints what a command says at its end, and returns the exit code.
fn ended(done: Result<String, Hold>) -> u8 {
    match done.and_then(|said| if said.is_empty() { Ok(()) } else { print(&said) }) {
        Ok(()) => Exit::Submitted.code(),
        Err(hold) => {
            log::error!("{}", Decision::from(&hold));
            hold.reason.exit().code()
        }
    }
}

/// Writes a line to standard output. A reader that went away is no error of ours; a disk that is
/// full is one, since what stands there looks whole.
///
/// # Errors
/// `state_write_failed`.
fn print(text: &str) -> Result<(), Hold> {
    crate::text::end_progress();
    let mut out = std::io::stdout();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let what = format!("writing to standard output: {error}");
            Err(Hold::because(Reason::StateWriteFailed, what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_state_folder_is_told_where_nobody_has_named_it() {
        let dir = tempfile::tempdir().unwrap();
        let usual = dir.path();
        let default = || Some(PathBuf::from("/home/me/.local/state/submitter"));
        assert_eq!(second_folder(default(), usual), None, "nothing is there");
        std::fs::write(usual.join("journal.jsonl"), "").unwrap();
        assert!(second_folder(default(), usual).unwrap().contains("/home/me/.local"));
        assert_eq!(second_folder(None, usual), None, "it is named");
        assert_eq!(second_folder(Some(usual.to_owned()), usual), None, "it is the same");
    }
}
