//! Cards: the platform's enums and the Chinese names that people write.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::Deserialize;

/// A card by its platform enum, e.g. `Biren_166m`. Not necessarily one of the catalogue:
/// see [`Seen`].
///
/// Two spellings that differ in case alone are one card.
#[derive(Debug, Clone)]
pub struct Gpu(Arc<str>);

impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Gpu {}

impl Hash for Gpu {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for part in self.0.as_bytes().chunks(32) {
            let mut folded = [0; 32];
            folded[..part.len()].copy_from_slice(part);
            folded.make_ascii_lowercase();
            state.write(&folded);
        }
    }
}

impl Ord for Gpu {
    fn cmp(&self, other: &Self) -> Ordering {
        folded(&self.0).cmp(folded(&other.0))
    }
}

impl PartialOrd for Gpu {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Gpu {
    /// The enum as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A card that only the journal or a test names; submission goes through a [`Catalog`].
    #[must_use]
    pub fn verbatim(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a card name on the platform can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// One card; of the catalogue, or at least written like an enum.
    Card(Gpu),
    /// A name that could mean any card.
    Unreadable,
}

/// The known cards (`data/gpus.json`).
#[derive(Debug, Clone)]
pub struct Catalog {
    by_name: HashMap<String, Gpu>,
    targets: Vec<Gpu>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    gpus: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    r#enum: String,
    aliases: Vec<String>,
    target: bool,
}

impl Catalog {
    /// Reads the text of a `gpus.json`.
    ///
    /// # Errors
    /// The place and the reason: not JSON, an unknown key or version, a card without an enum,
    /// one name for two cards.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = crate::json::read(text)?;
        if file.version != 1 {
            return Err(format!("version {} where 1 is known", file.version));
        }
        let mut catalog = Self { by_name: HashMap::new(), targets: Vec::new() };
        for (at, row) in file.gpus.into_iter().enumerate() {
            if !is_enum_shaped(&row.r#enum) {
                return Err(format!(
                    "gpus[{at}]: {:?} is not of the form Vendor_model",
                    row.r#enum
                ));
            }
            let gpu = Gpu(row.r#enum.as_str().into());
            for name in row.aliases.iter().chain([&row.r#enum]) {
                let folded = fold(name);
                if folded.is_empty() {
                    return Err(format!("gpus[{at}]: a blank alias of {gpu}"));
                }
                if let Some(other) =
                    catalog.by_name.insert(folded, gpu.clone()).filter(|g| *g != gpu)
                {
                    return Err(format!("gpus[{at}]: {name:?} names {gpu} and {other}"));
                }
            }
            if row.target {
                catalog.targets.push(gpu);
            }
        }
        Ok(catalog)
    }

    /// The card that a person's or the platform's name stands for, ignoring case and spaces.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Gpu> {
        self.by_name.get(&fold(name))
    }

    /// What a card name seen on the platform takes: an unlisted enum is kept as it is.
    #[must_use]
    pub fn seen(&self, name: &str) -> Seen {
        match self.find(name) {
            Some(gpu) => Seen::Card(gpu.clone()),
            None if is_enum_shaped(name.trim()) => Seen::Card(Gpu(name.trim().into())),
            None => Seen::Unreadable,
        }
    }

    /// Cards that models without a card list of their own are tried on, in order.
    #[must_use]
    pub fn targets(&self) -> &[Gpu] {
        &self.targets
    }
}

fn folded(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| byte.to_ascii_lowercase())
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// `Vendor_model` in ASCII.
pub(crate) fn is_enum_shaped(name: &str) -> bool {
    name.split_once('_').is_some_and(|(vendor, model)| {
        !vendor.is_empty()
            && vendor.bytes().all(|b| b.is_ascii_alphanumeric())
            && !model.is_empty()
            && model.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Catalog {
        Catalog::parse(include_str!("../data/gpus.json")).unwrap()
    }

    #[test]
    fn the_shipped_catalogue_knows_every_name_of_a_card() {
        let catalog = shipped();
        for (name, gpu) in [
            ("壁砺", "Biren_166m"),
            ("biren_166M", "Biren_166m"),
            (" 天垓 150", "Iluvatar_bi-150"),
            ("天垓100", "Iluvatar_bi-100"),
            ("沐曦c500", "MetaX_c-500"),
            ("曦云 C500", "MetaX_c-500"),
            ("HYGON_K100-AI", "hygon_k100-ai"),
        ] {
            assert_eq!(catalog.find(name).map(Gpu::as_str), Some(gpu), "{name}");
        }
        let targets: Vec<_> = catalog.targets().iter().map(Gpu::as_str).collect();
        assert_eq!(
            targets,
            ["Biren_166m", "Sunrise_pt-200-x1", "Iluvatar_bi-150", "Iluvatar_mrv-100"]
        );
        assert_eq!(catalog.by_name.values().collect::<std::collections::HashSet<_>>().len(), 14);
    }

    #[test]
    fn an_unlisted_card_is_kept_only_where_it_is_written_like_an_enum() {
        let catalog = shipped();
        assert_eq!(catalog.seen("Newcomer_x-1"), Seen::Card(Gpu::verbatim("Newcomer_x-1")));
        assert_eq!(catalog.find("Newcomer_x-1"), None);
        for odd in ["天垓 999", "A100", "", "_x", "Biren_166m,Sunrise_pt-200-x1", "Ａ_b"] {
            assert_eq!(catalog.seen(odd), Seen::Unreadable, "{odd:?}");
        }
    }

    #[test]
    fn case_makes_no_other_card() {
        let (one, other) = (Gpu::verbatim("Biren_166m"), Gpu::verbatim("BIREN_166M"));
        assert_eq!(one, other);
        assert_eq!(one.cmp(&other), Ordering::Equal);
        assert!(std::collections::HashSet::from([one]).contains(&other));
        assert_ne!(other, Gpu::verbatim("Biren_166"));
    }

    #[test]
    fn a_bad_catalogue_names_the_place() {
        for (text, says) in [
            ("{", "line 1"),
            (r#"{"version":2,"gpus":[]}"#, "version 2"),
            (r#"{"version":1,"gpus":[],"x":1}"#, "unknown field `x`"),
            (r#"{"version":1,"gpus":[{"enum":"A100","aliases":[],"target":true}]}"#, "gpus[0]"),
            (r#"{"version":1,"gpus":[{"enum":"A_1","aliases":[" "],"target":true}]}"#, "blank"),
            (
                r#"{"version":1,"gpus":[{"enum":"A_1","aliases":["x"],"target":true},
                    {"enum":"A_2","aliases":["X"],"target":true}]}"#,
                "names A_2 and A_1",
            ),
        ] {
            let error = Catalog::parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
