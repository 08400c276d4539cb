//! A simulated `ModelHub XC`: an HTTP server on the loopback interface that keeps tasks, answers as
//! the platform was seen to answer, fails as it was seen to fail, and remembers every request.
//!
//! ```ignore
//! let platform = Platform::start(Account::new("secret").with_history(200, &["org/model"]));
//! platform.fault(Trigger::nth(Kind::Add, 1), Fault::status(502).after_commit());
//! // run the program against platform.base(), then:
//! assert_eq!(platform.posts(), platform.accepted());
//! ```
//!
//! Reading order: `account` (what can be set up), `fault` (what can go wrong), `api` and `page`
//! (the honest answers), `serve` (sockets and threads), `http` (the little of HTTP that is needed).
#![allow(dead_code, unreachable_pub, reason = "each test, bench and example uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "test support: a wrong use should stop the test where it stands, and time is real"
)]

mod account;
mod api;
mod fault;
mod history;
mod http;
mod names;
mod page;
mod serve;
mod state;
mod tasks;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

#[allow(unused_imports, reason = "as above: each user names its own part")]
pub use self::{
    account::{Account, BuildConfig, CardNames, Denial, Numerals, Order, Precheck, Rejection},
    api::{ADD_PATH, AUTHOR_MARKER, Kind, MESSAGE_MARKER, PAGE_PATH, PRECHECK_PATH},
    fault::{Fault, Gate, Trigger},
    http::Request,
    names::{CARDS, card_enum, model_key},
    tasks::{Task, Tasks},
};
use state::Shared;

/// A running platform. Dropping it closes every connection and joins every thread.
pub struct Platform {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

/// Starting, and what tests change while it runs.
impl Platform {
    /// Serves `account` on a free port of 127.0.0.1.
    pub fn start(account: Account) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::new(account));
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || serve::listen(&listener, &shared))
        };
        Self { address, shared, listener: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes anything about the account between two requests.
    pub fn change<T>(&self, change: impl FnOnce(&mut Account) -> T) -> T {
        change(&mut self.shared.lock().account)
    }

    pub fn set_token(&self, token: &str) {
        self.change(|account| account.token = token.into());
    }

    /// Adds a task, an own one or somebody else's.
    pub fn insert_task(&self, task: Task) {
        self.change(|account| account.tasks.insert(task));
    }

    pub fn remove_task(&self, id: u64) -> Option<Task> {
        self.change(|account| account.tasks.remove(id))
    }

    pub fn set_status(&self, id: u64, status: &str, verify_result: Option<i64>) {
        self.change(|account| account.tasks.set_status(id, status, verify_result));
    }

    /// The id of the next accepted task; later ones go on above the highest id there is.
    pub fn set_next_id(&self, id: u64) {
        self.change(|account| account.tasks.next_id = id);
    }

    /// Lets every unfinished own task pass, with points.
    pub fn finish_all(&self) {
        self.change(|account| account.tasks.finish_all());
    }

    /// The own tasks, newest first, those not yet listed included.
    pub fn own_tasks(&self) -> Vec<Task> {
        self.change(|account| account.tasks.iter().filter(|task| task.mine).cloned().collect())
    }

    pub fn reject(&self, rejection: Rejection) {
        self.change(|account| account.rejections.push(rejection));
    }

    pub fn clear_rejections(&self) {
        self.change(|account| account.rejections.clear());
    }

    /// What the precheck of `model` says of `gpu`; other cards keep theirs.
    pub fn set_precheck(&self, model: &str, gpu: &str, result: &str) {
        self.change(|account| account.set_precheck(model, gpu, result));
    }

    /// Replaces the whole precheck answer of `model`: a known model without results, a raw body, a
    /// status.
    pub fn set_precheck_answer(&self, model: &str, answer: Precheck) {
        self.change(|account| account.prechecks.insert(model_key(model), answer));
    }
}

/// Scripted trouble.
impl Platform {
    pub fn fault(&self, trigger: Trigger, fault: Fault) {
        self.shared.lock().script(trigger, fault);
    }

    /// Forgets all faults and holds; requests held by a gate stay held.
    pub fn reset_faults(&self) {
        self.shared.lock().rules.clear();
    }

    /// How many faults and holds have not come into play since they were scripted.
    pub fn unfired(&self) -> usize {
        self.shared.lock().rules.iter().filter(|rule| !rule.fired).count()
    }

    /// Holds a request when its answer is ready (a POST: committed) and not yet sent.
    pub fn hold(&self, trigger: Trigger) -> Gate {
        Gate::install(&self.shared, trigger, true)
    }

    /// Holds a request that was read and logged before it has any effect.
    pub fn hold_before_commit(&self, trigger: Trigger) -> Gate {
        Gate::install(&self.shared, trigger, false)
    }
}

/// What was asked.
impl Platform {
    /// Every request so far, in the order in which they were read.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().log.clone()
    }

    /// Requests of one kind, those with an unread or cut body included.
    pub fn count(&self, kind: Kind) -> usize {
        self.shared.lock().count(kind)
    }

    /// Requests that are neither GET nor HEAD, on whatever path.
    pub fn writes(&self) -> usize {
        let is_write = |request: &&Request| !matches!(&*request.method, "GET" | "HEAD");
        self.shared.lock().log.iter().filter(is_write).count()
    }

    /// How often each (model key, GPU enum) came as a POST with its whole body, whatever the
    /// answer.
    pub fn posts(&self) -> BTreeMap<(String, String), usize> {
        let mut posts = BTreeMap::new();
        for request in self.shared.lock().log.iter().filter(|request| request.whole) {
            if let Some(pair) = request.posted_pair() {
                *posts.entry(pair).or_default() += 1;
            }
        }
        posts
    }

    /// How often each (model key, GPU enum) became a task.
    pub fn accepted(&self) -> BTreeMap<(String, String), usize> {
        self.shared.lock().accepted.clone()
    }

    /// Waits until `n` requests of a kind were read since the start; false when `timeout` was too
    /// short.
    pub fn wait_for(&self, kind: Kind, n: usize, timeout: Duration) -> bool {
        self.shared.wait_until(timeout, |state| state.count(kind) >= n)
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.shared.stop();
        // The listener looks at the stop flag when it accepts; this connection makes it look.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if woken.is_ok()
            && let Some(listener) = self.listener.take()
        {
            let _ = listener.join();
        }
        let panicked = self.shared.lock().panicked;
        assert!(!panicked || thread::panicking(), "a thread of the simulated platform panicked");
    }
}
