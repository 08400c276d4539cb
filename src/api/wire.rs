//! The platform's JSON. Spring and Jackson write int64 as strings and int32 as numbers, and
//! which is which depends on the mapper: both are read everywhere.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Precheck, ReadError, SlicePage, SliceRow, TaskId, TaskPage, TaskRow, Verdict};
use crate::codes;
use crate::gpu::Catalog;

/// Unknown model: the precheck's way to say that nothing blocks it.
const CODE_UNKNOWN_MODEL: i64 = 40_400;

/// Any JSON value, of which only integers and texts are of interest. Reading never fails, so
/// that one odd field costs one row and not the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Scalar<'a> {
    /// Absent or `null`.
    #[default]
    Null,
    /// Neither a number nor a text.
    Other,
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    /// A whole number from 0, as a number or a string of decimal digits; nothing else, not even
    /// `20.0`, `1e3`, `" 5"` or a sign (P07).
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::Text(text) if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        }
    }

    /// Like [`Self::number`], and negative ones: `-1`, `"-1"`.
    #[must_use]
    pub fn signed(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                if plain { text.parse().ok() } else { None }
            }
            _ => None,
        }
    }

    /// A text that is not blank, trimmed.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// Points: any finite number, 0 where there is none.
    #[expect(clippy::cast_precision_loss, reason = "points are small")]
    fn points(&self) -> f64 {
        let points = match self {
            Self::Int(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(text) => text.trim().parse().unwrap_or(0.0),
            Self::Null | Self::Other => 0.0,
        };
        if points.is_finite() { points } else { 0.0 }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Other)
            }
            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Scalar::Int(value))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(i64::try_from(value).map_or(Scalar::Other, Scalar::Int))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Scalar::Float(value))
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Scalar::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// An answer's envelope, its data still unread.
#[derive(Debug, Deserialize)]
pub struct Envelope<'a> {
    #[serde(borrow)]
    code: Scalar<'a>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a whole body; none where it is not an object with a `code`.
    #[must_use]
    pub fn read(body: &'a [u8]) -> Option<Self> {
        // To serde a list of values, such as `[60022]`, is as good as an object of these fields.
        let is_object = body.trim_ascii_start().starts_with(b"{");
        if is_object { serde_json::from_slice(body).ok() } else { None }
    }

    /// The code, 0 for success.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.code.signed()
    }

    /// The data of a `task/add`: the new task's id.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        #[derive(Deserialize)]
        struct Data<'a> {
            #[serde(borrow)]
            id: Scalar<'a>,
        }
        let data: Data<'_> = serde_json::from_str(self.data?.get()).ok()?;
        data.id.number().map(TaskId)
    }
}

/// Whether a body says, with whatever HTTP status, that the platform does not know the model.
#[must_use]
pub fn is_unknown_model(body: &[u8]) -> bool {
    Envelope::read(body).and_then(|envelope| envelope.code()) == Some(CODE_UNKNOWN_MODEL)
}

/// What a body looks like, without a byte of it: bodies are never logged.
fn shape(body: &[u8]) -> String {
    let kind = match body.iter().find(|b| !b.is_ascii_whitespace()) {
        None => "an empty body",
        Some(b'<') => "something like HTML",
        Some(b'{' | b'[') => "JSON without a readable code, or cut short",
        Some(_) => "neither JSON nor HTML",
    };
    format!("{kind}, {} bytes", body.len())
}

/// The data of a successful answer.
fn data<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ReadError> {
    let malformed = || ReadError::MalformedJson(shape(body));
    let envelope = Envelope::read(body).ok_or_else(malformed)?;
    match envelope.code().ok_or_else(malformed)? {
        0 => {}
        code if codes::class(code) == codes::Class::Credential => {
            return Err(ReadError::Credential(format!("code {code}")));
        }
        code => return Err(ReadError::Platform(code)),
    }
    let data = envelope.data.ok_or_else(|| ReadError::MalformedData("no data".into()))?;
    if data.get().starts_with('[') {
        return Err(ReadError::MalformedData("a list".into()));
    }
    // serde's own message could quote the body.
    serde_json::from_str(data.get()).map_err(|error| {
        ReadError::MalformedData(format!("line {} column {}", error.line(), error.column()))
    })
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    current: Scalar<'a>,
    #[serde(borrow, default)]
    size: Scalar<'a>,
    #[serde(borrow, default)]
    total: Scalar<'a>,
    #[serde(borrow)]
    records: Option<Vec<Option<Record<'a>>>>,
}

impl Page<'_> {
    fn number(name: &str, value: &Scalar<'_>) -> Result<u64, ReadError> {
        value
            .number()
            .ok_or_else(|| ReadError::MalformedData(format!("{name} is not a whole number")))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow, default)]
    task_id: Scalar<'a>,
    #[serde(borrow, default)]
    model_id: Scalar<'a>,
    #[serde(borrow, default)]
    gpu_type: Scalar<'a>,
    #[serde(borrow, default)]
    status: Scalar<'a>,
    #[serde(borrow, default)]
    verify_result: Scalar<'a>,
    #[serde(borrow, default)]
    points: Scalar<'a>,
}

impl Record<'_> {
    fn row(&self) -> Option<TaskRow> {
        Some(TaskRow {
            id: TaskId(self.task_id.number()?),
            model: self.model_id.text()?.to_owned(),
            card: self.gpu_type.text()?.to_owned(),
            status: self.status.text()?.to_lowercase(),
            verify_result: self.verify_result.signed(),
            points: self.points.points(),
        })
    }
}

/// Reads a `task/page` answer.
pub fn task_page(body: &[u8]) -> Result<TaskPage, ReadError> {
    let page: Page<'_> = data(body)?;
    let total = Page::number("total", &page.total)?;
    let records = match page.records {
        Some(records) => records,
        None if total == 0 => Vec::new(),
        None => return Err(ReadError::MalformedData(format!("no records of {total}"))),
    };
    let rows: Vec<TaskRow> =
        records.iter().filter_map(|record| record.as_ref().and_then(Record::row)).collect();
    Ok(TaskPage {
        current: Page::number("current", &page.current)?,
        size: Page::number("size", &page.size)?,
        total,
        unreadable: records.len() - rows.len(),
        rows,
    })
}

impl Record<'_> {
    fn slice_row(&self) -> SliceRow {
        let text = |value: &Scalar<'_>| value.text().unwrap_or_default().to_owned();
        SliceRow {
            task: match &self.task_id {
                Scalar::Null => None,
                id => Some(id.number().map(|id| id.to_string()).unwrap_or_default()),
            },
            model: text(&self.model_id),
            card: text(&self.gpu_type),
            status: text(&self.status).to_lowercase(),
            verify_result: match &self.verify_result {
                Scalar::Null => Verdict::Absent,
                Scalar::Text(text) if !["1", "-1", "0"].contains(&text.as_ref()) => Verdict::Odd,
                value => value.signed().map_or(Verdict::Odd, Verdict::Is),
            },
        }
    }
}

/// Reads a `task/page` answer of everyone's tasks.
pub fn slice_page(body: &[u8]) -> Result<SlicePage, ReadError> {
    let page: Page<'_> = data(body)?;
    let total = Page::number("total", &page.total)?;
    let malformed = |what: &str| ReadError::MalformedData(what.to_owned());
    let records = page.records.ok_or_else(|| malformed("no list"))?;
    let rows = records.iter().map(|record| record.as_ref().map(Record::slice_row));
    let rows: Option<Vec<SliceRow>> = rows.collect();
    Ok(SlicePage { total, rows: rows.ok_or_else(|| malformed("a null record"))? })
}

/// Reads a precheck answer, for all cards of the catalogue. A malformed row of a known card
/// voids the answer; unknown cards are ignored.
pub fn precheck(body: &[u8], catalog: &Catalog) -> Result<Precheck, ReadError> {
    struct Cards<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);
    impl<'de: 'a, 'a> Deserialize<'de> for Cards<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Entries;
            impl<'de> Visitor<'de> for Entries {
                type Value = Cards<'de>;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object of cards")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cards<'de>, A::Error> {
                    let mut cards = Vec::new();
                    while let Some((name, row)) = map.next_entry::<Scalar<'de>, _>()? {
                        if let Scalar::Text(name) = name {
                            cards.push((name, row));
                        }
                    }
                    Ok(Cards(cards))
                }
            }
            deserializer.deserialize_map(Entries)
        }
    }
    #[derive(Deserialize)]
    struct Found<'a> {
        #[serde(borrow, rename = "verifyResult")]
        verify_result: Cards<'a>,
    }
    #[derive(Deserialize)]
    struct Row<'a> {
        #[serde(borrow)]
        result: Scalar<'a>,
    }
    let found: Found<'_> = match data(body) {
        Err(ReadError::Platform(CODE_UNKNOWN_MODEL)) => return Ok(Vec::new()),
        other => other?,
    };
    let mut blocked = Vec::new();
    for (name, row) in found.verify_result.0 {
        let Some(gpu) = catalog.find(&name) else { continue };
        let row = serde_json::from_str::<Row<'_>>(row.get()).ok();
        match row.as_ref().and_then(|row| row.result.text()) {
            Some("已验证") => blocked.push((gpu.clone(), codes::ALREADY_VERIFIED)),
            Some("验证中") => blocked.push((gpu.clone(), codes::VERIFY_RUNNING)),
            Some(_) => {}
            None => return Err(ReadError::MalformedData(format!("the row of {gpu}"))),
        }
    }
    Ok(blocked)
}

/// Reads a build-config answer: the data is the YAML, or an object that holds it.
pub fn build_config(body: &[u8]) -> Result<String, ReadError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Config {
        Plain(String),
        Object {
            #[serde(rename = "configParams")]
            config_params: String,
        },
    }
    let (Config::Plain(yaml) | Config::Object { config_params: yaml }) = data(body)?;
    if yaml.trim().is_empty() {
        return Err(ReadError::MalformedData("blank configParams".into()));
    }
    Ok(yaml)
}

#[cfg(test)]
mod tests;
