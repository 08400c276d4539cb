//! Sockets and threads: one thread accepts, one serves each connection.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::api::{self, Kind};
use super::fault::{self, Action, Fault};
use super::http::{Reply, Request, Wire};
use super::state::Shared;

/// Accepts until the platform stops; returns when the thread of every connection has ended.
pub fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if shared.is_stopping() {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let Some(connection) = stream.ok().and_then(|stream| Connection::open(stream, shared))
        else {
            continue;
        };
        threads.push(thread::spawn(move || connection.serve()));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// One client's connection, known to the platform as long as it lives.
struct Connection {
    wire: Wire,
    shared: Arc<Shared>,
    number: usize,
}

/// Whether a connection can carry another request.
#[derive(PartialEq, Eq)]
enum After {
    Keep,
    Close,
}

impl Connection {
    fn open(stream: TcpStream, shared: &Arc<Shared>) -> Option<Self> {
        let number = shared.register(&stream)?;
        let wire = Wire::new(stream).inspect_err(|_| shared.unregister(number)).ok()?;
        Some(Self { wire, shared: Arc::clone(shared), number })
    }

    /// Answers requests until one side has had enough. An error of the socket is the client's
    /// business.
    fn serve(mut self) {
        let mut index = 0;
        while let Ok(Some(mut request)) = self.wire.read_head() {
            request.connection = self.number;
            request.index = index;
            index += 1;
            let stays =
                !self.shared.admit_head(&mut request) && self.wire.read_body(&mut request).is_ok();
            let faults = self.shared.admit(&mut request);
            if !stays || !matches!(self.exchange(&request, &faults), Ok(After::Keep)) {
                break;
            }
        }
    }

    fn exchange(&mut self, request: &Request, faults: &[Arc<Fault>]) -> io::Result<After> {
        let replacement = faults.iter().find(|fault| fault.replaces_answer());
        self.hold(faults, false);
        let latency = self.shared.lock().account.latency;
        self.shared.pause(latency);

        let takes_effect =
            request.kind != Kind::Add || replacement.is_none_or(|fault| fault.commit);
        let mut reply = self.carry_out(request, takes_effect, faults);
        edit(&mut reply, faults);
        self.hold(faults, true);
        self.deliver(request, &reply, replacement.map(|fault| &fault.action))
    }

    fn hold(&self, faults: &[Arc<Fault>], committed: bool) {
        for fault in faults {
            if let Action::Hold(gate) = fault.action
                && fault.commit == committed
            {
                self.shared.pass_gate(gate);
            }
        }
    }

    /// The request and its side effects, with no other request in between.
    fn carry_out(&self, request: &Request, takes_effect: bool, faults: &[Arc<Fault>]) -> Reply {
        let state = &mut *self.shared.lock();
        let reply = if takes_effect { api::answer(state, request) } else { api::not_taken() };
        for fault in faults {
            if let Action::Then(change) = &fault.action {
                fault::run(change, &mut state.account.tasks);
            }
        }
        reply
    }

    fn deliver(
        &mut self,
        request: &Request,
        reply: &Reply,
        fault: Option<&Action>,
    ) -> io::Result<After> {
        if !matches!(fault, Some(Action::Rst)) {
            self.wire.finish()?;
        }
        let half = &reply.body.as_bytes()[..reply.body.len() / 2];
        match fault {
            Some(Action::Answer(scripted)) => return self.send(request, scripted),
            Some(Action::Truncated) => {
                self.wire.write(&[reply.head_with_length().as_bytes(), half].concat())?;
            }
            Some(Action::CutChunked) => {
                let head = reply.head("Transfer-Encoding: chunked");
                let size = format!("{:x}\r\n", reply.body.len());
                self.wire.write(&[head.as_bytes(), size.as_bytes(), half].concat())?;
            }
            Some(Action::SlowBody(interval)) => {
                self.wire.write(reply.head_with_length().as_bytes())?;
                for byte in reply.body.as_bytes() {
                    if self.wire.peer_leaves_within(*interval) {
                        return Ok(After::Close);
                    }
                    self.wire.write(&[*byte])?;
                }
                return Ok(After::Keep);
            }
            Some(Action::NoAnswer) => {
                while !self.wire.peer_leaves_within(Duration::from_secs(1)) {}
            }
            Some(Action::CloseAfter) => {
                self.send(request, reply)?;
            }
            Some(Action::HeadOnly | Action::Fin | Action::Rst) => {}
            None | Some(Action::Edit(_) | Action::Then(_) | Action::Hold(_)) => {
                return self.send(request, reply);
            }
        }
        Ok(After::Close)
    }

    fn send(&mut self, request: &Request, reply: &Reply) -> io::Result<After> {
        let mut text = reply.head_with_length();
        text.push_str(&reply.body);
        self.wire.write(text.as_bytes())?;
        Ok(if request.wants_close() { After::Close } else { After::Keep })
    }
}

/// Lets the scripted edits change the JSON of an answer.
fn edit(reply: &mut Reply, faults: &[Arc<Fault>]) {
    for fault in faults {
        if let Action::Edit(change) = &fault.action {
            let mut json = serde_json::from_str(&reply.body).expect("an answer to edit is JSON");
            fault::run(change, &mut json);
            reply.body = json.to_string();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.lock().panicked = true;
        }
        self.shared.unregister(self.number);
    }
}
