//! The Debian package, as far as it can be looked at without building it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{assets, read, repository};

/// The rows of the asset list: source, destination, mode.
fn rows() -> Vec<[String; 3]> {
    let manifest = read("Cargo.toml");
    let (_, list) = manifest.split_once("\nassets = [\n").unwrap();
    let rows = list.split_once("\n]").unwrap().0.lines().map(|line| {
        let cells = line.trim().trim_start_matches('[').trim_end_matches("],");
        let cells: Vec<_> =
            cells.split(", ").map(|cell| cell.trim_matches('"').to_owned()).collect();
        <[String; 3]>::try_from(cells).unwrap_or_else(|_| panic!("{line}"))
    });
    rows.collect()
}

#[test]
fn the_package_holds_files_that_exist_and_all_that_the_example_writes() {
    let folder = assets::written();
    let mut written: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for [source, dest, _] in rows() {
        if let Some(name) = source.strip_prefix("target/assets/") {
            let before = written.len();
            match name.strip_prefix('*') {
                Some(end) => written.retain(|file| !file.ends_with(end)),
                None => written.retain(|file| file != name),
            }
            assert!(written.len() < before, "the example writes no {source}");
        } else if source != "target/release/submitter" {
            assert!(repository(&source).is_file(), "{source}");
        }
        assert!(!dest.starts_with('/'), "{dest}");
    }
    assert_eq!(written, [""; 0], "written and not packaged");
    let build = read("examples/debian/build");
    assert!(build.contains("--example assets -- target/assets\ncargo deb "), "{build}");
}

#[test]
fn the_settings_are_a_conffile_for_root_alone() {
    let manifest = read("Cargo.toml");
    for [source, dest, mode] in rows() {
        let expected = match &*source {
            "target/release/submitter" => "755",
            "examples/env" => "600",
            _ => "644",
        };
        assert_eq!(mode, expected, "{source}");
        if dest.starts_with("etc/") {
            assert!(manifest.contains(&format!("\"/{dest}\"")), "{dest} is no conffile");
        }
    }
    let listed: Vec<_> = rows().into_iter().filter(|row| row[1] == "etc/submitter/env").collect();
    assert_eq!(listed.len(), 1);
}

#[test]
fn the_package_changes_with_the_version() {
    let changelog = read("examples/debian/changelog");
    let start = format!("submitter ({}-", env!("CARGO_PKG_VERSION"));
    assert!(changelog.starts_with(&start), "{changelog}");
}

/// A root that the maintainer scripts work on: their paths are moved into it, and the programs
/// that would change this machine write down how they were called.
struct Root(TempDir);

impl Root {
    fn new() -> Self {
        let root = Self(tempfile::tempdir().unwrap());
        for folder in ["bin", "var/lib/systemd/timers", "etc/submitter", "run/systemd/system"] {
            std::fs::create_dir_all(root.path(folder)).unwrap();
        }
        for name in [
            "adduser",
            "deluser",
            "deb-systemd-helper",
            "deb-systemd-invoke",
            "systemctl",
            "install",
        ] {
            let stub = root.path("bin").join(name);
            std::fs::write(
                &stub,
                format!("#!/bin/sh\necho \"{name} $*\" >> {}\n", root.path("calls").display()),
            )
            .unwrap();
            std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        root
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// What the script printed, and the calls that it made.
    fn run(&self, name: &str, args: &[&str]) -> (String, String) {
        let root = self.0.path().display();
        let mut script = read(&format!("examples/debian/{name}"));
        for folder in ["/var/lib/", "/etc/", "/run/"] {
            script = script.replace(folder, &format!("{root}{folder}"));
        }
        let path = format!("{root}/bin:/usr/bin:/bin");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, name]).args(args).env_clear().env("PATH", path);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name} {args:?}: {output:?}");
        let calls = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        drop(std::fs::remove_file(self.path("calls")));
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).unwrap().replace(&root.to_string(), "")
        };
        (text(&output.stdout), text(calls.as_bytes()))
    }
}

fn touch(path: &Path) {
    std::fs::write(path, "x").unwrap();
}

#[test]
fn an_install_makes_the_user_and_the_folder_and_starts_nothing() {
    let root = Root::new();
    let (said, calls) = root.run("postinst", &["configure", ""]);
    assert!(calls.contains("adduser --system --group"), "{calls}");
    assert!(
        calls.contains("install -d -m 0700 -o submitter -g submitter /var/lib/submitter\n"),
        "{calls}"
    );
    for next in
        ["/etc/submitter/token", "/etc/submitter/env", "--dry-run", "enable --now submitter.timer"]
    {
        assert!(said.contains(next), "{said}");
    }
    for wrong in ["start", "enable", "invoke"] {
        assert!(!calls.contains(wrong), "{calls}");
    }
    std::fs::create_dir(root.path("var/lib/submitter")).unwrap();
    let (said, calls) = root.run("postinst", &["configure", "0.0.9-1"]);
    assert_eq!(said, "", "an upgrade needs no person");
    assert!(!calls.contains("install") && !calls.contains("start"), "{calls}");
}

#[test]
fn removal_ends_the_schedule_and_an_upgrade_does_not() {
    let root = Root::new();
    assert_eq!(root.run("prerm", &["upgrade", "0.2.0-1"]), (String::new(), String::new()));
    let (_, calls) = root.run("prerm", &["remove"]);
    assert!(calls.contains("invoke stop submitter.timer submitter.service\n"), "{calls}");
    assert!(calls.contains("helper disable submitter.timer\n"), "{calls}");
}

#[test]
fn a_purge_keeps_the_journal_and_nothing_else() {
    let root = Root::new();
    let state = root.path("var/lib/submitter");
    std::fs::create_dir(&state).unwrap();
    let (token, journal) = (root.path("etc/submitter/token"), state.join("journal.jsonl"));
    let stamp = root.path("var/lib/systemd/timers/stamp-submitter.timer");
    let files = [&token, &journal, &stamp];
    for file in files {
        touch(file);
    }
    for kept in ["remove", "upgrade"] {
        root.run("postrm", &[kept]);
        assert!(files.iter().all(|file| file.is_file()), "{kept}");
    }
    let (said, calls) = root.run("postrm", &["purge"]);
    assert!(said.contains("/var/lib/submitter and its user are kept"), "{said}");
    assert!(journal.is_file() && !token.exists() && !stamp.exists());
    assert!(!root.path("etc/submitter").exists(), "it holds nothing more");
    assert!(!calls.contains("deluser"), "{calls}");

    std::fs::remove_file(&journal).unwrap();
    let (said, calls) = root.run("postrm", &["purge"]);
    assert_eq!(said, "");
    assert!(calls.contains("deluser --quiet --system submitter\n") && !state.exists(), "{calls}");
}
