//! What commands that look tell people: facts in two columns.

use std::fmt;

/// So many of a list are shown; JSON has all of them.
const SHOWN: usize = 20;

/// Facts for people, one a line, each with its name or, where it goes on with the one before, without.
#[derive(Debug, Default)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    /// One fact.
    pub fn add(&mut self, name: impl Into<String>, fact: impl fmt::Display) {
        self.0.push((name.into(), fact.to_string()));
    }

    /// Another line of the fact before.
    pub fn more(&mut self, fact: impl fmt::Display) {
        self.add("", fact);
    }

    /// One line for each of a list that is known.
    pub fn list<T>(&mut self, name: &'static str, list: Option<&[T]>, show: impl Fn(&T) -> String) {
        let Some(list) = list else { return };
        let Some((first, rest)) = list.split_first() else { return self.add(name, "none") };
        self.add(name, show(first));
        rest.iter().take(SHOWN - 1).for_each(|one| self.more(show(one)));
        if list.len() > SHOWN {
            self.more(format_args!("and {} more", list.len() - SHOWN));
        }
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
        let lines: Vec<String> =
            self.0.iter().map(|(name, fact)| format!("{name:<width$}{fact}")).collect();
        f.write_str(&lines.join("\n"))
    }
}
