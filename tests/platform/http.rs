//! As much of HTTP/1.1 as the simulated platform needs.

use std::fmt::Write as _;
use std::io::{self, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::api::Kind;
use super::names::{card_enum, model_key, percent_decode};

const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_BODY_BYTES: usize = 4 << 20;
/// How long a client may be silent, within a request or between two.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// A request as it was read.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its place in the log, from 0.
    pub seq: usize,
    pub kind: Kind,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Decoded, in the order sent.
    pub query: Vec<(String, String)>,
    /// All of them, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Whether the whole body was read.
    pub whole: bool,
    /// The number of its connection, from 0.
    pub connection: usize,
    /// Its place among the requests of its connection, from 0.
    pub index: usize,
    /// When its head was complete.
    pub at: Instant,
}

impl Request {
    /// The first value of a query parameter.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }

    /// The first value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers_named(name).next()
    }

    pub fn headers_named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(own, _)| own == name).map(|(_, value)| &**value)
    }

    /// The model key and GPU enum that a POST to task/add is for; empty where the body has none.
    pub fn posted_pair(&self) -> Option<(String, String)> {
        let body: Value = match self.kind {
            Kind::Add => serde_json::from_str(&self.body).unwrap_or_default(),
            _ => return None,
        };
        let field = |name| body.get(name).and_then(Value::as_str).unwrap_or_default();
        Some((model_key(field("modelAddress")), card_enum(field("targetGpu").trim()).to_owned()))
    }

    /// The key of the model that a POST or a precheck is about.
    pub fn model(&self) -> Option<String> {
        match self.kind {
            Kind::Precheck => self.query("modelId").map(model_key),
            _ => self.posted_pair().map(|(model, _)| model),
        }
    }

    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn parse(head: &str) -> Option<Self> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decode = |text: &str| percent_decode(&text.replace('+', " "));
        let pair = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            (decode(name), decode(value))
        };
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Some(Self {
            seq: 0,
            kind: Kind::Other,
            method: method.into(),
            path: percent_decode(path),
            query: query.split('&').filter(|text| !text.is_empty()).map(pair).collect(),
            headers: lines.filter(|line| !line.is_empty()).map(header).collect::<Option<_>>()?,
            body: String::new(),
            whole: false,
            connection: 0,
            index: 0,
            at: Instant::now(),
        })
    }
}

/// An answer, not yet in the form of any transport.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    pub fn json(status: u16, body: String) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body }
    }

    pub fn html(status: u16) -> Self {
        let headers = vec![("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())];
        Self {
            status,
            headers,
            body: format!("<html><title>{status}</title><h1>nginx</h1></html>"),
        }
    }

    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Status line and headers, closed by `framing`, the header that says where the body ends.
    pub fn head(&self, framing: &str) -> String {
        let mut head = format!("HTTP/1.1 {} Simulated\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "{framing}\r\n\r\n");
        head
    }

    pub fn head_with_length(&self) -> String {
        self.head(&format!("Content-Length: {}", self.body.len()))
    }
}

/// The server's end of a connection.
///
/// The last byte of a request is looked at but left in the socket until `finish`: closing a socket
/// with unread input makes the kernel send RST instead of FIN, and std has no other way to ask for
/// that.
pub struct Wire {
    stream: TcpStream,
}

impl Wire {
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self { stream })
    }

    /// Reads up to the empty line; `None` when the client has no more requests.
    pub fn read_head(&mut self) -> io::Result<Option<Request>> {
        self.stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let mut head = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let got = self.stream.peek(&mut chunk)?;
            if got == 0 {
                return Ok(None);
            }
            let before = head.len();
            head.extend_from_slice(&chunk[..got]);
            if let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                head.truncate(end + 4);
                self.stream.read_exact(&mut chunk[..head.len() - before - 1])?;
                let request = Request::parse(&String::from_utf8_lossy(&head));
                return request.map(Some).ok_or_else(|| ErrorKind::InvalidData.into());
            }
            self.stream.read_exact(&mut chunk[..got])?;
            if head.len() > MAX_HEAD_BYTES {
                return Err(Error::new(ErrorKind::InvalidData, "head too long"));
            }
        }
    }

    /// Reads the body that the head announces. Chunked ones are not read.
    pub fn read_body(&mut self, request: &mut Request) -> io::Result<()> {
        let length = request.header("content-length").map_or(Ok(0), str::parse);
        let length = length.map_err(|_| ErrorKind::InvalidData)?;
        if length > MAX_BODY_BYTES || request.header("transfer-encoding").is_some() {
            return Err(Error::new(ErrorKind::InvalidData, "a body of this kind is not read"));
        }
        if length > 0 {
            self.finish()?;
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body[..length - 1])?;
            if self.stream.peek(&mut body[length - 1..])? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            request.body = String::from_utf8_lossy(&body).into_owned();
        }
        request.whole = true;
        Ok(())
    }

    /// Takes in the last byte of what was read.
    pub fn finish(&mut self) -> io::Result<()> {
        self.stream.read_exact(&mut [0])
    }

    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.stream.write_all(text)
    }

    /// Waits, at most so long, for the other end to close (or for the platform to stop).
    pub fn peer_leaves_within(&mut self, wait: Duration) -> bool {
        let timeout = wait.max(Duration::from_millis(1));
        if self.stream.set_read_timeout(Some(timeout)).is_err() {
            return true;
        }
        match self.stream.read(&mut [0; 1024]) {
            Ok(got) => got == 0,
            Err(error) => !matches!(
                error.kind(),
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
            ),
        }
    }
}
