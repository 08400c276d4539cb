//! The log on standard error: this program's own lines, and no library's, of which one dumps
//! headers. On a terminal, also what is under way.

mod line;
mod progress;

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use jiff::tz::TimeZone;
use log::LevelFilter;
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
    let to_person = format == LogFormat::Text && std::io::stderr().is_terminal() && is_capable(env);
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
    let has_progress = to_person && matches!(level, LevelFilter::Info | LevelFilter::Debug);
    let (clock, secrets) = (SystemClock::start(), env.secrets());
    let progress = Mutex::new(Progress::default());
    env_logger::Builder::new()
        .filter_level(LevelFilter::Off)
        .filter_module("submitter", level)
        .filter_module(PROGRESS, if has_progress { LevelFilter::Trace } else { LevelFilter::Off })
        .format(move |out, record| {
            let text = redacted(record.args().to_string(), &secrets);
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            if record.target() == PROGRESS {
                out.write_all(progress.draw(&text, clock.elapsed(), width()).as_bytes())
            } else {
                let line = form.line(record.level(), &text, clock.now());
                write!(out, "{}{line}", progress.clear())
            }
        })
        .try_init()?;
    for warning in wrong.into_iter().chain(warnings) {
        crate::text::warn(warning);
    }
    Ok(())
}

/// Whether a terminal understands colours and how to write a line anew.
fn is_capable(env: &Env) -> bool {
    env.get_os("TERM").is_some_and(|term| term != "dumb")
}

fn width() -> usize {
    terminal_size_of(std::io::stderr()).map_or(WIDTH, |(Width(width), _)| width).into()
}
