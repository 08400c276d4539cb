//! Times and ages in words. All of them are of UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::journal::history::DAY;

/// A time in seconds since 1970, as `2026-11-02 07:17`.
pub(super) fn minute(at: u64) -> String {
    format(at, "%Y-%m-%d %H:%M")
}

/// The same as machines write it: `2026-11-02T07:17:00Z`.
pub(super) fn machine(at: u64) -> String {
    format(at, "%Y-%m-%dT%H:%M:%SZ")
}

/// A day, counted from 1970-01-01, as `2026-11-02`.
pub(super) fn date(day: u64) -> String {
    format(day.saturating_mul(DAY), "%Y-%m-%d")
}

fn format(at: u64, as_in: &str) -> String {
    // Beyond jiff's last year the clock is wrong anyway.
    let at = i64::try_from(at).ok().and_then(|at| Timestamp::from_second(at).ok());
    TimeZone::UTC.to_datetime(at.unwrap_or(Timestamp::MAX)).strftime(as_in).to_string()
}

/// How long ago something was, by its two largest units: `3 h 12 min`.
pub(super) fn age(at: u64, now: u64) -> String {
    let Some(seconds) = now.checked_sub(at) else {
        return "ahead of the clock".to_owned();
    };
    let (days, hours, minutes) = (seconds / DAY, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, _) => format!("{minutes} min"),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_utc_and_ages_are_short() {
        assert_eq!(minute(1_793_603_820), "2026-11-02 07:17");
        assert_eq!(machine(1_793_603_820), "2026-11-02T07:17:00Z");
        assert_eq!((date(0), date(20_759)), ("1970-01-01".into(), "2026-11-02".into()));
        assert!(minute(u64::MAX).starts_with("9999-12-3"), "{}", minute(u64::MAX));
        for (seconds, shown) in [
            (0, "less than a minute"),
            (61, "1 min"),
            (3_600, "1 h 0 min"),
            (DAY + 2 * 3_600, "1 d 2 h"),
        ] {
            assert_eq!(age(1_000, 1_000 + seconds), shown);
        }
        assert_eq!(age(2, 1), "ahead of the clock");
    }
}
