//! The date of a mark.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Checks a date that a person wrote.
///
/// # Errors
/// What it must be: four, two and two digits that are a day of the calendar.
pub fn parse(text: &str) -> Result<String, String> {
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let is_date = match parts[..] {
        [year, month, day] if (year.len(), month.len(), day.len()) == (4, 2, 2) => {
            parts.iter().all(|part| is_digits(part)) && text.parse::<Date>().is_ok()
        }
        _ => false,
    };
    if is_date { Ok(text.to_owned()) } else { Err("expected a date as YYYY-MM-DD".to_owned()) }
}

/// The day, here, at so many seconds since 1970; and why it is that of UTC, where the time zone
/// of this machine cannot be read.
#[must_use]
pub fn local(now: u64) -> (String, Option<String>) {
    let (zone, warning) = match TimeZone::try_system() {
        Ok(zone) => (zone, None),
        Err(error) => (TimeZone::UTC, Some(error.to_string())),
    };
    (day(now, &zone), warning)
}

fn day(now: u64, zone: &TimeZone) -> String {
    // Beyond jiff's last year the clock is wrong anyway.
    let at = i64::try_from(now).ok().and_then(|now| Timestamp::from_second(now).ok());
    zone.to_datetime(at.unwrap_or(Timestamp::MAX)).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::Offset;

    #[test]
    fn only_days_of_the_calendar_are_dates() {
        for date in ["2026-11-02", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(parse(date), Ok(date.to_owned()));
        }
        for text in [
            "",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-11-00",
            "2026-11-31",
            "2026-11-2",
            "26-11-02",
            "2026-11-02 ",
            " 2026-11-02",
            "+026-11-02",
            "2026-11-02T00:00",
            "20261102",
            "2026/11/02",
            "２026-11-02",
            "2026-11-02-",
            "-2026-11-02",
            "today",
        ] {
            assert!(parse(text).unwrap_err().contains("YYYY-MM-DD"), "{text}");
        }
    }

    #[test]
    fn a_day_begins_where_one_lives() {
        let midnight = 1_793_577_600; // 2026-11-02T00:00:00Z
        let zone = |hours| TimeZone::fixed(Offset::constant(hours));
        for (now, hours, date) in [
            (midnight, 0, "2026-11-02"),
            (midnight - 1, 0, "2026-11-01"),
            (midnight - 1, 8, "2026-11-02"),
            (midnight - 8 * 3600, 8, "2026-11-02"),
            (midnight - 8 * 3600 - 1, 8, "2026-11-01"),
            (midnight, -5, "2026-11-01"),
            (0, 0, "1970-01-01"),
        ] {
            assert_eq!(day(now, &zone(hours)), date, "{now} {hours}");
        }
        assert_eq!(day(u64::MAX, &TimeZone::UTC), "9999-12-30");
    }
}
