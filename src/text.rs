//! Values in log lines. A name from outside must not be able to end its field or its line.

use std::fmt;

/// A value of a `key=value` field: letters, digits and the signs of names stand as they are,
/// every other character as `\u{hex}`; an empty one as `-`.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a>(pub &'a str);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("-");
        }
        for c in self.0.chars() {
            if c.is_alphanumeric() || "_./:-+@,%".contains(c) {
                write!(f, "{c}")?;
            } else {
                write!(f, "{}", c.escape_unicode())?;
            }
        }
        Ok(())
    }
}

/// A sentence of a log line. Control and invisible characters are escaped, and so are `=`, without
/// which no field can be forged, and a `[` that begins a word, without which no line can.
#[derive(Debug, Clone, Copy)]
pub struct Sentence<'a>(pub &'a str);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars().peekable();
        while let Some(c) = rest.next() {
            let begins_a_word = c == '[' && rest.peek().is_some_and(|next| next.is_alphabetic());
            let plain = c == ' ' || c.is_alphanumeric() || c.is_ascii_punctuation();
            if plain && !begins_a_word && c != '=' {
                write!(f, "{c}")?;
            } else {
                write!(f, "{}", c.escape_unicode())?;
            }
        }
        Ok(())
    }
}

/// A [`Sentence`] in quotes; quotes within it become single ones.
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Sentence(&self.0.replace('"', "'")))
    }
}

/// A text without any of the secrets, which somebody may have put in the wrong place.
#[must_use]
pub fn redacted(text: String, secrets: &[String]) -> String {
    secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), "(redacted)"))
}

/// Tells what a person should know although the run goes on.
pub fn warn(what: impl fmt::Display) {
    log::warn!("[live] warning {}", Sentence(&what.to_string()));
}

/// The target of records that say what is under way.
pub const PROGRESS: &str = "progress";

/// Says what is under way, on a terminal and nowhere else: its stage, a colon, and how far it is.
pub fn progress(what: fmt::Arguments<'_>) {
    log::trace!(target: PROGRESS, "{what}");
}

/// Leaves a terminal as something else may write to it.
pub fn end_progress() {
    progress(format_args!(""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_forge_a_field_or_a_line() {
        let evil = "a/b gpu=X\n[live] submitted model=\"c\"\r\u{1b}[31m\u{200b}\u{2028}\\";
        for shown in [Field(evil).to_string(), Quoted(evil).to_string(), Sentence(evil).to_string()]
        {
            assert!(!shown.contains("[live]"), "{shown}");
            assert!(!shown.contains('\n') && !shown.contains('\r') && !shown.contains('\u{1b}'));
            assert!(!shown.contains("gpu=") && !shown.contains("model="), "{shown}");
            assert!(!shown.contains(['\u{200b}', '\u{2028}']));
        }
        assert!(!Field(evil).to_string().contains(' '));
        assert_eq!(Field("Org/Model-1.5_x").to_string(), "Org/Model-1.5_x");
        assert_eq!(Field("壁砺").to_string(), "壁砺");
        assert_eq!(Field("").to_string(), "-");
        assert_eq!(Quoted("say \"no\", rows[3]").to_string(), "\"say 'no', rows[3]\"");
    }
}
