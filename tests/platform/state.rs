//! What the threads of a platform share, behind one lock.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::account::Account;
use super::api::Kind;
use super::fault::{Action, Fault, Trigger};
use super::http::Request;

const MAX_CONNECTIONS: usize = 64;

pub struct Shared {
    state: Mutex<State>,
    /// Told whenever somebody may be waiting for what has changed.
    pub changed: Condvar,
}

pub struct State {
    pub account: Account,
    pub log: Vec<Request>,
    pub accepted: BTreeMap<(String, String), usize>,
    pub own_reads: usize,
    pub rules: Vec<Rule>,
    pub gates: Vec<GateState>,
    pub panicked: bool,
    stopping: bool,
    /// Second handles on the sockets of live connections, by connection number.
    sockets: BTreeMap<usize, TcpStream>,
    next_connection: usize,
}

/// A scripted fault.
pub struct Rule {
    trigger: Trigger,
    fault: Arc<Fault>,
    seen: usize,
    pub fired: bool,
}

#[derive(Default)]
pub struct GateState {
    /// How many requests came to the gate.
    pub reached: usize,
    pub open: bool,
}

impl Shared {
    pub fn new(account: Account) -> Self {
        let state = State {
            account,
            log: Vec::new(),
            accepted: BTreeMap::new(),
            own_reads: 0,
            rules: Vec::new(),
            gates: Vec::new(),
            panicked: false,
            stopping: false,
            sockets: BTreeMap::new(),
            next_connection: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A closure of a test that panicked has spoilt nothing: the lock goes on.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a condition; false when `timeout` was too short.
    pub fn wait_until(&self, timeout: Duration, condition: impl Fn(&State) -> bool) -> bool {
        let waited =
            self.changed.wait_timeout_while(self.lock(), timeout, |state| !condition(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Lets time pass, as long as the platform runs.
    pub fn pause(&self, time: Duration) {
        if !time.is_zero() {
            self.wait_until(time, |state| state.stopping);
        }
    }

    /// Stays until the gate opens or the platform stops.
    pub fn pass_gate(&self, gate: usize) {
        let mut state = self.lock();
        state.gates[gate].reached += 1;
        self.changed.notify_all();
        let closed = |state: &mut State| !state.gates[gate].open && !state.stopping;
        drop(self.changed.wait_while(state, closed));
    }

    /// Ends everything that a thread could be waiting for.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        for socket in state.sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.changed.notify_all();
    }

    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// A number for a new connection; `None` when there are too many, or the platform stops.
    pub fn register(&self, stream: &TcpStream) -> Option<usize> {
        let second = stream.try_clone().ok()?;
        let mut state = self.lock();
        if state.stopping || state.sockets.len() >= MAX_CONNECTIONS {
            return None;
        }
        let number = state.next_connection;
        state.next_connection += 1;
        state.sockets.insert(number, second);
        Some(number)
    }

    pub fn unregister(&self, connection: usize) {
        self.lock().sockets.remove(&connection);
    }

    /// Sets the kind of a request of which the head was read; says whether a fault stops the
    /// reading there.
    pub fn admit_head(&self, request: &mut Request) -> bool {
        let mut state = self.lock();
        let build_path = state.account.build_config.as_ref().map(|(path, _)| &**path);
        request.kind = Kind::of(request, build_path);
        !state.fire(request, true).is_empty()
    }

    /// Logs a request; returns the faults that it has met.
    pub fn admit(&self, request: &mut Request) -> Vec<Arc<Fault>> {
        let mut state = self.lock();
        request.seq = state.log.len();
        state.log.push(request.clone());
        let fired = if request.whole { state.fire(request, false) } else { Vec::new() };
        self.changed.notify_all();
        fired
    }
}

impl State {
    pub fn count(&self, kind: Kind) -> usize {
        self.log.iter().filter(|request| kind.covers(request.kind)).count()
    }

    pub fn script(&mut self, trigger: Trigger, fault: Fault) {
        self.rules.push(Rule { trigger, fault: Arc::new(fault), seen: 0, fired: false });
    }

    /// Counts a request for every rule that fits, at the point of reading where the rule acts.
    fn fire(&mut self, request: &Request, head_only: bool) -> Vec<Arc<Fault>> {
        let mut fired = Vec::new();
        for rule in &mut self.rules {
            let acts_here = matches!(rule.fault.action, Action::HeadOnly) == head_only;
            if acts_here && rule.trigger.fits(request) {
                rule.seen += 1;
                if rule.trigger.is_due(rule.seen) {
                    rule.fired = true;
                    fired.push(Arc::clone(&rule.fault));
                }
            }
        }
        fired
    }
}
