//! When a GET that failed is tried again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// So often at the most.
pub(super) const MAX_RETRIES: u32 = 2;
const FIRST_RETRY: Duration = Duration::from_millis(500);
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// How long to wait before a GET is tried again. `Retry-After` in seconds is followed up to
/// 30 s; a date, a sign or anything else in its place falls back to our own back-off (S10).
pub(super) fn retry_wait(retry_after: Option<&str>, retries: u32, fraction: f64) -> Duration {
    match retry_after.map(str::trim) {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            let seconds = digits.parse().unwrap_or(u64::MAX);
            Duration::from_secs(seconds).clamp(FIRST_RETRY, MAX_RETRY_AFTER)
        }
        _ => (FIRST_RETRY * 2u32.pow(retries)).mul_f64(0.5 + fraction),
    }
}

/// From 0 to 1, so that clients that failed together do not come back together.
#[expect(clippy::cast_precision_loss, reason = "any fraction will do")]
pub(super) fn random_fraction() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_retry_after_is_followed_within_reason() {
        for (header, seconds) in [
            (Some("2"), 2.0),
            (Some(" 7 "), 7.0),
            (Some("99999999999999999999"), 30.0),
            (Some("3600"), 30.0),
            (Some("0"), 0.5),
            (Some("-5"), 1.0),
            (Some("abc"), 1.0),
            (Some(""), 1.0),
            (Some("Wed, 21 Oct 2015 07:28:00 GMT"), 1.0),
            (None, 1.0),
        ] {
            let wait = retry_wait(header, 1, 0.5).as_secs_f64();
            assert!((wait - seconds).abs() < 1e-9, "{header:?}: {wait}");
        }
        assert!(retry_wait(None, 2, 0.0) < retry_wait(None, 2, 1.0));
        assert!((0.0..=1.0).contains(&random_fraction()));
    }
}
