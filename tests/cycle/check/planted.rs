//! Each planted fault is named where it belongs, with the exit code of a run.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;

use super::{account, look, machine};
use crate::kit::{CARD, Machine, together};
use crate::platform::{BuildConfig, Fault, Kind, Order, Trigger};
use crate::secrets::SECRET;

/// Prepares one fault; returns what the finding must say.
type Plant = fn(&mut Machine) -> &'static str;

/// Each with the beginning of the finding's line, and the exit code of the check.
const PLANTED: [(&str, i32, Plant); 29] = [
    ("FAIL settings (missing_strategy_id): ", 32, |machine| {
        machine.set("STRATEGY_ID", "");
        "set STRATEGY_ID"
    }),
    ("FAIL settings (invalid_cycle_cap): ", 32, |machine| {
        machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "six");
        "LIVE_MAX_SUBMITS_PER_CYCLE"
    }),
    ("FAIL settings (invalid_api_base): ", 32, |machine| {
        machine.set("MODELHUB_API_BASE", "http://modelhub.org.cn");
        machine.set("ALL_PROXY", "http://127.0.0.1:9");
        "would send the token unencrypted"
    }),
    ("FAIL settings (data_read_failed): ", 32, |machine| {
        machine.set("SUBMITTER_DATA_DIR", "~/data");
        "SUBMITTER_DATA_DIR begins with ~"
    }),
    ("warn settings: ", 0, |machine| {
        machine.set("LIVE_PAGE_SIZE", "many");
        "LIVE_PAGE_SIZE is \"many\""
    }),
    ("warn settings: ", 0, |machine| {
        machine.set("LIVE_MAX_SUBMIT_PER_CYCLE", "1");
        "LIVE_MAX_SUBMIT_PER_CYCLE is no setting"
    }),
    ("warn ping: ", 0, |machine| {
        machine.set("SUBMITTER_PING_URL", "monitor/path-of-a-secret");
        "SUBMITTER_PING_URL is not a whole URL"
    }),
    ("FAIL token (invalid_token): ", 31, |machine| {
        machine.set("XC_TOKEN", &format!("\"{SECRET}\""));
        "begins with a quote"
    }),
    ("warn token: ", 0, |machine| {
        let path = machine.write("token", SECRET);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        machine.set("XC_TOKEN_FILE", &path);
        "mode 0644"
    }),
    ("FAIL tasks (credential_refused): ", 31, |machine| {
        machine.platform.set_token("another-token");
        "renew the token"
    }),
    ("FAIL data (candidate_read_failed): ", 32, |machine| {
        machine.write_data("candidates.json", r#"{"version":1,"candidates":[{},{"section":"C"}]}"#);
        "candidates.json: candidates[1]"
    }),
    ("FAIL data (marks_read_failed): ", 32, |machine| {
        machine.write_data("reject-marks.json", r#"{"version":2,"marks":[]}"#);
        "reject-marks.json: version 2"
    }),
    ("warn cards: ", 0, |machine| {
        let rows = serde_json::json!([
            {"model_address": "Org/Lost", "try_next_gpus": ["天垓 999"]},
            {"model_address": "Org/Model", "try_next_gpus": [CARD]},
        ]);
        machine.write_candidates(&serde_json::json!({"version": 1, "candidates": rows}));
        "Org/Lost names \"天垓 999\""
    }),
    ("FAIL candidates (candidate_read_failed): ", 32, |machine| {
        let path = machine.write("pending.md", "no table\n");
        machine.set("PENDING_SUBMIT_MD", &path);
        "pending.md: no usable row"
    }),
    ("FAIL state (state_write_failed): ", 30, |machine| {
        machine.write("state", "a file");
        "is not a folder"
    }),
    ("FAIL journal (journal_damaged): ", 30, |machine| {
        fs::create_dir(machine.state()).unwrap();
        machine.write("state/journal.jsonl", "?\n?\n");
        "`submitter repair`"
    }),
    ("FAIL pause (paused): ", 30, |machine| {
        assert_eq!(machine.run(&["pause", "--reason", "holiday"]).code, 0);
        "holiday"
    }),
    ("warn in_doubt: 1: ", 0, |machine| {
        machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
        machine.set("LIVE_MAX_ATTEMPTS_PER_CYCLE", "1").cycle(20);
        "org/model on Biren_166m"
    }),
    ("warn hourly_cap: ", 10, |machine| {
        machine.set("LIVE_MAX_SUBMITS_PER_CYCLE", "1").cycle(0);
        "1 of 1 submissions in the last 3240 s"
    }),
    ("warn queue (queue_full): ", 10, |machine| {
        machine.set("LIVE_QUEUE_THRESHOLD", "1").set("ASYNC_QUEUE_DEPTH", "1");
        "threshold 1"
    }),
    ("FAIL queue (queue_full): ", 10, |machine| {
        machine.set("ASYNC_QUEUE_DEPTH", "some");
        "ASYNC_QUEUE_DEPTH blocks"
    }),
    ("warn proxy: ", 0, |machine| {
        machine.set("HTTPS_PROXY", "proxy server:3128");
        "HTTPS_PROXY is set, and is no proxy's URL"
    }),
    ("FAIL dns (platform_unreachable): ", 20, |machine| {
        // A label of more than 63 characters: no resolver asks anybody for it.
        machine.set("MODELHUB_API_BASE", &format!("https://{}", "a".repeat(64)));
        "does not resolve"
    }),
    ("FAIL connection (platform_unreachable): ", 20, |machine| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let nobody = listener.local_addr().unwrap();
        machine.set("MODELHUB_API_BASE", &format!("http://{nobody}"));
        "connection refused"
    }),
    ("FAIL connection (platform_unreachable): ", 20, |machine| {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let plain = server.local_addr().unwrap();
        std::thread::spawn(move || {
            let mut client = server.accept().unwrap().0;
            client.read_exact(&mut [0; 5]).unwrap();
            client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        machine.set("MODELHUB_API_BASE", &format!("https://{plain}"));
        "no TLS connection"
    }),
    ("warn clock: ", 0, |machine| {
        let long_ago = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let dated = Fault::status(404).with_header(long_ago.0, long_ago.1);
        machine.platform.fault(Trigger::nth(Kind::Other, 1), dated);
        "s ahead of the server's"
    }),
    ("warn tasks: ", 0, |machine| {
        machine.platform.change(|account| account.order = Order::Ascending);
        "not in descending order"
    }),
    ("warn page_size: ", 0, |machine| {
        machine.platform.change(|account| account.page_clamp = Some(5));
        "set LIVE_PAGE_SIZE to 5"
    }),
    ("warn build_config: ", 0, |machine| {
        let answer = ("/api/build".to_owned(), BuildConfig::Status(404));
        machine.platform.change(|account| account.build_config = Some(answer));
        machine.set("MODELHUB_BUILD_CONFIG_PATH", "/api/build");
        "HTTP 404"
    }),
];

#[test]
fn each_planted_fault_is_named_where_it_belongs() {
    together(PLANTED, |(start, code, plant)| {
        let mut machine = machine(account());
        let says = plant(&mut machine);
        let ended = look(&machine, &[]);
        assert!(ended.finding(start).contains(says), "{says} in\n{}", ended.stdout);
        assert_eq!(ended.code, code, "{start}\n{}", ended.stdout);
        let result = ["ok", "held"].get(usize::try_from(code / 10).unwrap()).unwrap_or(&"fail");
        let last = ended.stdout.lines().last().unwrap();
        assert!(last.starts_with(&format!("[check] result={result} exit={code} ")), "{last}");
    });
}
