//! The writing half: the only place from which a POST leaves.

use std::io::{self, Read};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ureq::http::Response;
use ureq::{Agent, Body, SendBody};

use super::{Endpoint, TASK_ADD, read_answer};
use crate::api::{Accepted, AddError, NewTask, WriteApi, answer};
use crate::clock::Watch;
use crate::text::Field;

/// The writing half: one kind of POST, each on a connection of its own.
#[derive(Debug)]
pub struct HttpWriter<'a> {
    endpoint: Endpoint<'a>,
    agent: Agent,
}

impl<'a> HttpWriter<'a> {
    /// A writer that keeps no connection: a request on a reused one can be lost in the moment in
    /// which the server closes it, and then nobody knows whether it was taken (S05).
    #[must_use]
    pub fn new(endpoint: Endpoint<'a>) -> Self {
        let agent = endpoint.agent(0);
        Self { endpoint, agent }
    }
}

impl WriteApi for HttpWriter<'_> {
    fn add_task(
        &self,
        task: &NewTask,
        not_after: Duration,
        sent: &mut dyn FnMut(),
    ) -> Result<Accepted, AddError> {
        let not_sent = |detail, stop| AddError::NotSent { detail, stop };
        self.endpoint
            .watch
            .may_start()
            .map_err(|stop| not_sent(format!("not sent: {stop}"), Some(stop)))?;
        let body = serde_json::to_vec(task).map_err(|error| not_sent(error.to_string(), None))?;
        let watch = self.endpoint.watch;
        let mut body =
            Telltale { bytes: &body, touched: false, late: false, watch, not_after, sent };
        self.endpoint.requests.fetch_add(1, Ordering::Relaxed);
        log::trace!("[live] request method=POST path={}", Field(TASK_ADD));
        let response = self
            .agent
            .post(self.endpoint.url(TASK_ADD))
            .header("Xc-Token", self.endpoint.token.expose())
            .header("Content-Type", "application/json")
            .header("Content-Length", body.bytes.len())
            .send(SendBody::from_reader(&mut body));
        let in_doubt =
            |http, error: &ureq::Error| AddError::InDoubt { http, detail: error.to_string() };
        match response {
            Ok(response) => {
                let http = response.status().as_u16();
                let encoded = is_encoded(&response);
                match read_answer(response) {
                    Ok(_) if encoded && !matches!(http, 401 | 403) => {
                        let detail = "an encoded body, which was not asked for".to_owned();
                        Err(AddError::InDoubt { http: Some(http), detail })
                    }
                    Ok(answer) => answer::judge(http, &answer.body),
                    Err(error) => Err(in_doubt(Some(http), &error)),
                }
            }
            Err(_) if body.late => Err(AddError::TooLate),
            Err(error) if body.touched => Err(in_doubt(None, &error)),
            Err(error) => Err(not_sent(self.endpoint.failed(&error), None)),
        }
    }
}

/// A request body that remembers whether it was ever asked for. ureq's errors do not tell
/// whether a request left; an untouched body certainly did not.
///
/// It refuses where connecting took so long that what is known of the platform has aged. It says
/// `sent` with its last byte, which it keeps to itself until all others have been written out: the
/// library tells nobody when it begins to wait for the answer.
struct Telltale<'a> {
    bytes: &'a [u8],
    touched: bool,
    late: bool,
    watch: Watch<'a>,
    not_after: Duration,
    sent: &'a mut dyn FnMut(),
}

impl Read for Telltale<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.touched && self.watch.clock.elapsed() > self.not_after {
            self.late = true;
            return Err(io::Error::other("too late"));
        }
        self.touched = true;
        match self.bytes {
            [] => Ok(0),
            [last] => {
                (self.sent)();
                self.bytes = &[];
                (&[*last][..]).read(buffer)
            }
            [most @ .., _] => {
                let count = (&*most).read(buffer)?;
                self.bytes = &self.bytes[count..];
                Ok(count)
            }
        }
    }
}

/// Whether a body is compressed or otherwise encoded: then its code cannot be read.
fn is_encoded(response: &Response<Body>) -> bool {
    let encoding = response.headers().get("content-encoding");
    encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}
