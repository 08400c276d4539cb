//! One real cycle against the simulated platform: no token, no network beyond loopback.
//!
//!     cargo run --release --example demo
//!     cargo run --release --example demo -- --serve    # the platform alone, for a job of your own
//!
//! The account has a few hundred past tasks with the shipped models. The cycle is the code of
//! `submitter run`; only the address is another.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "an example shows its work, on a clock of its own"
)]

#[path = "../tests/platform/mod.rs"]
mod platform;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use platform::{Account, Platform, Rejection};
use submitter::cli::Cli;
use submitter::clock::SystemClock;
use submitter::command;
use submitter::env::Env;
use submitter::sources::baked;

const TOKEN: &str = "demo-token-of-the-simulated-platform";

/// One cycle against the simulated platform.
#[derive(Debug, Parser)]
struct Args {
    /// Only serve, until it is ended, and tell the settings that a job needs to use it
    #[arg(long)]
    serve: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    env_logger::Builder::new()
        .filter_module("submitter", log::LevelFilter::Info)
        .target(env_logger::Target::Stdout)
        .format(|line, record| writeln!(line, "{}", record.args()))
        .init();

    let candidates = baked::load(None, true).unwrap().candidates;
    let models: Vec<&str> = candidates.iter().map(|candidate| candidate.address.as_str()).collect();
    let account = Account::new(TOKEN)
        .with_history(240, &models)
        .with_others(120, &models)
        .with_precheck("SakanaAI/TAID-LLM-1.5B", "曦望", "已验证")
        .with_precheck("MadeAgents/Hammer2.1-0.5b", "Iluvatar_mrv-100", "验证中")
        .rejecting(Rejection::all(60_022).model("prithivMLmods/Bellatrix-Tiny-0.5B"));
    let platform = Platform::start(account);
    if args.serve {
        serve(&platform);
    }
    let folder = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([
        ("XC_TOKEN", TOKEN.to_owned()),
        ("STRATEGY_ID", "demo-strategy".to_owned()),
        ("MODELHUB_API_BASE", platform.base()),
        ("SUBMITTER_STATE_DIR", folder.path().display().to_string()),
    ]);

    println!("$ submitter run      # against {}\n", platform.base());
    let exit = run(&env);
    println!(
        "\nexit code {exit}\n\n$ submitter run      # a minute later: the cap holds over the hour\n"
    );
    let again = run(&env);
    println!("\nexit code {again}\n");

    let accepted = platform.accepted();
    println!("What to look at:");
    println!("  result=submitted submitted={}   one line sums a cycle up", accepted.len());
    println!(
        "  {exit}, then {again}                   exit codes: submitted, then held and healthy"
    );
    let twice = platform.posts().values().filter(|count| **count > 1).count();
    println!("  {twice} pairs POSTed twice         as the platform counted, over both runs");
    println!("  (model, card), as the platform has them now:");
    for (model, gpu) in accepted.keys() {
        println!("    {model} on {gpu}");
    }
    println!("\nNext: README.md, \"Running it hourly\". Against the real platform, begin with");
    println!("  submitter run --dry-run --strategy-id YOUR-ID --token-file FILE");
    let as_told = accepted.len() == 6 && exit == 0 && again == 10 && twice == 0;
    if as_told { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Serves until the process is ended. The token is no secret: only this platform knows it. It goes
/// into the variable that is asked first, so that it beats the token file of an env file.
fn serve(platform: &Platform) -> ! {
    let port = platform.address().port();
    let state = std::env::temp_dir().join(format!("submitter-demo-{port}"));
    println!("MODELHUB_API_BASE={}", platform.base());
    println!("EXTERNAL_SERVICE_TOKEN={TOKEN}\nSTRATEGY_ID=demo-strategy");
    println!("SUBMITTER_STATE_DIR={}", state.display());
    loop {
        std::thread::park();
    }
}

fn run(env: &Env) -> u8 {
    let cli = Cli::parse_from(["submitter", "run"]);
    command::run(&cli, env, &SystemClock::start(), &AtomicBool::new(false))
}
