//! Pings of a monitor, which may be as broken as it likes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::kit::{Ended, Machine, TOKEN, account, models, strs, together};
use crate::platform::{Kind, Platform, Trigger};

/// What stands in the URL and in no log.
const CAPABILITY: &str = "capability-5d1c";

/// An HTTP server that keeps what it is sent, and answers as it is told.
struct Monitor {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

type Answer = fn(&mut TcpStream) -> std::io::Result<()>;

impl Monitor {
    fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&seen);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                std::thread::spawn(move || {
                    log.lock().unwrap().push(request(&mut stream));
                    drop(answer(&mut stream));
                });
            }
        });
        Self { address, seen }
    }

    fn url(&self) -> String {
        format!("http://{}/{CAPABILITY}/", self.address)
    }

    /// The request line and the body of each ping, in their order.
    fn pings(&self) -> Vec<(String, String)> {
        let seen = self.seen.lock().unwrap();
        let parts = |text: &String| {
            assert!(!text.to_ascii_lowercase().contains("xc-token"), "{text}");
            assert!(!text.contains(TOKEN), "{text}");
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            (head.lines().next().unwrap().to_owned(), body.to_owned())
        };
        seen.iter().map(parts).collect()
    }
}

/// A request as it comes, with as much body as it says.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    let is_whole = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            body.len() == length.map_or(0, |length| length.parse().unwrap())
        })
    };
    while !is_whole(&bytes) && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        bytes.extend(byte);
    }
    String::from_utf8(bytes).unwrap()
}

fn ok(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
}

fn machine(monitor: &Monitor) -> Machine {
    let mut machine = Machine::one_card_each(account(), &strs(&models(2)));
    machine.set("SUBMITTER_PING_URL", &monitor.url());
    machine
}

fn pinged(what: &str) -> String {
    format!("POST /{CAPABILITY}/{what} HTTP/1.1")
}

#[test]
fn a_run_pings_at_its_start_and_with_its_exit_code_and_last_line() {
    let monitor = Monitor::start(ok);
    let mut machine = machine(&monitor);
    let expect = |args: &[&str], code: i32| {
        let ended = machine.run(args);
        assert_eq!(ended.code, code, "{}", ended.log);
        let last = ended.log.lines().last().unwrap().to_owned();
        let expected = vec![(pinged("start"), String::new()), (pinged(&code.to_string()), last)];
        assert_eq!(monitor.pings(), expected);
        monitor.seen.lock().unwrap().clear();
        ended
    };
    let ended = expect(&["run", "-vv"], 0);
    assert!(!ended.log.contains(CAPABILITY) && !ended.log.contains("[live] ping "));
    assert!(ended.log.lines().last().unwrap().starts_with("[live] cycle result=submitted "));
    expect(&["run"], 10);
    expect(&["run", "--held-exit-code", "0"], 0);
    // Runs that end before there is a cycle.
    expect(&["run", "--max-submits", "x"], 32);
    assert_eq!(machine.run(&["run", "--dry-run"]).code, 10);
    assert_eq!(machine.run(&["pause"]).code, 0);
    assert_eq!(monitor.pings(), [], "a dry run and other commands do not ping");
    machine.set("XC_TOKEN", "a b");
    let ended = machine.run(&["run"]);
    assert_eq!((ended.code, ended.held()), (31, "invalid_token"));
    assert_eq!(monitor.pings()[1], (pinged("31"), ended.line("[live] hold ").to_owned()));
}

#[test]
fn an_interrupted_run_pings_too() {
    let monitor = Monitor::start(ok);
    let mut machine = machine(&monitor);
    machine.set("SUBMITTER_PING_URL", &format!("http://{}/x?rid=7&y", monitor.address));
    let gate = machine.platform.hold(Trigger::nth(Kind::Own, 1));
    let running = machine.start(&["run"]);
    assert!(gate.wait_reached(Duration::from_secs(20)));
    running.signal("TERM");
    gate.release();
    let ended = running.end();
    assert_eq!((ended.code, ended.held()), (20, "interrupted"), "{}", ended.log);
    let pings = monitor.pings();
    assert_eq!(pings[0].0, "POST /x/start?rid=7&y HTTP/1.1");
    assert_eq!(pings[1].0, "POST /x/20?rid=7&y HTTP/1.1");
    assert!(pings[1].1.ends_with(" reason=interrupted"), "{pings:?}");
}

/// Nothing at all, for as long as the other side likes.
fn hang(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}

fn endlessly(stream: &mut TcpStream, head: &str, more: &str, pause: u64) -> std::io::Result<()> {
    stream.write_all(head.as_bytes())?;
    loop {
        stream.write_all(more.as_bytes())?;
        std::thread::sleep(Duration::from_millis(pause));
    }
}

/// What does not differ from run to run, but for the pings' own lines, which only `-v` shows.
fn without_pings(ended: &Ended) -> Vec<String> {
    let lines = ended.log.lines().filter(|line| !line.starts_with("[live] ping "));
    let others = |line: &&str| !line.starts_with("[live] journal created ");
    let same = |line: &str| line.split(" elapsed_ms=").next().unwrap().to_owned();
    lines.filter(others).map(same).collect()
}

#[test]
fn a_broken_monitor_costs_its_timeouts_and_changes_nothing() {
    let undisturbed = Machine::one_card_each(account(), &strs(&models(2))).run(&["run", "-v"]);
    let faults: [(&str, Answer); 9] = [
        ("timeout", hang),
        ("timeout", |stream| endlessly(stream, "HTTP/1.1 200 OK\r\n", "X", 300)),
        ("transport_error", |_| Ok(())),
        ("transport_error", |stream| stream.write_all(b"\0\xff no HTTP\r\n\r\n")),
        ("transport_error", |stream| endlessly(stream, "HTTP/1.1 200 OK\r\n", "X: y\r\n", 0)),
        ("http_error", |stream| stream.write_all(b"HTTP/1.1 500 No\r\n\r\n")),
        ("http_error", |stream| {
            let to = format!("http://{}/elsewhere", stream.local_addr()?);
            let head = format!("HTTP/1.1 307 Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes())
        }),
        ("", |stream| endlessly(stream, "HTTP/1.1 200 OK\r\n\r\n", "body", 0)),
        ("", |stream| {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            endlessly(stream, head, "1\r\nx\r\n", 100)
        }),
    ];
    together(faults, |(reason, fault)| {
        let monitor = Monitor::start(fault);
        let mut machine = machine(&monitor);
        // A ping that waits takes nothing of the cycle's own time.
        machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "4");
        let began = Instant::now();
        let ended = machine.run(&["run", "-v"]);
        assert!(began.elapsed() < Duration::from_secs(16), "{reason}: {:?}", began.elapsed());
        assert_eq!(ended.code, undisturbed.code, "{reason}: {}", ended.log);
        assert_eq!(without_pings(&ended), without_pings(&undisturbed), "{reason}");
        assert!(!ended.log.contains(CAPABILITY), "{}", ended.log);
        let lines: Vec<_> = ended.lines("[live] ping ").collect();
        let told = |what| format!("[live] ping request={what} host=127.0.0.1 reason={reason}");
        let expected = if reason.is_empty() { vec![] } else { vec![told("start"), told("0")] };
        assert_eq!(lines, expected, "{}", ended.log);
        let pings: Vec<_> = monitor.pings().into_iter().map(|(line, _)| line).collect();
        assert_eq!(pings, [pinged("start"), pinged("0")], "{reason}: each once");
    });
}

#[test]
fn a_monitor_that_refuses_or_resets_changes_nothing() {
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let resets = listener.local_addr().unwrap();
    let (opened, connections) = std::sync::mpsc::channel();
    // What is dropped with bytes unread in it is reset.
    std::thread::spawn(move || listener.incoming().for_each(|_| opened.send(()).unwrap()));
    for (address, tries) in [(gone, 0), (resets, 2)] {
        let mut machine = Machine::one_card_each(account(), &strs(&models(2)));
        machine.set("SUBMITTER_PING_URL", &format!("http://{address}/{CAPABILITY}"));
        let ended = machine.cycle(0);
        assert!(ended.log.lines().last().unwrap().starts_with("[live] cycle "), "{}", ended.log);
        assert!(!ended.log.contains("ping"), "{}", ended.log);
        assert_eq!(connections.try_iter().count(), tries);
    }
}

#[test]
fn a_url_that_cannot_be_used_is_told_and_stops_no_run() {
    let monitor = Monitor::start(ok);
    let mut machine = Machine::one_card_each(account(), &strs(&models(9)));
    let host = monitor.address.to_string();
    let own = format!("{}/{CAPABILITY}", machine.platform.base());
    for url in [
        &*own,
        &format!("\"http://{host}/{CAPABILITY}\""),
        &format!("{host}/{CAPABILITY}"),
        &format!("http://me:{CAPABILITY}@{host}/x"),
        &format!("http://{host}/{CAPABILITY}?token={TOKEN}"),
    ] {
        machine.set("SUBMITTER_PING_URL", url).set("LIVE_MAX_SUBMITS_PER_CYCLE", "1");
        let ended = machine.cycle(0);
        machine.age_journal(3_600);
        let warning = ended.line("[live] warning SUBMITTER_PING_URL ");
        assert!(warning.ends_with(": no pings are sent"), "{warning}");
        assert!(!ended.log.contains(CAPABILITY) && !ended.log.contains(&host), "{}", ended.log);
    }
    assert_eq!(monitor.pings(), []);
    let asked = machine.platform.requests();
    assert!(asked.iter().all(|request| !request.path.contains(CAPABILITY)));
}

/// As the platform's own requests: what is for this machine stays on it, and a proxy for https
/// is asked for a tunnel and shown nothing.
#[test]
fn pings_go_through_the_proxies_of_the_environment() {
    let monitor = Monitor::start(ok);
    let proxy = Platform::start(account());
    let mut machine = machine(&monitor);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"] {
        machine.set(name, &proxy.base());
    }
    machine.cycle(0);
    assert_eq!((monitor.pings().len(), proxy.requests().len()), (2, 0));
    // An address for documentation, which no network leads to.
    machine.set("SUBMITTER_PING_URL", &format!("https://192.0.2.1/{CAPABILITY}"));
    assert_eq!(machine.run(&["run"]).code, 10);
    let asked = proxy.requests();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert_eq!((&*request.method, request.header("xc-token")), ("CONNECT", None));
        assert!(!format!("{request:?}").contains(CAPABILITY), "{request:?}");
    }
}
