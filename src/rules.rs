//! Model families that are never submitted (`data/banned.json`).
//!
//! The patterns know neither look-ahead nor look-behind. Those that must tell a generation from
//! a size (Gemma 2 from Gemma with 2B parameters) therefore spell out what may follow the digit:
//! the end, no letter or digit, or a letter that begins a word, which `b` does only before
//! `a e l o r u y` (2base, 2blend) and `x` only before a letter (2xl, not 2x7b).

use std::collections::HashSet;

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};

use crate::json;

/// The ban rules, in the order in which they are tried.
#[derive(Debug, Clone)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    name: String,
    pattern: Regex,
    unless: Option<Regex>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version", deserialize_with = "json::version_1")]
    _version: (),
    #[serde(deserialize_with = "rows")]
    rules: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rule: String,
    pattern: String,
    unless: Option<String>,
}

fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Row>, D::Error> {
    json::list(deserializer, "rules")
}

impl Rules {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Reads the text of a `banned.json`.
    ///
    /// # Errors
    /// The place (`rules[3]: ...`) and the reason: not JSON, an unknown key or version, a rule
    /// name that is blank, taken, or could not stand in a log line, a pattern that is blank, no
    /// regular expression, or matches the empty text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = crate::json::read(text)?;
        let mut names = HashSet::new();
        let mut rules = Vec::with_capacity(file.rules.len());
        for (at, row) in file.rules.into_iter().enumerate() {
            let rule = Rule::compile(row).map_err(|why| format!("rules[{at}]: {why}"))?;
            if !names.insert(rule.name.to_ascii_lowercase()) {
                return Err(format!("rules[{at}]: a second rule named {}", rule.name));
            }
            rules.push(rule);
        }
        Ok(Self(rules))
    }

    /// The name of the first rule that bans the model of this address and name; neither has to
    /// be well-formed, an unknown name is the empty text.
    #[must_use]
    pub fn banned(&self, address: &str, name: &str) -> Option<&str> {
        // The `2F` of an encoded slash would hide that a name begins behind it.
        let text = format!("{address} {name}").replace("%2F", "/");
        let text = text.replace("%2f", "/");
        self.0.iter().find(|rule| rule.bans(&text)).map(|rule| rule.name.as_str())
    }
}

impl Rule {
    fn compile(row: Row) -> Result<Self, String> {
        let in_a_log_line = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if row.rule.is_empty() || !row.rule.chars().all(in_a_log_line) {
            return Err(format!(
                "the rule name {:?} is not of letters, digits, dash, dot and underscore",
                row.rule
            ));
        }
        Ok(Self {
            pattern: compile("pattern", &row.pattern)?,
            unless: row.unless.map(|unless| compile("unless", &unless)).transpose()?,
            name: row.rule,
        })
    }

    fn bans(&self, text: &str) -> bool {
        self.pattern.is_match(text)
            && !self.unless.as_ref().is_some_and(|unless| unless.is_match(text))
    }
}

fn compile(key: &str, pattern: &str) -> Result<Regex, String> {
    if pattern.trim().is_empty() {
        return Err(format!("{key} is blank"));
    }
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .build()
        .map_err(|error| format!("{key} {pattern:?} is no regular expression: {error}"))?;
    if regex.is_match("") {
        return Err(format!("{key} {pattern:?} matches every model"));
    }
    Ok(regex)
}

#[cfg(test)]
mod tests;
