//! Runs the binary as cron would: a bare environment, a state folder, a simulated platform.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::platform::{Account, Kind, Platform};

/// A test token. It looks like one.
pub(crate) const TOKEN: &str = "test-token-7f3a-not-a-secret";

/// The card of machines whose models have one.
pub(crate) const CARD: &str = "Biren_166m";

/// Longer than any run of a test may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine with the program, an account, and a folder of its own.
pub(crate) struct Machine {
    pub(crate) platform: Platform,
    pub(crate) folder: TempDir,
    env: BTreeMap<String, String>,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) log: String,
    pub(crate) stdout: String,
}

impl Machine {
    /// A machine whose candidates are `models`, each for `壁砺` and then the other targets.
    pub(crate) fn new(account: Account, models: &[&str]) -> Self {
        let rows: Vec<_> =
            models.iter().map(|model| serde_json::json!({"model_address": model})).collect();
        let machine = Self::with_shipped_data(account);
        machine.write_candidates(&serde_json::json!({"version": 1, "candidates": rows}));
        machine
    }

    /// A machine whose candidates are `models`, each for [`CARD`] alone: a model is then a pair.
    pub(crate) fn one_card_each(account: Account, models: &[&str]) -> Self {
        let row = |model| serde_json::json!({"model_address": model, "try_next_gpus": [CARD]});
        let rows: Vec<_> = models.iter().map(row).collect();
        let machine = Self::with_shipped_data(account);
        machine.write_candidates(&serde_json::json!({"version": 1, "candidates": rows}));
        machine
    }

    /// A machine with the data that the program ships.
    pub(crate) fn with_shipped_data(account: Account) -> Self {
        let platform = Platform::start(account);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let env = [
            ("XC_TOKEN", TOKEN.to_owned()),
            ("STRATEGY_ID", "strategy-1".to_owned()),
            ("MODELHUB_API_BASE", platform.base()),
            ("SUBMITTER_STATE_DIR", folder.path().join("state").display().to_string()),
            ("SUBMITTER_DATA_DIR", folder.path().join("data").display().to_string()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { platform, folder, env }
    }

    pub(crate) fn write_candidates(&self, value: &serde_json::Value) {
        self.write_data("candidates.json", &value.to_string());
    }

    pub(crate) fn write_data(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join("data").join(name), text).unwrap();
    }

    /// Sets a variable for all later runs; an empty value unsets it for the program.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets a variable, and returns what it was.
    pub(crate) fn set_back(&mut self, name: &str, value: &str) -> String {
        self.env.insert(name.to_owned(), value.to_owned()).unwrap_or_default()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn journal(&self) -> String {
        std::fs::read_to_string(self.state().join("journal.jsonl")).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_submitter"));
        command.args(args).env_clear().envs(&self.env).stdin(Stdio::null());
        command
    }

    /// Starts the program and does not wait for it.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// `submitter run`, expecting an exit code.
    pub(crate) fn cycle(&self, code: i32) -> Ended {
        let ended = self.run(&["run"]);
        assert_eq!(ended.code, code, "{}", ended.log);
        ended
    }

    /// Makes the trailing-hour cap pass, by dating everything in the journal back.
    pub(crate) fn age_journal(&self, seconds: u64) {
        self.redate_journal(|at| at - seconds);
    }

    /// Dates everything in the journal anew.
    pub(crate) fn redate_journal(&self, date: impl Fn(u64) -> u64) {
        let mut redated = String::new();
        for line in self.journal().lines() {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(at) = value.get("at").and_then(serde_json::Value::as_u64) {
                value["at"] = date(at).into();
            }
            redated.push_str(&value.to_string());
            redated.push('\n');
        }
        std::fs::write(self.state().join("journal.jsonl"), redated).unwrap();
    }

    /// The most POSTs, and the most tasks, of any one pair, as the server counts.
    pub(crate) fn most_posts(&self) -> (usize, usize) {
        let most = |counts: BTreeMap<_, usize>| counts.into_values().max().unwrap_or(0);
        (most(self.platform.posts()), most(self.platform.accepted()))
    }
}

/// A program that runs. Killed when it is dropped before its end.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends a signal, `TERM` or `INT`, to this process and no other. It is pending when this
    /// returns.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits for the end, bounded.
    pub(crate) fn end(mut self) -> Ended {
        let (stdout, stderr) = (self.0.stdout.take().unwrap(), self.0.stderr.take().unwrap());
        let read = |mut from: Box<dyn std::io::Read + Send>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                from.read_to_end(&mut bytes).unwrap();
                bytes
            })
        };
        let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > PATIENCE {
                self.kill();
                panic!("the program did not end within {PATIENCE:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let output =
            Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
        Ended {
            code: output.status.code().unwrap_or(-1),
            log: String::from_utf8(output.stderr).unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Ended {
    /// The log's lines that begin so.
    pub(crate) fn lines<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        self.log.lines().filter(move |line| line.starts_with(start))
    }

    /// The log's only line that begins so.
    pub(crate) fn line<'a>(&'a self, start: &'a str) -> &'a str {
        let lines: Vec<_> = self.lines(start).collect();
        assert_eq!(lines.len(), 1, "lines that begin with {start:?} in\n{}", self.log);
        lines[0]
    }

    /// The reason of the hold.
    pub(crate) fn held(&self) -> &str {
        let line = self.line("[live] hold reason=");
        line["[live] hold reason=".len()..].split(' ').next().unwrap()
    }
}

/// Runs cases that mostly wait side by side, a few at a time.
pub(crate) fn together<T: Send>(cases: impl IntoIterator<Item = T>, run: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter().collect::<Vec<_>>());
    let next = || cases.lock().unwrap().pop();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = next() {
                    run(case);
                }
            });
        }
    });
}

/// A line without its explanation in words.
pub(crate) fn without_detail(line: &str) -> &str {
    line.split(" detail=").next().unwrap()
}

/// An account that knows the test token.
pub(crate) fn account() -> Account {
    Account::new(TOKEN)
}

/// `n` models that no rule bans.
pub(crate) fn models(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("Org/Model-{i}")).collect()
}

pub(crate) fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

pub(crate) fn exists(path: &Path) -> bool {
    path.try_exists().unwrap()
}

/// What more there is to prepare and to look at.
impl Machine {
    /// A machine whose candidates are these rows of a `candidates.json`.
    pub(crate) fn with_rows(account: Account, rows: &serde_json::Value) -> Self {
        let machine = Self::with_shipped_data(account);
        machine.write_candidates(&serde_json::json!({"version": 1, "candidates": rows}));
        machine
    }

    /// Writes a file beside the state folder; returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// How many requests the platform has seen, of whatever kind.
    pub(crate) fn asked(&self) -> usize {
        self.platform.count(Kind::Any)
    }

    /// How many POSTs it has seen.
    pub(crate) fn posts(&self) -> usize {
        self.platform.count(Kind::Add)
    }

    /// The pairs of all POSTs, in order, as `org/model Card_enum`.
    pub(crate) fn posted(&self) -> Vec<String> {
        let pairs = self.platform.requests().into_iter().filter_map(|asked| asked.posted_pair());
        pairs.map(|(model, gpu)| format!("{model} {gpu}")).collect()
    }
}

impl Ended {
    /// The report on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// A number of the cycle line.
    pub(crate) fn counted(&self, name: &str) -> usize {
        let line = self.line("[live] cycle ");
        let field = line.split(' ').find_map(|field| field.strip_prefix(&format!("{name}=")));
        field.unwrap().parse().unwrap()
    }
}
