//! The settings of commands that only read the platform.

use std::time::Duration;

use super::read::Reader;
use super::{Settings, Warning, resolve};
use crate::env::Env;
use crate::exit::Hold;
use crate::flags::Flags;

/// Where the platform is and how it is read: what needs neither a strategy nor a state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// As [`Settings::api_base`].
    pub api_base: String,
    /// As [`Settings::page_size`].
    pub page_size: u32,
    /// As [`Settings::read_connections`].
    pub read_connections: usize,
    /// As [`Settings::request_timeout`].
    pub request_timeout: Duration,
    /// As [`Settings::deadline_seconds`].
    pub deadline: Duration,
}

impl Reading {
    /// Resolves these settings as [`Settings::resolve`] does.
    ///
    /// # Errors
    /// [`crate::exit::Reason::InvalidApiBase`].
    pub fn resolve(flags: &Flags, env: &Env) -> Result<(Self, Vec<Warning>), Hold> {
        let mut settings = Settings::defaults();
        let mut reader = Reader::new(env);
        resolve::platform(&mut settings, &mut reader, flags);
        match reader.problems.into_iter().next() {
            Some(hold) => Err(hold),
            None => Ok((Self::of(settings), reader.warnings)),
        }
    }

    fn of(settings: Settings) -> Self {
        Self {
            api_base: settings.api_base,
            page_size: settings.page_size,
            read_connections: settings.read_connections,
            request_timeout: settings.request_timeout,
            deadline: Duration::from_secs(settings.deadline_seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Reason;

    #[test]
    fn reading_needs_no_strategy_and_no_state_folder() {
        let (reading, warnings) = Reading::resolve(&Flags::default(), &Env::default()).unwrap();
        assert_eq!((reading.page_size, warnings), (100, vec![]));
        assert_eq!(reading.deadline, Duration::from_secs(600));
        let env = Env::from_pairs([
            ("MODELHUB_API_BASE", "http://127.0.0.1:8080/"),
            ("LIVE_PAGE_SIZE", "7"),
            ("LIVE_CYCLE_DEADLINE_SECONDS", "x"),
        ]);
        let (reading, warnings) = Reading::resolve(&Flags::default(), &env).unwrap();
        assert_eq!((reading.api_base.as_str(), reading.page_size), ("http://127.0.0.1:8080", 7));
        assert_eq!((reading.deadline, warnings.len()), (Duration::from_secs(600), 1));
        let flags = Flags { api_base: Some("http://modelhub.org.cn".into()), ..Flags::default() };
        let hold = Reading::resolve(&flags, &env).unwrap_err();
        assert_eq!(hold.reason, Reason::InvalidApiBase);
    }
}
