//! A folder with logs and marks, and the program beside it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with a `data` folder in it, where the program is run.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    /// The default marks file.
    pub(crate) fn marks(&self) -> PathBuf {
        self.path("data/reject-marks.json")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.marks()).unwrap()
    }

    /// (model, card, code) of every mark, as they stand in the file.
    pub(crate) fn rows(&self) -> Vec<(String, String, u64)> {
        rows(&self.marks())
    }

    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_submitter"));
        command.arg("sync-marks").args(args);
        command.current_dir(self.0.path()).env_clear().stdin(Stdio::null());
        command
    }

    pub(crate) fn sync(&self, args: &[impl AsRef<OsStr>]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Syncs, expecting success, and returns what it says.
    pub(crate) fn says(&self, args: &[impl AsRef<OsStr>]) -> String {
        said(&self.sync(args))
    }

    /// Syncs, expecting a failure with nothing on standard output, and returns what it says.
    pub(crate) fn fails(&self, args: &[impl AsRef<OsStr>], code: i32) -> String {
        let output = self.sync(args);
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{log}");
        assert_eq!(output.stdout, b"", "{log}");
        log
    }

    /// Syncs `log` from a pipe.
    pub(crate) fn says_of_stdin(&self, args: &[&str], log: &[u8]) -> String {
        let mut command = self.command(args);
        let mut child: Child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(log).unwrap();
        said(&child.wait_with_output().unwrap())
    }

    /// The names in the data folder.
    pub(crate) fn data(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("data")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn said(output: &Output) -> String {
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn rows(marks: &Path) -> Vec<(String, String, u64)> {
    let file: serde_json::Value = serde_json::from_slice(&fs::read(marks).unwrap()).unwrap();
    let text = |mark: &serde_json::Value, key: &str| mark[key].as_str().unwrap().to_owned();
    let marks = file["marks"].as_array().unwrap();
    marks.iter().map(|m| (text(m, "model"), text(m, "gpu"), m["code"].as_u64().unwrap())).collect()
}

pub(crate) fn row(model: &str, gpu: &str, code: u64) -> (String, String, u64) {
    (model.to_owned(), gpu.to_owned(), code)
}

/// The line of a rejection, without its end.
pub(crate) fn rejected(model: &str, gpu: &str, code: u32) -> String {
    format!("[live] rejected model={model} gpu={gpu} code={code} http=200 queue_before=0 reason=X")
}
