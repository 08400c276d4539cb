//! The log on standard error: this program's own lines, and no library's, of which one dumps
//! headers. On a terminal, also what is under way.

mod line;
mod progress;

use std::io::{IsTerminal, Stderr, Write};
use std::sync::{Mutex, PoisonError};

use jiff::tz::TimeZone;
use log::{LevelFilter, Log, Metadata, Record};
use terminal_size::{Width, terminal_size_of};

use self::line::Form;
use self::progress::Progress;
use crate::cli::{LogFormat, Logging};
use crate::clock::{Clock, SystemClock};
use crate::env::Env;
use crate::text::{PROGRESS, Sentence, redacted};

/// Where a terminal does not tell its width.
const WIDTH: u16 = 80;

/// Opens the log of this process, and warns of what is wrong with its settings.
///
/// # Errors
/// It has been opened before.
pub fn start(logging: Logging, dry_run: bool, env: &Env) -> Result<(), log::SetLoggerError> {
    let (level, wrong) = logging.level(dry_run, env);
    let (format, stamps, warnings) = logging.form(env);
    let stderr = std::io::stderr();
    let to_person = format == LogFormat::Text && stderr.is_terminal() && is_capable(env);
    let form = match format {
        LogFormat::Text => Form::Text {
            // https://no-color.org: set, and not empty.
            colours: to_person && env.get_os("NO_COLOR").is_none(),
            stamps: stamps.then(TimeZone::system),
        },
        LogFormat::Json => {
            std::panic::set_hook(Box::new(|panic| {
                log::error!("[live] bug {}", Sentence(&panic.to_string().replace('\n', " ")));
            }));
            Form::Json
        }
    };
    // Who asks for less wants no progress, and who asks for each request sees it.
    let progress = to_person && matches!(level, LevelFilter::Info | LevelFilter::Debug);
    let sink = Mutex::new(Sink { stderr, progress: progress.then(Progress::default) });
    let logger = Logger { level, form, secrets: env.secrets(), clock: SystemClock::start(), sink };
    log::set_boxed_logger(Box::new(logger))?;
    log::set_max_level(if progress { LevelFilter::Trace } else { level });
    for warning in wrong.into_iter().chain(warnings) {
        crate::text::warn(warning);
    }
    Ok(())
}

/// Whether a terminal understands colours and how to write a line anew.
fn is_capable(env: &Env) -> bool {
    env.get_os("TERM").is_some_and(|term| term != "dumb")
}

struct Logger {
    level: LevelFilter,
    form: Form,
    secrets: Vec<String>,
    clock: SystemClock,
    sink: Mutex<Sink>,
}

struct Sink {
    stderr: Stderr,
    progress: Option<Progress>,
}

impl Sink {
    /// Writes a line in one piece, since other processes may write to the same log; there is
    /// nobody to tell if that fails.
    fn write(&mut self, line: &str) {
        let clear = self.progress.as_mut().map_or("", Progress::clear);
        drop(self.stderr.write_all(format!("{clear}{line}").as_bytes()));
    }

    fn draw(&mut self, what: &str, clock: &SystemClock) {
        let Some(progress) = &mut self.progress else { return };
        let width = terminal_size_of(&self.stderr).map_or(WIDTH, |(Width(width), _)| width);
        let drawn = progress.draw(what, clock.elapsed(), usize::from(width));
        drop(self.stderr.write_all(drawn.as_bytes()));
    }
}

impl Logger {
    fn sink(&self) -> std::sync::MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for Logger {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        let is_own = about.target().split("::").next() == Some("submitter");
        is_own && about.level() <= self.level
    }

    fn log(&self, record: &Record<'_>) {
        let is_progress = record.target() == PROGRESS;
        if !is_progress && !self.enabled(record.metadata()) {
            return;
        }
        let text = redacted(record.args().to_string(), &self.secrets);
        if is_progress {
            self.sink().draw(&text, &self.clock);
        } else {
            let line = self.form.line(record.level(), &text, self.clock.now());
            self.sink().write(&line);
        }
    }

    /// Leaves a terminal as something else may write to it.
    fn flush(&self) {
        self.sink().write("");
    }
}
