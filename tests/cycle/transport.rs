//! The POST over real sockets: each way in which one can fail, and what each of them proves.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use submitter::api::http::{Endpoint, HttpReader, HttpWriter};
use submitter::api::{Accepted, AddError, NewTask, ReadApi, TaskId, WriteApi};
use submitter::clock::{Stop, SystemClock, Watch};
use submitter::env::Env;
use submitter::gpu::Catalog;
use submitter::pair::ModelId;
use submitter::secret::{self, Token};
use submitter::sources::baked;

use crate::kit::{CARD, TOKEN, account, together};
use crate::platform::{Fault, Kind, Platform, Rejection, Trigger};

/// What the program is besides its sockets.
pub(crate) struct Client {
    token: Token,
    pub(crate) catalog: Catalog,
    clock: SystemClock,
    stop: AtomicBool,
    deadline: Duration,
    timeout: Duration,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::until(Duration::from_secs(600))
    }

    /// A client whose cycle may last so long, and an exchange one second.
    pub(crate) fn impatient(deadline: Duration) -> Self {
        Self { timeout: Duration::from_secs(1), ..Self::until(deadline) }
    }

    /// A client whose cycle may last so long.
    pub(crate) fn until(deadline: Duration) -> Self {
        let env = Env::from_pairs([("XC_TOKEN", TOKEN)]);
        let token = secret::choose(&env, None).unwrap().token;
        let catalog = baked::load(None, true).unwrap().catalog;
        let (clock, stop) = (SystemClock::start(), AtomicBool::new(false));
        let timeout = Duration::from_secs(20);
        Self { token, catalog, clock, stop, deadline, timeout }
    }

    pub(crate) fn endpoint<'a>(&'a self, base: &'a str) -> Endpoint<'a> {
        Endpoint {
            base,
            build_config_path: None,
            timeout: self.timeout,
            token: &self.token,
            watch: Watch { clock: &self.clock, deadline: self.deadline, stop: &self.stop },
            requests: Arc::default(),
        }
    }

    /// Sends, but not once the run's time is past `not_after`.
    fn post_until(&self, base: &str, not_after: Duration) -> Result<Accepted, AddError> {
        HttpWriter::new(self.endpoint(base)).add_task(&task("Org/Model"), not_after, &mut || ())
    }

    fn post(&self, base: &str) -> Result<Accepted, AddError> {
        self.post_until(base, Duration::MAX)
    }
}

/// Runs an exchange that must end by itself, and stops the test where it does not.
pub(crate) fn in_time<T: Send + 'static>(exchange: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(exchange()));
    told.recv_timeout(Duration::from_secs(20)).expect("an exchange that ends by itself")
}

fn task(model: &str) -> NewTask {
    NewTask {
        model_address: model.into(),
        task_type: "text-generation".into(),
        target_gpu: CARD.into(),
        framework: "vllm".into(),
        strategy_id: "strategy-1".into(),
        config_params: "a: 1\n".into(),
    }
}

/// A way in which a socket loses an answer, and the HTTP status that is seen of it.
type Loss = (&'static str, fn() -> Fault, Option<u16>);

/// The HTTP status of an outcome in doubt; anything else stops the test.
#[track_caller]
fn in_doubt(name: &str, answer: Result<Accepted, AddError>) -> Option<u16> {
    match answer {
        Err(AddError::InDoubt { http, .. }) => http,
        other => panic!("{name}: {other:?} is not in doubt"),
    }
}

/// A server that reads one whole request, sends `answer` as it is, and closes.
fn answering(answer: &'static [u8]) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut request = Vec::new();
        while !request.ends_with(br#"a: 1\n"}"#) && !request.starts_with(b"\x16\x03") {
            let mut chunk = [0; 4096];
            match stream.read(&mut chunk) {
                Ok(got @ 1..) => request.extend_from_slice(&chunk[..got]),
                _ => return,
            }
        }
        let _ = stream.write_all(answer);
    });
    (address, served)
}

/// An address at which nobody listens.
fn closed_port() -> SocketAddr {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
}

#[test]
fn n05_what_ends_before_the_body_was_certainly_not_sent() {
    let platform = Platform::start(account());
    let (https, served) = answering(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    // No label of a name may have more than 63 letters: the resolver refuses it unasked.
    let no_name = "x".repeat(64);
    for (name, base) in [
        ("connection refused", format!("http://{}", closed_port())),
        ("DNS", format!("http://{no_name}.invalid")),
        ("TLS, answered in plain text", format!("https://{https}")),
        ("TLS, not answered", format!("https://{}", platform.address())),
        ("another scheme", format!("ftp://{}", platform.address())),
    ] {
        let began = Instant::now();
        let answer = in_time(move || Client::impatient(Duration::from_secs(600)).post(&base));
        let not_sent = matches!(answer, Err(AddError::NotSent { stop: None, .. }));
        assert!(not_sent, "{name}: {answer:?}");
        assert!(began.elapsed() < Duration::from_secs(4), "{name}: {:?}", began.elapsed());
    }
    served.join().unwrap();
    assert_eq!(platform.requests().len(), 0);
}

/// A full backlog drops the SYN: the connection never comes to be.
#[test]
fn n05_a_connect_that_times_out_was_certainly_not_sent() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
    let waiting: Vec<_> = (0..5_000).map_while(|_| connect()).collect();
    assert!(waiting.len() < 5_000, "the backlog never fills");
    let base = format!("http://{address}");
    let answer = in_time(move || Client::impatient(Duration::from_secs(600)).post(&base));
    assert!(matches!(answer, Err(AddError::NotSent { stop: None, .. })), "{answer:?}");
}

#[test]
fn what_the_run_itself_does_not_start_was_certainly_not_sent() {
    let platform = Platform::start(account());
    let stopped = Client::new();
    stopped.stop.store(true, Ordering::SeqCst);
    let late = Client::until(Duration::ZERO);
    for (client, why) in [(stopped, Stop::Interrupted), (late, Stop::Deadline)] {
        let answer = client.post(&platform.base());
        let not_sent = matches!(&answer, Err(AddError::NotSent { stop, .. }) if *stop == Some(why));
        assert!(not_sent, "{answer:?}");
    }
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn s01_what_a_socket_loses_after_the_body_is_in_doubt() {
    let drip = || Fault::slow_body(Duration::from_millis(300));
    let faults: [Loss; 6] = [
        ("FIN", Fault::fin, None),
        ("RST", Fault::rst, None),
        ("no answer", Fault::no_answer, None),
        ("slow body", drip, Some(200)),
        ("truncated body", Fault::truncated, Some(200)),
        ("cut chunk", Fault::cut_chunked, Some(200)),
    ];
    let committed = faults.map(|(name, fault, http)| (name, fault().after_commit(), http, 1));
    let not_taken = faults.map(|(name, fault, http)| (name, fault(), http, 0));
    together(committed.into_iter().chain(not_taken), |(name, fault, http, tasks)| {
        let platform = Platform::start(account());
        platform.fault(Trigger::every(Kind::Add), fault);
        let base = platform.base();
        let began = Instant::now();
        let answer = in_time(move || Client::impatient(Duration::from_secs(600)).post(&base));
        assert_eq!(in_doubt(name, answer), http, "{name}");
        assert!(began.elapsed() < Duration::from_secs(4), "n01 {name}: {:?}", began.elapsed());
        assert_eq!(platform.count(Kind::Add), 1, "{name}");
        assert_eq!(platform.accepted().len(), tasks, "{name}");
    });
}

/// The server closes after the head, with the body unread: nobody knows how far it read.
#[test]
fn s01_a_close_in_the_middle_of_the_request_is_in_doubt() {
    let platform = Platform::start(account());
    platform.fault(Trigger::every(Kind::Add), Fault::head_only());
    assert_eq!(in_doubt("head only", Client::new().post(&platform.base())), None);
    assert_eq!(platform.count(Kind::Add), 1);
}

#[test]
fn s08_what_is_not_a_whole_answer_of_the_platform_is_in_doubt() {
    type Case = (&'static str, &'static [u8], Option<u16>);
    let cases: [Case; 7] = [
        ("not HTTP", b"SSH-2.0-OpenSSH_9.6\r\n", None),
        ("a head without its end", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", None),
        ("an interim answer alone", b"HTTP/1.1 102 Processing\r\n\r\n", None),
        ("half an envelope up to the close", b"HTTP/1.1 200 OK\r\n\r\n{\"code\":0,\"da", Some(200)),
        ("nothing", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Some(200)),
        ("no content", b"HTTP/1.1 204 No Content\r\n\r\n", Some(204)),
        ("another length", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"code\":0}", Some(200)),
    ];
    for (name, answer, http) in cases {
        let (address, served) = answering(answer);
        assert_eq!(in_doubt(name, Client::new().post(&format!("http://{address}"))), http);
        served.join().unwrap();
    }
    let (address, served) = answering(b"HTTP/1.1 200 OK\r\n\r\n{\"code\":0,\"data\":{\"id\":7}}");
    let whole = Client::new().post(&format!("http://{address}"));
    assert_eq!(whole, Ok(Accepted { http: 200, task: Some(TaskId(7)) }), "whole up to the close");
    served.join().unwrap();
}

#[test]
fn s04_no_5xx_and_no_408_proves_anything() {
    for status in [408, 500, 502, 503, 504, 520] {
        for committed in [false, true] {
            let platform = Platform::start(account());
            let fault = Fault::html().with_status(status).with_header("Retry-After", "0");
            let fault = if committed { fault.after_commit() } else { fault };
            platform.fault(Trigger::every(Kind::Add), fault);
            let answer = Client::new().post(&platform.base());
            assert_eq!(in_doubt("a status", answer), Some(status));
            assert_eq!(platform.requests().len(), 1, "{status}: a POST is never retried");
            assert_eq!(platform.accepted().len(), usize::from(committed));
        }
    }
}

#[test]
fn s08_a_body_over_16_mib_is_in_doubt_and_cut_off() {
    let platform = Platform::start(account());
    let body = format!(r#"{{"code":0,"data":{{"id":"1"}},"x":"{}"}}"#, "x".repeat(16 << 20));
    platform.fault(Trigger::every(Kind::Add), Fault::body(&body));
    assert_eq!(in_doubt("16 MiB", Client::new().post(&platform.base())), Some(200));
}

#[test]
fn s07_a_redirected_post_goes_nowhere_else() {
    let platform = Platform::start(account());
    let other = Platform::start(account());
    for status in [301, 302, 303, 307, 308] {
        for location in ["/api/adapt/task/add", &platform.base(), &other.base()] {
            platform.reset_faults();
            let before = platform.requests().len();
            platform.fault(Trigger::every(Kind::Any), Fault::redirect(status, location));
            assert_eq!(in_doubt("redirect", Client::new().post(&platform.base())), Some(status));
            assert_eq!(platform.requests().len(), before + 1, "{status} to {location}");
        }
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn answers_of_the_platform_keep_their_meaning() {
    let platform = Platform::start(account());
    let accepted = Client::new().post(&platform.base());
    assert_eq!(accepted, Ok(Accepted { http: 200, task: Some(TaskId(33_512)) }));
    for http in [200, 400, 422] {
        platform.clear_rejections();
        platform.reject(Rejection::all(60_022).http(http));
        let rejected = Client::new().post(&platform.base());
        assert_eq!(rejected, Err(AddError::Rejected { http, code: 60_022 }));
    }
    for http in [400, 404, 413, 429] {
        platform.reset_faults();
        platform.fault(Trigger::every(Kind::Add), Fault::html().with_status(http));
        assert_eq!(Client::new().post(&platform.base()), Err(AddError::Refused { http }));
    }
    platform.reset_faults();
    platform.set_token("another");
    let refused = Client::new().post(&platform.base());
    assert_eq!(refused, Err(AddError::Credential { http: 200, code: Some(40_100) }));
}

#[test]
fn s05_every_post_has_a_connection_of_its_own() {
    let (client, platform) = (Client::new(), Platform::start(account()));
    let base = platform.base();
    let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
    let writer = HttpWriter::new(client.endpoint(&base));
    for n in 0..3 {
        reader.own_tasks(1, 100).unwrap();
        writer.add_task(&task(&format!("Org/Model-{n}")), Duration::MAX, &mut || ()).unwrap();
        writer.add_task(&task(&format!("Org/Next-{n}")), Duration::MAX, &mut || ()).unwrap();
    }
    let requests = platform.requests();
    let (posts, reads): (Vec<_>, Vec<_>) = requests.iter().partition(|r| r.kind == Kind::Add);
    assert_eq!((posts.len(), reads.len()), (6, 3));
    assert!(posts.iter().all(|post| post.index == 0), "{posts:?}");
    let mut connections: Vec<_> = posts.iter().map(|post| post.connection).collect();
    connections.push(reads[0].connection);
    connections.dedup();
    assert_eq!(connections.len(), 7);
    assert_eq!(reads.iter().map(|read| read.index).collect::<Vec<_>>(), [0, 1, 2]);
}

/// The kept connection of the reads dies in the moment of the POST, again and again.
#[test]
fn s05_reads_that_lose_their_connection_do_not_touch_the_post() {
    let (client, platform) = (Client::new(), Platform::start(account()));
    platform.fault(Trigger::every(Kind::Own), Fault::close_after());
    let base = platform.base();
    let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
    let writer = HttpWriter::new(client.endpoint(&base));
    for n in 0..20 {
        reader.own_tasks(1, 100).unwrap();
        writer.add_task(&task(&format!("Org/Model-{n}")), Duration::MAX, &mut || ()).unwrap();
    }
    assert_eq!(platform.posts(), platform.accepted());
    assert_eq!(platform.posts().len(), 20);
}

/// Only a POST that is on its way has a precheck beside it.
#[test]
fn a_precheck_beside_a_post_waits_for_the_post_to_leave() {
    let (client, platform) = (Client::new(), Platform::start(account()));
    let base = platform.base();
    let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let next = ModelId::parse("Org/Next").unwrap();
    let beside = |base: &str, not_after| {
        let writer = HttpWriter::new(client.endpoint(base));
        reader.precheck_during(&next, |sent| writer.add_task(&task("Org/Model"), not_after, sent))
    };
    let (asked, posted) = beside(&format!("http://{closed}"), Duration::MAX);
    assert!(matches!(posted, Err(AddError::NotSent { .. })), "{posted:?}");
    assert_eq!(asked, None);
    let (asked, posted) = beside(&base, Duration::ZERO);
    assert_eq!((asked, posted), (None, Err(AddError::TooLate)));
    assert_eq!(platform.count(Kind::Precheck), 0);
    let (asked, posted) = beside(&base, Duration::MAX);
    assert_eq!(asked, Some(Ok(vec![])));
    assert!(posted.is_ok(), "{posted:?}");
    assert_eq!((platform.posts().len(), platform.count(Kind::Precheck)), (1, 1));
}

/// What is known of the platform ages while a connection is made.
#[test]
fn a_task_that_would_be_sent_too_late_is_not_sent() {
    let platform = Platform::start(account());
    let sent = Client::until(Duration::from_secs(60)).post_until(&platform.base(), Duration::ZERO);
    assert_eq!(sent, Err(AddError::TooLate));
    assert_eq!(platform.posts().len(), 0);
}
