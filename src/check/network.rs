//! The way to the platform, without the credential: proxy, names, connection, and the time there.

use super::{Item, Status};
use crate::api::http::route::{self, Greeting, Route, Silence, Via};
use crate::clock::Clock;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::settings::Settings;

/// Seconds by which the clocks may differ: caps and cool-downs are counted by ours.
const SKEW: u64 = 60;

/// Whether the platform answers, and what is to be said of the way there.
pub(super) fn items(
    base: &str,
    settings: &Settings,
    env: &Env,
    clock: &dyn Clock,
) -> (bool, Vec<Item>) {
    let route = Route::of(base, env);
    let mut items: Vec<Item> = route::malformed(env)
        .iter()
        .map(|name| {
            let found = format!("{name} is set, and is no proxy's URL: it is ignored");
            Item::warn("proxy", found).todo("write http://host:port, or unset it")
        })
        .collect();
    items.push(proxy(&route, base, route::has_blanks_in_no_proxy(env)));
    let (host, port) = route.first_hop(base);
    let whose = if matches!(route, Route::Proxied(_)) { "the proxy " } else { "" };
    let resolved = route::resolve(&host, port, settings.request_timeout);
    items.push(match resolved {
        Ok(addresses) => Item::ok("dns", format!("{whose}{host} resolves, addresses: {addresses}")),
        Err(why) => unreachable("dns", format!("{whose}{host} does not resolve: {why}"))
            .todo("check the spelling of the host, and this machine's resolver"),
    });
    if items.last().is_some_and(|dns| dns.status == Status::Fail) {
        items.push(Item::skip("connection", "not tried without an address"));
        return (false, items);
    }
    let greeting = route::greet(base, settings.request_timeout);
    let is_up = greeting.is_ok();
    let way = match &route {
        Route::Proxied(Via { host, port, .. }) => format!("{base} through {host}:{port}"),
        _ => base.to_owned(),
    };
    items.push(connection(&way, &greeting));
    items.push(match greeting.map(|greeting| greeting.date) {
        Ok(Some(date)) => time(&date, clock.now()),
        Ok(None) => Item::skip("clock", "the server's answer has no date"),
        Err(_) => Item::skip("clock", "not compared without a connection"),
    });
    (is_up, items)
}

fn unreachable(item: &'static str, found: String) -> Item {
    Item::hold(item, Hold::because(Reason::PlatformUnreachable, found))
}

fn named(via: &Via) -> String {
    let Via { variable, protocol, host, port, has_credentials } = via;
    let credentials = if *has_credentials { ", with a user name that is not shown" } else { "" };
    format!("the {protocol} proxy {host}:{port} of {variable}{credentials}")
}

/// What the HTTP library makes of the proxy variables.
fn proxy(route: &Route, base: &str, has_blanks: bool) -> Item {
    let host = base.split_once("://").map_or(base, |(_, host)| host);
    match route {
        Route::Loopback => Item::ok("proxy", "none: plain http goes to this machine alone"),
        Route::Direct => Item::ok("proxy", "none: no variable names one"),
        Route::Excepted(via) => {
            Item::ok("proxy", format!("none: NO_PROXY takes {host} out of {}", named(via)))
        }
        Route::Proxied(via) if has_blanks => {
            let found = format!("{}; NO_PROXY has blanks around an entry", named(via));
            Item::warn("proxy", found)
                .todo("write NO_PROXY without blanks, or they take no host out")
        }
        Route::Proxied(via) => Item::ok("proxy", format!("through {}", named(via))),
        Route::Socks(via) => {
            let found = format!("not used, since this program knows no SOCKS: {}", named(via));
            Item::warn("proxy", found).todo("name an http proxy, or none")
        }
    }
}

fn connection(way: &str, greeting: &Result<Greeting, Silence>) -> Item {
    let silence = match greeting {
        Ok(Greeting { status, .. }) => {
            return Item::ok("connection", format!("{way} answers (HTTP {status})"));
        }
        Err(silence) => silence,
    };
    let (what, todo) = match silence {
        Silence::Refused => {
            ("connection refused: nobody listens there".to_owned(), "check host and port")
        }
        Silence::Timeout => (
            "no answer in time".to_owned(),
            "look for a firewall on the way, or a proxy that must be used",
        ),
        Silence::Tls(why) => (
            format!("no TLS connection: {why}"),
            "check that nothing on the way replaces the certificate, and that the port speaks TLS",
        ),
        Silence::Proxy(why) => (
            format!("no tunnel through the proxy: {why}"),
            "check the proxy's user name, and that it allows this host",
        ),
        Silence::Other(why) => (why.clone(), "try again; then look at the way to the platform"),
    };
    unreachable("connection", format!("{way}: {what}")).todo(todo)
}

/// Our clock beside the server's, in seconds since 1970.
fn time(date: &str, now: u64) -> Item {
    let theirs = jiff::fmt::rfc2822::parse(date).ok();
    let theirs = theirs.and_then(|date| u64::try_from(date.timestamp().as_second()).ok());
    let Some(theirs) = theirs else {
        return Item::skip("clock", "the date of the server's answer cannot be read");
    };
    let (apart, word) = (now.abs_diff(theirs), if now < theirs { "behind" } else { "ahead of" });
    let found = format!("{apart} s {word} the server's");
    if apart <= SKEW {
        Item::ok("clock", found)
    } else {
        let todo = "set this machine's time: caps and cool-downs are counted by it";
        Item::warn("clock", found).todo(todo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_may_differ_by_a_minute() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let at = 784_111_777;
        for (now, says) in [
            (at, "ok clock: 0 s"),
            (at + 60, "ok clock: 60 s ahead of"),
            (at + 61, "warn clock: 61 s ahead of"),
            (at - 61, "warn clock: 61 s behind"),
        ] {
            let line = time(date, now).to_string();
            assert!(line.starts_with(&format!("[check] {says}")), "{line}");
        }
        assert_eq!(time("yesterday", at).status, Status::Skip);
    }

    #[test]
    fn each_kind_of_silence_has_its_words() {
        for (silence, says) in [
            (Silence::Refused, "refused"),
            (Silence::Timeout, "in time"),
            (Silence::Tls("invalid peer certificate".into()), "certificate"),
            (Silence::Proxy("407".into()), "tunnel"),
            (Silence::Other("reset".into()), "reset"),
        ] {
            let item = connection("https://host", &Err(silence));
            assert_eq!(item.reason, Some(Reason::PlatformUnreachable));
            assert!(item.found.contains(says) && item.todo.is_some(), "{item}");
        }
    }
}
