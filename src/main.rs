//! Parses the command line, runs the command, and turns its end into an exit code.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use submitter::cli::{Cli, Command};
use submitter::clock::SystemClock;
use submitter::env::Env;
use submitter::exit::Exit;
use submitter::text::redacted;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let env = Env::of_process();
    start_log(&cli, &env);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals(&cli) {
        if let Err(error) = signal_hook::flag::register(*signal, Arc::clone(&stop)) {
            log::error!("[live] cannot listen for signal {signal}: {error}");
            return Exit::Bug.code().into();
        }
    }
    // A bug has its own exit code, and none of it is the runtime's 101.
    std::panic::catch_unwind(|| submitter::command::run(&cli, &env, &SystemClock::start(), &stop))
        .unwrap_or_else(|_| {
            log::error!("[live] a bug in submitter ended this run: please report the lines above");
            Exit::Bug.code()
        })
        .into()
}

/// The signals that wait until a command can stop. A sync waits for its input, perhaps for long,
/// and leaves its file whole wherever it is ended.
fn signals(cli: &Cli) -> &'static [i32] {
    match cli.command {
        Command::SyncMarks(_) => &[],
        _ => &[signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT],
    }
}

/// Opens our own log to standard error, and no library's: one of them dumps headers.
fn start_log(cli: &Cli, env: &Env) {
    let dry_run = matches!(&cli.command, Command::Run(run) if run.dry_run);
    let secrets = env.secrets();
    let (level, warning) = cli.verbosity.level(dry_run, env);
    env_logger::Builder::new()
        .filter_level(log::LevelFilter::Off)
        .filter_module("submitter", level)
        .format(move |line, record| {
            writeln!(line, "{}", redacted(record.args().to_string(), &secrets))
        })
        .init();
    if let Some(warning) = warning {
        submitter::text::warn(warning);
    }
}
