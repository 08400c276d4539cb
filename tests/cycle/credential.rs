//! Where the token comes from, and where it goes.

use std::net::{Ipv4Addr, TcpListener};

use crate::kit::{Machine, together};
use crate::platform::{Kind, Platform};
use crate::secrets::{SECRET, account, assert_silent, leaks, machine, run};

const SOURCES: [&str; 4] =
    ["EXTERNAL_SERVICE_TOKEN", "XC_TOKEN_FILE", "XC_TOKEN", "MODELHUB_XC_TOKEN"];

#[test]
fn n10_a_token_that_is_refused_unasked_is_not_shown() {
    let inside = |text: &str| format!("{}{text}{}", &SECRET[..9], &SECRET[9..]);
    let values = [
        ("quotes", format!("\"{SECRET}\"")),
        ("single quotes", format!("'{SECRET}'")),
        ("a quote behind it", format!("{SECRET}\"")),
        ("a space", inside(" ")),
        ("a tab", inside("\t")),
        ("a line end", inside("\n")),
        ("a control character", inside("\u{1}")),
        ("DEL", inside("\u{7f}")),
        ("a full-width letter", inside("Ａ")),
        ("a zero-width space", inside("\u{200b}")),
        ("a placeholder", format!("<{SECRET}>")),
    ];
    for (name, value) in values {
        for source in SOURCES {
            let mut machine = machine(account());
            machine.set("XC_TOKEN", "");
            if source == "XC_TOKEN_FILE" {
                let file = machine.folder.path().join("token.txt");
                std::fs::write(&file, &value).unwrap();
                machine.set(source, file.to_str().unwrap());
            } else {
                machine.set(source, &value);
            }
            let ended = run(&machine);
            assert_eq!(ended.code, 31, "k06 {name} in {source}: {}", ended.log);
            let reason = if value.starts_with('<') { "missing_token" } else { "invalid_token" };
            assert_eq!(ended.held(), reason, "{name} in {source}");
            if name.ends_with("quotes") {
                assert!(ended.log.contains("begins with a quote"), "k06: {}", ended.log);
            }
            assert_silent(name, &machine, &ended);
            assert_eq!(machine.platform.requests().len(), 0, "{name} in {source}");
        }
    }
}

/// A machine on which no credential is set.
fn without_token() -> Machine {
    let mut machine = machine(account());
    machine.set("XC_TOKEN", "");
    machine
}

fn token_file(machine: &Machine, content: &str) -> String {
    let file = machine.folder.path().join("token.txt");
    std::fs::write(&file, content).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn the_first_source_that_holds_a_token_is_used() {
    for nothing in ["", "  ", "<your token>"] {
        let mut machine = without_token();
        let tokens = SOURCES.map(|source| format!("token-of-{source}"));
        for (source, token) in SOURCES.iter().zip(&tokens) {
            let value = match *source {
                "XC_TOKEN_FILE" => token_file(&machine, token),
                _ => token.clone(),
            };
            machine.set(source, &value);
        }
        for (source, token) in SOURCES.iter().zip(&tokens) {
            machine.platform.set_token(token);
            let before = machine.platform.requests().len();
            let ended = run(&machine);
            assert!(matches!(ended.code, 0 | 10), "{source}: {}", ended.log);
            assert_eq!(ended.line("[live] token "), format!("[live] token source={source}"));
            let requests = machine.platform.requests();
            assert!(requests[before..].iter().all(|r| r.header("xc-token") == Some(token)));
            machine.set(source, nothing);
        }
        assert_eq!(run(&machine).held(), "missing_token");
    }
}

#[test]
fn a_token_file_may_have_a_byte_order_mark_and_a_newline() {
    for (content, good) in [
        (SECRET.to_owned(), true),
        (format!("{SECRET}\n"), true),
        (format!("{SECRET}\r\n"), true),
        (format!("\u{feff}{SECRET}\n"), true),
        (format!("{SECRET}\n{SECRET}\n"), false),
        (format!("XC_TOKEN={SECRET} \n#"), false),
        (format!("\"{SECRET}\"\n"), false),
        (SECRET.repeat(4_000), false),
    ] {
        for by_flag in [false, true] {
            let mut machine = without_token();
            // Behind a file that is no good stands the token of another account.
            machine.set("MODELHUB_XC_TOKEN", "another");
            let file = token_file(&machine, &content);
            let ended = if by_flag {
                machine.set("EXTERNAL_SERVICE_TOKEN", "another");
                machine.run(&["run", "-vv", "--json", "--token-file", &file])
            } else {
                machine.set("XC_TOKEN_FILE", &file);
                run(&machine)
            };
            assert_silent("a token file", &machine, &ended);
            if good {
                assert_eq!(ended.code, 0, "{content:?}: {}", ended.log);
                assert_eq!(ended.line("[live] token "), "[live] token source=XC_TOKEN_FILE");
            } else {
                assert_eq!((ended.code, ended.held()), (31, "invalid_token"), "{}", ended.log);
                assert_eq!(machine.platform.requests().len(), 0);
            }
        }
    }
}

#[test]
fn a_token_file_that_cannot_be_read_stops_the_run() {
    let folder = std::env::temp_dir().to_str().unwrap().to_owned();
    for path in [folder, "/no/such/file".into(), SECRET.into(), format!("\"/{SECRET}\"")] {
        let mut machine = without_token();
        machine.set("XC_TOKEN_FILE", &path).set("XC_TOKEN", SECRET);
        let ended = run(&machine);
        assert_eq!((ended.code, ended.held()), (31, "invalid_token"), "{path}: {}", ended.log);
        assert!(ended.log.contains("XC_TOKEN_FILE=unreadable"), "{}", ended.log);
        assert_silent(&path, &machine, &ended);
        assert_eq!(machine.platform.requests().len(), 0);
    }
}

/// In capitals and not, for every scheme.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

#[test]
fn n07_what_goes_to_this_machine_goes_through_no_proxy() {
    let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    proxy.set_nonblocking(true).unwrap();
    let mut machine = machine(account());
    for name in PROXIES {
        machine.set(name, &format!("http://{}", proxy.local_addr().unwrap()));
    }
    assert_eq!(run(&machine).code, 0);
    assert_eq!(machine.platform.count(Kind::Add), 1);
    let nobody = proxy.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock, "somebody asked the proxy");
}

/// A proxy is asked for a tunnel, and is shown nothing of what is to go through it.
#[test]
fn n07_a_proxy_for_https_sees_no_token() {
    let followed = PROXIES.iter().filter(|name| !name.eq_ignore_ascii_case("http_proxy"));
    together(followed, |name| {
        let proxy = Platform::start(account());
        let mut machine = machine(account());
        let base = machine.platform.base().replace("http:", "https:");
        machine.set(name, &proxy.base()).set("MODELHUB_API_BASE", &base);
        machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "1");
        let ended = run(&machine);
        assert_eq!((ended.code, ended.held()), (20, "ledger_rebuild_failed"), "{}", ended.log);
        assert_silent(name, &machine, &ended);
        let asked = proxy.requests();
        assert!(!asked.is_empty(), "{name} is not followed");
        for request in asked {
            assert_eq!((&*request.method, request.header("xc-token")), ("CONNECT", None));
            assert!(!leaks(format!("{request:?}").as_bytes(), SECRET));
        }
        assert_eq!(machine.platform.requests().len(), 0);
    });
}

#[test]
fn the_probe_line_names_each_source_and_no_value() {
    type Set = [&'static str; 4];
    let unreadable = "/no/such/file";
    let cases: [(Set, Set, &str); 5] = [
        (["", "", "", ""], ["absent"; 4], "missing_token"),
        ([" ", " ", "\t", "\u{3000}"], ["blank"; 4], "missing_token"),
        (["<a>", "<a>", "<a", "a>"], ["placeholder"; 4], "missing_token"),
        (["", "", " ", "a b"], ["absent", "absent", "blank", "malformed"], "invalid_token"),
        (
            ["<a>", unreadable, "good", "good"],
            ["placeholder", "unreadable", "", ""],
            "invalid_token",
        ),
    ];
    for (values, states, reason) in cases {
        let mut machine = without_token();
        for (source, value) in SOURCES.iter().zip(values) {
            machine.set(source, value);
        }
        let ended = machine.run(&["run"]);
        assert_eq!((ended.code, ended.held()), (31, reason), "{}", ended.log);
        let line = ended.line("[live] token_probe ");
        let fields: Vec<_> = line["[live] token_probe ".len()..].split(' ').collect();
        assert_eq!(fields.len(), 4, "{line}");
        for ((field, source), state) in fields.iter().zip(SOURCES).zip(states) {
            // What stands behind the source that ended the search is not part of the contract.
            if !state.is_empty() {
                assert_eq!(*field, format!("{source}={state}"));
            }
        }
        assert_eq!(ended.log.lines().count(), 2, "{}", ended.log);
        assert_eq!(machine.platform.requests().len(), 0);
        assert!(!machine.state().exists(), "local things come first");
    }
}
