//! Man pages and completions say what the command line says.

use clap::{Command, CommandFactory};
use submitter::cli::Cli;
use tempfile::TempDir;

#[allow(dead_code, reason = "its main is for `cargo run --example assets`")]
#[path = "../../examples/assets.rs"]
mod example;

/// What the example writes.
pub(crate) fn written() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    example::write(folder.path()).unwrap();
    folder
}

fn subcommands() -> Vec<Command> {
    Cli::command().get_subcommands().cloned().collect()
}

fn longs(command: &Command) -> Vec<&str> {
    command.get_arguments().filter_map(clap::Arg::get_long).collect()
}

#[test]
fn every_command_flag_and_text_is_in_its_man_page() {
    let folder = written();
    let page = |name: &str| {
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
        page.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\fR", "").replace("\\fB", "")
    };
    let first = page("submitter");
    assert!(first.contains(&format!("\"submitter {}\"", env!("CARGO_PKG_VERSION"))), "{first}");
    for subcommand in subcommands() {
        let name = format!("submitter-{}", subcommand.get_name());
        assert!(first.contains(&format!("{name}(1)")), "{name}");
        let page = page(&name);
        let heads = |line: &str, flag: &str| {
            line.strip_prefix(flag).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
                || line.contains(&format!(", {flag}"))
        };
        for long in longs(&subcommand) {
            let flag = format!("--{long}");
            assert!(page.lines().any(|line| heads(line, &flag)), "{name} {flag}");
        }
        let texts = subcommand.get_arguments().filter_map(clap::Arg::get_help);
        for line in
            texts.flat_map(|help| help.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
        {
            assert!(page.contains(&line), "{name}: {line}");
        }
        if let Some(notes) = subcommand.get_after_help() {
            let (_, unfilled) = page.split_once("\n.nf\n").expect("a section as it is written");
            let notes = notes.to_string();
            assert!(notes.lines().all(|line| unfilled.contains(line)), "{name}: {unfilled}");
        }
    }
}

#[test]
fn every_command_and_flag_is_completed_in_three_shells() {
    let folder = written();
    let script = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (bash, zsh) = (script("submitter.bash"), script("_submitter"));
    let fish = script("submitter.fish");
    assert!(zsh.starts_with("#compdef submitter\n"));
    for subcommand in subcommands() {
        let name = subcommand.get_name();
        assert!(bash.contains(&format!("submitter,{name})")), "{name}");
        assert!(fish.contains(&format!(" -a \"{name}\"")), "{name}");
        let (_, from) = zsh.split_once(&format!("({name})\n_arguments")).expect(name);
        let of_zsh = from.split_once(";;").unwrap().0;
        let of_fish: String =
            fish.lines().filter(|line| line.contains(&format!("_subcommand {name}\""))).collect();
        for long in longs(&subcommand) {
            assert!(bash.contains(&format!(" --{long} ")), "{name} --{long}");
            assert!(of_zsh.contains(&format!("--{long}")), "{name} --{long}");
            assert!(of_fish.contains(&format!(" -l {long} ")), "{name} --{long}");
        }
    }
}
