//! GETs over real sockets: what is tried again, for how long, and what is not.

use std::time::{Duration, Instant};

use submitter::api::http::HttpReader;
use submitter::api::{ReadApi, ReadError, TaskPage};
use submitter::clock::Stop;
use submitter::pair::ModelId;

use crate::kit::{account, together};
use crate::platform::{Fault, Kind, Platform, Trigger};
use crate::transport::{Client, in_time};

/// A read of the own tasks, the requests that it counted, and how long it took.
fn read(client: Client, platform: &Platform) -> (Result<TaskPage, ReadError>, u64, Duration) {
    let base = platform.base();
    in_time(move || {
        let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
        let began = Instant::now();
        let page = reader.own_tasks(1, 100);
        (page, reader.requests(), began.elapsed())
    })
}

fn faulty(trigger: Trigger, fault: Fault) -> Platform {
    let platform = Platform::start(account());
    platform.fault(trigger, fault);
    platform
}

#[test]
fn a_get_that_may_pass_is_tried_three_times_and_no_more() {
    let cases = [
        ("FIN", Fault::fin(), None),
        ("RST", Fault::rst(), None),
        ("truncated", Fault::truncated(), None),
        ("cut chunk", Fault::cut_chunked(), None),
        ("head only", Fault::head_only(), None),
        ("429", Fault::html().with_status(429), Some(429)),
        ("500", Fault::html().with_status(500), Some(500)),
        ("502", Fault::html().with_status(502), Some(502)),
        ("503", Fault::body("{}").with_status(503), Some(503)),
    ];
    together(cases, |(name, fault, http)| {
        let platform = faulty(Trigger::every(Kind::Own), fault);
        let (page, requests, took) = read(Client::new(), &platform);
        match (&page, http) {
            (Err(ReadError::Http(status)), Some(expected)) => assert_eq!(*status, expected),
            (Err(ReadError::Transport(_)), None) => {}
            _ => panic!("{name}: {page:?}"),
        }
        assert_eq!((requests, platform.count(Kind::Any)), (3, 3), "{name}");
        // 0.25 s and 0.5 s at the least, 0.75 s and 1.5 s at the most.
        assert!(took >= Duration::from_millis(750), "{name}: no pause between tries: {took:?}");
        assert!(took < Duration::from_secs(6), "{name}: {took:?}");
    });
}

#[test]
fn a_get_that_works_the_second_or_third_time_works() {
    let cases = [
        (Fault::rst as fn() -> Fault, 1),
        (Fault::fin, 2),
        (|| Fault::status(429), 1),
        (|| Fault::html().with_status(502), 2),
    ];
    together(cases, |(fault, failures)| {
        let platform = Platform::start(account());
        for n in 1..=failures {
            platform.fault(Trigger::nth(Kind::Own, n), fault());
        }
        let (page, requests, _) = read(Client::new(), &platform);
        assert_eq!(page.unwrap().total, 0);
        assert_eq!(requests, failures as u64 + 1);
        assert_eq!((platform.count(Kind::Any), platform.unfired()), (failures + 1, 0));
    });
}

#[test]
fn an_answer_that_will_not_change_is_not_asked_for_again() {
    for status in [300, 304, 400, 404, 405, 408, 413, 451] {
        let platform = faulty(Trigger::every(Kind::Own), Fault::html().with_status(status));
        let (page, ..) = read(Client::new(), &platform);
        assert_eq!(page, Err(ReadError::Http(status)));
        assert_eq!(platform.count(Kind::Any), 1, "{status}");
    }
    let body = |text| faulty(Trigger::every(Kind::Own), Fault::body(text));
    for (platform, reason) in [
        (faulty(Trigger::every(Kind::Own), Fault::html()), "malformed_json"),
        (body(""), "malformed_json"),
        (body(r#"{"code":0,"#), "malformed_json"),
        (body(r#"{"code":50000,"message":"busy"}"#), "platform_error"),
        (body(r#"{"code":0,"data":null}"#), "malformed_data"),
        (body(r#"{"code":40100}"#), "credential_refused"),
        (faulty(Trigger::every(Kind::Own), Fault::html().with_status(401)), "credential_refused"),
        (faulty(Trigger::every(Kind::Own), Fault::html().with_status(403)), "credential_refused"),
    ] {
        let (page, ..) = read(Client::new(), &platform);
        assert_eq!(page.as_ref().map_err(ReadError::reason), Err(reason), "{page:?}");
        assert_eq!(platform.count(Kind::Any), 1, "{reason}");
    }
}

#[test]
fn s09_a_403_of_the_precheck_says_nothing_of_the_credential() {
    let client = Client::new();
    for (status, reason) in [(403, "http_error"), (401, "credential_refused")] {
        let platform = faulty(Trigger::every(Kind::Precheck), Fault::html().with_status(status));
        let base = platform.base();
        let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
        let error = reader.precheck(&ModelId::parse("Org/Model").unwrap()).unwrap_err();
        assert_eq!((error.reason(), platform.count(Kind::Any)), (reason, 1));
    }
}

#[test]
fn s07_a_redirected_get_goes_nowhere_else() {
    let other = Platform::start(account());
    for status in [301, 302, 303, 307, 308] {
        let same = "/api/adapt/task/page?onlyMine=true&pageSize=100&current=1".to_owned();
        for location in [same, other.base()] {
            let platform = faulty(Trigger::nth(Kind::Any, 1), Fault::redirect(status, &location));
            let (page, ..) = read(Client::new(), &platform);
            assert_eq!(page, Err(ReadError::Http(status)), "to {location}");
            assert_eq!(platform.requests().len(), 1, "{status} to {location}");
        }
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn s10_retry_after_is_waited_for_and_nonsense_is_not() {
    let cases = [
        (429, "2", 1_990..3_900),
        (503, "2", 1_990..3_900),
        (429, "-5", 240..1_900),
        (503, "abc", 240..1_900),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", 240..1_900),
        (503, "0", 490..1_900),
    ];
    together(cases, |(status, value, expected)| {
        let fault = Fault::status(status).with_header("Retry-After", value);
        let platform = faulty(Trigger::nth(Kind::Own, 1), fault);
        read(Client::new(), &platform).0.unwrap();
        let at: Vec<_> = platform.requests().iter().map(|request| request.at).collect();
        assert_eq!(at.len(), 2);
        let waited = (at[1] - at[0]).as_millis();
        assert!(expected.contains(&waited), "{status} {value}: waited {waited} ms");
    });
}

#[test]
fn s10_a_wait_that_the_deadline_does_not_allow_is_not_begun() {
    for value in ["30", "99999999999999999999"] {
        let fault = Fault::status(503).with_header("Retry-After", value);
        let platform = faulty(Trigger::every(Kind::Own), fault);
        let (page, requests, took) = read(Client::until(Duration::from_secs(20)), &platform);
        assert_eq!((page, requests), (Err(ReadError::Http(503)), 1));
        assert!(took < Duration::from_secs(1), "{value}: {took:?}");
    }
    let platform = Platform::start(account());
    let (page, requests, _) = read(Client::until(Duration::ZERO), &platform);
    assert_eq!((page, requests), (Err(ReadError::Stopped(Stop::Deadline)), 0));
    assert_eq!(platform.requests().len(), 0);
}

/// A byte every 300 ms, and silence: the time is for the whole exchange.
#[test]
fn n01_a_slow_answer_is_cut_off_in_time() {
    let drip = || Fault::slow_body(Duration::from_millis(300));
    together([drip as fn() -> Fault, Fault::no_answer], |fault| {
        let platform = faulty(Trigger::every(Kind::Own), fault());
        // No time for another try.
        let (page, requests, took) =
            read(Client::impatient(Duration::from_millis(1_200)), &platform);
        assert!(matches!(page, Err(ReadError::Transport(_))), "{page:?}");
        assert_eq!(requests, 1);
        let limits = Duration::from_millis(950)..Duration::from_secs(4);
        assert!(limits.contains(&took), "{took:?}");
    });
}

#[test]
fn a_body_over_16_mib_is_refused_and_one_below_is_read() {
    let page = r#"{"code":0,"data":{"records":[],"total":0,"size":100,"current":1},"x":""#;
    for (filling, fits) in [((16 << 20) - page.len() - 2, true), (16 << 20, false)] {
        let body = format!("{page}{}\"}}", "x".repeat(filling));
        let platform = faulty(Trigger::every(Kind::Own), Fault::body(&body));
        let base = platform.base();
        let client = Client::new();
        let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
        match reader.own_tasks(1, 100) {
            Ok(page) => assert!(fits, "{page:?}"),
            Err(error) => {
                assert_eq!((error.reason(), fits), ("malformed_json", false), "{error}");
            }
        }
        assert_eq!(platform.count(Kind::Any), 1);
    }
}

#[test]
fn s05_a_kept_connection_that_died_costs_a_read_nothing_but_a_try() {
    let platform = faulty(Trigger::every(Kind::Own), Fault::close_after());
    let (client, base) = (Client::new(), platform.base());
    let reader = HttpReader::new(client.endpoint(&base), 4, &client.catalog);
    for _ in 0..5 {
        reader.own_tasks(1, 100).unwrap();
    }
    assert_eq!(platform.count(Kind::Own), 5, "none was lost on the way");
}
