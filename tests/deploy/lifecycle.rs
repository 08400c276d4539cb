//! The package installed, upgraded, removed and purged by dpkg itself, in a root of its own.

use std::path::Path;
use std::process::Command;

/// Needs root, `examples/debian/build`, and a throw-away Debian under `SUBMITTER_DEBIAN_ROOT`, as
/// CONTRIBUTING.md says how to make.
#[test]
#[ignore = "needs root, a built package and a Debian root in SUBMITTER_DEBIAN_ROOT"]
fn the_package_comes_and_goes() {
    let root = std::env::var("SUBMITTER_DEBIAN_ROOT").expect("SUBMITTER_DEBIAN_ROOT is set");
    let sh = |script: &str| {
        let output = Command::new("chroot").args([&root, "/bin/sh", "-ec", script]).output();
        let output = output.unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{script}:\n{text}");
        text
    };
    let package = Path::new(&root).join("root/submitter.deb");
    std::fs::copy(built(), &package).unwrap();
    let look = "stat -c '%U %a %n' /etc/submitter/env /var/lib/submitter";
    let as_installed = "root 600 /etc/submitter/env\nsubmitter 700 /var/lib/submitter\n";
    let is_enabled = "systemctl is-enabled submitter.timer || true";

    let said = sh("dpkg -i /root/submitter.deb </dev/null");
    assert!(said.contains("nothing runs yet"), "{said}");
    assert_eq!(sh(look), as_installed);
    assert_eq!(sh(is_enabled), "disabled\n");
    sh("submitter --version; man -w submitter-run; dpkg -V submitter");
    sh("systemd-analyze verify submitter.service submitter.timer");

    sh("sed -i s/^STRATEGY_ID=/STRATEGY_ID=mine/ /etc/submitter/env; systemctl enable submitter.timer;
        echo test-token >/etc/submitter/token;
        runuser -u submitter -- submitter pause --state-dir /var/lib/submitter");
    let said = sh("dpkg -i /root/submitter.deb </dev/null");
    assert!(said.contains("over (") && !said.contains("nothing runs yet"), "{said}");
    assert_eq!(sh(look), as_installed);
    assert_eq!(sh(is_enabled), "enabled\n", "an upgrade leaves the schedule as it was");
    sh("grep -q '^STRATEGY_ID=mine$' /etc/submitter/env");

    sh("dpkg -r submitter; test ! -e /usr/bin/submitter; test -f /etc/submitter/token");
    sh("dpkg -i /root/submitter.deb </dev/null; grep -q '^STRATEGY_ID=mine$' /etc/submitter/env");
    assert_eq!(sh(is_enabled), "disabled\n", "a removal ended the schedule");
    let said = sh("dpkg -P submitter");
    assert!(said.contains("/var/lib/submitter and its user are kept"), "{said}");
    sh("test -f /var/lib/submitter/pause.json; getent passwd submitter; test ! -e /etc/submitter");

    sh("dpkg -i /root/submitter.deb </dev/null; rm /var/lib/submitter/*; dpkg -P submitter");
    let left = "find / -xdev -name '*submitter*' ! -path '/proc/*' ! -path '/root/*'; \
                getent passwd submitter || true";
    assert_eq!(sh(left), "", "what a purge leaves of an install that never ran");
}

/// The one package that the last build made.
fn built() -> std::path::PathBuf {
    let folder = crate::repository("target/debian");
    let files = std::fs::read_dir(&folder).expect("examples/debian/build was run");
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "deb"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}
