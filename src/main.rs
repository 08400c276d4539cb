//! Parses the command line, runs the command, and turns its end into an exit code.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use submitter::cli::{Cli, Command};
use submitter::clock::SystemClock;
use submitter::env::Env;
use submitter::exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::of_process();
    let env = Env::of_process();
    let dry_run = matches!(&cli.command, Command::Run(run) if run.dry_run);
    if submitter::logger::start(cli.logging, dry_run, &env).is_err() {
        return Exit::Bug.code().into();
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals(&cli) {
        if let Err(error) = signal_hook::flag::register(*signal, Arc::clone(&stop)) {
            log::error!("[live] cannot listen for signal {signal}: {error}");
            return Exit::Bug.code().into();
        }
    }
    // A bug has its own exit code, and none of it is the runtime's 101.
    let run = || submitter::command::run(&cli, &env, &SystemClock::start(), &stop);
    let code = std::panic::catch_unwind(run).unwrap_or_else(|_| {
        log::error!("[live] a bug in submitter ended this run: please report the lines above");
        Exit::Bug.code()
    });
    submitter::text::end_progress();
    code.into()
}

/// The signals that wait until a command can stop. A sync waits for its input, perhaps for long,
/// and leaves its file whole wherever it is ended.
fn signals(cli: &Cli) -> &'static [i32] {
    match cli.command {
        Command::SyncMarks(_) => &[],
        _ => &[signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT],
    }
}
