//! The shipped settings file means the same to a shell and to systemd.

use std::collections::BTreeMap;
use std::process::Command;

use crate::read;

/// All settings of the file, those that are commented out included.
fn all() -> String {
    let file = read("examples/env");
    let setting = |line: &str| {
        let line = line.strip_prefix('#').unwrap_or(line);
        let (name, _) = line.split_once('=')?;
        let upper = |c: char| c.is_ascii_uppercase() || c == '_';
        name.chars().all(upper).then(|| format!("{line}\n"))
    };
    file.lines().filter_map(setting).collect()
}

/// As systemd reads it, of the forms that the file allows: bare, or in single quotes.
fn by_systemd(file: &str) -> BTreeMap<String, String> {
    let setting = |line: &str| {
        let (name, value) = line.split_once('=').unwrap();
        let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        let value = bare.unwrap_or(value);
        assert!(!value.contains(['\'', '"', '\\', '$', '`']), "{line}");
        (name.to_owned(), value.to_owned())
    };
    file.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(setting).collect()
}

fn by_sh(file: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("env");
    std::fs::write(&path, file).unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", ". \"$1\" >&2 && set", "sh", path.to_str().unwrap()])
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let set = String::from_utf8(output.stdout).unwrap();
    let unquoted = |value: &str| value.trim_matches('\'').to_owned();
    let pairs = set.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), unquoted(value))).collect()
}

#[test]
fn the_file_means_the_same_to_systemd_and_to_sh() {
    for file in [read("examples/env"), all()] {
        let (systemd, sh) = (by_systemd(&file), by_sh(&file));
        assert!(systemd.len() >= 3, "{systemd:?}");
        for (name, value) in &systemd {
            assert_eq!(sh.get(name), Some(value), "{name}");
        }
    }
}

#[test]
fn the_file_names_settings_that_the_readme_explains_and_no_token() {
    let readme = read("README.md");
    for name in by_systemd(&all()).keys() {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
    let set = by_systemd(&read("examples/env"));
    assert_eq!(set["STRATEGY_ID"], "", "a run without one holds, and says so");
    assert_eq!(set["SUBMITTER_STATE_DIR"], "/var/lib/submitter");
    assert_eq!(set["XC_TOKEN_FILE"], "/etc/submitter/token");
    for name in submitter::secret::VALUE_SOURCES {
        assert!(!all().contains(&format!("{name}=")), "{name}");
    }
}

#[test]
fn logs_are_put_away_without_being_copied() {
    let rules = read("examples/logrotate");
    let words: Vec<&str> =
        rules.lines().filter(|line| !line.starts_with('#')).map(str::trim).collect();
    assert!(words.contains(&"/var/log/submitter/*.log {"), "{rules}");
    for word in ["missingok", "compress", "delaycompress"] {
        assert!(words.contains(&word), "{word}");
    }
    assert!(!words.contains(&"copytruncate"), "lines that are written meanwhile would be lost");
    assert!(read("crontab.example").contains(">>/var/log/submitter/run.log"));
}

#[test]
fn the_files_that_the_readme_names_are_there() {
    let readme = read("README.md");
    let words = readme.split(|c: char| c.is_whitespace() || "`,;:()".contains(c));
    let files: Vec<&str> = words.filter(|word| word.starts_with("examples/")).collect();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        assert!(crate::repository(file.trim_end_matches('.')).exists(), "{file}");
    }
}
