//! `submitter run`: everything that stands before and behind a cycle. Local things come first,
//! so that a wrong setting costs no request.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use crate::access::credential;
use crate::account::{self, Account};
use crate::api::ReadApi;
use crate::api::http::{Endpoint, HttpReader, HttpWriter};
use crate::cli::Run;
use crate::clock::{Clock, Watch};
use crate::cycle::{Cycle, Sending, Slices};
use crate::disk::mounts::network_file_system;
use crate::env::Env;
use crate::exit::{self, Hold, Reason};
use crate::flags::Flags;
use crate::journal;
use crate::journal::event::{CycleEnd, Event};
use crate::journal::file::Opened;
use crate::local::Local;
use crate::pause::PauseFile;
use crate::report::{Decision, End, Report};
use crate::secret::Token;
use crate::settings::{Settings, read_snapshot_file};
use crate::submit::{Desk, Live, Rehearsal};

/// A run's report and its end.
#[derive(Debug)]
pub struct Ran {
    /// What was decided.
    pub report: Report,
    /// How it ended.
    pub end: End,
    /// Its last line: that of the cycle, or the hold where there was none.
    pub last: String,
}

/// Runs one cycle with the machine's network and disk.
#[must_use]
pub fn run(args: &Run, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> Ran {
    if args.dry_run {
        return rehearse(&args.flags, env, clock, stop);
    }
    let report = Report::new(false, clock.now());
    ran(report, &args.flags, env, clock, stop, submitting)
}

/// Runs a cycle that does all but write: it gets nothing that can POST, takes no lock, and leaves
/// no file.
#[must_use]
pub fn rehearse(flags: &Flags, env: &Env, clock: &dyn Clock, stop: &AtomicBool) -> Ran {
    let report = Report::new(true, clock.now());
    ran(report, flags, env, clock, stop, |table, _, report| rehearsed(table, report))
}

fn ran(
    mut report: Report,
    flags: &Flags,
    env: &Env,
    clock: &dyn Clock,
    stop: &AtomicBool,
    desk: AtDesk,
) -> Ran {
    let outcome = Prepared::of(flags, env).map(|run| cycle(&run, clock, stop, &mut report, desk));
    let (hold, requests) = match outcome {
        Ok(ended) => ended,
        Err(hold) => {
            // Nothing was read or locked: there is no cycle to sum up.
            report.hold(&hold);
            let exit = hold.reason.exit();
            let end = End { reason: hold.reason, exit, requests: 0, elapsed: clock.elapsed() };
            return Ran { report, end, last: Decision::from(&hold).to_string() };
        }
    };
    report.hold(&hold);
    let counts = report.counts();
    let exit = exit::of_run(hold.reason, counts.submitted, counts.in_doubt);
    let end = End { reason: hold.reason, exit, requests, elapsed: clock.elapsed() };
    report.finish(&end);
    Ran { last: report.last_line(&end), report, end }
}

/// What a run knows before its first request.
struct Prepared {
    local: Local,
    token: Token,
}

impl Prepared {
    /// Settings, data files, credential, in this order.
    fn of(flags: &Flags, env: &Env) -> Result<Self, Hold> {
        let local = Local::read(Settings::resolve(flags, env, &read_snapshot_file)?)?;
        let token_file = flags.token_file.as_deref().map(Path::new);
        let token = credential(env, token_file)?;
        Ok(Self { local, token })
    }

    fn slices(&self) -> Option<Slices<'_>> {
        let settings = &self.local.settings;
        settings.foothold.then_some(Slices {
            pages: settings.foothold_pages,
            section: settings.pending_section,
            token: &self.token,
        })
    }

    fn sending(&self) -> Sending {
        let strategy_id = self.local.settings.strategy_id.clone();
        Sending { strategy_id, build_config: self.local.build_config() }
    }
}

/// What is done at the desk of a real cycle or of a rehearsal.
type AtDesk = fn(&Table<'_>, Endpoint<'_>, &mut Report) -> Result<Hold, Hold>;

/// One cycle, real or rehearsed: its hold, and how many requests it made.
fn cycle(
    run: &Prepared,
    clock: &dyn Clock,
    stop: &AtomicBool,
    report: &mut Report,
    desk: AtDesk,
) -> (Hold, u64) {
    let Prepared { local, token } = run;
    let settings = &local.settings;
    let deadline = Duration::from_secs(settings.deadline_seconds);
    let watch = Watch { clock, deadline, stop };
    let endpoint = Endpoint {
        base: &settings.api_base,
        build_config_path: settings.build_config_path.as_deref(),
        timeout: settings.request_timeout,
        token,
        watch,
        requests: Arc::new(AtomicU64::new(0)),
    };
    let reader = HttpReader::new(endpoint.clone(), settings.read_connections, &local.data.catalog);
    let table = Table { run, reader: &reader, watch };
    let hold = desk(&table, endpoint, report).unwrap_or_else(|hold| hold);
    (hold, reader.requests())
}

fn rehearsed(table: &Table<'_>, report: &mut Report) -> Result<Hold, Hold> {
    let (dir, watch) = (&table.run.local.settings.state_dir, table.watch);
    let (history, torn) = journal::file::peek(dir, watch.clock.now())?;
    tell_opening(dir, false, torn);
    let pause = PauseFile::in_dir(dir);
    Ok(table.run(&mut Rehearsal { history, pause, watch }, report).0)
}

fn submitting(
    table: &Table<'_>,
    endpoint: Endpoint<'_>,
    report: &mut Report,
) -> Result<Hold, Hold> {
    let (settings, watch) = (&table.run.local.settings, table.watch);
    let dir = &settings.state_dir;
    let opened = open(settings, watch.clock.now(), watch.deadline)?;
    tell_opening(dir, opened.created, opened.torn);
    let (writer, pause) = (HttpWriter::new(endpoint), PauseFile::in_dir(dir));
    let mut desk = Live { journal: opened.journal, writer, pause, watch };
    let (hold, account) = table.run(&mut desk, report);
    let hold = note_end(&mut desk, hold, report, table.reader.requests());
    keep(dir, account.map(|account| account.without(&table.run.token)));
    Ok(hold)
}

/// Opens the journal, unless two hosts could both hold its lock.
fn open(settings: &Settings, now: u64, deadline: Duration) -> Result<Opened, Hold> {
    let dir = &settings.state_dir;
    if let Some(kind) = network_file_system(dir).filter(|_| !settings.allow_network_state) {
        let next = "keep it on a local disk; --allow-network-state is for one host alone";
        let detail = format!(
            "{} is on {kind}, where a lock may not exclude another host; {next}",
            dir.display()
        );
        return Err(Hold::because(Reason::NetworkState, detail));
    }
    journal::file::open_dir(dir, now, deadline)
}

/// What a cycle needs besides its desk.
struct Table<'a> {
    run: &'a Prepared,
    reader: &'a HttpReader<'a>,
    watch: Watch<'a>,
}

impl Table<'_> {
    fn run(&self, desk: &mut impl Desk, report: &mut Report) -> (Hold, Option<Account>) {
        let Prepared { local, .. } = self.run;
        let cycle = Cycle {
            api: self.reader,
            desk,
            data: &local.data,
            carried_over: &local.carried_over,
            slices: self.run.slices(),
            limits: &local.limits(),
            sending: &self.run.sending(),
            watch: self.watch,
            report,
        };
        cycle.run()
    }
}

fn tell_opening(state_dir: &Path, created: bool, torn: usize) {
    if created {
        log::info!(
            "[live] journal created path={}",
            crate::text::Field(&state_dir.display().to_string())
        );
    }
    if torn > 0 {
        log::warn!(
            "[live] warning the journal ended in {torn} bytes of a write that was cut off; what \
             is legible of them stays taken"
        );
    }
}

/// Leaves the end of a cycle in the journal. A run that was over before it asked anything
/// leaves no trace: a crontab of `* * * * *` would write one every minute.
fn note_end(desk: &mut impl Desk, hold: Hold, report: &Report, requests: u64) -> Hold {
    if requests == 0 || hold.reason == Reason::StateWriteFailed {
        return hold;
    }
    let counts = report.counts();
    let exit = exit::of_run(hold.reason, counts.submitted, counts.in_doubt);
    let end = CycleEnd {
        reason: hold.reason.name().to_owned(),
        exit: exit.code(),
        submitted: counts.submitted,
        rejected: counts.rejected,
        in_doubt: counts.in_doubt,
        requests,
    };
    match desk.note(Event::Cycle(end)) {
        Ok(()) => hold,
        Err(failed) if matches!(exit, exit::Exit::Attention | exit::Exit::Credential) => {
            crate::text::warn(failed.detail);
            hold
        }
        Err(failed) => failed,
    }
}

/// Keeps what was seen of the account, for people to look at.
fn keep(state_dir: &Path, account: Option<Account>) {
    let Some(account) = account else { return };
    if let Err(error) = account::keep(state_dir, &account) {
        crate::text::warn(format_args!("{error:#}; `status` shows an older account"));
    }
}
