//! N07: `check` tells the way that requests really take, and never a proxy's password.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};

use crate::kit::{Machine, together};
use crate::secrets::{account, leaks};

const USER: &str = "proxy-user-5150";
const PASSWORD: &str = "proxy-password-5150";

/// Somewhere to connect to, where nobody answers.
fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn was_asked(listener: &TcpListener) -> bool {
    match listener.accept() {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            false
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hop {
    Proxy,
    Platform,
}

type Variables = &'static [(&'static str, &'static str)];

/// Variables (`P` stands for the proxy with its user, `D` for a proxy that nobody may ask), what is
/// told, and where the first connection goes.
const CASES: [(Variables, &str, Hop); 7] = [
    (
        &[("HTTPS_PROXY", "http://P")],
        "ok proxy: through the HTTP proxy P of HTTPS_PROXY, with a user",
        Hop::Proxy,
    ),
    (
        &[("ALL_PROXY", "P"), ("HTTPS_PROXY", "http://D")],
        "ok proxy: through the HTTP proxy P of ALL_PROXY, with a user",
        Hop::Proxy,
    ),
    (
        &[("ALL_PROXY", "fake://D"), ("https_proxy", "http://P")],
        "ok proxy: through the HTTP proxy P of https_proxy, with a user",
        Hop::Proxy,
    ),
    (
        &[("HTTPS_PROXY", "http://P"), ("NO_PROXY", "other.example,127.0.0.1")],
        "ok proxy: none: NO_PROXY takes ",
        Hop::Platform,
    ),
    (
        &[("HTTPS_PROXY", "http://P"), ("NO_PROXY", "other.example, 127.0.0.1")],
        "warn proxy: the HTTP proxy P of HTTPS_PROXY, with a user name that is not shown; NO_PROXY has blanks",
        Hop::Proxy,
    ),
    (
        &[("ALL_PROXY", "socks5://P")],
        "warn proxy: not used, since this program knows no SOCKS: the SOCKS5 proxy P of ALL_PROXY",
        Hop::Platform,
    ),
    (&[], "ok proxy: none: no variable names one", Hop::Platform),
];

#[test]
fn n07_the_way_that_is_told_is_the_way_of_a_run() {
    together(CASES, |(variables, says, hop)| {
        for command in ["check", "run"] {
            let mut machine = Machine::one_card_each(account(), &["Org/Model"]);
            let (proxy, at) = listener();
            let (unused, elsewhere) = listener();
            let (platform, host) = listener();
            for (name, value) in variables {
                let with_user = format!("{USER}:{PASSWORD}@{at}");
                let value = value.replace('P', &with_user).replace('D', &elsewhere);
                machine.set(name, &value);
            }
            machine.set("MODELHUB_API_BASE", &format!("https://{host}"));
            machine
                .set("LIVE_REQUEST_TIMEOUT_SECONDS", "1")
                .set("LIVE_CYCLE_DEADLINE_SECONDS", "1");
            let ended = machine.run(&[command, "-vv"]);
            assert_eq!(ended.code, 20, "{}", ended.stdout);
            if command == "check" {
                let line = format!("[check] {}", says.replace(" P ", &format!(" {at} ")));
                let is_told = ended.stdout.lines().any(|told| told.starts_with(&line));
                assert!(is_told, "{line} in\n{}", ended.stdout);
                let silent = "[check] FAIL connection (platform_unreachable): ";
                assert!(ended.stdout.contains(silent), "{}", ended.stdout);
            }
            assert_eq!(was_asked(&proxy), hop == Hop::Proxy, "{command} {variables:?}");
            assert_eq!(was_asked(&platform), hop == Hop::Platform, "{command} {variables:?}");
            assert!(!was_asked(&unused), "{command} {variables:?}");
            let told = format!("{}{}", ended.stdout, ended.log);
            for secret in [USER, PASSWORD] {
                assert!(!leaks(told.as_bytes(), secret), "{command} {variables:?}\n{told}");
            }
        }
    });
}
