//! The platform over HTTP: the only sockets of the program besides those of `ping`, and the only
//! place that shows the token to anyone. [`HttpReader`] cannot POST; [`HttpWriter`] can do nothing
//! else.

mod in_order;
mod retry;
pub mod route;
mod writer;

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use self::in_order::in_order;
use self::retry::{MAX_RETRIES, random_fraction, retry_wait};
pub use self::writer::HttpWriter;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::{Bucket, NewTask, Precheck, ReadApi, ReadError, SlicePage, TaskPage, wire};
use crate::clock::{Stop, Watch};
use crate::gpu::Catalog;
use crate::pair::ModelId;
use crate::secret::Token;
use crate::text::Field;

const TASK_PAGE: &str = "/api/adapt/task/page";
const TASK_ADD: &str = "/api/adapt/task/add";
const SEARCH_BY_MODEL_ID: &str = "/api/computility/models/search-by-model-id";

/// The refresh is to be the last thing that the platform is asked before a POST. What leaves later,
/// on another connection, could still arrive earlier.
const HEAD_START: Duration = Duration::from_millis(2);

/// How long a request beside a POST may take: the POST is told of when both have ended.
const BESIDE: Duration = Duration::from_secs(5);

const MAX_BODY: u64 = 16 << 20;
const MAX_URL: usize = 8 << 10;

/// Where the platform is and how to speak to it.
#[derive(Debug, Clone)]
pub struct Endpoint<'a> {
    /// Scheme, host and port; no slash at the end.
    pub base: &'a str,
    /// Path of the build-config call, where one is configured.
    pub build_config_path: Option<&'a str>,
    /// Time for one whole exchange.
    pub timeout: Duration,
    /// The credential.
    pub token: &'a Token,
    /// Asked before every request.
    pub watch: Watch<'a>,
    /// Counts every request of the run.
    pub requests: Arc<AtomicU64>,
}

impl Endpoint<'_> {
    fn agent(&self, idle_connections: usize) -> Agent {
        agent(self.base, self.timeout, idle_connections)
    }

    /// What failed, and where.
    fn failed(&self, error: &ureq::Error) -> String {
        format!("{}: {error}", self.base)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// An agent that follows nothing, and that gives up in time. Plain http is for loopback alone,
/// and a proxy there would be another host that sees the token.
fn agent(base: &str, timeout: Duration, idle_connections: usize) -> Agent {
    let https = base.starts_with("https://");
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .https_only(https)
        .user_agent(concat!("submitter/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .timeout_global(Some(timeout))
        .max_idle_connections(idle_connections)
        .max_idle_connections_per_host(idle_connections);
    if !https {
        config = config.proxy(None);
    }
    config.build().into()
}

/// The reading half: GET only.
#[derive(Debug)]
pub struct HttpReader<'a> {
    endpoint: Endpoint<'a>,
    agent: Agent,
    connections: usize,
    catalog: &'a Catalog,
}

/// A complete HTTP answer.
struct Answer {
    status: u16,
    body: Vec<u8>,
    retry_after: Option<String>,
}

impl<'a> HttpReader<'a> {
    /// A reader that keeps up to `connections` connections open.
    #[must_use]
    pub fn new(endpoint: Endpoint<'a>, connections: usize, catalog: &'a Catalog) -> Self {
        let agent = endpoint.agent(connections);
        Self { endpoint, agent, connections, catalog }
    }

    /// One GET, tried up to three times: transport errors, 429 and 5xx may pass.
    fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Answer, ReadError> {
        let mut retries = 0;
        loop {
            self.endpoint.watch.may_start().map_err(ReadError::Stopped)?;
            let outcome = self.get_once(path, query, self.endpoint.timeout);
            let retry_after = match &outcome {
                Ok(answer) if answer.status == 429 || answer.status >= 500 => &answer.retry_after,
                Err(ReadError::Transport(_)) => &None,
                Ok(_) | Err(_) => return outcome,
            };
            let wait = retry_wait(retry_after.as_deref(), retries, random_fraction());
            if retries == MAX_RETRIES {
                return outcome;
            }
            match self.endpoint.watch.wait(wait) {
                Ok(()) => retries += 1,
                // A wait that the deadline does not allow is no wait: the answer stands.
                Err(Stop::Deadline) => return outcome,
                Err(stop) => return Err(ReadError::Stopped(stop)),
            }
        }
    }

    fn get_once(
        &self,
        path: &str,
        query: &[(&str, &str)],
        timeout: Duration,
    ) -> Result<Answer, ReadError> {
        // The library panics on a URL that is too long for it.
        let length: usize = query.iter().map(|(name, value)| name.len() + 3 * value.len()).sum();
        if path.len() + length > MAX_URL {
            return Err(ReadError::Transport(format!("a URL of more than {MAX_URL} bytes")));
        }
        self.endpoint.requests.fetch_add(1, Ordering::Relaxed);
        log::trace!("[live] request method=GET path={}", Field(path));
        let response = self
            .agent
            .get(self.endpoint.url(path))
            .header("Xc-Token", self.endpoint.token.expose())
            .query_pairs(query.iter().copied())
            .config()
            .timeout_global(Some(timeout))
            .build()
            .call()
            .map_err(|error| ReadError::Transport(self.endpoint.failed(&error)))?;
        read_answer(response).map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => {
                ReadError::MalformedJson(format!("a body over {MAX_BODY} bytes"))
            }
            error => ReadError::Transport(self.endpoint.failed(&error)),
        })
    }

    /// The body of a successful answer.
    fn body(answer: Answer, forbidden_is_credential: bool) -> Result<Vec<u8>, ReadError> {
        match answer.status {
            200..=299 => Ok(answer.body),
            401 => Err(ReadError::Credential("HTTP 401".into())),
            403 if forbidden_is_credential => Err(ReadError::Credential("HTTP 403".into())),
            status => match wire::Envelope::read(&answer.body).and_then(|e| e.code()) {
                Some(code) if crate::codes::class(code) == crate::codes::Class::Credential => {
                    Err(ReadError::Credential(format!("code {code}")))
                }
                _ => Err(ReadError::Http(status)),
            },
        }
    }
}

impl HttpReader<'_> {
    fn judge_precheck(&self, mut answer: Answer) -> Result<Precheck, ReadError> {
        if answer.status == 404 && wire::is_unknown_model(&answer.body) {
            answer.status = 200;
        }
        wire::precheck(&Self::body(answer, false)?, self.catalog)
    }
}

impl ReadApi for HttpReader<'_> {
    fn own_tasks(&self, current: u64, size: u64) -> Result<TaskPage, ReadError> {
        let (current, size) = (current.to_string(), size.to_string());
        let answer = self
            .get(TASK_PAGE, &[("onlyMine", "true"), ("pageSize", &size), ("current", &current)])?;
        wire::task_page(&Self::body(answer, true)?)
    }

    /// Over as many connections as this reader keeps, at the most.
    fn own_task_pages(
        &self,
        pages: RangeInclusive<u64>,
        size: u64,
        each: &mut dyn FnMut(u64, Result<TaskPage, ReadError>) -> ControlFlow<()>,
    ) {
        let ask = |number| self.own_tasks(number, size);
        in_order(pages, self.connections, &ask, each);
    }

    fn everyones_tasks(
        &self,
        bucket: Bucket,
        current: u64,
        size: u64,
        timeout: Duration,
    ) -> Result<SlicePage, ReadError> {
        let (current, size) = (current.to_string(), size.to_string());
        let mut query = vec![
            ("onlyMine", "false"),
            ("status", bucket.status()),
            ("pageSize", &size),
            ("current", &current),
        ];
        query.extend(bucket.verify_result().map(|result| ("verifyResult", result)));
        self.endpoint.watch.may_start().map_err(ReadError::Stopped)?;
        let answer = self.get_once(TASK_PAGE, &query, timeout.min(self.endpoint.timeout))?;
        wire::slice_page(&Self::body(answer, true)?)
    }

    fn precheck(&self, model: &ModelId) -> Result<Precheck, ReadError> {
        self.judge_precheck(self.get(SEARCH_BY_MODEL_ID, &[("modelId", model.as_str())])?)
    }

    /// `act` runs on this thread. The precheck is not retried: `act` is not to wait for it.
    fn precheck_during<T>(
        &self,
        model: &ModelId,
        act: impl FnOnce(&mut dyn FnMut()) -> T,
    ) -> (Option<Result<Precheck, ReadError>>, T) {
        let ask = || {
            self.endpoint.watch.clock.sleep(HEAD_START);
            self.endpoint.watch.may_start().map_err(ReadError::Stopped)?;
            let query = [("modelId", model.as_str())];
            let timeout = self.endpoint.timeout.min(BESIDE);
            let answer = self.get_once(SEARCH_BY_MODEL_ID, &query, timeout)?;
            self.judge_precheck(answer)
        };
        std::thread::scope(|scope| {
            let (say, hear) = channel();
            let ask = move || hear.recv().ok().map(|()| ask());
            let asked = std::thread::Builder::new().spawn_scoped(scope, ask);
            let done = act(&mut || say.send(()).unwrap_or_default());
            drop(say);
            (asked.ok().and_then(|asked| asked.join().ok().flatten()), done)
        })
    }

    fn build_config(&self, task: &NewTask) -> Result<String, ReadError> {
        let path = self.endpoint.build_config_path.unwrap_or_default();
        let answer = self.get(
            path,
            &[
                ("modelAddress", &task.model_address),
                ("taskType", &task.task_type),
                ("targetGpu", &task.target_gpu),
                ("framework", &task.framework),
            ],
        )?;
        wire::build_config(&Self::body(answer, false)?)
    }

    fn requests(&self) -> u64 {
        self.endpoint.requests.load(Ordering::Relaxed)
    }
}

fn read_answer(mut response: Response<Body>) -> Result<Answer, ureq::Error> {
    let retry_after = response.headers().get("retry-after");
    let retry_after = retry_after.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec()?;
    Ok(Answer { status, body, retry_after })
}
