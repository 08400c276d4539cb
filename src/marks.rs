//! Pairs that the platform will not take (`data/reject-marks.json`).

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::gpu::{Catalog, Gpu};
use crate::json;
use crate::pair::{ModelId, ModelKey, Pair};

/// One pair that the platform will not take.
#[derive(Debug, Clone)]
pub struct Mark {
    /// The model as the file writes it.
    pub model: String,
    /// The model, case-folded.
    pub key: ModelKey,
    /// The card.
    pub gpu: Gpu,
    /// The platform's code.
    pub code: u32,
    /// Why, in words.
    pub reason: Option<String>,
    /// When it was seen, as YYYY-MM-DD.
    pub date: Option<String>,
    /// Fields that this program does not know, as they were written.
    other: Vec<(String, Box<RawValue>)>,
}

/// All marks of a file, each pair once.
#[derive(Debug, Clone, Default)]
pub struct MarksFile {
    marks: Vec<Mark>,
    pairs: HashSet<Pair>,
}

impl MarksFile {
    /// Reads the text of a `reject-marks.json`. The first mark of a pair counts; later ones,
    /// in whatever spelling of the model, are dropped.
    ///
    /// # Errors
    /// The place (`marks[7]: ...`) and the reason: not JSON, another version, an unknown
    /// top-level key, a card that `catalog` does not know, a code that is no whole number, a
    /// model that is blank or malformed, a reason or date that is no text.
    pub fn parse(text: &str, catalog: &Catalog) -> Result<Self, String> {
        let file: File = crate::json::read(text)?;
        let mut marks = Self::default();
        for (at, row) in file.marks.into_iter().enumerate() {
            let mark = row.read(catalog).map_err(|why| format!("marks[{at}]: {why}"))?;
            marks.push(mark);
        }
        Ok(marks)
    }

    /// The file's text: sorted by lower-case model, then card; indented by 2; with a newline at
    /// the end. Fields that this program does not know follow the known ones.
    ///
    /// # Errors
    /// None that a mark of this type can cause.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut marks: Vec<&Mark> = self.marks.iter().collect();
        marks.sort_by_cached_key(|mark| (mark.model.to_lowercase(), mark.gpu.clone()));
        let mut text = serde_json::to_string_pretty(&Written { version: 1, marks })?;
        text.push('\n');
        Ok(text)
    }

    /// Adds a mark for a pair that has none.
    ///
    /// Takes the model in the spelling to write, its card, the platform's code, the reason and
    /// the date (YYYY-MM-DD). Returns whether the pair was new; a known pair stays as it is.
    pub fn insert_if_new(
        &mut self,
        model: &ModelId,
        gpu: &Gpu,
        code: u32,
        reason: &str,
        date: &str,
    ) -> bool {
        self.push(Mark {
            model: model.as_str().to_owned(),
            key: model.key(),
            gpu: gpu.clone(),
            code,
            reason: Some(reason.to_owned()),
            date: Some(date.to_owned()),
            other: Vec::new(),
        })
    }

    /// How many pairs are marked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether no pair is marked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The marks in the order of the file, those added since at the end.
    pub fn iter(&self) -> std::slice::Iter<'_, Mark> {
        self.marks.iter()
    }

    fn push(&mut self, mark: Mark) -> bool {
        let new = self.pairs.insert(Pair::new(mark.key.clone(), mark.gpu.clone()));
        if new {
            self.marks.push(mark);
        }
        new
    }
}

impl<'a> IntoIterator for &'a MarksFile {
    type Item = &'a Mark;
    type IntoIter = std::slice::Iter<'a, Mark>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version", deserialize_with = "json::version_1")]
    _version: (),
    #[serde(deserialize_with = "rows")]
    marks: Vec<Row>,
}

fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Row>, D::Error> {
    json::list(deserializer, "marks")
}

#[derive(serde::Serialize)]
struct Written<'a> {
    version: u32,
    marks: Vec<&'a Mark>,
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &self.model)?;
        map.serialize_entry("gpu", self.gpu.as_str())?;
        map.serialize_entry("code", &self.code)?;
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        if let Some(date) = &self.date {
            map.serialize_entry("date", date)?;
        }
        for (key, value) in &self.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A row before its names are looked up.
struct Row {
    model: String,
    gpu: String,
    code: u32,
    reason: Option<String>,
    date: Option<String>,
    other: Vec<(String, Box<RawValue>)>,
}

impl Row {
    fn read(self, catalog: &Catalog) -> Result<Mark, String> {
        let key = ModelKey::parse(&self.model)
            .map_err(|why| format!("the model {:?}: {why}", self.model))?;
        let gpu = catalog
            .find(&self.gpu)
            .ok_or_else(|| format!("the card {:?} is not in gpus.json", self.gpu))?;
        Ok(Mark {
            model: self.model,
            key,
            gpu: gpu.clone(),
            code: self.code,
            reason: self.reason,
            date: self.date,
            other: self.other,
        })
    }
}

/// By hand, since a derived reader would drop the fields that it does not know, or sort them.
impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mark")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let (mut model, mut gpu, mut code) = (None, None, None);
                let (mut reason, mut date) = (None, None);
                let mut other: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    let again = match key.as_str() {
                        "model" => model.replace(map.next_value()?).is_some(),
                        "gpu" => gpu.replace(map.next_value()?).is_some(),
                        "code" => code.replace(map.next_value()?).is_some(),
                        "reason" => reason.replace(map.next_value()?).is_some(),
                        "date" => date.replace(map.next_value()?).is_some(),
                        _ => {
                            let again = other.iter().any(|(known, _)| *known == key);
                            other.push((key.clone(), map.next_value()?));
                            again
                        }
                    };
                    if again {
                        return Err(A::Error::custom(format_args!("{key:?} is there twice")));
                    }
                }
                Ok(Row {
                    model: model.ok_or_else(|| A::Error::missing_field("model"))?,
                    gpu: gpu.ok_or_else(|| A::Error::missing_field("gpu"))?,
                    code: code.ok_or_else(|| A::Error::missing_field("code"))?,
                    reason: reason.flatten(),
                    date: date.flatten(),
                    other,
                })
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests;
