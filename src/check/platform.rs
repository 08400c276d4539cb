//! The platform, read with the credential: the own tasks, a precheck, the build-config; and a
//! rehearsal of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use super::{Findings, Item, Status};
use crate::api::http::{Endpoint, HttpReader};
use crate::api::{NewTask, Precheck, ReadApi, ReadError, TaskPage};
use crate::cli::Check;
use crate::clock::{Clock, Watch};
use crate::env::Env;
use crate::exit::{Exit, Hold, Reason};
use crate::gate;
use crate::gpu::Catalog;
use crate::journal::history::History;
use crate::pair::ModelId;
use crate::plan;
use crate::remote::{Names, Remote};
use crate::report::Action;
use crate::run;
use crate::secret::Token;
use crate::settings::{ConfigSource, Refresh, Settings};
use crate::sources::Candidate;
use crate::sources::baked::{self, Data};

/// The most rows that a page may be asked for.
const MOST: u64 = 1_000;

/// No model has this name, so nothing blocks it.
const NO_MODEL: &str = "submitter-check/no-such-model";

/// What the platform is looked at with.
pub(super) struct Platform<'a> {
    pub(super) args: &'a Check,
    pub(super) settings: &'a Settings,
    pub(super) data: Option<&'a Data>,
    pub(super) env: &'a Env,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
}

impl Platform<'_> {
    /// What is to be said of the platform's answers.
    pub(super) fn items(&self, token: &Token, history: Option<&History>) -> Vec<Item> {
        let compiled = baked::catalog(None).ok();
        let catalog = self.data.map(|data| &data.catalog).or(compiled.as_ref());
        let Some(catalog) = catalog else { return Vec::new() };
        let settings = self.settings;
        let deadline = Duration::from_secs(settings.deadline_seconds);
        let endpoint = Endpoint {
            base: &settings.api_base,
            build_config_path: settings.build_config_path.as_deref(),
            timeout: settings.request_timeout,
            token,
            watch: Watch { clock: self.clock, deadline, stop: self.stop },
            requests: Arc::new(AtomicU64::new(0)),
        };
        let api = HttpReader::new(endpoint, 1, catalog);
        let page = match api.own_tasks(1, MOST) {
            Ok(page) => page,
            Err(error) => return vec![failed("tasks", "GET task/page", &error)],
        };
        let mut items = vec![
            tasks(&page, settings.refresh),
            page_size(&page, u64::from(settings.page_size)),
            self.queue(&page, catalog, history),
        ];
        let made_up = Candidate::new(NO_MODEL);
        let Some((model, row)) = self.first_candidate(&made_up) else { return items };
        items.push(if settings.precheck {
            precheck(&model, &api.precheck(&model))
        } else {
            Item::ok("precheck", "turned off")
        });
        if settings.config_source == ConfigSource::BuildConfig
            && let Some(path) = &settings.build_config_path
        {
            items.push(build_config(path, api.build_config(&task(row, catalog)).err().as_ref()));
        }
        items
    }

    /// The unfinished tasks against the threshold. Only a list that one page shows is counted to
    /// its end, with the submissions that it does not show yet.
    fn queue(&self, page: &TaskPage, catalog: &Catalog, history: Option<&History>) -> Item {
        let mut names = Names::new(catalog);
        let tasks = page.rows.iter().map(|row| names.task(row)).collect();
        let remote = Remote { tasks, also_seen: Vec::new(), page_size: page.size };
        let (counted, rows) = (remote.stats(), page.rows.len());
        let is_whole = rows as u64 == page.total;
        let queue = match history {
            Some(history) if is_whole => gate::queue(&counted, &remote, history),
            _ => counted.queue,
        };
        let threshold = self.settings.queue_threshold;
        let least = if is_whole { "" } else { "at least " };
        let found = format!("{least}{queue} unfinished tasks, threshold {threshold}");
        match gate::ask(queue, &self.settings.hints, threshold) {
            Ok(()) => Item::ok("queue", found),
            Err(hold) => {
                // A hint that cannot be read blocks every run until somebody mends it.
                let is_blind = self.settings.hints.iter().any(|hint| hint.depth.is_none());
                let item = Item::hold("queue", hold);
                if is_blind && queue < threshold {
                    Item { status: Status::Fail, ..item }
                } else {
                    item
                }
            }
        }
    }

    /// The first model that a run may submit, else the made-up one.
    fn first_candidate<'a>(&'a self, made_up: &'a Candidate) -> Option<(ModelId, &'a Candidate)> {
        let rows = self.data.into_iter().flat_map(|data| {
            let is_blocked = |model: &_| data.ledger.blocked.contains(model);
            let screened = move |row| Some((plan::screen(row, &data.rules, is_blocked).ok()?, row));
            data.candidates.iter().filter_map(screened)
        });
        rows.chain(ModelId::parse(NO_MODEL).ok().map(|model| (model, made_up))).next()
    }

    /// What a run would do now, up to its first submission: the same program, without a way to
    /// write or to POST. Not made where something before it would end the run anyway.
    pub(super) fn rehearsal(&self, findings: &Findings) -> Item {
        const ITEM: &str = "rehearsal";
        if !matches!(findings.exit(), Exit::Submitted | Exit::Held) {
            return Item::skip(ITEM, "not made: a run would fail for what is told above");
        }
        let mut flags = self.args.flags.clone();
        flags.max_attempts = Some("1".into());
        let level = log::max_level();
        if level < log::LevelFilter::Debug {
            log::set_max_level(log::LevelFilter::Off);
        }
        let ran = run::rehearse(&flags, self.env, self.clock, self.stop);
        log::set_max_level(level);
        let decisions = ran.report.decisions();
        match decisions.iter().find(|decision| decision.action == Action::Plan) {
            Some(plan) if ran.end.exit == Exit::Submitted => {
                let model = plan.model.as_deref().unwrap_or_default();
                let gpu = plan.gpu.as_deref().unwrap_or_default();
                Item::ok(ITEM, format!("a run would submit {model} on {gpu} now"))
            }
            _ => {
                let detail = decisions.last().map_or("", |last| last.detail.as_str());
                let colon = if detail.is_empty() { "" } else { ": " };
                let found = format!("a run would hold{colon}{detail}");
                Item::hold(ITEM, Hold::because(ran.end.reason, found))
            }
        }
    }
}

/// A task that is never sent, to ask for its build-config.
fn task(row: &Candidate, catalog: &Catalog) -> NewTask {
    let card = plan::cards(row, catalog).into_iter().next();
    let card = card.or_else(|| catalog.targets().first().cloned());
    NewTask {
        model_address: row.address.clone(),
        task_type: row.task_type.clone(),
        target_gpu: card.map_or(String::new(), |card| card.to_string()),
        framework: row.framework.clone(),
        strategy_id: String::new(),
        config_params: String::new(),
    }
}

/// A read that failed, as it would hold a run.
fn failed(item: &'static str, tried: &str, error: &ReadError) -> Item {
    let other = || Hold::because(Reason::LedgerRebuildFailed, format!("{tried}: {error}"));
    Item::hold(item, error.ends_cycle(tried).unwrap_or_else(other))
}

/// A page of own tasks: whether it can be read, and whether its order allows the short refresh.
fn tasks(page: &TaskPage, refresh: Refresh) -> Item {
    let TaskPage { current, total, rows, unreadable, .. } = page;
    let shown = rows.len();
    let found = format!("total {total}, page {current} has {shown} readable rows");
    if *unreadable > 0 || *current != 1 {
        let found = format!("{found} and {unreadable} unreadable ones, page 1 was asked for");
        return Item::hold("tasks", Hold::because(Reason::LedgerIncomplete, found));
    }
    if rows.is_sorted_by(|a, b| a.id > b.id) {
        Item::ok("tasks", format!("{found} in strictly descending order"))
    } else if refresh == Refresh::Auto {
        let found = format!("{found}, not in descending order");
        Item::warn("tasks", found).todo("nothing: a run reads everything before each submission")
    } else {
        Item::ok(
            "tasks",
            format!("{found}, not in descending order, which LIVE_REFRESH full needs not"),
        )
    }
}

/// How many rows a page may have, by a page for which [`MOST`] were asked.
fn page_size(page: &TaskPage, configured: u64) -> Item {
    const ITEM: &str = "page_size";
    let allowed = page.size.min(MOST);
    let rows = (page.rows.len() + page.unreadable) as u64;
    if page.total == 0 {
        return Item::ok(ITEM, "the list is empty, so the server's limit does not show");
    }
    if rows < allowed.min(page.total) {
        let found = format!("{rows} rows of {} where {allowed} are announced", page.total);
        return Item::warn(ITEM, found).todo(format!("set LIVE_PAGE_SIZE to {}", rows.max(1)));
    }
    let found = format!("the server allows {allowed} rows a page, LIVE_PAGE_SIZE is {configured}");
    let set = format!("set LIVE_PAGE_SIZE to {allowed}");
    if configured > allowed {
        Item::warn(ITEM, format!("{found}: each read begins twice")).todo(set)
    } else if configured < allowed && page.total > configured {
        Item::ok(ITEM, found).todo(format!("{set} for fewer requests"))
    } else {
        Item::ok(ITEM, found)
    }
}

fn precheck(model: &ModelId, answer: &Result<Precheck, ReadError>) -> Item {
    let tried = format!("GET precheck of {model}");
    match answer {
        Ok(blocked) => {
            let found = match blocked.len() {
                0 => "no card is excluded".to_owned(),
                1 => "1 card is excluded".to_owned(),
                more => format!("{more} cards are excluded"),
            };
            Item::ok("precheck", format!("{tried}: {found}"))
        }
        Err(error) => match error.ends_cycle(&tried) {
            Some(hold) => Item::hold("precheck", hold),
            None => Item::warn("precheck", format!("{tried}: {error}"))
                .todo("nothing: a run then leaves the verdict to the submission"),
        },
    }
}

fn build_config(path: &str, error: Option<&ReadError>) -> Item {
    let tried = format!("GET {path}");
    match error.map(|error| (error, error.ends_cycle(&tried))) {
        None => Item::ok("build_config", format!("{tried} answers")),
        Some((_, Some(hold))) => Item::hold("build_config", hold),
        Some((error, None)) => Item::warn("build_config", format!("{tried}: {error}"))
            .todo("correct MODELHUB_BUILD_CONFIG_PATH; until then the sample is sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{TaskId, TaskRow};

    /// A page of these ids, of a list of `total`, as the answer to a request for [`MOST`] rows.
    fn page(ids: &[u64], size: u64, total: u64) -> TaskPage {
        let row = |id: &u64| TaskRow {
            id: TaskId(*id),
            model: "a/b".into(),
            card: "A_1".into(),
            status: "running".into(),
            verify_result: None,
            points: 0.0,
        };
        TaskPage { current: 1, size, total, rows: ids.iter().map(row).collect(), unreadable: 0 }
    }

    #[test]
    fn the_page_size_that_the_server_allows_is_told() {
        for (page, configured, says) in [
            (page(&[], 1_000, 0), 100, "ok page_size: the list is empty"),
            (page(&[2, 1], 1_000, 2), 100, "ok page_size: the server allows 1000"),
            (page(&[3, 2, 1], 1_000, 3), 2, "-> set LIVE_PAGE_SIZE to 1000 for fewer requests"),
            (page(&[3, 2], 2, 3), 3, "each read begins twice -> set LIVE_PAGE_SIZE to 2"),
            (page(&[3, 2], 2, 3), 2, "ok page_size: the server allows 2 rows"),
            (page(&[3, 2], 1_000, 3), 1_000, "2 rows of 3 where 1000 are announced -> set LIVE"),
        ] {
            let line = page_size(&page, configured).to_string();
            assert!(line.contains(says), "{says} in {line}");
        }
    }

    #[test]
    fn the_order_that_the_short_refresh_needs_is_strict() {
        for (ids, refresh, status) in [
            (&[][..], Refresh::Auto, Status::Ok),
            (&[3, 2, 1], Refresh::Auto, Status::Ok),
            (&[3, 3], Refresh::Auto, Status::Warn),
            (&[1, 2], Refresh::Auto, Status::Warn),
            (&[1, 2], Refresh::Full, Status::Ok),
        ] {
            let item = tasks(&page(ids, 1_000, ids.len() as u64), refresh);
            assert_eq!(item.status, status, "{item}");
        }
        for odd in [
            TaskPage { unreadable: 1, ..page(&[1], 1_000, 2) },
            TaskPage { current: 2, ..page(&[1], 1_000, 1) },
        ] {
            let item = tasks(&odd, Refresh::Auto);
            assert_eq!(item.reason, Some(Reason::LedgerIncomplete), "{item}");
        }
    }

    #[test]
    fn a_precheck_says_how_many_cards_it_excludes() {
        let model = ModelId::parse("a/b").unwrap();
        let said = precheck(&model, &Ok(Precheck::default())).to_string();
        assert_eq!(said, "[check] ok precheck: GET precheck of a/b: no card is excluded");
    }
}
