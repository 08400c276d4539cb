//! Names: model ids in every spelling that people and the platform use, and the pair that is
//! submitted at most once.

use std::fmt;
use std::sync::Arc;

use crate::gpu::Gpu;

/// Hosts whose URLs name a model as the first two parts of the path.
const HUBS: [&str; 3] = ["huggingface.co", "hf-mirror.com", "modelscope.cn"];

/// No model's name or URL is nearly as long, in bytes; requests with longer ones fail.
pub const MAX_LENGTH: usize = 1_024;

/// A well-formed `org/name`, in the case in which it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId(Arc<str>);

/// A [`ModelId`] folded to lower case: two spellings of one model have one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelKey(Arc<str>);

/// What the platform takes at most once: a model on a card.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// The model, case-folded.
    pub model: ModelKey,
    /// The card, by its enum.
    pub gpu: Gpu,
}

/// Why a text is not a model id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadModel {
    /// Nothing but white space.
    Blank,
    /// A stand-in that nobody replaced: `<model>`, TODO.
    Placeholder,
    /// No `/`: a model needs an owner.
    NoOwner,
    /// A character other than ASCII letters, digits, `_ . -`.
    BadCharacter(char),
    /// More or fewer than two parts, or a part of dots alone.
    BadShape,
    /// A URL of a host that is not a known model hub.
    UnknownHost,
    /// More than [`MAX_LENGTH`] bytes.
    TooLong,
}

impl fmt::Display for BadModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the model is blank"),
            Self::Placeholder => f.write_str("a placeholder stands in place of a model"),
            Self::NoOwner => f.write_str("no owner: expected org/name"),
            Self::BadCharacter(' ') => f.write_str("a blank in a model id"),
            Self::BadCharacter(c) if c.is_ascii_graphic() => {
                write!(f, "character {c} in a model id")
            }
            Self::BadCharacter(c) => {
                write!(f, "character U+{:04X} in a model id", u32::from(*c))?;
                if c.is_alphanumeric() { write!(f, " ({c})") } else { Ok(()) }
            }
            Self::BadShape => f.write_str("expected org/name"),
            Self::TooLong => write!(f, "more than {MAX_LENGTH} bytes"),
            Self::UnknownHost => f.write_str("a URL of an unknown model hub"),
        }
    }
}

impl ModelId {
    /// Reads any spelling of DESIGN §5: a bare id, a hub URL with anything behind the id, a
    /// `.git` ending, percent-encoded slashes.
    ///
    /// # Errors
    /// Whatever is not exactly one `org/name` is refused: a guess could name another model.
    pub fn parse(text: &str) -> Result<Self, BadModel> {
        if is_plain(text) {
            return Ok(Self(text.into()));
        }
        let text = text.trim();
        if text.is_empty() {
            return Err(BadModel::Blank);
        }
        if text.len() > MAX_LENGTH {
            return Err(BadModel::TooLong);
        }
        if text.contains(['<', '>']) || is_placeholder(text) {
            return Err(BadModel::Placeholder);
        }
        let decoded = text.replace("%2F", "/").replace("%2f", "/");
        let (path, from_url) = match decoded.split_once("://") {
            Some((scheme, rest)) => (hub_path(scheme, rest)?, true),
            None => (decoded.as_str(), false),
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let mut parts = path.trim_matches('/').split('/');
        let (Some(org), Some(name)) = (parts.next(), parts.next()) else {
            return Err(BadModel::NoOwner);
        };
        if parts.next().is_some() && !from_url {
            return Err(BadModel::BadShape);
        }
        let mut name = name;
        while let Some(shorter) = strip_suffix_ignore_case(name, ".git") {
            name = shorter;
        }
        for part in [org, name] {
            if let Some(c) = part.chars().find(|c| !is_id_character(*c)) {
                return Err(BadModel::BadCharacter(c));
            }
            if is_placeholder(part) {
                return Err(BadModel::Placeholder);
            }
            if part.chars().all(|c| c == '.') {
                return Err(BadModel::BadShape);
            }
        }
        Ok(Self(format!("{org}/{name}").into()))
    }

    /// The id in its own case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part behind the owner.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }

    /// The id folded to lower case.
    #[must_use]
    pub fn key(&self) -> ModelKey {
        if self.0.bytes().any(|b| b.is_ascii_uppercase()) {
            ModelKey(self.0.to_ascii_lowercase().into())
        } else {
            ModelKey(Arc::clone(&self.0))
        }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ModelKey {
    /// The key of any text that *names* a model: refused like [`ModelId::parse`].
    pub fn parse(text: &str) -> Result<Self, BadModel> {
        ModelId::parse(text).map(|id| id.key())
    }

    /// The keys under which a model *seen* on the platform is taken: one, but where
    /// [`ModelId::parse`] refuses the name. It may still be a model of ours in disguise (a
    /// stray space, a zero-width character, a URL without its scheme, a path behind it), so
    /// every two neighbours that could be an `org/name` are taken; never nothing.
    #[must_use]
    pub fn seen(text: &str) -> Vec<Self> {
        if let Ok(key) = Self::parse(text) {
            return vec![key];
        }
        let slashed =
            text.trim().replace("%2F", "/").replace("%2f", "/").replace(['\\', '／'], "/");
        let is_name = |c: char| is_id_character(c) || c == '/';
        // Without what is no character of an id, and up to the first such behind the scheme.
        let bare: String = slashed.chars().filter(|c| is_name(*c)).collect();
        let path = slashed.split_once("://").map_or(slashed.as_str(), |(_, path)| path);
        let cut: String = path.chars().take_while(|c| is_name(*c)).collect();
        let mut keys: Vec<Self> = Vec::new();
        for name in [bare, cut] {
            let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
            let neighbours = parts.windows(2).map(|two| two.join("/"));
            keys.extend(neighbours.filter_map(|name| Self::parse(&name).ok()));
        }
        if keys.is_empty() { vec![Self(text.trim().to_lowercase().into())] } else { keys }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pair {
    /// A pair of its parts.
    #[must_use]
    pub fn new(model: ModelKey, gpu: Gpu) -> Self {
        Self { model, gpu }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.model, self.gpu)
    }
}

/// Whether a text is an id as it stands, as most are: what reading it would give is the text.
fn is_plain(text: &str) -> bool {
    let is_part = |part: &str| {
        part.bytes().all(|b| is_id_character(b.into()))
            && part.bytes().any(|b| b != b'.')
            && !is_placeholder(part)
    };
    text.split_once('/').filter(|_| text.len() <= MAX_LENGTH).is_some_and(|(org, name)| {
        is_part(org) && is_part(name) && strip_suffix_ignore_case(name, ".git").is_none()
    })
}

fn is_id_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn is_placeholder(text: &str) -> bool {
    text.eq_ignore_ascii_case("todo")
}

/// The text without an ending, unless nothing else is left of it.
fn strip_suffix_ignore_case<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let (head, tail) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
    (tail.eq_ignore_ascii_case(suffix) && !head.is_empty()).then_some(head)
}

/// The path of a hub URL behind the hub's own prefix.
fn hub_path<'a>(scheme: &str, rest: &'a str) -> Result<&'a str, BadModel> {
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err(BadModel::UnknownHost);
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    if !HUBS.contains(&host) {
        return Err(BadModel::UnknownHost);
    }
    let path = path.trim_start_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    match first.to_ascii_lowercase().as_str() {
        "models" => Ok(rest),
        // What follows is no model, or a model of which one cannot be sure.
        "api" | "datasets" | "spaces" => Err(BadModel::BadShape),
        _ => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I06: URL forms are not ids; all of these are one model.
    #[test]
    fn i06_every_spelling_of_one_model_has_one_key() {
        for text in [
            "https://huggingface.co/ORG/Model/",
            "http://hf-mirror.com/org/model/tree/main?x=1",
            "http://hf-mirror.com//org/model",
            "https://www.modelscope.cn/models/org/model/summary",
            "https://modelscope.cn/models/org/model",
            "org/Model.git",
            "org/model.GIT",
            "org/model.git.Git",
            "https://www.modelscope.cn/Models/org/model/summary",
            "https://huggingface.co/org/model.git",
            "org%2Fmodel",
            "org%2fModel",
            "Org/Model",
            "  org/model\n",
            "org/model?x=1",
            "org/model/",
        ] {
            assert_eq!(ModelKey::parse(text).unwrap().as_str(), "org/model", "{text}");
        }
    }

    #[test]
    fn a_bad_character_is_named() {
        for (c, says) in [
            (' ', "a blank in a model id"),
            ('~', "character ~ in a model id"),
            ('\u{3000}', "character U+3000 in a model id"),
            ('模', "character U+6A21 in a model id (模)"),
        ] {
            assert_eq!(BadModel::BadCharacter(c).to_string(), says);
        }
    }

    #[test]
    fn a_name_of_absurd_length_is_refused() {
        let long = format!("a/{}", "b".repeat(MAX_LENGTH - 2));
        assert!(ModelId::parse(&long).is_ok());
        assert_eq!(ModelId::parse(&(long + "b")), Err(BadModel::TooLong));
    }

    /// I06: whatever is not an id is refused with its reason, never guessed.
    #[test]
    fn i06_what_is_not_a_model_is_refused() {
        for (text, why) in [
            ("", BadModel::Blank),
            (" \t", BadModel::Blank),
            ("gpt2", BadModel::NoOwner),
            ("https://huggingface.co/gpt2", BadModel::NoOwner),
            ("https://huggingface.co/", BadModel::NoOwner),
            ("org/", BadModel::NoOwner),
            ("a/b/c", BadModel::BadShape),
            ("../..", BadModel::BadShape),
            ("org/my model", BadModel::BadCharacter(' ')),
            ("org/mod\u{200b}el", BadModel::BadCharacter('\u{200b}')),
            ("org/ｍodel", BadModel::BadCharacter('ｍ')),
            ("<org>/<model>", BadModel::Placeholder),
            ("TODO", BadModel::Placeholder),
            ("org/TODO", BadModel::Placeholder),
            ("https://example.com/org/model", BadModel::UnknownHost),
            ("ftp://huggingface.co/org/model", BadModel::UnknownHost),
            ("https://huggingface.co/api/models/org/model", BadModel::BadShape),
            ("https://huggingface.co/datasets/org/data", BadModel::BadShape),
            ("https://huggingface.co/spaces/org/space", BadModel::BadShape),
            ("org/model%20x", BadModel::BadCharacter('%')),
        ] {
            assert_eq!(ModelId::parse(text), Err(why), "{text:?}");
        }
    }

    /// What is read back from a journal or a list must be what was written.
    #[test]
    fn a_key_is_its_own_key() {
        for text in ["a/b", "A/B.git.git", "a/.git", "a/b.git.x", "https://hf-mirror.com/a/b.git"] {
            let id = ModelId::parse(text).unwrap();
            assert_eq!(ModelId::parse(id.as_str()).as_ref(), Ok(&id), "{text}");
            assert_eq!(ModelKey::parse(id.key().as_str()), Ok(id.key()), "{text}");
        }
    }

    #[test]
    fn an_id_keeps_its_case_and_its_dots() {
        let id = ModelId::parse("https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct").unwrap();
        assert_eq!(id.as_str(), "Qwen/Qwen2.5-0.5B-Instruct");
        assert_eq!(id.name(), "Qwen2.5-0.5B-Instruct");
        assert_eq!(id.key().as_str(), "qwen/qwen2.5-0.5b-instruct");
    }

    #[test]
    fn i06_a_seen_model_in_disguise_still_takes_ours() {
        for text in [
            "Org/Model",
            "Org/Mod\u{200b}el ",
            "https://huggingface.co/Org/Model",
            "huggingface.co/Org/Model",
            "https://hf.co/Org/Model",
            "Org/Model/tree/main",
            "models/Org/Model",
            "Org\\Model",
            "//Org//Model",
            "Org/Model:main",
            "Org/Model@v1",
            "Org/Model (v2)",
            "Org/Model%20",
            "Org／Model",
        ] {
            let keys = ModelKey::seen(text);
            assert!(keys.iter().any(|key| key.as_str() == "org/model"), "{text}: {keys:?}");
        }
        for (text, key) in [("GPT2", "gpt2"), (" 模型 ", "模型"), ("", "")] {
            assert_eq!(ModelKey::seen(text), [ModelKey(key.into())]);
        }
    }
}
