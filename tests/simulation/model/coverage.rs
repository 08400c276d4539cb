//! What a simulation has met: one that tests nothing shows here.

use std::collections::BTreeMap;

/// How often each fault and each crash point was hit, and how much was done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Coverage {
    pub(crate) fn hit(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    pub(crate) fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, count) in &other.counts {
            *self.counts.entry(name).or_default() += count;
        }
    }
}

/// Where a run may be killed: between any two effects.
pub(crate) const CRASH_POINTS: &[&str] = &[
    "crash before list",
    "crash before precheck",
    "crash before write",
    "crash before fsync",
    "crash before post",
    "crash after commit",
    "crash before journal replacement",
    "crash before pause write",
];

/// Those of them that few runs pass.
pub(crate) const RARE_POINTS: &[&str] =
    &["crash before truncation", "crash before journal replacement", "crash before pause write"];

/// Every fault and crash point that a life can meet.
pub(crate) const KINDS: &[&str] = &[
    "fault list request fails",
    "fault list row unreadable",
    "fault list total wrong",
    "fault list page repeated",
    "fault list size clamped",
    "fault list order unstable",
    "fault list page from a cache",
    "fault list inserted between pages",
    "fault list deleted between pages",
    "fault list credential refused",
    "fault post not sent",
    "fault post lost before commit",
    "fault post lost after commit",
    "fault post commits late",
    "fault post 5xx before commit",
    "fault post 5xx after commit",
    "fault post html after commit",
    "fault post code of unknown outcome after commit",
    "fault post 408 or 3xx after commit",
    "fault post credential refused",
    "fault post 4xx without a code",
    "fault post rejected",
    "fault post asks scripts to stop",
    "fault precheck fails",
    "fault disk write short",
    "fault disk fsync fails",
    "fault journal replaced under the run",
    "fault clock jumps",
    "fault stall before the intent is durable",
    "fault task visible late",
    "fault task id commits out of order",
    "fault foreign task during the cycle",
    "fault foreign task on an odd card",
    "fault task exchanged for an older one",
    "fault task removed by the platform",
    "fault overlapping run",
    "fault pause during the cycle",
    "fault signal",
    "fault torn tail after power loss",
    "crash before list",
    "crash before precheck",
    "crash before write",
    "crash before fsync",
    "crash before post",
    "crash after commit",
    "crash before journal replacement",
    "crash before pause write",
    "crash by power loss",
    "operator pauses",
    "operator resumes",
    "operator resolves submitted",
    "operator resolves absent",
];
