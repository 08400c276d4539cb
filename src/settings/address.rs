//! Where requests go. The credential is sent there, so nothing but a plain
//! `scheme://host[:port]` and a plain path are understood: what a URL parser would have to
//! interpret is refused.

use std::net::{Ipv4Addr, Ipv6Addr};

const NO_HOST: &str = "has no valid host: write a name such as modelhub.org.cn";

/// Reads `scheme://host[:port]`, with or without one slash at the end, which is left out.
///
/// # Errors
/// What is wrong, in words that follow the name of the setting. The value is not repeated: it
/// may hold a password.
pub(super) fn api_base(text: &str) -> Result<String, &'static str> {
    if text.starts_with(['"', '\'']) {
        return Err("begins with a quote: remove the quotes");
    }
    if text.contains(|c: char| !c.is_ascii_graphic()) {
        return Err("contains white space, or characters outside ASCII: remove them");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err("has no scheme: write https://host");
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "https" && scheme != "http" {
        return Err("has an unknown scheme: write https://host");
    }
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains('@') {
        return Err("contains a user name or password: write scheme://host[:port] alone");
    }
    if authority.contains(['/', '\\', '?', '#']) {
        return Err("contains a path, a query or a fragment: write scheme://host[:port] alone");
    }
    let (host, port) = split_port(authority)?;
    let host = host.to_ascii_lowercase();
    let loopback = is_loopback(&host)?;
    if scheme == "http" && !loopback {
        return Err("would send the token unencrypted: use https; plain http is for localhost, \
                    127.0.0.0/8 and [::1]");
    }
    Ok(match port {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Reads the path of an endpoint: one `/` first, then plain characters.
///
/// # Errors
/// As of [`api_base`].
pub(super) fn endpoint_path(text: &str) -> Result<String, &'static str> {
    let Some(path) = text.strip_prefix('/') else {
        return Err("does not begin with /: write the path alone, without scheme and host");
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_' | b'.' | b'~');
    if !path.bytes().all(plain) {
        return Err("contains more than a plain path: letters, digits and / - _ . ~ are allowed");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("contains an empty, . or .. part: write the path without them");
    }
    Ok(text.to_owned())
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), &'static str> {
    if authority.starts_with('[') && !authority.contains(']') {
        return Err(NO_HOST);
    }
    // The colons of an IPv6 address stand inside its brackets.
    let after_host = authority.rfind(']').map_or(0, |at| at + 1);
    let (_, tail) = authority.split_at(after_host);
    let Some(colon) = tail.find(':') else {
        return Ok((authority, None));
    };
    let (host, port) = authority.split_at(after_host + colon);
    match super::read::digits::<u16>(&port[1..]) {
        Some(port) if port > 0 => Ok((host, Some(port))),
        _ => Err("has a port that is not a number from 1 to 65535"),
    }
}

/// Whether a host is this machine.
///
/// # Errors
/// It is not a host: what is neither a name nor one of the usual spellings of an address might
/// be read as another host by whoever resolves it.
fn is_loopback(host: &str) -> Result<bool, &'static str> {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').and_then(|a| a.parse().ok());
        return address.map(|a: Ipv6Addr| a == Ipv6Addr::LOCALHOST).ok_or(NO_HOST);
    }
    let labels_are_plain = host.split('.').all(|label| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    });
    if !labels_are_plain {
        return Err(NO_HOST);
    }
    // 127.1, 0x7f.1 and 2130706433 are addresses to some resolvers.
    let last = host.rsplit('.').next().unwrap_or_default();
    if last.starts_with(|c: char| c.is_ascii_digit()) {
        let address = host.parse().map_err(|_| NO_HOST)?;
        return Ok(Ipv4Addr::is_loopback(&address));
    }
    Ok(host == "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_addresses_are_taken_without_their_slash() {
        for (text, base) in [
            ("https://modelhub.org.cn", "https://modelhub.org.cn"),
            ("https://modelhub.org.cn/", "https://modelhub.org.cn"),
            ("HTTPS://ModelHub.org.cn:8443/", "https://modelhub.org.cn:8443"),
            ("https://10.0.0.7", "https://10.0.0.7"),
            ("https://[2001:db8::1]:443", "https://[2001:db8::1]:443"),
            ("https://web_1", "https://web_1"),
            ("http://localhost", "http://localhost"),
            ("http://localhost:8080/", "http://localhost:8080"),
            ("http://127.0.0.1:1", "http://127.0.0.1:1"),
            ("http://127.255.0.9:65535", "http://127.255.0.9:65535"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://[::1]", "http://[::1]"),
        ] {
            assert_eq!(api_base(text).as_deref(), Ok(base), "{text}");
        }
    }

    /// The credential would go to the host behind each of these.
    #[test]
    fn plain_http_goes_to_this_machine_alone() {
        for text in [
            "http://modelhub.org.cn",
            "http://10.0.0.7",
            "http://0.0.0.0",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "http://evil-localhost",
            "http://128.0.0.1",
            "http://[::]",
            "http://[::2]",
            "http://[::ffff:127.0.0.1]",
            "http://[2001:db8::1]:8080",
        ] {
            let error = api_base(text).unwrap_err();
            assert!(error.contains("unencrypted"), "{text}: {error}");
        }
    }

    #[test]
    fn whatever_needs_interpretation_is_refused() {
        for (text, says) in [
            ("http://localhost@evil.example", "user name"),
            ("https://user:secret@modelhub.org.cn", "user name"),
            ("https://@modelhub.org.cn", "user name"),
            ("http://localhost:80@evil.example/", "user name"),
            ("http://[::1]@evil.example", "user name"),
            ("http://localhost/@evil.example", "user name"),
            ("http://localhost\\@evil.example", "user name"),
            ("http://evil.example\\.localhost", "path"),
            ("https://modelhub.org.cn/api", "path"),
            ("https://modelhub.org.cn//", "path"),
            ("https://modelhub.org.cn/?", "path"),
            ("https://modelhub.org.cn?x=1", "path"),
            ("https://modelhub.org.cn#x", "path"),
            ("http://evil.example#localhost", "path"),
            ("https://modelhub.org.cn ", "white space"),
            ("https://modelhub.org.cn\r", "white space"),
            ("https://model\u{200b}hub.org.cn", "outside ASCII"),
            ("http://ｌocalhost", "outside ASCII"),
            ("\"https://modelhub.org.cn\"", "remove the quotes"),
            ("modelhub.org.cn", "no scheme"),
            ("https:modelhub.org.cn", "no scheme"),
            ("", "no scheme"),
            ("ftp://modelhub.org.cn", "unknown scheme"),
            ("file:///etc/passwd", "unknown scheme"),
            ("https://", "no valid host"),
            ("https:///", "no valid host"),
            ("https://:443", "no valid host"),
            ("https://.", "no valid host"),
            ("https://modelhub..cn", "no valid host"),
            ("http://localhost.", "no valid host"),
            ("http://%6cocalhost", "no valid host"),
            ("http://127.1", "no valid host"),
            ("http://127.0.0.01", "no valid host"),
            ("http://2130706433", "no valid host"),
            ("http://0x7f000001", "no valid host"),
            ("http://127.0.0.0x1", "no valid host"),
            ("http://[::1", "no valid host"),
            ("http://[::1%25lo]", "no valid host"),
            ("http://[localhost]", "no valid host"),
            ("http://[::1].evil.example", "no valid host"),
            ("http://[::1]evil.example", "no valid host"),
            ("http://evil.example[::1]", "no valid host"),
            ("http://::1", "port"),
            ("http://localhost:", "port"),
            ("http://localhost:0", "port"),
            ("http://localhost:65536", "port"),
            ("http://localhost:+80", "port"),
            ("http://localhost:80:80", "port"),
        ] {
            let error = api_base(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
            assert!(!error.contains("secret") && !error.contains("evil"));
        }
    }

    #[test]
    fn an_endpoint_is_a_plain_path() {
        for text in ["/api", "/api/build-config", "/api/v1.0/_x~y"] {
            assert_eq!(endpoint_path(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "/",
            "api",
            "//evil.example/x",
            "/api//x",
            "/api/",
            "/../x",
            "/api/..",
            "/api/./x",
            "/api/%2e%2e/x",
            "/api?x=1",
            "/api#x",
            "/a b",
            "/api\n",
            "/\\evil.example",
            "/@evil.example",
            "/api:80",
            "https://evil.example/api",
            "\"/api\"",
            "/ａpi",
        ] {
            assert!(endpoint_path(text).is_err(), "{text:?}");
        }
    }
}
