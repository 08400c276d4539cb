//! Times for people: where they live, and how long ago.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// This moment and this place, by which times are told.
#[derive(Debug, Clone)]
pub struct Here {
    /// Seconds since 1970.
    now: u64,
    zone: TimeZone,
}

impl Here {
    /// The time zone of this machine; that of UTC where it cannot be read.
    #[must_use]
    pub fn at(now: u64) -> Self {
        Self { now, zone: TimeZone::try_system().unwrap_or(TimeZone::UTC) }
    }

    /// A moment in seconds since 1970, and how far it is from now: `2026-11-02 14:17:03 (3 min ago)`.
    #[must_use]
    pub fn tell(&self, at: u64) -> String {
        let distance = match (self.now.checked_sub(at), at.saturating_sub(self.now)) {
            (Some(0), _) => "now".to_owned(),
            (Some(ago), _) => format!("{} ago", length(ago)),
            (None, ahead) => format!("in {}", length(ahead)),
        };
        format!("{} ({distance})", self.time(at))
    }

    fn time(&self, at: u64) -> String {
        // Beyond jiff's last year the clock is wrong anyway.
        let at = i64::try_from(at).ok().and_then(|at| Timestamp::from_second(at).ok());
        let time = self.zone.to_datetime(at.unwrap_or(Timestamp::MAX));
        time.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

/// So many seconds, in the largest unit of which there are two: `90 s`, `59 min`, `47 h`, `3 d`.
#[must_use]
pub fn length(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::Offset;

    #[test]
    fn a_time_is_told_where_one_lives_with_its_distance() {
        let noon = 1_793_620_800; // 2026-11-02T12:00:00Z
        let here = Here { now: noon, zone: TimeZone::fixed(Offset::constant(8)) };
        for (at, told) in [
            (noon, "2026-11-02 20:00:00 (now)"),
            (noon - 119, "2026-11-02 19:58:01 (119 s ago)"),
            (noon - 120, "2026-11-02 19:58:00 (2 min ago)"),
            (noon - 7_199, "2026-11-02 18:00:01 (119 min ago)"),
            (noon - 86_400, "2026-11-01 20:00:00 (24 h ago)"),
            (noon - 200_000, "2026-10-31 12:26:40 (2 d ago)"),
            (noon + 86_000, "2026-11-03 19:53:20 (in 23 h)"),
        ] {
            assert_eq!(here.tell(at), told);
        }
        assert!(here.tell(u64::MAX).starts_with("9999-12-3"));
    }
}
