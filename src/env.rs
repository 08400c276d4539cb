//! The environment as a value: read once, handed down, and never printed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// A snapshot of environment variables. An empty variable is an unset one.
///
/// Credentials are among the values, so `Debug` prints names only.
#[derive(Clone, Default)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
}

/// A variable that is set, and is not UTF-8. An error for the setting that reads it: never an
/// absent value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotUtf8 {
    /// The variable.
    pub name: String,
}

impl fmt::Display for NotUtf8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not UTF-8", self.name)
    }
}

impl std::error::Error for NotUtf8 {}

impl Env {
    /// An environment of these variables. Of a name given twice the first counts, as in
    /// `getenv`.
    pub fn from_pairs<I, K, V>(pairs: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let mut variables = BTreeMap::new();
        for (name, value) in pairs {
            variables.entry(name.into()).or_insert(value.into());
        }
        Self { variables }
    }

    /// The environment of this process, as it is now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads it")]
    pub fn of_process() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// Values that must stand in no line that is written, whichever variable holds them: those of
    /// the credential variables and the URL of pings, but for short ones, which other words may
    /// contain.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let names = crate::secret::VALUE_SOURCES.into_iter().chain([crate::ping::VARIABLE]);
        let values = names.filter_map(|name| self.get_os(name));
        let texts = values.map(|value| value.to_string_lossy().trim().to_owned());
        texts.filter(|text| text.len() >= 8).collect()
    }

    /// The names of all variables that are set, not empty, and named in UTF-8.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let set = self.variables.iter().filter(|(_, value)| !value.is_empty());
        set.filter_map(|(name, _)| name.to_str())
    }

    /// The value of a variable as text; `None` where it is unset or empty.
    ///
    /// # Errors
    /// The variable is set and is not UTF-8.
    pub fn get(&self, name: &str) -> Result<Option<&str>, NotUtf8> {
        self.get_os(name)
            .map(|value| value.to_str().ok_or_else(|| NotUtf8 { name: name.to_owned() }))
            .transpose()
    }

    /// The value of a variable as the system holds it, for paths; `None` where it is unset or
    /// empty.
    #[must_use]
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Env")?;
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_an_unset_one() {
        let env = Env::from_pairs([("A", "1"), ("B", ""), ("C", " ")]);
        assert_eq!(env.get("A"), Ok(Some("1")));
        assert_eq!(env.get("B"), Ok(None));
        assert_eq!(env.get_os("B"), None);
        assert_eq!(env.get("C"), Ok(Some(" ")));
        assert_eq!(env.get("D"), Ok(None));
    }

    #[test]
    fn of_a_name_given_twice_the_first_counts() {
        let env = Env::from_pairs([("A", "1"), ("A", "2")]);
        assert_eq!(env.get("A"), Ok(Some("1")));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_utf8_is_neither_absent_nor_text() {
        use std::os::unix::ffi::OsStringExt;
        let env = Env::from_pairs([(OsString::from("A"), OsString::from_vec(vec![b'/', 0xff]))]);
        let error = env.get("A").unwrap_err();
        assert_eq!(error.to_string(), "A is not UTF-8");
        assert!(env.get_os("A").is_some());
    }

    /// N10: tokens are among the values.
    #[test]
    fn n10_debug_prints_names_only() {
        let env = Env::from_pairs([("XC_TOKEN", "marker-7f3a"), ("HOME", "/marker-7f3a")]);
        assert_eq!(format!("{env:?}"), r#"Env{"HOME", "XC_TOKEN"}"#);
        assert!(!format!("{env:#?}").contains("marker"));
    }

    #[test]
    fn the_environment_of_this_process_is_read() {
        // Cargo sets it for every test.
        assert_eq!(Env::of_process().get("CARGO_PKG_NAME"), Ok(Some("submitter")));
    }
}
