//! Writes the man pages and shell completions of this very command line, for packages.
//!
//!     cargo run --release --example assets -- target/assets

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory, Parser};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use submitter::cli::Cli;

/// Man pages (`submitter.1`, one for each subcommand) and completions (bash, zsh, fish).
#[derive(Debug, Parser)]
struct Args {
    /// Folder to write to; made if it is not there
    folder: PathBuf,
}

fn main() -> io::Result<()> {
    write(&Args::parse().folder)
}

/// Writes all files into `folder`, over those of an earlier build.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    for subcommand in command.get_subcommands() {
        man_page(subcommand, folder)?;
    }
    man_page(&command, folder)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), "submitter", folder)?;
    }
    Ok(())
}

/// One page. What the help says below its flags is a table made for a terminal, so it stays
/// unfilled; flags that only the long help shows are shown with their texts.
fn man_page(command: &Command, folder: &Path) -> io::Result<()> {
    let notes = command.get_after_long_help().or(command.get_after_help());
    let man = Man::new(command.clone().mut_args(|arg| arg.hide_short_help(false)))
        .source(concat!("submitter ", env!("CARGO_PKG_VERSION")))
        .manual("submitter");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if man.get_filename() == "submitter.1" {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(notes) = notes.map(|notes| roman(notes.to_string())) {
        let mut section = Roff::default();
        section.control("SH", ["NOTES"]).control("nf", []).text([notes]).control("fi", []);
        section.to_writer(&mut page)?;
    }
    File::create(folder.join(man.get_filename()))?.write_all(&page)
}
