//! Raw values: where they come from, and what is said of wrong ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use super::Warning;
use crate::env::Env;
use crate::exit::{Hold, Reason};

/// Longer wrong values are not repeated in messages, in characters.
const SHOWN: usize = 24;

/// A value that was given, and by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    /// The flag or the variable.
    pub(super) origin: &'static str,
    pub(super) raw: &'a OsStr,
}

impl<'a> Given<'a> {
    /// What was given: the flag, else the variable. A flag may be given an empty value, which
    /// is a wrong one; an empty variable is an unset one.
    pub(super) fn find(
        env: &'a Env,
        (flag, value): (&'static str, Option<&'a OsStr>),
        variable: &'static str,
    ) -> Option<Self> {
        match value {
            Some(raw) => Some(Self { origin: flag, raw }),
            None => Self::variable(env, variable),
        }
    }

    pub(super) fn variable(env: &'a Env, name: &'static str) -> Option<Self> {
        env.get_os(name).map(|raw| Self { origin: name, raw })
    }

    /// Says that the value is wrong, and what it must be.
    pub(super) fn wrong(&self, must_be: &str) -> String {
        let origin = self.origin;
        let fault = match self.raw.to_str() {
            Some("") => "is empty".to_owned(),
            Some(text) if text.starts_with(['"', '\'']) => {
                return format!("{origin} begins with a quote: remove the quotes");
            }
            Some(text) if text.chars().count() <= SHOWN => format!("is {text:?}"),
            Some(_) => "cannot be used".to_owned(),
            None => "is not UTF-8".to_owned(),
        };
        format!("{origin} {fault}: it must be {must_be}")
    }

    /// The value as a number of ASCII digits.
    pub(super) fn digits<T: FromStr>(&self) -> Option<T> {
        self.raw.to_str().and_then(digits)
    }

    /// The value as one of a few words.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, String> {
        let found = words.iter().find(|(word, _)| self.raw == *word);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(&words.join(" or "))
        })
    }

    /// The value as a path. Crontabs, units and env files do not expand what a shell would,
    /// and a folder named `~` would then be made in silence.
    pub(super) fn path(&self) -> Result<PathBuf, String> {
        match self.raw.as_encoded_bytes().first() {
            None | Some(b'"' | b'\'') => Err(self.wrong("a path")),
            Some(b'~' | b'$') => Err(format!(
                "{} begins with ~ or $, which is not expanded here: write the whole path",
                self.origin
            )),
            Some(_) => Ok(PathBuf::from(self.raw)),
        }
    }
}

/// A number of ASCII digits alone: no sign, no space, no exponent.
pub(super) fn digits<T: FromStr>(text: &str) -> Option<T> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Reads settings and keeps what is to be told about them.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) env: &'a Env,
    pub(super) warnings: Vec<Warning>,
    pub(super) problems: Vec<Hold>,
    /// By variable: the flag or the variable that its setting was taken from.
    pub(super) origins: RefCell<BTreeMap<&'static str, &'static str>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(env: &'a Env) -> Self {
        Self { env, warnings: Vec::new(), problems: Vec::new(), origins: RefCell::default() }
    }

    /// What was given for a setting: see [`Given::find`].
    pub(super) fn given(
        &self,
        flag: &'static str,
        value: impl Into<Option<&'a OsString>>,
        variable: &'static str,
    ) -> Option<Given<'a>> {
        let value = value.into().map(OsString::as_os_str);
        let given = Given::find(self.env, (flag, value), variable)?;
        self.came(variable, given.origin);
        Some(given)
    }

    /// What was given for a setting that has no flag.
    pub(super) fn variable(&self, name: &'static str) -> Option<Given<'a>> {
        let given = Given::variable(self.env, name)?;
        self.came(name, name);
        Some(given)
    }

    /// Notes where a setting was taken from.
    pub(super) fn came(&self, variable: &'static str, origin: &'static str) {
        self.origins.borrow_mut().insert(variable, origin);
    }

    pub(super) fn warn(&mut self, text: String) {
        self.warnings.push(Warning(text));
    }

    pub(super) fn hold(&mut self, reason: Reason, detail: impl Into<String>) {
        self.problems.push(Hold::because(reason, detail));
    }

    /// A number; where it is wrong the slot keeps its default, with a warning.
    pub(super) fn number<T>(
        &mut self,
        slot: &mut T,
        given: Option<Given<'_>>,
        range: RangeInclusive<T>,
    ) where
        T: FromStr + PartialOrd + Display,
    {
        let Some(given) = given else { return };
        if let Some(number) = given.digits().filter(|number| range.contains(number)) {
            *slot = number;
        } else {
            let (from, to) = range.into_inner();
            let wrong = given.wrong(&format!("a whole number from {from} to {to}"));
            self.origins.borrow_mut().retain(|_, origin| *origin != given.origin);
            self.warn(format!("{wrong}; using {slot}"));
        }
    }

    /// A number of at least 1; a wrong one is a problem.
    pub(super) fn limit<T>(&mut self, slot: &mut T, given: Option<Given<'_>>, reason: Reason)
    where
        T: FromStr + PartialOrd + From<u8>,
    {
        let Some(given) = given else { return };
        match given.digits().filter(|number| *number >= T::from(1)) {
            Some(number) => *slot = number,
            None => self.hold(reason, given.wrong("a whole number, at least 1")),
        }
    }

    /// One of a few words; where it is none of them the slot takes `instead`, with a warning.
    pub(super) fn word<T: Copy>(
        &mut self,
        slot: &mut T,
        given: Option<Given<'_>>,
        words: &[(&str, T)],
        instead: (&str, T),
    ) {
        match given.map(|given| given.one_of(words)) {
            None => {}
            Some(Ok(meaning)) => *slot = meaning,
            Some(Err(wrong)) => {
                self.warn(format!("{wrong}; using {}", instead.0));
                *slot = instead.1;
            }
        }
    }

    /// One of a few words; any other is a problem.
    pub(super) fn strict_word<T: Copy>(
        &mut self,
        given: Given<'_>,
        words: &[(&str, T)],
        reason: Reason,
    ) -> Option<T> {
        self.kept(given.one_of(words), reason)
    }

    /// A path; a wrong one is a problem.
    pub(super) fn path(&mut self, given: Option<Given<'_>>, reason: Reason) -> Option<PathBuf> {
        self.kept(given?.path(), reason)
    }

    /// Text that `parse` understands; any other is a problem, and is not repeated. `parse`
    /// says what is wrong in words that follow the name of the setting.
    pub(super) fn text(
        &mut self,
        given: Given<'_>,
        parse: impl Fn(&str) -> Result<String, &'static str>,
        reason: Reason,
    ) -> Option<String> {
        let text = given.raw.to_str().ok_or("is not UTF-8: write it anew");
        let parsed = text.and_then(parse);
        self.kept(parsed.map_err(|fault| format!("{} {fault}", given.origin)), reason)
    }

    fn kept<T>(&mut self, value: Result<T, String>, reason: Reason) -> Option<T> {
        value.map_err(|wrong| self.hold(reason, wrong)).ok()
    }
}

/// The path that a flag or, without it, a variable names; `None` where neither does.
///
/// # Errors
/// A hold with `reason`: what is named is empty, in quotes, or begins with `~` or `$`.
pub fn path(
    flag: &'static str,
    value: Option<&OsStr>,
    variable: Option<&'static str>,
    env: &Env,
    reason: Reason,
) -> Result<Option<PathBuf>, Hold> {
    let given = match value {
        Some(raw) => Some(Given { origin: flag, raw }),
        None => variable.and_then(|name| Given::variable(env, name)),
    };
    given.map(|given| given.path()).transpose().map_err(|wrong| Hold::because(reason, wrong))
}

/// What one of two words means that a variable may hold; without the variable, or where it holds
/// neither, the first, and in the latter case what is wrong.
#[must_use]
pub fn word<T: Copy>(
    env: &Env,
    name: &'static str,
    words: &[(&str, T); 2],
) -> (T, Option<Warning>) {
    let mut reader = Reader::new(env);
    let mut meaning = words[0].1;
    reader.word(&mut meaning, Given::variable(env, name), words, words[0]);
    (meaning, reader.warnings.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ascii_digits_alone() {
        assert_eq!(digits::<u64>("0"), Some(0));
        assert_eq!(digits::<u64>("007"), Some(7));
        assert_eq!(digits::<u64>("18446744073709551615"), Some(u64::MAX));
        for odd in [
            "",
            "+1",
            "-1",
            " 1",
            "1 ",
            "1e3",
            "1.0",
            "0x10",
            "1_000",
            "１",
            "18446744073709551616",
        ] {
            assert_eq!(digits::<u64>(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_message_names_the_origin_and_cannot_be_forged() {
        let says = |raw: &str| {
            let raw = OsStr::new(raw);
            let origin = "LIVE_PAGE_SIZE";
            Given { origin, raw }.wrong("a number")
        };
        assert_eq!(says("x\n[live] y"), r#"LIVE_PAGE_SIZE is "x\n[live] y": it must be a number"#);
        assert_eq!(says(""), "LIVE_PAGE_SIZE is empty: it must be a number");
        assert_eq!(says("'6'"), "LIVE_PAGE_SIZE begins with a quote: remove the quotes");
        assert_eq!(says(&"s".repeat(25)), "LIVE_PAGE_SIZE cannot be used: it must be a number");
    }

    #[test]
    fn a_path_that_only_a_shell_would_expand_is_refused() {
        let path = |raw: &str| {
            let raw = OsStr::new(raw);
            let origin = "X";
            Given { origin, raw }.path()
        };
        assert_eq!(path("a/~b$"), Ok(PathBuf::from("a/~b$")));
        for (raw, says) in [
            ("", "empty"),
            ("~/state", "whole path"),
            ("$HOME/state", "whole path"),
            ("\"/var\"", "remove the quotes"),
        ] {
            let error = path(raw).unwrap_err();
            assert!(error.starts_with("X ") && error.contains(says), "{error}");
        }
    }
}
