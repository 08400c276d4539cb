use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::api::{NewTask, Precheck, TaskPage};
use crate::clock::SystemClock;
use crate::env::Env;

type Answer = Result<SlicePage, ReadError>;
type Read = (Result<Snapshot, Dropped>, Vec<(Bucket, u64, u64)>);

/// Answers pages from a function, and remembers what was asked.
struct Fake<F> {
    asked: RefCell<Vec<(Bucket, u64, u64)>>,
    answer: F,
}

impl<F: Fn(Bucket, u64) -> Answer> ReadApi for Fake<F> {
    fn everyones_tasks(&self, bucket: Bucket, current: u64, size: u64, limit: Duration) -> Answer {
        assert!(limit <= REQUEST && !limit.is_zero());
        self.asked.borrow_mut().push((bucket, current, size));
        (self.answer)(bucket, current)
    }
    fn own_tasks(&self, _: u64, _: u64) -> Result<TaskPage, ReadError> {
        unreachable!()
    }
    fn precheck(&self, _: &ModelId) -> Result<Precheck, ReadError> {
        unreachable!()
    }
    fn build_config(&self, _: &NewTask) -> Result<String, ReadError> {
        unreachable!()
    }
    fn requests(&self) -> u64 {
        0
    }
}

fn row(task: &str, model: &str, card: &str, bucket: Bucket) -> SliceRow {
    SliceRow {
        task: Some(task.to_owned()),
        model: model.to_owned(),
        card: card.to_owned(),
        status: bucket.status().to_owned(),
        verify_result: match bucket {
            Bucket::Pass => Verdict::Is(1),
            Bucket::Fail => Verdict::Is(-1),
            Bucket::Running => Verdict::Absent,
        },
    }
}

fn page(rows: Vec<SliceRow>) -> SlicePage {
    SlicePage { total: rows.len() as u64, rows }
}

const PAGES: FootholdPages = FootholdPages { pass: 3, fail: 3, running: 2, size: 2 };

fn read_with(answer: impl Fn(Bucket, u64) -> Answer) -> Read {
    read_at(&SystemClock::start(), answer)
}

fn read_at(clock: &dyn Clock, answer: impl Fn(Bucket, u64) -> Answer) -> Read {
    let fake = Fake { asked: RefCell::default(), answer };
    let catalog = Catalog::parse(include_str!("../../../data/gpus.json")).unwrap();
    let env = Env::from_pairs([("XC_TOKEN", "test-token-marker")]);
    let token = crate::secret::choose(&env, None).unwrap().token;
    let snapshot = read(&fake, PAGES, &catalog, &token, clock);
    (snapshot, fake.asked.into_inner())
}

#[test]
fn the_best_class_and_every_card_of_a_model_are_gathered() {
    let (snapshot, asked) = read_with(|bucket, _| {
        Ok(page(match bucket {
            Bucket::Pass => vec![row("1", "Org/A", "壁砺", bucket)],
            Bucket::Fail => {
                vec![row("2", "org/a", "Newcomer_x-1", bucket), row("3", "org/b", "无名 9", bucket)]
            }
            Bucket::Running => {
                vec![row("4", "org/a", "曦望", bucket), row("5", "a/b/c", "曦望", bucket)]
            }
        }))
    });
    let snapshot = snapshot.unwrap();
    let shown: Vec<_> = snapshot
        .models
        .iter()
        .map(|(_, evidence)| {
            let mut cards: Vec<_> = evidence.cards.iter().map(Gpu::as_str).collect();
            cards.sort_unstable();
            (evidence.id.as_str(), evidence.class, cards)
        })
        .collect();
    let a = vec!["Biren_166m", "Newcomer_x-1", "Sunrise_pt-200-x1"];
    let expected =
        [("Org/A", Foothold::VerifiedReuse, a), ("org/b", Foothold::FailedFoothold, vec![])];
    assert_eq!(shown, expected);
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[test]
fn pages_are_capped_and_a_repeated_page_ends_its_bucket() {
    let full = |first: u64, bucket| {
        let rows = vec![
            row(&first.to_string(), "o/a", "曦望", bucket),
            row(&(first + 1).to_string(), "o/b", "曦望", bucket),
        ];
        Ok(SlicePage { total: 1_000, rows })
    };
    let number = |bucket, current| {
        current * 2
            + 100 * u64::from(bucket == Bucket::Fail)
            + 200 * u64::from(bucket == Bucket::Running)
    };
    let (snapshot, asked) = read_with(|bucket, current| full(number(bucket, current), bucket));
    assert_eq!(snapshot.unwrap().models.len(), 2);
    assert_eq!(asked.len(), 8, "3 + 3 + 2 pages at the most");
    let (snapshot, asked) = read_with(|bucket, _| full(number(bucket, 1), bucket));
    assert!(snapshot.is_ok());
    assert_eq!(asked.len(), 6, "two pages a bucket, the second a repetition");
}

/// One record that is not what was asked for drops everything.
#[test]
fn one_wrong_record_drops_the_whole_snapshot() {
    type Twist = fn(&mut SliceRow);
    let twists: [(&str, &str, Twist); 10] = [
        ("waiting", "filter_mismatch", |row| row.status = "waiting".into()),
        ("verdict", "filter_mismatch", |row| row.verify_result = Verdict::Is(-1)),
        ("no verdict", "filter_mismatch", |row| row.verify_result = Verdict::Absent),
        ("odd verdict", "filter_mismatch", |row| row.verify_result = Verdict::Odd),
        ("model", "filter_mismatch", |row| row.model = "no owner".into()),
        ("blank model", "filter_mismatch", |row| row.model = String::new()),
        ("card", "filter_mismatch", |row| row.card = "a;b".into()),
        ("token in model", "filter_mismatch", |row| row.model = "o/test-token-marker".into()),
        ("blank id", "malformed_data", |row| row.task = Some(String::new())),
        ("id of another", "conflicting_task", |row| row.task = Some("1".into())),
    ];
    for (name, reason, twist) in twists {
        let (snapshot, _) = read_with(|bucket, _| {
            let mut rows = vec![row("1", "o/a", "曦望", bucket), row("2", "o/b", "曦望", bucket)];
            if bucket == Bucket::Pass {
                twist(&mut rows[1]);
            } else {
                rows.clear();
            }
            Ok(page(rows))
        });
        assert_eq!(snapshot, Err(Dropped::Because(reason)), "{name}");
    }
    let too_many = |bucket, _| Ok(page(vec![row("1", "o/a", "曦望", bucket); 3]));
    assert_eq!(read_with(too_many).0, Err(Dropped::Because("malformed_data")));
}

#[test]
fn running_tasks_have_no_verdict_yet() {
    for (verdict, fits) in [
        (Verdict::Absent, true),
        (Verdict::Is(0), true),
        (Verdict::Is(1), false),
        (Verdict::Odd, false),
    ] {
        let (snapshot, _) = read_with(|bucket, _| {
            let running = SliceRow { verify_result: verdict, ..row("1", "o/a", "曦望", bucket) };
            Ok(page(if bucket == Bucket::Running { vec![running] } else { vec![] }))
        });
        assert_eq!(snapshot.is_ok(), fits, "{verdict:?}");
    }
}

#[test]
fn without_an_id_the_record_itself_is_its_identity() {
    let (snapshot, _) = read_with(|bucket, _| {
        let nameless = |model| SliceRow { task: None, ..row("", model, "曦望", bucket) };
        let rows = vec![nameless("o/a"), nameless("o/b")];
        Ok(page(if bucket == Bucket::Pass { rows } else { vec![] }))
    });
    assert_eq!(snapshot.unwrap().models.len(), 2);
}

#[test]
fn a_failed_request_drops_it_and_a_refused_credential_ends_the_cycle() {
    for (error, reason) in [
        (ReadError::Transport("x".into()), "transport_error"),
        (ReadError::Http(502), "http_error"),
        (ReadError::Platform(5), "platform_error"),
        (ReadError::MalformedData("x".into()), "malformed_data"),
        (ReadError::MalformedJson("x".into()), "malformed_data"),
        (ReadError::Stopped(Stop::Deadline), "deadline"),
    ] {
        let (snapshot, asked) = read_with(|_, _| Err(error.clone()));
        assert_eq!(snapshot, Err(Dropped::Because(reason)));
        assert_eq!(asked.len(), 1);
    }
    for error in [ReadError::Credential("x".into()), ReadError::Stopped(Stop::Interrupted)] {
        let (snapshot, _) = read_with(|_, _| Err(error.clone()));
        assert!(matches!(snapshot, Err(Dropped::Hold(_))), "{error:?}");
    }
}

/// A clock that only a slow platform moves.
#[derive(Default)]
struct Moved(AtomicU64);

impl Clock for Moved {
    fn now(&self) -> u64 {
        0
    }
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
    fn sleep(&self, _: Duration) {}
}

#[test]
fn a_slow_platform_costs_at_most_twenty_seconds() {
    let clock = Moved::default();
    let (snapshot, asked) = read_at(&clock, |bucket, current| {
        clock.0.fetch_add(2, Ordering::SeqCst);
        let id = |n| format!("{bucket:?}{current}{n}");
        let rows = (0..2).map(|n| row(&id(n), "o/a", "曦望", bucket)).collect();
        Ok(SlicePage { total: 1_000, rows })
    });
    assert!(snapshot.is_ok());
    assert_eq!(asked.len(), 8);

    let clock = Moved::default();
    let (snapshot, asked) = read_at(&clock, |_, current| {
        clock.0.fetch_add(7, Ordering::SeqCst);
        let rows = vec![row(&current.to_string(), "o/a", "曦望", Bucket::Pass); 2];
        Ok(SlicePage { total: 1_000, rows })
    });
    assert_eq!(snapshot, Err(Dropped::Because("deadline")));
    assert_eq!(asked.len(), 3);
}
