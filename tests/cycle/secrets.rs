//! Where the token comes from, where it goes, and that neither it nor a body of the platform is
//! to be found anywhere else.

use std::path::Path;
use std::time::Duration;

use crate::kit::{Ended, Machine, together};
use crate::platform::{
    AUTHOR_MARKER, Account, BuildConfig, Fault, Kind, MESSAGE_MARKER, Platform, Trigger,
};

/// No eight bytes of it stand in any log by chance.
pub(crate) const SECRET: &str = "Zq7Xw2Kp9Vt4Rm8Yb3Nc6Hd1Fs5";
/// Stands in the bodies of errors.
const BODY: &str = "BODY-MARKER-7301";

pub(crate) fn account() -> Account {
    Account::new(SECRET).with_history(8, &["Org/Listed"])
}

/// A machine whose token is the marker, and whose logs are open as far as they go.
pub(crate) fn machine(account: Account) -> Machine {
    let mut machine = Machine::one_card_each(account, &["Org/Model"]);
    for (name, value) in [
        ("XC_TOKEN", SECRET),
        ("RUST_LOG", "trace"),
        ("SUBMITTER_LOG", "trace"),
        ("RUST_BACKTRACE", "1"),
        ("MODELHUB_BUILD_CONFIG_PATH", "/api/build-config"),
        ("LIVE_CYCLE_DEADLINE_SECONDS", "20"),
    ] {
        machine.set(name, value);
    }
    machine
}

pub(crate) fn run(machine: &Machine) -> Ended {
    machine.run(&["run", "-vv", "--json"])
}

/// All that a run has left: its two streams, and each file of the state folder with its name.
fn traces(machine: &Machine, ended: &Ended) -> Vec<u8> {
    fn files(folder: &Path, bytes: &mut Vec<u8>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            bytes.extend(path.file_name().unwrap().as_encoded_bytes());
            if path.is_dir() {
                files(&path, bytes);
            } else {
                bytes.extend(std::fs::read(&path).unwrap());
            }
        }
    }
    let mut bytes = [ended.log.as_bytes(), ended.stdout.as_bytes()].concat();
    files(&machine.state(), &mut bytes);
    bytes
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Whether eight bytes of a secret are in there: as they are, in hex however it is spaced, in
/// decimal as Rust prints bytes, or in base64.
pub(crate) fn leaks(bytes: &[u8], secret: &str) -> bool {
    let dense: Vec<u8> = bytes
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    secret.as_bytes().windows(8).any(|part| {
        let hex: Vec<_> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let decimal: Vec<_> = part.iter().map(ToString::to_string).collect();
        holds(bytes, part)
            || holds(&dense, hex.concat().as_bytes())
            || holds(&dense, hex.join("0x").as_bytes())
            || holds(bytes, decimal.join(", ").as_bytes())
    }) || secret.as_bytes().windows(9).any(|part| holds(bytes, base64(part).as_bytes()))
}

/// For lengths that are multiples of three.
fn base64(bytes: &[u8]) -> String {
    let signs = [('A', 26), ('a', 26), ('0', 10), ('+', 1), ('/', 1)];
    let alphabet: Vec<char> = signs.iter().flat_map(|(first, n)| (*first..).take(*n)).collect();
    bytes
        .chunks(3)
        .flat_map(|three| {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
            [18, 12, 6, 0].map(|shift| alphabet[bits >> shift & 63])
        })
        .collect()
}

/// Stops where the token, or anything that the platform wrote, is in the traces of a run.
#[track_caller]
pub(crate) fn assert_silent(name: &str, machine: &Machine, ended: &Ended) {
    let traces = traces(machine, ended);
    assert!(!leaks(&traces, SECRET), "{name}: the token leaks in\n{}", ended.log);
    for marker in [AUTHOR_MARKER, MESSAGE_MARKER, BODY] {
        assert!(!holds(&traces, marker.as_bytes()), "{name}: {marker} in\n{}", ended.log);
    }
}

/// The platform names its tasks as it likes. What is kept of them for `explain` and `report` holds no
/// token, in whichever case.
#[test]
fn n10_a_task_that_is_named_as_the_token_is_kept_without_it() {
    let machine = machine(account());
    let edit = |answer: &mut serde_json::Value| {
        answer["data"]["records"][0]["modelId"] = format!("org/{SECRET}").into();
        answer["data"]["records"][1]["gpuType"] = format!("Vendor_{SECRET}").into();
    };
    machine.platform.fault(Trigger::every(Kind::Own), Fault::edit(edit));
    let ended = run(&machine);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_silent("a task that is named as the token", &machine, &ended);
    let kept = String::from_utf8_lossy(&traces(&machine, &ended)).to_ascii_lowercase();
    assert!(!kept.contains(&SECRET.to_ascii_lowercase()), "{kept}");
    assert!(kept.contains("(redacted)"), "{kept}");
}

/// The token is in one header of each request, and in nothing else of it.
#[track_caller]
fn assert_in_one_header(name: &str, platform: &Platform) {
    for request in platform.requests() {
        let tokens: Vec<_> = request.headers_named("xc-token").collect();
        assert_eq!(tokens, [SECRET], "{name}");
        let mut rest = request.clone();
        rest.headers.retain(|(header, _)| header != "xc-token");
        assert!(!leaks(format!("{rest:?}").as_bytes(), SECRET), "{name}: {}", request.path);
    }
}

/// Without this, the tests below could not fail.
#[test]
fn n10_every_form_of_a_leak_is_found() {
    let part = &SECRET[5..14];
    let spaced: Vec<_> = part.bytes().map(|byte| format!("{byte:02X}")).collect();
    for leak in [
        part.to_owned(),
        spaced.join(" "),
        spaced.join(":"),
        format!("{:x?}", part.as_bytes()),
        format!("{:#04x?}", part.as_bytes()),
        format!("{:?}", part.as_bytes()),
        format!("xx{}xx", base64(&SECRET.as_bytes()[..12])),
        base64(format!("xx{}", &SECRET[..19]).as_bytes()),
        base64(format!("x{}", &SECRET[..20]).as_bytes()),
    ] {
        assert!(leaks(format!("before {leak} after").as_bytes(), SECRET), "{leak}");
    }
    assert_eq!(base64(b"any carnal pleas"[..15].as_ref()), "YW55IGNhcm5hbCBwbGVh");
    assert!(!leaks(&SECRET.as_bytes()[..7], SECRET));
    let mut machine = machine(account());
    // A part of the token is what no redaction knows of; a named folder is told.
    machine.set("SUBMITTER_DATA_DIR", &SECRET[..20]);
    let ended = run(&machine);
    assert!(leaks(&traces(&machine, &ended), SECRET), "{}", ended.log);
    machine.set("SUBMITTER_DATA_DIR", SECRET);
    let ended = run(&machine);
    assert!(!leaks(&traces(&machine, &ended), SECRET), "{}", ended.log);
}

/// Answers, each with a marker in its body.
fn answers() -> Vec<(&'static str, Fault)> {
    let page = format!("<html><h1>{BODY}</h1></html>");
    let status = |status| {
        let fault = Fault::html().with_status(status).with_body(&page);
        fault.with_header("Retry-After", "30").with_header("X-Trace", BODY)
    };
    let json = |text: &str| Fault::body(&text.replace("BODY", BODY));
    vec![
        ("302", Fault::redirect(302, &format!("/{BODY}")).with_body(&page)),
        ("400", status(400)),
        ("401", status(401)),
        ("403", status(403)),
        ("404", status(404)),
        ("408", status(408)),
        ("429", status(429)),
        ("500", status(500)),
        ("503", status(503)),
        ("HTML", Fault::html().with_body(&page)),
        ("a text", json("BODY")),
        ("a code", json(r#"{"code":"BODY","message":"BODY"}"#)),
        ("half", json(r#"{"code":0,"message":"BODY","data":{"BODY":"#)),
        ("refused", json(r#"{"code":40100,"message":"BODY","data":"BODY"}"#)),
        ("rejected", json(r#"{"code":60022,"message":"BODY","data":{"id":"BODY"}}"#)),
        ("unknown", json(r#"{"code":50000,"message":"BODY"}"#)),
        ("another shape", json(r#"{"code":0,"data":{"BODY":"BODY"}}"#)),
        ("a list", json(r#"{"code":0,"data":["BODY"]}"#)),
        ("a total", json(r#"{"code":0,"data":{"records":"BODY","total":"BODY"}}"#)),
        (
            "a row",
            json(
                r#"{"code":0,"data":{"records":[{"taskId":"BODY","status":"BODY"}],"total":"1",
                "size":100,"current":1}}"#,
            ),
        ),
        ("a card", json(r#"{"code":0,"data":{"verifyResult":{"Biren_166m":"BODY"}}}"#)),
        (
            "a result",
            json(r#"{"code":0,"data":{"verifyResult":{"Biren_166m":{"result":["BODY"]}}}}"#),
        ),
        ("a task", json(r#"{"code":0,"data":{"id":"BODY"},"message":"BODY"}"#)),
        ("a config", json(r#"{"code":0,"data":{"configParams":["BODY"]}}"#)),
    ]
}

#[test]
fn n10_no_answer_of_any_call_leaves_a_trace_of_its_body_or_of_the_token() {
    let kinds = [Kind::Own, Kind::Precheck, Kind::BuildConfig, Kind::Add];
    let cases = kinds.into_iter().flat_map(|kind| answers().into_iter().map(move |a| (kind, a)));
    together(cases, |(kind, (name, fault))| {
        let name = format!("{kind:?} answered with {name}");
        let config = BuildConfig::Text(format!("# {BODY}\nmodel: x\n"));
        let machine = machine(account().build_config("/api/build-config", config));
        machine.platform.fault(Trigger::every(kind), fault);
        for _ in 0..2 {
            let ended = run(&machine);
            assert_silent(&name, &machine, &ended);
            assert!(!ended.stdout.is_empty(), "{name}");
        }
        assert!(machine.platform.count(kind) > 0, "{name}: never asked");
        assert_in_one_header(&name, &machine.platform);
    });
}

#[test]
fn n10_no_broken_exchange_leaves_a_trace_of_the_token() {
    let faults: [fn() -> Fault; 7] = [
        Fault::fin,
        Fault::rst,
        Fault::head_only,
        Fault::truncated,
        Fault::cut_chunked,
        Fault::no_answer,
        || Fault::slow_body(Duration::from_millis(300)),
    ];
    let kinds = [Kind::Own, Kind::Precheck, Kind::Add];
    let cases = faults.into_iter().flat_map(|fault| kinds.map(|kind| (kind, fault)));
    together(cases, |(kind, fault)| {
        let mut machine = machine(account());
        machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
        if kind != Kind::Add {
            machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "1");
        }
        machine.platform.fault(Trigger::every(kind), fault());
        let ended = run(&machine);
        assert!(machine.platform.count(kind) > 0, "{kind:?}: never asked");
        assert_silent(&format!("{kind:?}"), &machine, &ended);
        assert_in_one_header(&format!("{kind:?}"), &machine.platform);
    });
}

#[test]
fn n10_no_fault_of_the_network_leaves_a_trace_of_the_token() {
    let platform = Platform::start(account());
    let closed = Platform::start(account()).base();
    let cases = [
        ("refused", closed, 20),
        ("TLS", platform.base().replace("http:", "https:"), 20),
        ("no such host", format!("https://{}.invalid", "x".repeat(64)), 20),
        ("the token as host", format!("http://{SECRET}"), 32),
        ("the token as password", format!("https://user:{SECRET}@localhost"), 32),
        ("the token as path", format!("https://localhost/{SECRET}"), 32),
    ];
    together(cases, |(name, base, code)| {
        let mut machine = machine(account());
        machine.set("MODELHUB_API_BASE", &base).set("LIVE_CYCLE_DEADLINE_SECONDS", "1");
        machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
        let ended = run(&machine);
        assert_eq!(ended.code, code, "{name}: {}", ended.log);
        assert_silent(name, &machine, &ended);
    });
}
