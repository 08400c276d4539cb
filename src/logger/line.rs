//! A line of the log in its forms. Its text is the same in all of them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use log::Level;
use serde::Serialize;
use serde_json::{Map, Number, Value};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// A form of the log.
#[derive(Debug)]
pub(super) enum Form {
    /// For people and `grep`.
    Text {
        /// Whether the reader is a terminal that shows them.
        colours: bool,
        /// The zone of the time that a line begins with; none: it begins with none.
        stamps: Option<TimeZone>,
    },
    /// For machines.
    Json,
}

impl Form {
    /// A line with its end, told `now` seconds after 1970.
    pub(super) fn line(&self, level: Level, text: &str, now: u64) -> String {
        let at = i64::try_from(now).ok().and_then(|now| Timestamp::from_second(now).ok());
        let at = at.unwrap_or(Timestamp::MAX);
        match self {
            Self::Text { colours, stamps } => {
                let stamp = stamps.as_ref().map_or(String::new(), |zone| {
                    format!("{} ", at.display_with_offset(zone.to_offset(at)))
                });
                match colour(level, text).filter(|_| *colours) {
                    Some(colour) => format!("{stamp}{colour}{text}{PLAIN}\n"),
                    None => format!("{stamp}{text}\n"),
                }
            }
            Self::Json => {
                let level = level.as_str().to_ascii_lowercase();
                let (event, fields) = parts(text);
                let line = Line { time: at.to_string(), level, message: text, event, fields };
                // Texts and numbers are always JSON.
                serde_json::to_string(&line).unwrap_or_default() + "\n"
            }
        }
    }
}

/// What a person should see first.
fn colour(level: Level, text: &str) -> Option<&'static str> {
    let begins = |start| text.starts_with(start);
    match level {
        Level::Error => Some(RED),
        Level::Warn => Some(YELLOW),
        _ if begins("[live] submitted") && text.contains(" outcome=unknown ") => Some(YELLOW),
        _ if begins("[live] submitted") || begins("[live] plan") => Some(GREEN),
        _ if begins("[live] rejected") || begins("[live] hold") => Some(YELLOW),
        _ => None,
    }
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    level: String,
    message: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
}

/// What a line is about, and its fields. Values are escaped so that none can forge a field, so
/// that the line itself can be read back.
fn parts(text: &str) -> (&str, Map<String, Value>) {
    let (plain, detail) = match text.split_once(" detail=\"") {
        Some((plain, detail)) => (plain, detail.strip_suffix('"')),
        None => (text, None),
    };
    let mut words = plain.split(' ');
    let mut event = words.next().unwrap_or_default().trim_matches(['[', ']']);
    if event == "live" {
        event = words.next().unwrap_or_default();
    }
    let fields = words.filter_map(|word| word.split_once('=')).map(|(name, value)| {
        // Task ids are int64 on the platform, which not every reader of JSON can hold.
        let number = serde_json::from_str::<Number>(value).ok().filter(|_| name != "task");
        (name.to_owned(), number.map_or_else(|| value.into(), Value::Number))
    });
    let mut fields: Map<_, _> = fields.collect();
    fields.extend(detail.map(|detail| ("detail".to_owned(), detail.into())));
    (event, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Field, Quoted};
    use jiff::tz::Offset;

    const NOW: u64 = 1_793_559_607; // 2026-11-01T19:00:07Z
    const SUBMITTED: &str = "[live] submitted model=a/b gpu=Biren_166m queue_before=3 http=200 \
                             code=0 task=33512 reason=task_add_response";

    #[test]
    fn a_text_is_itself_in_every_dress() {
        let text = |colours, stamps| Form::Text { colours, stamps };
        let zone = || Some(TimeZone::fixed(Offset::constant(8)));
        let line = |form: Form, level, line| form.line(level, line, NOW);
        let held = "[live] hold reason=paused";
        assert_eq!(line(text(false, None), Level::Error, held), format!("{held}\n"));
        assert_eq!(line(text(true, None), Level::Error, held), format!("{RED}{held}{PLAIN}\n"));
        assert_eq!(
            line(text(false, zone()), Level::Info, held),
            format!("2026-11-02T03:00:07+08:00 {held}\n")
        );
        assert_eq!(
            line(text(true, zone()), Level::Info, SUBMITTED),
            format!("2026-11-02T03:00:07+08:00 {GREEN}{SUBMITTED}{PLAIN}\n")
        );
    }

    #[test]
    fn colours_say_what_to_look_at() {
        for (level, text, expected) in [
            (Level::Info, SUBMITTED, Some(GREEN)),
            (Level::Info, "[live] submitted model=a/b http=none outcome=unknown x=y", Some(YELLOW)),
            (Level::Info, "[live] plan model=a/b", Some(GREEN)),
            (Level::Info, "[live] rejected model=a/b", Some(YELLOW)),
            (Level::Info, "[live] hold reason=queue_full", Some(YELLOW)),
            (Level::Warn, "[live] warning x", Some(YELLOW)),
            (Level::Error, "[live] warning x", Some(RED)),
            (Level::Info, "[live] stats total=1", None),
            (Level::Debug, "[live] skip model=a/b", None),
        ] {
            assert_eq!(colour(level, text), expected, "{text}");
        }
    }

    #[test]
    fn json_holds_the_line_and_its_fields() {
        let line = Form::Json.line(Level::Info, SUBMITTED, NOW);
        assert!(line.starts_with(r#"{"time":"2026-11-01T19:00:07Z","level":"info","message":"#));
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        let value: Value = serde_json::from_str(&line).unwrap();
        let expected = serde_json::json!({
            "time": "2026-11-01T19:00:07Z", "level": "info", "message": SUBMITTED,
            "event": "submitted",
            "fields": {"model": "a/b", "gpu": "Biren_166m", "queue_before": 3, "http": 200,
                "code": 0, "task": "33512", "reason": "task_add_response"},
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn json_is_whole_whatever_a_line_holds() {
        let evil = "x\"y\\z\n[live] rejected gpu=X detail=\"";
        let text = format!("[live] hold reason={} detail={}", Field(evil), Quoted(evil));
        for text in [&text, evil, "", "[foothold] reason=ok", "\u{1b}[31m"] {
            let line = Form::Json.line(Level::Error, text, u64::MAX);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            let value: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(value["message"], *text);
        }
        let (event, fields) = parts(&text);
        assert_eq!((event, fields.len()), ("hold", 2), "{fields:?}");
        assert_eq!(fields["detail"], *Quoted(evil).to_string().trim_matches('"'));
        assert_eq!(parts("[foothold] bucket=pass points=2.5").0, "foothold");
        assert_eq!(parts("[foothold] points=2.5").1["points"], 2.5);
    }
}
