//! What may be written about the log, on any command.

use clap::{ArgAction, Args, ValueEnum};
use log::LevelFilter;

use crate::env::Env;
use crate::settings::{self, Warning};

/// How much is logged, and in which form.
#[derive(Debug, Clone, Copy, Default, Args)]
#[allow(
    clippy::doc_markdown,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "these comments are the help text, and a terminal shows them as they are"
)]
pub struct Logging {
    /// Log more: -v the details (of a run: each skip), -vv each request too
    /// [env: SUBMITTER_LOG=debug, =trace]
    #[arg(short, long, verbatim_doc_comment, global = true, display_order = 1_000)]
    #[arg(action = ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Log nothing unless a person must act; what a command prints is printed all the same
    /// [env: SUBMITTER_LOG=error]
    #[arg(short, long, verbatim_doc_comment, global = true, display_order = 1_000)]
    pub quiet: bool,

    /// Form of the log: lines to read, or one JSON object a line
    /// [env: SUBMITTER_LOG_FORMAT] [default: text]
    #[arg(long, verbatim_doc_comment, global = true, display_order = 1_000)]
    #[arg(value_name = "text|json", hide_possible_values = true)]
    pub log_format: Option<LogFormat>,

    /// Begin each line of the log with the local time
    /// [env: SUBMITTER_LOG_TIMESTAMPS=1]
    #[arg(long, verbatim_doc_comment, global = true, display_order = 1_000)]
    pub log_timestamps: bool,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people and for `grep`.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Logging {
    /// The level of this program's own log, and what is wrong with `SUBMITTER_LOG`. `-q` and
    /// `-v` beat the variable, `-q` beats `-v`; a dry run tells each skip unless it is told to
    /// be quiet by `-q`.
    #[must_use]
    pub fn level(self, dry_run: bool, env: &Env) -> (LevelFilter, Option<Warning>) {
        let by_flag = match self.verbose {
            _ if self.quiet => return (LevelFilter::Error, None),
            0 => None,
            1 => Some(LevelFilter::Debug),
            _ => Some(LevelFilter::Trace),
        };
        let (level, warning) = match by_flag {
            Some(level) => (level, None),
            None => level_of(env),
        };
        if dry_run { (level.max(LevelFilter::Debug), warning) } else { (level, warning) }
    }

    /// The form of the log, whether its lines bear the time, and what is wrong with
    /// `SUBMITTER_LOG_FORMAT` and `SUBMITTER_LOG_TIMESTAMPS`. JSON bears the time in any case.
    #[must_use]
    pub fn form(self, env: &Env) -> (LogFormat, bool, Vec<Warning>) {
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        let (format, wrong) = settings::word(env, "SUBMITTER_LOG_FORMAT", &formats);
        let switch = [("0", false), ("1", true)];
        let (stamps, odd) = settings::word(env, "SUBMITTER_LOG_TIMESTAMPS", &switch);
        // A flag beats its variable, whatever that holds.
        let wrong = wrong.filter(|_| self.log_format.is_none());
        let odd = odd.filter(|_| !self.log_timestamps);
        let format = self.log_format.unwrap_or(format);
        (format, self.log_timestamps || stamps, wrong.into_iter().chain(odd).collect())
    }
}

fn level_of(env: &Env) -> (LevelFilter, Option<Warning>) {
    let wrong = "SUBMITTER_LOG must be off, error, warn, info, debug or trace; using info";
    match env.get("SUBMITTER_LOG").map(|text| text.map(str::parse)) {
        Ok(None) => (LevelFilter::Info, None),
        Ok(Some(Ok(level))) => (level, None),
        Ok(Some(Err(_))) | Err(_) => (LevelFilter::Info, Some(Warning(wrong.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_beats_its_variable_and_a_wrong_variable_is_told() {
        use LogFormat::{Json, Text};
        let env = |format, stamps| {
            Env::from_pairs([
                ("SUBMITTER_LOG_FORMAT", format),
                ("SUBMITTER_LOG_TIMESTAMPS", stamps),
            ])
        };
        let none = Logging::default();
        assert_eq!(none.form(&env("", "")), (Text, false, vec![]));
        assert_eq!(none.form(&env("json", "1")), (Json, true, vec![]));
        assert_eq!(none.form(&env("text", "0")), (Text, false, vec![]));
        let (format, stamps, warnings) = none.form(&env("JSON", "yes"));
        let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!((format, stamps), (Text, false));
        assert_eq!(
            said,
            [
                "SUBMITTER_LOG_FORMAT is \"JSON\": it must be text or json; using text",
                "SUBMITTER_LOG_TIMESTAMPS is \"yes\": it must be 0 or 1; using 0",
            ]
        );
        let flags = Logging { log_format: Some(Text), log_timestamps: true, ..none };
        assert_eq!(flags.form(&env("json", "0")), (Text, true, vec![]));
        assert_eq!(flags.form(&env("x", "x")), (Text, true, vec![]));
    }
}
