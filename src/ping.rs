//! Pings for a monitor that raises an alarm when runs fail or stay away: one request when a real
//! run begins, and one with its exit code when it has ended. Whatever becomes of them changes
//! nothing in the run. They bear no credential, and go to no platform.

use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;

use crate::cli::Run;
use crate::env::Env;
use crate::exit::Exit;
use crate::flags::Flags;
use crate::secret;
use crate::settings::Reading;
use crate::text::Field;

/// Holds the URL. Who knows it can ping, so there is no flag, which others could read.
pub const VARIABLE: &str = "SUBMITTER_PING_URL";

/// Time for one ping, from the look-up of its host to its answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The HTTP library panics where a URL is too long for it.
const MAX_URL: usize = 2 << 10;

const NO_URL: &str = "is not a whole URL, write https://host/path";

/// Where pings go. `Debug` names the host alone: the rest is a secret.
pub struct Pinger {
    agent: Agent,
    host: String,
    /// Scheme, host, port and path, without a slash at the end.
    base: String,
    /// With its question mark; or nothing.
    query: String,
}

impl fmt::Debug for Pinger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinger").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Pinger {
    /// The pinger of a real run, where one is configured. A URL that cannot be used is told, and
    /// no pings are sent: a monitor must not stop a run.
    #[must_use]
    pub fn of_run(args: &Run, env: &Env) -> Option<Self> {
        let pinger = Self::configured(&args.flags, env).filter(|_| !args.dry_run)?;
        let tell = |wrong: &&str| {
            crate::text::warn(format_args!("{VARIABLE} {wrong}: no pings are sent"));
        };
        pinger.inspect_err(tell).ok()
    }

    /// The pinger of real runs; none where no URL is given.
    ///
    /// # Errors
    /// What is wrong with the URL, in words that follow the name of the variable.
    #[must_use]
    pub fn configured(flags: &Flags, env: &Env) -> Option<Result<Self, &'static str>> {
        Some(match env.get_os(VARIABLE)?.to_str() {
            None => Err("is not UTF-8"),
            Some(url) if holds_credential(url, flags, env) => Err("holds the token"),
            Some(url) => Self::parse(url, platform(flags, env).as_ref()),
        })
    }

    /// The host that is pinged.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reads `http[s]://host[:port][/path][?query]`, anywhere but at the platform.
    ///
    /// # Errors
    /// What is wrong, in words that follow the name of the variable and repeat nothing of it.
    fn parse(url: &str, platform: Option<&Uri>) -> Result<Self, &'static str> {
        if url.starts_with(['"', '\'']) {
            return Err("begins with a quote, remove the quotes");
        }
        if url.len() > MAX_URL || url.contains(|c: char| !c.is_ascii_graphic()) {
            return Err("is too long, or holds more than plain ASCII");
        }
        let uri: Uri = url.parse().map_err(|_| NO_URL)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(NO_URL);
        };
        if !matches!(scheme, "http" | "https") {
            return Err("has an unknown scheme, write https://host/path");
        }
        if authority.as_str().contains('@') {
            return Err("contains a user name or password, which is not supported");
        }
        if url.contains('#') {
            return Err("contains a fragment, remove the # and what follows");
        }
        if authority.port_u16().is_none() && authority.as_str() != authority.host() {
            return Err("has a port that is not a number from 0 to 65535");
        }
        if platform.is_some_and(|platform| place(platform) == place(&uri)) {
            return Err("is an address of the platform");
        }
        let host = authority.host().to_ascii_lowercase();
        Ok(Self {
            agent: agent(&host),
            base: format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/')),
            query: uri.query().map_or(String::new(), |query| format!("?{query}")),
            host,
        })
    }

    /// Sends one ping, once. What goes wrong is told at the level of `-v`: who is to be alarmed
    /// is, by the ping that does not come.
    fn ping(&self, what: &str, body: &str) {
        let url = format!("{}/{what}{}", self.base, self.query);
        let sent = self.agent.post(url).header("Content-Type", "text/plain; charset=utf-8");
        // The library's own words might hold the URL.
        let reason = match sent.send(body) {
            Ok(answer) if answer.status().is_success() => return,
            Ok(_) => "http_error",
            Err(ureq::Error::Timeout(_)) => "timeout",
            Err(_) => "transport_error",
        };
        log::debug!("[live] ping request={what} host={} reason={reason}", Field(&self.host));
    }
}

/// An agent that tries once, follows nothing and keeps nothing. Proxies are those of the
/// environment, as for the platform; what is for this machine stays on it.
fn agent(host: &str) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("submitter/", env!("CARGO_PKG_VERSION")))
        .timeout_global(Some(TIMEOUT))
        .max_idle_connections(0);
    let address = host.trim_matches(['[', ']']).parse();
    if host == "localhost" || address.is_ok_and(|ip: IpAddr| ip.is_loopback()) {
        config = config.proxy(None);
    }
    config.build().into()
}

/// Where the platform is, as far as the settings say so.
fn platform(flags: &Flags, env: &Env) -> Option<Uri> {
    Reading::resolve(flags, env).ok()?.0.api_base.parse().ok()
}

/// The host and the port that a URL leads to.
fn place(uri: &Uri) -> (String, u16) {
    let host = uri.host().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let by_scheme = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    (host, uri.port_u16().unwrap_or(by_scheme))
}

/// Whether somebody has put a credential into the URL, which would carry it to another host.
fn holds_credential(url: &str, flags: &Flags, env: &Env) -> bool {
    let file = flags.token_file.as_deref().map(std::path::Path::new);
    secret::choose(env, file).is_ok_and(|chosen| chosen.token.is_in(url))
        || env.secrets().iter().any(|secret| secret != url && url.contains(secret))
}

/// Runs `run`, which returns the exit code of this process and its last line, between two pings,
/// and returns the code. The first ping is on its way while the run begins. A run that panics has
/// the code of a bug.
pub fn around(pinger: Option<Pinger>, run: impl FnOnce() -> (u8, String)) -> u8 {
    let Some(pinger) = pinger else { return run().0 };
    thread::scope(|scope| {
        let start = thread::Builder::new().spawn_scoped(scope, || pinger.ping("start", ""));
        let ran = catch_unwind(AssertUnwindSafe(run));
        drop(start.map(thread::ScopedJoinHandle::join));
        let (code, last) = match &ran {
            Ok((code, last)) => (*code, last.as_str()),
            Err(_) => (Exit::Bug.code(), ""),
        };
        pinger.ping(&code.to_string(), last);
        ran.unwrap_or_else(|panic| resume_unwind(panic)).0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<(String, String), &'static str> {
        let platform = "https://modelhub.org.cn".parse().unwrap();
        Pinger::parse(url, Some(&platform)).map(|pinger| (pinger.base, pinger.query))
    }

    #[test]
    fn a_query_stays_behind_the_path() {
        for (url, base, query) in [
            ("https://hc.example/ab-cd", "https://hc.example/ab-cd", ""),
            ("https://hc.example/ab/", "https://hc.example/ab", ""),
            ("http://hc.example:8000", "http://hc.example:8000", ""),
            ("https://hc.example/p?rid=1&x=/y", "https://hc.example/p", "?rid=1&x=/y"),
            ("https://[2001:db8::1]:8443/p", "https://[2001:db8::1]:8443/p", ""),
        ] {
            assert_eq!(parsed(url), Ok((base.to_owned(), query.to_owned())), "{url}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_and_not_repeated() {
        let long = format!("https://hc.example/{}", "x".repeat(MAX_URL));
        for (url, says) in [
            ("hc.example/secret", "whole URL"),
            ("/secret", "whole URL"),
            ("ftp://hc.example/secret", "unknown scheme"),
            ("https://", "whole URL"),
            ("https:///secret", "whole URL"),
            ("https://me:secret@hc.example/x", "user name"),
            ("https://secret@hc.example/x", "user name"),
            ("https://hc.example/secret#x", "fragment"),
            ("https://hc.example:/secret", "port"),
            ("https://hc.example:65536/secret", "port"),
            ("\"https://hc.example/secret\"", "quote"),
            ("https://hc.example/se cret", "ASCII"),
            ("https://hc.example/secret\n", "ASCII"),
            ("https://hc.example/密", "ASCII"),
            (&long, "too long"),
            ("https://modelhub.org.cn/secret", "platform"),
            ("https://ModelHub.org.cn.:443/secret", "platform"),
        ] {
            let wrong = parsed(url).unwrap_err();
            assert!(wrong.contains(says) && !wrong.contains("secret"), "{url}: {wrong}");
        }
        assert!(parsed("http://modelhub.org.cn:8000/x").is_ok());
    }

    #[test]
    fn debug_names_the_host_alone() {
        let pinger = Pinger::parse("https://hc.example/capability?key=x", None).unwrap();
        assert_eq!(format!("{pinger:?}"), r#"Pinger { host: "hc.example", .. }"#);
    }

    #[test]
    fn a_url_with_a_credential_in_it_is_refused() {
        for chosen in secret::VALUE_SOURCES {
            for other in secret::VALUE_SOURCES {
                let url = |part| format!("https://hc.example/{part}");
                let with = |url: String| {
                    let env = Env::from_pairs([
                        (VARIABLE, url.as_str()),
                        (chosen, "test-token-1"),
                        (other, "test-token-2"),
                    ]);
                    Pinger::of_run(&Run::default(), &env).is_some()
                };
                assert!(with(url("capability")));
                assert!(!with(url("test-token-1")), "{chosen} {other}");
                assert!(!with(url("test-token-2")) || chosen == other, "{chosen} {other}");
            }
        }
    }

    #[test]
    fn a_run_that_panics_has_the_code_of_a_bug_and_panics_on() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/x", listener.local_addr().unwrap());
        let monitor = thread::spawn(move || {
            let mut head = [0; 1024];
            let asked = listener.incoming().take(2).map(|stream| {
                let mut stream = stream.unwrap();
                let read = stream.read(&mut head).unwrap();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                String::from_utf8_lossy(&head[..read]).split(' ').nth(1).unwrap().to_owned()
            });
            asked.collect::<Vec<_>>()
        });
        let pinger = Pinger::parse(&url, None).unwrap();
        let run = || around(Some(pinger), || panic!("a bug"));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!(monitor.join().unwrap(), ["/x/start", "/x/1"]);
    }
}
