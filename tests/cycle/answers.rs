//! What the program makes of each answer to a POST, over several runs.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::kit::{CARD, Ended, Machine, account, models, strs, together, without_detail};
use crate::platform::{Denial, Fault, Kind, Platform, Rejection, Trigger};

/// More than the hour over which the submit cap holds.
const AN_HOUR: u64 = 3_600;

/// A way in which the answer to a POST is lost, and the HTTP status that is seen of it.
type Loss = (&'static str, fn() -> Fault, &'static str);

const LOSSES: [Loss; 22] = [
    ("FIN", Fault::fin, "none"),
    ("RST", Fault::rst, "none"),
    ("no answer", Fault::no_answer, "none"),
    ("truncated", Fault::truncated, "200"),
    ("cut chunk", Fault::cut_chunked, "200"),
    ("slow body", || Fault::slow_body(Duration::from_millis(300)), "200"),
    ("HTML", Fault::html, "200"),
    ("nothing", || Fault::status(204), "204"),
    ("301", || Fault::redirect(301, "/api/adapt/task/add"), "301"),
    ("302", || Fault::redirect(302, "/login"), "302"),
    ("307", || Fault::redirect(307, "/api/adapt/task/add"), "307"),
    ("308", || Fault::redirect(308, "/api/adapt/task/add"), "308"),
    ("408", || Fault::html().with_status(408), "408"),
    ("500", || Fault::html().with_status(500), "500"),
    ("502", || Fault::html().with_status(502), "502"),
    ("503", || Fault::status(503).with_header("Retry-After", "1"), "503"),
    ("504", || Fault::html().with_status(504), "504"),
    ("502 of a success", || Fault::body(r#"{"code":0}"#).with_status(502), "502"),
    ("503 of a rejection", || Fault::body(r#"{"code":60022}"#).with_status(503), "503"),
    ("code 504", || Fault::body(r#"{"code":504}"#), "200"),
    ("code 50000", || Fault::body(r#"{"code":50000}"#), "200"),
    ("code \"50001\" in a 400", || Fault::body(r#"{"code":"50001"}"#).with_status(400), "400"),
];

fn one_pair() -> Machine {
    Machine::one_card_each(account(), &["Org/Model"])
}

/// A machine with one pair to submit, whose first POST has this fault.
fn losing(name: &str, fault: Fault) -> Machine {
    let mut machine = one_pair();
    machine.platform.fault(Trigger::nth(Kind::Add, 1), fault);
    if matches!(name, "no answer" | "slow body") {
        machine.set("LIVE_REQUEST_TIMEOUT_SECONDS", "1");
    }
    machine
}

/// The first run of a machine whose answer is lost, checked line by line.
fn lose(machine: &Machine, name: &str, http: &str) -> Ended {
    let ended = machine.cycle(20);
    let line = format!(
        "[live] submitted model=Org/Model gpu={CARD} queue_before=0 http={http} outcome=unknown \
         config_source=sample config_reason=not_configured reason=transport_error"
    );
    assert_eq!(without_detail(ended.line("[live] submitted ")), line, "{name}");
    assert_eq!(ended.held(), "candidates_done", "{name}");
    let last = ended.log.lines().last().unwrap();
    let counts = "[live] cycle result=held submitted=0 rejected=0 in_doubt=1 ";
    assert!(last.starts_with(counts), "{name}: {last}");
    ended
}

/// Four more runs, an hour apart, none of which submits anything.
fn four_runs_hold(machine: &Machine, name: &str) {
    for _ in 0..4 {
        machine.age_journal(AN_HOUR);
        assert_eq!(machine.cycle(10).held(), "nothing_eligible", "{name}");
        assert_eq!(machine.platform.count(Kind::Add), 1, "{name}");
    }
}

#[test]
fn s01_s04_s08_a_lost_answer_to_what_was_not_taken_is_one_post_in_five_runs() {
    together(LOSSES, |(name, fault, http)| {
        let machine = losing(name, fault());
        lose(&machine, name, http);
        four_runs_hold(&machine, name);
        assert_eq!(machine.platform.accepted().len(), 0, "{name}");
        assert!(!machine.journal().contains(r#""settled""#), "{name}");
    });
}

#[test]
fn s01_s04_s08_a_lost_answer_to_what_was_taken_is_settled_by_the_next_run() {
    together(LOSSES, |(name, fault, http)| {
        let machine = losing(name, fault().after_commit());
        lose(&machine, name, http);
        machine.age_journal(AN_HOUR);
        let next = machine.cycle(10);
        let settled = format!("[live] settled model=Org/Model gpu={CARD} task=33512 reason=listed");
        assert_eq!(next.line("[live] settled "), settled, "{name}");
        four_runs_hold(&machine, name);
        assert_eq!(machine.most_posts().1, 1, "{name}");
        assert_eq!(machine.journal().matches(r#""settled""#).count(), 1, "{name}");
    });
}

/// Taken, and in no list for a long time: nothing but the list or a person may free the pair.
#[test]
fn s01_what_was_taken_and_is_never_listed_stays_in_doubt() {
    for (name, fault, http) in [LOSSES[0], LOSSES[1], LOSSES[14], LOSSES[20]] {
        let machine = losing(name, fault().after_commit());
        machine.platform.change(|account| account.visible_after = 1_000);
        lose(&machine, name, http);
        four_runs_hold(&machine, name);
        assert_eq!(machine.most_posts(), (1, 1), "{name}");
    }
}

#[test]
fn s01_a_server_that_closes_in_the_middle_of_the_post_gets_no_second_one() {
    let machine = losing("head only", Fault::head_only());
    lose(&machine, "head only", "none");
    four_runs_hold(&machine, "head only");
}

/// Requests behind the last POST, but for the one precheck that goes out together with it.
fn requests_after_post(machine: &Machine) -> Vec<Kind> {
    let kinds: Vec<Kind> = machine.platform.requests().iter().map(|request| request.kind).collect();
    let post = kinds.iter().rposition(|kind| *kind == Kind::Add).unwrap();
    let behind = &kinds[post + 1..];
    behind.strip_prefix(&[Kind::Precheck]).unwrap_or(behind).to_vec()
}

#[test]
fn s04_the_second_lost_answer_of_a_cycle_ends_it() {
    for (lost, submitted, code) in [([1, 2], 0, 20), ([1, 3], 1, 0), ([2, 3], 1, 0)] {
        let machine = Machine::one_card_each(account(), &strs(&models(5)));
        for n in lost {
            let fault = Fault::html().with_status(502).after_commit();
            machine.platform.fault(Trigger::nth(Kind::Add, n), fault);
        }
        let ended = machine.cycle(code);
        assert_eq!(ended.held(), "platform_unstable");
        assert_eq!(ended.lines("[live] submitted ").count(), submitted + 2);
        assert_eq!(requests_after_post(&machine), []);
        machine.age_journal(AN_HOUR);
        machine.cycle(0);
        assert_eq!(machine.platform.posts().len(), 5);
        assert_eq!(machine.most_posts(), (1, 1));
    }
}

#[test]
fn s13_what_is_in_doubt_counts_against_the_caps_and_the_queue() {
    let limits = [
        ("LIVE_MAX_SUBMITS_PER_CYCLE", "cycle_cap", "hourly_cap"),
        ("LIVE_QUEUE_THRESHOLD", "queue_full", "queue_full"),
    ];
    for (limit, first, second) in limits {
        let mut machine = Machine::one_card_each(account(), &strs(&models(2)));
        machine.platform.fault(Trigger::nth(Kind::Add, 1), Fault::fin());
        machine.set(limit, "1");
        assert_eq!(machine.cycle(20).held(), first);
        assert_eq!(machine.cycle(10).held(), second);
        assert_eq!(machine.platform.count(Kind::Add), 1);
    }
}

#[test]
fn s09_a_wrong_token_makes_one_request_and_no_more() {
    for denial in [Denial::Code40100, Denial::Html401, Denial::Http401Code0] {
        let machine = Machine::new(account().denial(denial), &["Org/Model"]);
        machine.platform.set_token("another");
        let ended = machine.cycle(31);
        assert_eq!(ended.held(), "credential_refused", "{denial:?}");
        assert_eq!(machine.platform.requests().len(), 1, "{denial:?}");
        let stats = "[live] stats unavailable reason=credential_refused";
        assert_eq!(ended.line("[live] stats "), stats);
    }
    for status in [401, 403] {
        let machine = Machine::new(account(), &["Org/Model"]);
        let fault = Fault::html().with_status(status);
        machine.platform.fault(Trigger::every(Kind::Own), fault);
        assert_eq!(machine.cycle(31).held(), "credential_refused", "{status}");
        assert_eq!(machine.platform.requests().len(), 1, "{status}");
    }
}

#[test]
fn s09_a_token_refused_by_the_precheck_ends_the_run_and_a_403_does_not() {
    let precheck = Trigger::every(Kind::Precheck);
    for body in [r#"{"code":40100}"#, r#"{"code":"40101"}"#] {
        let machine = one_pair();
        machine.platform.fault(precheck.clone(), Fault::body(body));
        assert_eq!(machine.cycle(31).held(), "credential_refused");
        assert_eq!(machine.platform.requests().last().unwrap().kind, Kind::Precheck);
        assert_eq!(machine.platform.count(Kind::Precheck), 1);
    }
    let machine = one_pair();
    machine.platform.fault(precheck, Fault::html().with_status(403));
    let ended = machine.cycle(0);
    let told = "[live] precheck model=Org/Model reason=http_error";
    assert_eq!(ended.line("[live] precheck "), told);
    assert_eq!(machine.platform.count(Kind::Precheck), 1);
}

/// Each of these proves that nothing was taken: the run ends there, and the pair is free again.
#[test]
fn s09_s11_a_refused_post_ends_the_run_and_frees_the_pair() {
    let status = |status| Fault::html().with_status(status);
    let cases: [(&str, Fault, &str, i32); 13] = [
        ("401", status(401), "credential_refused", 31),
        ("401 code 0", Fault::body(r#"{"code":0}"#).with_status(401), "credential_refused", 31),
        ("403", status(403), "credential_refused", 31),
        ("40100", Fault::body(r#"{"code":40100}"#), "credential_refused", 31),
        ("\"40101\"", Fault::body(r#"{"code":"40101"}"#), "credential_refused", 31),
        ("400 40100", Fault::body(r#"{"code":40100}"#).with_status(400), "credential_refused", 31),
        ("400", status(400), "http_error", 20),
        ("400 without a code", Fault::body("{}").with_status(400), "http_error", 20),
        ("404", status(404), "http_error", 20),
        ("405", status(405), "http_error", 20),
        ("413", Fault::status(413), "http_error", 20),
        ("429", status(429), "rate_limited", 20),
        ("429 wait", Fault::status(429).with_header("Retry-After", "1"), "rate_limited", 20),
    ];
    for (name, fault, reason, code) in cases {
        let machine = Machine::one_card_each(account(), &["Org/Model", "Org/Next"]);
        machine.platform.fault(Trigger::nth(Kind::Add, 1), fault);
        let ended = machine.cycle(code);
        assert_eq!(ended.held(), reason, "{name}");
        assert_eq!(ended.lines("[live] submitted ").count(), 0, "{name}");
        assert_eq!(machine.platform.count(Kind::Add), 1, "{name}");
        assert_eq!(requests_after_post(&machine), [], "{name}: a request after the refusal");
        // At once: what was released counts against no cap.
        machine.cycle(0);
        assert_eq!(machine.platform.count(Kind::Add), 3, "{name}");
        assert_eq!(machine.most_posts(), (2, 1), "{name}");
    }
}

#[test]
fn s11_a_rejection_is_told_and_the_pair_rests() {
    for (code, http, name) in [
        (60_022, 200, "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED"),
        (60_027, 400, "CREATE_CONTEST_TASK_MODEL_ALREADY_VERIFIED"),
        (60_008, 200, "CREATE_CONTEST_TASK_REQUEST_EMPTY"),
        (40_000, 422, "unknown"),
        (60_031, 200, "unknown"),
    ] {
        let machine = Machine::one_card_each(account(), &["Org/Model", "Org/Next"]);
        machine.platform.reject(Rejection::all(code).http(http).model("org/model"));
        let ended = machine.cycle(0);
        let line = format!(
            "[live] rejected model=Org/Model gpu={CARD} code={code} http={http} queue_before=0 \
             reason={name}"
        );
        assert_eq!(ended.line("[live] rejected "), line);
        let again = machine.run(&["run", "-v"]);
        assert_eq!((again.code, again.held()), (10, "nothing_eligible"), "{}", again.log);
        let skip = format!("[live] skip model=Org/Model gpu={CARD} reason=marked:{code}");
        assert_eq!(again.line("[live] skip model=Org/Model gpu="), skip);
        assert_eq!(machine.most_posts(), (1, 1));
    }
}

/// Relays the first connection, and closes its port to any other: the reads of a run work, and
/// its POST, on a connection of its own, is refused.
fn one_connection_only(to: SocketAddr) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let pump = |mut from: TcpStream, mut to: TcpStream| -> io::Result<()> {
        let mut chunk = [0; 4096];
        loop {
            match from.read(&mut chunk)? {
                0 => return to.shutdown(Shutdown::Write),
                got => to.write_all(&chunk[..got])?,
            }
        }
    };
    let relay = thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        drop(listener);
        let server = TcpStream::connect(to).unwrap();
        let (back, forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let backward = thread::spawn(move || pump(back, forth));
        let _ = pump(client, server);
        let _ = backward.join().unwrap();
    });
    (base, relay)
}

#[test]
fn n05_a_connection_refused_at_the_time_of_the_post_frees_the_pair() {
    let mut machine = Machine::one_card_each(account(), &["Org/Model", "Org/Next"]);
    let (base, relay) = one_connection_only(machine.platform.address());
    machine.set("MODELHUB_API_BASE", &base);
    let ended = machine.cycle(20);
    assert_eq!(ended.held(), "platform_unreachable");
    assert_eq!(ended.lines("[live] submitted ").count(), 0);
    relay.join().unwrap();
    assert!(machine.platform.count(Kind::Own) > 0, "the reads went through");
    assert_eq!(machine.platform.count(Kind::Add), 0);
    let base = machine.platform.base();
    machine.set("MODELHUB_API_BASE", &base).cycle(0);
    assert_eq!(machine.platform.posts().len(), 2);
    assert_eq!(machine.most_posts(), (1, 1));
}

#[test]
fn s08_a_page_of_html_in_place_of_the_list_holds() {
    let machine = one_pair();
    machine.platform.fault(Trigger::every(Kind::Own), Fault::html());
    let ended = machine.cycle(20);
    assert_eq!(ended.held(), "ledger_rebuild_failed");
    assert_eq!(ended.line("[live] stats "), "[live] stats unavailable reason=malformed_json");
    assert_eq!(machine.platform.writes(), 0);
    // In place of a precheck it is told, and the verdict is left to the submission.
    machine.platform.reset_faults();
    machine.platform.fault(Trigger::every(Kind::Precheck), Fault::html());
    let told = "[live] precheck model=Org/Model reason=malformed_json";
    assert_eq!(machine.cycle(0).line("[live] precheck "), told);
}

/// Nobody answers at all: the run ends in time, and nothing is left behind.
#[test]
fn n05_a_platform_that_is_not_there_is_tried_three_times() {
    let mut machine = one_pair();
    let base = Platform::start(account()).base();
    machine.set("MODELHUB_API_BASE", &base);
    let ended = machine.cycle(20);
    assert_eq!(ended.held(), "ledger_rebuild_failed");
    assert_eq!(ended.line("[live] stats "), "[live] stats unavailable reason=transport_error");
    assert!(ended.log.lines().last().unwrap().contains(" requests=3 "), "{}", ended.log);
}
