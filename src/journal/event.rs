//! What the journal records, one JSON object a line.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::history::{AcceptedTask, Block, Day, Submission};
use crate::api::TaskId;
use crate::gpu::Gpu;
use crate::pair::{ModelKey, Pair};
use crate::remote::Stats;

/// The first line of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The format's version.
    pub submitter_journal: u32,
    /// Bytes that the last compaction left; 0: there was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compacted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The version that this program writes.
pub const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// When, in seconds since 1970 by the wall clock of that moment.
    pub at: u64,
    /// What.
    pub event: Event,
}

/// Something that a later run must know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// A POST is about to be made. Without an outcome behind it, the pair is in doubt.
    Intent {
        /// What is about to be submitted.
        pair: Pair,
    },
    /// The platform took the intended task.
    Accepted {
        /// The intended pair.
        pair: Pair,
        /// The task's number, where the answer named one.
        task: Option<TaskId>,
    },
    /// The platform did not take it, and said why.
    Rejected {
        /// The intended pair.
        pair: Pair,
        /// The platform's code.
        code: i64,
    },
    /// The platform certainly did not take it, for a reason that is not the pair's.
    Released {
        /// The intended pair.
        pair: Pair,
        /// A hold reason.
        reason: String,
    },
    /// Nobody knows whether the platform took it. Says no more than an intent alone, but when
    /// and how the answer was lost.
    InDoubt {
        /// The intended pair.
        pair: Pair,
        /// HTTP status, where one arrived.
        http: Option<u16>,
    },
    /// A pair in doubt stands in a complete list: it was taken.
    Settled {
        /// The pair.
        pair: Pair,
        /// The task found.
        task: Option<TaskId>,
    },
    /// An accepted task is not in a complete list.
    Missing {
        /// Its pair.
        pair: Pair,
    },
    /// A missing task is listed again.
    Found {
        /// Its pair.
        pair: Pair,
    },
    /// The platform asked scripts to stop, or a task stayed missing: nothing is submitted until
    /// a person resumes, even if the pause file is lost.
    Paused {
        /// A hold reason.
        reason: String,
    },
    /// A person looked. Missing tasks are acknowledged; their pairs stay taken.
    Resumed {
        /// The pairs whose tasks were missing.
        acknowledged: Vec<Pair>,
    },
    /// A person said, of a pair in doubt, whether the platform has it.
    Resolved {
        /// The pair.
        pair: Pair,
        /// Whether it was taken; if not, it is free.
        submitted: bool,
    },
    /// Everything about one model, in place of older records: by a compaction or a repair.
    Model(Kept),
    /// What a precheck said.
    Precheck {
        /// The model asked for.
        model: ModelKey,
        /// The code for each card that is not free.
        blocked: Vec<(Gpu, i64)>,
    },
    /// The account in numbers, by a complete read.
    Stats(Stats),
    /// What was done on one day, in place of that day's records: by a compaction or a repair.
    Day(Day),
    /// How a cycle ended.
    Cycle(CycleEnd),
    /// Bytes behind the last newline, cut off: a write that was interrupted.
    Torn {
        /// What was legible of them.
        text: String,
    },
}

/// What is kept of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The model.
    pub model: ModelKey,
    /// It is taken on every card but these: an intent was cut off before its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<BTreeSet<Gpu>>,
    /// Its taken pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// Pairs of it that the platform will not take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<(Gpu, Block)>,
}

/// A card on which a model is taken, and what is known of it: as a short list, since there are as
/// many of these as there were submissions. `[card, at]` is in doubt, `[card, at, task]` accepted,
/// and `[card, at, task, missing since, acknowledged]` what is more to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken(pub Gpu, pub Submission);

impl Serialize for Taken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(gpu, Submission { at, accepted }) = self;
        match accepted {
            None => (gpu, at).serialize(serializer),
            Some(AcceptedTask { task, missing_since: None, acknowledged: false }) => {
                (gpu, at, task).serialize(serializer)
            }
            Some(AcceptedTask { task, missing_since, acknowledged }) => {
                (gpu, at, task, missing_since, acknowledged).serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Taken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Taken;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[card, at], [card, at, task] or those and two more")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Taken, A::Error> {
                let short = || A::Error::custom("a taken card needs its name and its time");
                let gpu = seq.next_element()?.ok_or_else(short)?;
                let at = seq.next_element()?.ok_or_else(short)?;
                let mut submission = Submission { at, accepted: None };
                if let Some(task) = seq.next_element()? {
                    let missing_since = seq.next_element()?.unwrap_or_default();
                    let acknowledged = seq.next_element()?.unwrap_or_default();
                    let accepted = AcceptedTask { task, missing_since, acknowledged };
                    submission.accepted = Some(accepted);
                }
                Ok(Taken(gpu, submission))
            }
        }
        deserializer.deserialize_seq(Fields)
    }
}

/// How a cycle ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CycleEnd {
    /// The reason.
    pub reason: String,
    /// The exit code.
    pub exit: u8,
    /// Tasks accepted.
    pub submitted: u64,
    /// Tasks rejected.
    pub rejected: u64,
    /// Tasks in doubt.
    pub in_doubt: u64,
    /// Requests sent.
    pub requests: u64,
}

/// Reads a text without a copy of it.
struct Text<F>(F);

impl<T, E: fmt::Display, F: Fn(&str) -> Result<T, E>> Visitor<'_> for Text<F> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_str<E2: serde::de::Error>(self, text: &str) -> Result<T, E2> {
        self.0(text).map_err(E2::custom)
    }
}

impl Serialize for ModelKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ModelKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Only what was written as a key: a second spelling here would be another pair.
        let read = |text: &str| match Self::parse(text) {
            Ok(key) if key.as_str() == text => Ok(key),
            Ok(_) => Err("not a folded model id".to_owned()),
            Err(bad) => Err(bad.to_string()),
        };
        deserializer.deserialize_str(Text(read))
    }
}

impl Serialize for Gpu {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Gpu {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(|text: &str| {
            if text.trim().is_empty() { Err("a blank card") } else { Ok(Self::verbatim(text)) }
        }))
    }
}

/// As `["org/name", "Card_enum"]`.
impl Serialize for Pair {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.model, &self.gpu).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (model, gpu) = <(ModelKey, Gpu)>::deserialize(deserializer)?;
        Ok(Self::new(model, gpu))
    }
}
