//! The platform's JSON. Spring and Jackson write int64 as strings and int32 as numbers, and
//! which is which depends on the mapper: both are read everywhere.

mod scalar;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub use self::scalar::Scalar;
use super::{Precheck, ReadError, SlicePage, SliceRow, TaskId, TaskPage, TaskRow, Verdict};
use crate::codes;
use crate::gpu::Catalog;

/// Unknown model: the precheck's way to say that nothing blocks it.
const CODE_UNKNOWN_MODEL: i64 = 40_400;

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
        if is_object(body) { serde_json::from_slice(body).ok() } else { None }
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

/// To serde a list of values, such as `[60022]`, is as good as an object of these fields.
fn is_object(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"{")
}

/// Something that only an object is read as, for the same reason.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
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

/// An answer with the data that was asked for.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Expected<'a, T> {
    #[serde(borrow)]
    code: Scalar<'a>,
    data: Option<T>,
}

/// The data of a successful answer. Whatever cannot be read in one go is read again for its
/// reason.
fn data<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ReadError> {
    if is_object(body)
        && let Ok(Expected { code, data: Some(data) }) = serde_json::from_slice(body)
        && code.signed() == Some(0)
    {
        return Ok(data);
    }
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
    // serde's own message could quote the body.
    serde_json::from_str(data.get()).map_err(|error| {
        ReadError::MalformedData(format!("line {} column {}", error.line(), error.column()))
    })
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
struct Page<'a, R> {
    #[serde(borrow, default)]
    current: Scalar<'a>,
    #[serde(borrow, default)]
    size: Scalar<'a>,
    #[serde(borrow, default)]
    total: Scalar<'a>,
    records: Option<R>,
}

fn number(name: &str, value: &Scalar<'_>) -> Result<u64, ReadError> {
    value.number().ok_or_else(|| ReadError::MalformedData(format!("{name} is not a whole number")))
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
            status: status(self.status.text()?),
            verify_result: self.verify_result.signed(),
            points: self.points.points(),
        })
    }
}

/// A status in lower case. Nearly all are one of a few, which need no memory of their own.
fn status(text: &str) -> Cow<'static, str> {
    let usual = ["success", "failed", "running", "waiting"].iter().find(|usual| **usual == text);
    usual.map_or_else(|| text.to_lowercase().into(), |usual| Cow::Borrowed(*usual))
}

/// The readable records, and how many others there are.
#[derive(Default)]
struct Rows {
    rows: Vec<TaskRow>,
    unreadable: usize,
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Records;
        impl<'de> Visitor<'de> for Records {
            type Value = Rows;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of records")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Rows, A::Error> {
                let mut read = Rows::default();
                while let Some(record) = seq.next_element::<Option<Record<'de>>>()? {
                    match record.as_ref().and_then(Record::row) {
                        Some(row) => read.rows.push(row),
                        None => read.unreadable += 1,
                    }
                }
                Ok(read)
            }
        }
        deserializer.deserialize_seq(Records)
    }
}

/// Reads a `task/page` answer.
pub fn task_page(body: &[u8]) -> Result<TaskPage, ReadError> {
    let Object(page): Object<Page<'_, Rows>> = data(body)?;
    let total = number("total", &page.total)?;
    let Rows { rows, unreadable } = match page.records {
        Some(records) => records,
        None if total == 0 => Rows::default(),
        None => return Err(ReadError::MalformedData(format!("no records of {total}"))),
    };
    Ok(TaskPage {
        current: number("current", &page.current)?,
        size: number("size", &page.size)?,
        total,
        rows,
        unreadable,
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
    let Object(page): Object<Page<'_, Vec<Option<Record<'_>>>>> = data(body)?;
    let total = number("total", &page.total)?;
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
    let Object(found): Object<Found<'_>> = match data(body) {
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
