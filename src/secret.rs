//! The credential: which of its sources is used, and a type that does not print it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::env::Env;
use crate::exit::{Hold, Reason};

/// The variables that may hold the credential, in the order in which they are asked.
pub const SOURCES: [&str; 4] =
    ["EXTERNAL_SERVICE_TOKEN", TOKEN_FILE, "XC_TOKEN", "MODELHUB_XC_TOKEN"];

/// The one of [`SOURCES`] that names a file.
const TOKEN_FILE: &str = "XC_TOKEN_FILE";

/// What to do about one that the platform refuses.
pub const RENEW: &str = "renew the token, or see whether it was copied whole";

/// Bytes; far above any token, far below what would hurt to read.
const MAX_FILE: u64 = 64 * 1024;

/// A credential. It has no `Display` and is not serialisable, and `Debug` hides it.
pub struct Token(String);

impl Token {
    /// The credential itself, for the header of the HTTP client and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text`, which is to be printed, without the credential in it, unless that is so short that
    /// other words may contain it.
    #[must_use]
    pub fn taken_out_of(&self, text: String) -> String {
        if self.0.len() < 8 { text } else { text.replace(&self.0, "(redacted)") }
    }

    /// Whether `text`, which came from outside and may be printed, holds the credential.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(&self.0)
    }

    /// The same of a text that may have been case-folded; a short credential is in many words, and
    /// said to be in none.
    #[must_use]
    pub fn is_in_any_case(&self, text: &str) -> bool {
        self.0.len() >= 8 && text.to_ascii_lowercase().contains(&self.0.to_ascii_lowercase())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What was found in a source that gave no credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not set, or empty.
    Absent,
    /// White space alone; or a file of nothing else.
    Blank,
    /// A stand-in that nobody replaced: it holds `<` or `>`.
    Placeholder,
    /// The file cannot be read.
    Unreadable,
    /// Something that cannot be a credential.
    Malformed,
    /// Not looked at: a source before it ended the search.
    NotRead,
}

impl State {
    /// The word in the `token_probe` line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Blank => "blank",
            Self::Placeholder => "placeholder",
            Self::Unreadable => "unreadable",
            Self::Malformed => "malformed",
            Self::NotRead => "not_read",
        }
    }

    /// Whether the search ends here: the next source might hold another account's credential.
    fn stops(self) -> bool {
        matches!(self, Self::Unreadable | Self::Malformed)
    }
}

/// Those of [`SOURCES`] that hold the credential itself, not the name of its file.
pub const VALUE_SOURCES: [&str; 3] = ["EXTERNAL_SERVICE_TOKEN", "XC_TOKEN", "MODELHUB_XC_TOKEN"];

/// A credential and where it came from.
#[derive(Debug)]
pub struct Chosen {
    /// The credential.
    pub token: Token,
    /// The name of its source, one of [`SOURCES`].
    pub source: &'static str,
}

/// No credential was chosen. Nothing in it is a value, nor a part, length or hash of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// [`Reason::MissingToken`] or [`Reason::InvalidToken`].
    pub reason: Reason,
    /// What each of [`SOURCES`] held, in their order.
    pub states: [State; 4],
    /// What is wrong and what to do, in words.
    pub detail: String,
}

impl Refused {
    /// The fields of the `token_probe` line: `EXTERNAL_SERVICE_TOKEN=absent XC_TOKEN_FILE=..`.
    #[must_use]
    pub fn token_probe(&self) -> String {
        let fields: Vec<String> = SOURCES
            .iter()
            .zip(self.states)
            .map(|(name, state)| format!("{name}={}", state.name()))
            .collect();
        fields.join(" ")
    }
}

impl From<Refused> for Hold {
    fn from(refused: Refused) -> Self {
        Self::because(refused.reason, refused.detail)
    }
}

/// Chooses the credential: the first of [`SOURCES`] that holds one. A file named by the flag
/// `--token-file` stands in for `XC_TOKEN_FILE` and, as a flag beats the environment, comes
/// before all of them; if it is blank, nothing else is tried.
///
/// # Errors
/// [`Reason::MissingToken`] when every source is absent, blank or a placeholder;
/// [`Reason::InvalidToken`] when a source is malformed or unreadable, whatever follows it.
pub fn choose(env: &Env, token_file_flag: Option<&Path>) -> Result<Chosen, Refused> {
    if let Some(path) = token_file_flag {
        return match read_file("--token-file", path) {
            Ok(token) => Ok(Chosen { token, source: TOKEN_FILE }),
            Err((state, detail)) => {
                let only_the_file = SOURCES.map(|name| match name {
                    TOKEN_FILE => state,
                    _ => State::NotRead,
                });
                Err(refused(state, only_the_file, detail))
            }
        };
    }
    let (mut states, mut told) = ([State::NotRead; 4], Vec::new());
    for (at, source) in SOURCES.into_iter().enumerate() {
        match read_variable(env, source) {
            Ok(token) => return Ok(Chosen { token, source }),
            Err((state, detail)) => {
                states[at] = state;
                if state.stops() {
                    return Err(refused(state, states, detail));
                }
                told.extend(Some(detail).filter(|detail| !detail.is_empty()));
            }
        }
    }
    let detail = "no credential is set: put the token into a file and name it with --token-file \
                  or XC_TOKEN_FILE, or set EXTERNAL_SERVICE_TOKEN, XC_TOKEN or MODELHUB_XC_TOKEN";
    // What is set and holds nothing was meant to be the one.
    let detail = if told.is_empty() { detail.to_owned() } else { told.join("; ") };
    Err(refused(State::Absent, states, detail))
}

fn refused(state: State, states: [State; 4], detail: String) -> Refused {
    let reason = if state.stops() { Reason::InvalidToken } else { Reason::MissingToken };
    Refused { reason, states, detail }
}

/// A source that gave no credential, and why in words.
type Without = (State, String);

fn read_variable(env: &Env, name: &'static str) -> Result<Token, Without> {
    if name == TOKEN_FILE {
        let Some(path) = env.get_os(name) else {
            return Err((State::Absent, String::new()));
        };
        return match path.to_str().and_then(stand_in) {
            Some(state) => Err((state, String::new())),
            None => read_file(name, Path::new(path)),
        };
    }
    match env.get(name) {
        Ok(Some(value)) => read_value(name, value),
        Ok(None) => Err((State::Absent, String::new())),
        Err(error) => Err((State::Malformed, format!("{error}: {AGAIN}"))),
    }
}

const AGAIN: &str = "copy the token again, on one line and without quotes";
const UNQUOTE: &str = "remove the quotes";

fn read_file(origin: &str, path: &Path) -> Result<Token, Without> {
    // The path is not told: people put the token itself where its file should be named.
    let bytes = read_bounded(path).map_err(|error| {
        let hint = if is_quoted(path.as_os_str()) {
            "the path begins with a quote, remove the quotes"
        } else {
            "it must name a file that this user may read, and not be the token itself"
        };
        let kind = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            kind => kind.to_string(),
        };
        let detail = format!("the file that {origin} names cannot be read ({kind}): {hint}");
        (State::Unreadable, detail)
    })?;
    let what = format!("the file that {origin} names");
    if bytes.len() as u64 > MAX_FILE {
        let detail = format!("{what} is larger than 64 KiB: it must hold the token alone");
        return Err((State::Malformed, detail));
    }
    let Ok(text) = str::from_utf8(&bytes) else {
        return Err((State::Malformed, format!("{what} is not UTF-8: {AGAIN}")));
    };
    read_value(&what, text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// At most one byte more than [`MAX_FILE`].
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    crate::disk::require_regular(path)?;
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_quoted(text: &OsStr) -> bool {
    matches!(text.as_encoded_bytes().first(), Some(b'"' | b'\''))
}

/// Values that nobody meant as one.
fn stand_in(value: &str) -> Option<State> {
    if value.trim().is_empty() {
        Some(State::Blank)
    } else if value.contains(['<', '>']) {
        Some(State::Placeholder)
    } else {
        None
    }
}

fn read_value(what: &str, value: &str) -> Result<Token, Without> {
    if let Some(state) = stand_in(value) {
        let word = if value.is_empty() { "empty" } else { state.name() };
        return Err((state, format!("{what} is {word}: put the token into it")));
    }
    let value = value.trim();
    let (fault, advice) = if value.starts_with(['"', '\'']) {
        ("begins with a quote", UNQUOTE)
    } else if value.ends_with(['"', '\'']) {
        ("ends with a quote", UNQUOTE)
    } else if value.contains(char::is_whitespace) {
        ("contains white space inside", AGAIN)
    } else if value.contains(char::is_control) {
        ("contains a control character", AGAIN)
    } else if !value.is_ascii() {
        ("contains characters outside ASCII", AGAIN)
    } else {
        return Ok(Token(value.to_owned()));
    };
    Err((State::Malformed, format!("{what} {fault}: {advice}")))
}

#[cfg(test)]
mod tests;
