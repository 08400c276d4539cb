//! Trouble on request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::api::Kind;
use super::http::{Reply, Request};
use super::names::{card_enum, model_key};
use super::state::{GateState, Shared};
use super::tasks::Tasks;

/// Which requests a fault is for. Requests are counted from the moment the fault is scripted, and
/// only those that fit everything else that the trigger says.
#[derive(Clone, Debug)]
pub struct Trigger {
    kind: Kind,
    nth: Option<usize>,
    page: Option<String>,
    model: Option<String>,
    gpu: Option<String>,
}

impl Trigger {
    pub fn every(kind: Kind) -> Self {
        Self { kind, nth: None, page: None, model: None, gpu: None }
    }

    /// The `n`th from now alone, the next being the first.
    pub fn nth(kind: Kind, n: usize) -> Self {
        assert!(n > 0, "the next request is number 1");
        Self { nth: Some(n), ..Self::every(kind) }
    }

    /// Only requests for this page (`current`).
    pub fn page(self, current: u64) -> Self {
        Self { page: Some(current.to_string()), ..self }
    }

    /// Only POSTs and prechecks of this model.
    pub fn model(self, model: &str) -> Self {
        Self { model: Some(model_key(model)), ..self }
    }

    /// Only POSTs for this card.
    pub fn gpu(self, gpu: &str) -> Self {
        Self { gpu: Some(card_enum(gpu).into()), ..self }
    }

    /// Whether it is for this request, which is the `seen`th of those that fit.
    pub fn is_due(&self, seen: usize) -> bool {
        self.nth.is_none_or(|n| n == seen)
    }

    /// Whether the request is one that the trigger counts.
    pub fn fits(&self, request: &Request) -> bool {
        let on_page = |page: &String| request.query("current") == Some(page);
        let of_model = |model: &String| request.model().as_ref() == Some(model);
        let for_gpu = |gpu: &String| request.posted_pair().is_some_and(|(_, own)| own == *gpu);
        self.kind.covers(request.kind)
            && self.page.as_ref().is_none_or(on_page)
            && self.model.as_ref().is_none_or(of_model)
            && self.gpu.as_ref().is_none_or(for_gpu)
    }
}

type Scripted<T> = Mutex<Box<dyn FnMut(&mut T) + Send>>;

/// What happens in place of the honest answer, or around it. Several may meet in one request: all
/// holds, edits and side effects take place, and the first of the others decides what is sent.
///
/// Without `after_commit`, a POST that fails has had no effect.
pub struct Fault {
    pub(super) action: Action,
    pub(super) commit: bool,
}

pub(super) enum Action {
    HeadOnly,
    Fin,
    Rst,
    Answer(Reply),
    Truncated,
    CutChunked,
    SlowBody(Duration),
    NoAnswer,
    CloseAfter,
    Edit(Scripted<Value>),
    Then(Scripted<Tasks>),
    Hold(usize),
}

impl Fault {
    fn new(action: Action) -> Self {
        Self { action, commit: false }
    }

    /// Reads the head of the request, then closes: the body is never read, and never committed.
    pub fn head_only() -> Self {
        Self::new(Action::HeadOnly)
    }

    /// Reads the request, then closes in good order (FIN) without an answer.
    pub fn fin() -> Self {
        Self::new(Action::Fin)
    }

    /// Reads the request, then resets the connection (RST) without an answer.
    pub fn rst() -> Self {
        Self::new(Action::Rst)
    }

    /// An answer of this status, empty unless `with_body` follows.
    pub fn status(status: u16) -> Self {
        Self::new(Action::Answer(Reply { status, headers: Vec::new(), body: String::new() }))
    }

    /// This text with HTTP 200, as JSON.
    pub fn body(text: &str) -> Self {
        Self::new(Action::Answer(Reply::json(200, text.into())))
    }

    /// An HTML page with HTTP 200; with `with_status`, any other.
    pub fn html() -> Self {
        Self::new(Action::Answer(Reply::html(200)))
    }

    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).with_header("Location", location)
    }

    /// Half of the honest body under the Content-Length of the whole, then FIN.
    pub fn truncated() -> Self {
        Self::new(Action::Truncated)
    }

    /// Half of a chunk that holds the honest body, then FIN.
    pub fn cut_chunked() -> Self {
        Self::new(Action::CutChunked)
    }

    /// The honest answer, its body a byte every `interval`.
    pub fn slow_body(interval: Duration) -> Self {
        Self::new(Action::SlowBody(interval))
    }

    /// Silence, until the client closes or the platform stops.
    pub fn no_answer() -> Self {
        Self::new(Action::NoAnswer)
    }

    /// The honest answer, then FIN without notice: a kept connection that is dead when used again.
    pub fn close_after() -> Self {
        Self::new(Action::CloseAfter).after_commit()
    }

    /// Edits the JSON of the honest answer before it is sent.
    pub fn edit(edit: impl FnMut(&mut Value) + Send + 'static) -> Self {
        Self::new(Action::Edit(Mutex::new(Box::new(edit))))
    }

    /// Changes the tasks once the answer stands and before it is sent, so that every later request
    /// sees the change. The closure must not call the platform, which waits for it.
    pub fn then(change: impl FnMut(&mut Tasks) + Send + 'static) -> Self {
        Self::new(Action::Then(Mutex::new(Box::new(change))))
    }

    pub(super) fn hold(gate: usize) -> Self {
        Self::new(Action::Hold(gate))
    }

    /// Commits a POST before the fault strikes.
    pub fn after_commit(self) -> Self {
        Self { commit: true, ..self }
    }

    pub fn with_status(self, status: u16) -> Self {
        self.edit_reply(|reply| reply.status = status)
    }

    pub fn with_body(self, text: &str) -> Self {
        self.edit_reply(|reply| reply.body = text.into())
    }

    pub fn with_header(self, name: &str, value: &str) -> Self {
        self.edit_reply(|reply| reply.headers.push((name.into(), value.into())))
    }

    fn edit_reply(mut self, edit: impl FnOnce(&mut Reply)) -> Self {
        let Action::Answer(reply) = &mut self.action else {
            panic!("only a fault that answers has a status, headers and a body");
        };
        edit(reply);
        self
    }

    /// Whether it decides what is sent, in place of the honest answer.
    pub(super) fn replaces_answer(&self) -> bool {
        !matches!(self.action, Action::Edit(_) | Action::Then(_) | Action::Hold(_))
    }
}

/// Runs a scripted closure.
pub(super) fn run<T>(scripted: &Scripted<T>, subject: &mut T) {
    scripted.lock().unwrap_or_else(PoisonError::into_inner)(subject);
}

/// Holds requests back until it is released or dropped.
pub struct Gate {
    shared: Arc<Shared>,
    id: usize,
}

impl Gate {
    pub(super) fn install(shared: &Arc<Shared>, trigger: Trigger, commit: bool) -> Self {
        let mut state = shared.lock();
        let id = state.gates.len();
        state.gates.push(GateState::default());
        state.script(trigger, Fault { commit, ..Fault::hold(id) });
        Self { shared: Arc::clone(shared), id }
    }

    /// Waits for a request to arrive at the gate; false when `timeout` was too short.
    pub fn wait_reached(&self, timeout: Duration) -> bool {
        self.shared.wait_until(timeout, |state| state.gates[self.id].reached > 0)
    }

    /// Lets the held request go on, and later ones pass.
    pub fn release(&self) {
        self.shared.lock().gates[self.id].open = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.release();
    }
}
