use super::*;
use crate::gpu::Gpu;

const HORIZON: Horizon = Horizon { now: 1_000_000, window: 3_240, cooldown: 86_400 };

fn pair(model: &str) -> Pair {
    Pair::new(ModelKey::parse(model).unwrap(), Gpu::verbatim("A_1"))
}

fn history(records: Vec<(u64, Event)>) -> Result<History, String> {
    let mut history = History::default();
    for (at, event) in records {
        history.apply(Record { at, event })?;
    }
    Ok(history)
}

fn intent(model: &str) -> Event {
    Event::Intent { pair: pair(model) }
}

#[test]
fn a_pair_is_free_again_only_by_an_outcome_that_says_so() {
    let now = HORIZON.now;
    let released = Event::Released { pair: pair("a/b"), reason: "http_error".into() };
    let rejected = Event::Rejected { pair: pair("a/b"), code: 60_022 };
    let in_doubt = Event::InDoubt { pair: pair("a/b"), http: None };
    let accepted = Event::Accepted { pair: pair("a/b"), task: None };
    for (outcome, taken) in [
        (None, 1),
        (Some(in_doubt), 1),
        (Some(accepted), 1),
        (Some(released), 0),
        (Some(rejected), 0),
    ] {
        let mut records = vec![(now, intent("a/b"))];
        records.extend(outcome.map(|event| (now, event)));
        assert_eq!(history(records).unwrap().submitted_within(&HORIZON), taken);
    }
}

#[test]
fn an_outcome_that_does_not_follow_its_intent_is_damage() {
    let now = HORIZON.now;
    let released = || Event::Released { pair: pair("a/b"), reason: "http_error".into() };
    let in_doubt = Event::InDoubt { pair: pair("a/b"), http: None };
    for records in [
        vec![(now, released())],
        vec![(now, intent("a/b")), (now, in_doubt), (now, released())],
        vec![(now, intent("a/b")), (now, intent("a/b"))],
        vec![(now, intent("a/b")), (now, Event::Missing { pair: pair("a/b") })],
        vec![(now, Event::Settled { pair: pair("a/b"), task: None })],
    ] {
        assert!(history(records.clone()).is_err(), "{records:?}");
    }
}

#[test]
fn cool_downs_end_and_marks_do_not() {
    let long_ago = HORIZON.now - 86_400;
    let block = |at, code| {
        let rejected = Event::Rejected { pair: pair("a/b"), code };
        history(vec![(at, intent("a/b")), (at, rejected)])
            .unwrap()
            .blocks()
            .code(&pair("a/b"), &HORIZON)
    };
    assert_eq!(block(long_ago, 60_008), None);
    assert_eq!(block(long_ago + 1, 60_008), Some(60_008));
    assert_eq!(block(long_ago, 60_028), Some(60_028));
    assert_eq!(block(HORIZON.now, 60_007), None);
    assert_eq!(block(HORIZON.now, 60_014), None);
    let precheck = |at, code| {
        let model = pair("a/b").model;
        let event = Event::Precheck { model, blocked: vec![(Gpu::verbatim("A_1"), code)] };
        history(vec![(at, event)]).unwrap().blocks().code(&pair("a/b"), &HORIZON)
    };
    assert_eq!(precheck(long_ago, 60_028), None);
    assert_eq!(precheck(long_ago + 1, 60_028), Some(60_028));
    assert_eq!(precheck(0, 60_027), Some(60_027));
}

#[test]
fn records_of_a_wrong_clock_are_told_and_not_counted() {
    let edge = HORIZON.now + HORIZON.window;
    for (at, counted, ahead) in [
        (HORIZON.now - HORIZON.window, 0, 0),
        (HORIZON.now - HORIZON.window + 1, 1, 0),
        (edge, 1, 0),
        (edge + 1, 0, 1),
        (u64::MAX, 0, 1),
    ] {
        let history = history(vec![(at, intent("a/b"))]).unwrap();
        assert_eq!(history.submitted_within(&HORIZON), counted, "{at}");
        assert_eq!(history.dated_ahead(&HORIZON), ahead, "{at}");
    }
}

/// C04: a torn tail is a possible intent.
#[test]
fn c04_a_torn_intent_is_taken_as_far_as_it_is_legible() {
    let record = Record { at: 7, event: intent("org/model") };
    let whole = serde_json::to_string(&record).unwrap();
    for end in 0..=whole.len() {
        let torn = Event::Torn { text: whole[..end].to_owned() };
        let history = history(vec![(7, torn)]).unwrap();
        let pairs = history.submissions().count();
        let models = history.torn_models().count();
        let after_model = whole.find(r#"model""#).unwrap() + r#"model""#.len();
        let after_card = whole.find(r#"A_1""#).unwrap() + r#"A_1""#.len();
        let expected = match end {
            end if end >= after_card => (1, 0),
            end if end >= after_model => (0, 1),
            _ => (0, 0),
        };
        assert_eq!((pairs, models), expected, "{}", &whole[..end]);
    }
}

/// A compaction writes what is read again: no record names a blank card.
#[test]
fn a_torn_intent_with_a_blank_card_is_one_without_a_card() {
    for gpu in ["", " "] {
        let text = format!(r#"{{"at":7,"event":{{"intent":{{"pair":["a/b","{gpu}"]"#);
        let history = history(vec![(7, Event::Torn { text })]).unwrap();
        assert_eq!((history.submissions().count(), history.torn_models().count()), (0, 1));
        assert!(history.takes(&pair("a/b")));
    }
}

#[test]
fn a_person_acknowledges_what_is_missing_and_frees_nothing() {
    let now = HORIZON.now;
    let history = history(vec![
        (now, intent("a/b")),
        (now, Event::Accepted { pair: pair("a/b"), task: Some(TaskId(5)) }),
        (now, Event::Missing { pair: pair("a/b") }),
        (now, Event::Paused { reason: "task_vanished".into() }),
        (now, Event::Resumed { acknowledged: vec![pair("a/b")] }),
    ])
    .unwrap();
    let (_, submission) = history.submissions().next().unwrap();
    assert!(submission.accepted.as_ref().unwrap().acknowledged);
    assert_eq!(history.pause(), None);
    assert_eq!(history.submitted_within(&HORIZON), 1);
}

/// A person settles a torn intent card by card.
#[test]
fn a_torn_model_is_free_where_a_person_has_said_so() {
    let torn = Event::Torn { text: r#"{"at":7,"event":{"intent":{"pair":["a/b","#.to_owned() };
    let on = |gpu: &str| Pair::new(ModelKey::parse("a/b").unwrap(), Gpu::verbatim(gpu));
    let absent = Event::Resolved { pair: on("A_1"), submitted: false };
    let submitted = Event::Resolved { pair: on("A_2"), submitted: true };
    let history = history(vec![(7, torn), (8, absent), (8, submitted)]).unwrap();
    assert!(!history.takes(&on("A_1")));
    assert!(history.takes(&on("A_2")) && history.takes(&on("A_3")));
}

#[test]
fn what_was_accepted_cannot_be_resolved_away() {
    let accepted = Event::Accepted { pair: pair("a/b"), task: None };
    let absent = || Event::Resolved { pair: pair("a/b"), submitted: false };
    assert!(history(vec![(1, intent("a/b")), (1, accepted), (2, absent())]).is_err());
    assert!(history(vec![(2, absent())]).is_err());
    let freed = history(vec![(1, intent("a/b")), (2, absent())]).unwrap();
    assert!(!freed.takes(&pair("a/b")));
}

#[test]
fn a_day_counts_what_was_done_on_it_and_a_compaction_keeps_it() {
    let midnight = 20 * DAY;
    let rejected = |model: &str| Event::Rejected { pair: pair(model), code: 60_008 };
    let history = history(vec![
        (midnight - 1, intent("a/accepted")),
        (midnight, Event::Accepted { pair: pair("a/accepted"), task: None }),
        (midnight, intent("a/released")),
        (midnight, Event::Released { pair: pair("a/released"), reason: "http_error".into() }),
        (midnight, intent("a/rejected")),
        (midnight, rejected("a/rejected")),
        (midnight, intent("a/again")),
        (midnight, rejected("a/again")),
        (midnight, intent("a/lost")),
        (midnight, Event::InDoubt { pair: pair("a/lost"), http: None }),
        (midnight, intent("a/killed")),
        (midnight + DAY, Event::Settled { pair: pair("a/lost"), task: None }),
        (midnight + DAY, Event::Resolved { pair: pair("a/killed"), submitted: false }),
    ])
    .unwrap();
    let day = |day| Day { day, ..Day::default() };
    let on = |history: &History| history.days().iter().cloned().collect::<Vec<_>>();
    let expected = [
        day(19),
        Day { accepted: 1, in_doubt: 2, rejected: [(60_008, 2)].into(), ..day(20) },
        Day { settled: 2, ..day(21) },
    ];
    assert_eq!(on(&history), expected);
    let mut again = History::default();
    for record in history.compacted(midnight + 2 * DAY) {
        again.apply(record).unwrap();
    }
    assert_eq!(on(&again), expected);
}
