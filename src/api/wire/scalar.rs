//! One value of the platform's JSON.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

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
            // Written as a number is written: no `00`, no `-0`, which are no known success.
            Self::Text(text) => text.parse::<i64>().ok().filter(|code| code.to_string() == **text),
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
    pub(super) fn points(&self) -> f64 {
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
