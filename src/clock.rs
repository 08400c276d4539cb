//! Time, as an argument: the wall clock for records, a monotonic one for deadlines, and the
//! question that is asked before every request.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::exit::Reason;

/// The time, real or simulated.
pub trait Clock: Sync {
    /// Seconds since 1970-01-01 UTC. May jump either way between two calls.
    fn now(&self) -> u64;
    /// Time since the run began. Never goes back.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Starts counting a run's time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Why nothing new may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The cycle's time is used up.
    Deadline,
    /// SIGTERM or SIGINT arrived.
    Interrupted,
}

impl Stop {
    /// The reason with which a run that stops here ends.
    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Self::Deadline => Reason::Deadline,
            Self::Interrupted => Reason::Interrupted,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

/// Says whether another request may be started. Asked before every one, retries included.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The run's clock.
    pub clock: &'a dyn Clock,
    /// How long a cycle may start requests.
    pub deadline: Duration,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

impl Watch<'_> {
    /// Whether a request may start now.
    ///
    /// # Errors
    /// The reason not to. A signal beats the deadline.
    pub fn may_start(&self) -> Result<(), Stop> {
        if self.stop.load(Ordering::SeqCst) {
            Err(Stop::Interrupted)
        } else if self.clock.elapsed() >= self.deadline {
            Err(Stop::Deadline)
        } else {
            Ok(())
        }
    }

    /// Waits for `time`, unless the deadline would pass meanwhile; a signal ends the wait.
    ///
    /// # Errors
    /// As [`Self::may_start`]; `Deadline` at once, without waiting.
    pub fn wait(&self, time: Duration) -> Result<(), Stop> {
        const SLICE: Duration = Duration::from_millis(50);
        if self.clock.elapsed().saturating_add(time) >= self.deadline {
            return self.may_start().and(Err(Stop::Deadline));
        }
        let until = self.clock.elapsed() + time;
        loop {
            self.may_start()?;
            let left = until.saturating_sub(self.clock.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            self.clock.sleep(left.min(SLICE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_past_the_deadline_is_refused_at_once() {
        let clock = SystemClock::start();
        let stop = AtomicBool::new(false);
        let watch = Watch { clock: &clock, deadline: Duration::from_secs(5), stop: &stop };
        assert_eq!(watch.wait(Duration::from_secs(6)), Err(Stop::Deadline));
        assert_eq!(watch.wait(Duration::MAX), Err(Stop::Deadline));
        assert_eq!(watch.wait(Duration::from_millis(1)), Ok(()));
        assert!(clock.elapsed() < Duration::from_secs(4), "it waited");
        stop.store(true, Ordering::SeqCst);
        assert_eq!(watch.wait(Duration::from_secs(1)), Err(Stop::Interrupted));
        assert_eq!(watch.wait(Duration::from_secs(6)), Err(Stop::Interrupted));
    }
}
