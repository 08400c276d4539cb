//! README as a person follows it: every command in it runs, in the order in which it stands there.
//!
//! What lies outside (cargo, crontab, systemd, …) is played by small scripts, and the folders of
//! the system by a temporary one, so that no test touches the machine.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use submitter::cli::Cli;

use crate::kit::{Machine, TOKEN, account, models, strs};

const README: &str = include_str!("../../README.md");

/// Programs that are played, besides cargo and crontab: each succeeds and does nothing.
const PLAYED: [&str; 8] = [
    "apt-get",
    "dpkg",
    "docker",
    "journalctl",
    "kubectl",
    "logrotate",
    "systemctl",
    "systemd-analyze",
];

/// Installs this program, runs the examples that are built, and builds nothing.
const CARGO: &str = r#"#!/bin/sh
command=$1
root=$HOME/.cargo
example=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
        --root) root=$2 ;;
        --example) example=$2; grep -q . "$REPOSITORY/examples/$2.rs" || exit 1 ;;
        --bench) grep -q . "$REPOSITORY/benches/$2.rs" || exit 1 ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
case $command in
    install) mkdir -p "$root/bin" && ln -sf "$PROGRAM" "$root/bin/submitter" ;;
    run)
        # A hundred thousand lives take a minute; a few show that the command works.
        [ "$example" = simulate ] && set -- --seeds 20
        [ ! -x "$EXAMPLES/$example" ] || "$EXAMPLES/$example" "$@" >/dev/null 2>&1 ;;
    test | bench | deb) ;;
    *) exit 1 ;;
esac
"#;

const CRONTAB: &str = r#"#!/bin/sh
case ${1-} in
    -l) cat "$HOME/crontab" 2>/dev/null || : ;;
    -) cat >"$HOME/crontab.new" && mv "$HOME/crontab.new" "$HOME/crontab" ;;
    *) exit 1 ;;
esac
"#;

/// A command of README, or a block of them, and the output that stands below it.
#[derive(Debug)]
struct Snippet {
    line: usize,
    script: String,
    output: String,
    /// Other text has followed.
    is_over: bool,
}

/// The commands of each section, in order.
fn sections() -> Vec<Vec<Snippet>> {
    let mut sections = vec![Vec::new()];
    let mut fence = None;
    for (line, text) in (1..).zip(README.lines()) {
        let snippets: &mut Vec<Snippet> = sections.last_mut().unwrap();
        let new = |script: &str| Snippet {
            line,
            script: script.into(),
            output: String::new(),
            is_over: false,
        };
        let bare = text.trim_start();
        match (fence, bare.strip_prefix("```")) {
            (Some(_), Some(_)) => fence = None,
            (None, Some(language)) => {
                fence = Some(language);
                if language == "sh" {
                    snippets.push(new(""));
                }
            }
            (Some("sh"), None) => writeln!(snippets.last_mut().unwrap().script, "{bare}").unwrap(),
            (Some("console"), None) => command_or_output(snippets, text, new),
            (Some(_), None) => {}
            (None, None) if text.starts_with("## ") => sections.push(Vec::new()),
            (None, None) => match text.strip_prefix("    ") {
                Some(indented) => command_or_output(snippets, indented, new),
                None => snippets.iter_mut().for_each(|snippet| snippet.is_over = true),
            },
        }
    }
    sections
}

fn command_or_output(snippets: &mut Vec<Snippet>, text: &str, new: impl FnOnce(&str) -> Snippet) {
    if let Some(command) = text.strip_prefix("$ ") {
        snippets.push(new(command));
    } else if let Some(snippet) = snippets.last_mut().filter(|snippet| !snippet.is_over) {
        writeln!(snippet.output, "{text}").unwrap();
    }
}

/// A machine as a newcomer has it.
struct House {
    machine: Machine,
    root: PathBuf,
}

impl House {
    fn new() -> Self {
        let machine = Machine::new(account().with_history(20, &["Past/One"]), &strs(&models(3)));
        let root = machine.folder.path().join("root");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["bin", "home", "checkout/data", "etc/logrotate.d", "var/log"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let house = Self { machine, root };
        for name in ["cargo", "crontab"].iter().chain(&PLAYED) {
            let text = match *name {
                "cargo" => CARGO,
                "crontab" => CRONTAB,
                _ => "#!/bin/sh\n",
            };
            let path = house.root.join("bin").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_submitter"), house.root.join("bin/submitter")).unwrap();
        // Point 2 of 快速开始 has pasted it.
        std::fs::write(house.root.join("home/.modelhub-token"), TOKEN).unwrap();
        let examples = ["examples", "examples/debian", "examples/systemd"];
        for folder in examples {
            std::fs::create_dir(house.root.join("checkout").join(folder)).unwrap();
        }
        let files = examples
            .iter()
            .flat_map(|folder| std::fs::read_dir(repository.join(folder)).unwrap())
            .map(|file| file.unwrap().path());
        for file in files.chain([repository.join("crontab.example")]).filter(|path| path.is_file())
        {
            let to = house.root.join("checkout").join(file.strip_prefix(repository).unwrap());
            std::fs::write(&to, house.here(&std::fs::read_to_string(&file).unwrap())).unwrap();
            std::fs::set_permissions(to, file.metadata().unwrap().permissions()).unwrap();
        }
        house
    }

    /// A text with the folders of the system in this house.
    fn here(&self, text: &str) -> String {
        let root = self.root.display();
        ["/etc/", "/usr/local", "/var/l"]
            .into_iter()
            .fold(text.to_owned(), |text, dir| text.replace(dir, &format!("{root}{dir}")))
    }

    /// Runs a script of README, which names the folders of the system.
    fn run(&self, script: &str) -> String {
        self.shell(&self.here(script))
    }

    /// Runs a script with the token on its standard input; returns its standard output.
    fn shell(&self, script: &str) -> String {
        let repository = env!("CARGO_MANIFEST_DIR");
        let program = env!("CARGO_BIN_EXE_submitter");
        let examples = Path::new(program).with_file_name("examples");
        let mut child = Command::new("/bin/sh")
            .args(["-euc", script])
            .current_dir(self.root.join("checkout"))
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.root.join("bin").display()))
            .env("HOME", self.root.join("home"))
            .env("MODELHUB_API_BASE", self.machine.platform.base())
            .env("SUBMITTER_DATA_DIR", self.machine.folder.path().join("data"))
            .env("REPOSITORY", repository)
            .env("PROGRAM", program)
            .env("EXAMPLES", examples)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A script that does not read has ended perhaps.
        drop(child.stdin.take().unwrap().write_all(format!("{TOKEN}\n").as_bytes()));
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?} of\n{script}\n{stderr}", output.status.code());
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn every_command_of_the_readme_runs() {
    let sections = sections();
    assert!(sections.iter().flatten().count() >= 10, "README has lost its commands");
    for section in sections.iter().filter(|section| !section.is_empty()) {
        let house = House::new();
        for Snippet { line, script, output, .. } in section {
            let with = if script.starts_with("submitter run") {
                "export XC_TOKEN_FILE=$HOME/.modelhub-token STRATEGY_ID=mine\n"
            } else {
                ""
            };
            let said = house.run(&format!("{with}{script}"));
            if !said.is_empty() && !output.is_empty() && !script.contains("--dry-run") {
                assert_eq!(
                    said,
                    output.trim_end().to_owned() + "\n",
                    "README line {line}: {script}"
                );
            }
        }
        assert!(house.machine.most_posts().0 <= 1);
    }
}

/// From README alone to an hourly run.
#[test]
fn the_readme_leads_to_a_crontab_line_that_submits() {
    let house = House::new();
    let sections = sections();
    let hourly = sections
        .iter()
        .find(|section| section.iter().any(|snippet| snippet.script.contains("crontab.example")));
    for snippet in hourly.unwrap() {
        house.run(&snippet.script);
    }
    let crontab = std::fs::read_to_string(house.root.join("home/crontab")).unwrap();
    let (_, command) = crontab.lines().last().unwrap().split_once(" * * * * ").unwrap();
    house.shell(command);
    let log = std::fs::read_to_string(house.root.join("var/log/submitter/run.log")).unwrap();
    assert_eq!(house.machine.most_posts(), (1, 1), "{log}");
    assert!(log.contains("result=submitted submitted=3"), "{log}");
}

/// Commands within sentences are ones that the program understands.
#[test]
fn every_command_within_a_sentence_is_understood() {
    let spans = README.split('`').skip(1).step_by(2);
    let commands: Vec<&str> = spans.filter(|span| span.starts_with("submitter ")).collect();
    assert!(commands.len() >= 10, "{commands:?}");
    for command in commands {
        let words = command.split('|').next().unwrap().split_whitespace().map(|word| match word {
            "GPU" => "Biren_166m",
            "MODEL" => "org/model",
            word => word,
        });
        match Cli::try_parse_from(words) {
            Err(error) if error.use_stderr() && !is_a_name_alone(command) => {
                panic!("{command}: {error}")
            }
            _ => {}
        }
    }
}

/// `submitter resolve` in a sentence names the command; its arguments are another matter.
fn is_a_name_alone(command: &str) -> bool {
    let known =
        |name: &str| <Cli as clap::CommandFactory>::command().find_subcommand(name).is_some();
    command.strip_prefix("submitter ").is_some_and(known)
}
