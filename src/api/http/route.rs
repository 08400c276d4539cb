//! The way to the platform, looked at without the credential: which proxy, which addresses,
//! whether anybody answers.

use std::io::ErrorKind;
use std::net::ToSocketAddrs;
use std::sync::mpsc;
use std::time::Duration;

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

use super::agent;
use crate::env::Env;

/// The variables that may name a proxy, in the order in which the HTTP library asks them,
/// whatever the scheme. The first that it understands counts.
const PROXY_VARIABLES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// How requests leave this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// Plain http goes to this machine, through no proxy.
    Loopback,
    /// No variable names a proxy.
    Direct,
    /// `NO_PROXY` takes the host out of this proxy.
    Excepted(Via),
    /// Through this proxy.
    Proxied(Via),
    /// This build knows no SOCKS. The library then connects as if there were no proxy, or, for
    /// socks4a and socks5h, to nothing.
    Socks(Via),
}

/// A proxy, without its user name and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Via {
    /// The variable that names it.
    pub variable: &'static str,
    /// `HTTP`, `SOCKS5`, …
    pub protocol: String,
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether a user name or a password goes with it.
    pub has_credentials: bool,
}

impl Route {
    /// The route to a base URL, which the HTTP library makes out of this process's environment.
    #[must_use]
    pub fn of(base: &str, env: &Env) -> Self {
        Self::with(base, env, Proxy::try_from_env())
    }

    fn with(base: &str, env: &Env, proxy: Option<Proxy>) -> Self {
        if !base.starts_with("https://") {
            return Self::Loopback;
        }
        let named = PROXY_VARIABLES.iter().find(|name| understood(env, name) == Some(true));
        let (Some(proxy), Some(variable)) = (proxy, named) else { return Self::Direct };
        let via = Via {
            variable,
            protocol: proxy.protocol().to_string(),
            host: proxy.host().to_owned(),
            port: proxy.port(),
            has_credentials: proxy.username().is_some() || proxy.password().is_some(),
        };
        if base.parse::<Uri>().is_ok_and(|uri| proxy.is_no_proxy(&uri)) {
            Self::Excepted(via)
        } else if matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https) {
            Self::Proxied(via)
        } else {
            Self::Socks(via)
        }
    }

    /// The host and port to which the first connection goes.
    #[must_use]
    pub fn first_hop(&self, base: &str) -> (String, u16) {
        if let Self::Proxied(via) = self {
            return (via.host.clone(), via.port);
        }
        let default = if base.starts_with("https://") { 443 } else { 80 };
        base.parse::<Uri>().map_or_else(
            |_| (String::new(), default),
            |uri| (uri.host().unwrap_or_default().to_owned(), uri.port_u16().unwrap_or(default)),
        )
    }
}

/// Whether the library understands a proxy variable; none where it is not set.
fn understood(env: &Env, name: &str) -> Option<bool> {
    let value = env.get_os(name)?;
    Some(value.to_str().is_some_and(|url| Proxy::new(url).is_ok()))
}

/// The proxy variables that are set and that the library passes over in silence.
#[must_use]
pub fn malformed(env: &Env) -> Vec<&'static str> {
    PROXY_VARIABLES.into_iter().filter(|name| understood(env, name) == Some(false)).collect()
}

/// Whether `NO_PROXY` has blanks around an entry, which then takes no host out.
#[must_use]
pub fn has_blanks_in_no_proxy(env: &Env) -> bool {
    let list = env.get_os("NO_PROXY").or(env.get_os("no_proxy"));
    let list = list.and_then(|list| list.to_str()).unwrap_or_default();
    list.split(',').any(|entry| entry != entry.trim())
}

/// How many addresses a host has.
///
/// # Errors
/// In words: it has none, or the resolver took longer than `patience`.
pub fn resolve(host: &str, port: u16, patience: Duration) -> Result<usize, String> {
    let (tell, told) = mpsc::channel();
    let bare = host.trim_matches(['[', ']']).to_owned();
    // The system's resolver knows no time limit.
    std::thread::spawn(move || {
        drop(tell.send((bare.as_str(), port).to_socket_addrs().map(Iterator::count)));
    });
    match told.recv_timeout(patience) {
        Ok(Ok(0)) => Err("it has no address".to_owned()),
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", patience.as_secs())),
    }
}

/// An answer to a request without the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// HTTP status.
    pub status: u16,
    /// The `Date` header.
    pub date: Option<String>,
}

/// Why nobody answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// Nobody listens there.
    Refused,
    /// No answer in time.
    Timeout,
    /// A connection stands, and no TLS over it: a bad certificate, or a server without TLS.
    Tls(String),
    /// The proxy makes no tunnel.
    Proxy(String),
    /// Anything else.
    Other(String),
}

/// Asks for `/` at a base URL, without the credential, over the route that all requests take. The
/// body is not read.
///
/// # Errors
/// Why there is no answer.
pub fn greet(base: &str, timeout: Duration) -> Result<Greeting, Silence> {
    let answer = agent(base, timeout, 0).get(format!("{base}/")).call().map_err(silence)?;
    let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
    Ok(Greeting { status: answer.status().as_u16(), date: date.map(str::to_owned) })
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn silence(error: ureq::Error) -> Silence {
    match &error {
        ureq::Error::Timeout(_) => Silence::Timeout,
        ureq::Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused => Silence::Refused,
        ureq::Error::Io(io) if io.kind() == ErrorKind::TimedOut => Silence::Timeout,
        // rustls tells what is wrong with a certificate or a record in this way.
        ureq::Error::Io(io) if io.kind() == ErrorKind::InvalidData => Silence::Tls(io.to_string()),
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::TlsRequired => {
            Silence::Tls(error.to_string())
        }
        ureq::Error::ConnectProxyFailed(why) => Silence::Proxy(why.clone()),
        _ => Silence::Other(error.to_string()),
    }
}
