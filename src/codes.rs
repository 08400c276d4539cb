//! The platform's codes: what each is called in log lines, and what it means for a pair, the
//! cycle and the account.

/// The model is verified on the card.
pub const ALREADY_VERIFIED: i64 = 60_027;
/// The model is being verified on the card.
pub const VERIFY_RUNNING: i64 = 60_028;

/// What an answer's code asks for. Success (0) is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The credential is refused, on any call.
    Credential,
    /// The pair will never be taken: it is marked for good.
    Permanent,
    /// The account holds too many tasks: the cycle ends, the pair is not marked.
    TaskNumLimit,
    /// The account or this version of the API is refused: a person must look.
    AccountRefused,
    /// The platform asks scripts to stop: pause until a person resumes.
    ScriptSubmitDisabled,
    /// Every other rejection: the pair is not tried again for a while.
    CoolDown,
    /// No rejection: whether a task was made is unknown.
    Unknown,
}

const UNKNOWN: &str = "unknown";

/// Every code with a name or a class of its own, in ascending order.
const CODES: [(i64, Class, &str); 27] = [
    (40100, Class::Credential, UNKNOWN),
    (40101, Class::Credential, UNKNOWN),
    (60006, Class::AccountRefused, "CANNOT_CREATE_CONTEST_TASK_BECAUSE_NOT_IN_WHITE_LIST"),
    (60007, Class::TaskNumLimit, "MODEL_VERIFY_TASK_NUM_LIMIT"),
    (60008, Class::CoolDown, "CREATE_CONTEST_TASK_REQUEST_EMPTY"),
    (60009, Class::CoolDown, "CREATE_CONTEST_TASK_CONTRIBUTORS_EMPTY"),
    (60010, Class::CoolDown, "CREATE_CONTEST_TASK_SUBMISSION_CONFIG_EMPTY"),
    (60011, Class::CoolDown, "CREATE_CONTEST_TASK_GPU_TYPE_EMPTY"),
    (60012, Class::Permanent, "CREATE_CONTEST_TASK_MULTI_GPU_UNSUPPORTED"),
    (60013, Class::CoolDown, "CREATE_CONTEST_TASK_MODEL_ID_EMPTY"),
    (60014, Class::ScriptSubmitDisabled, "CREATE_CONTEST_TASK_SCRIPT_SUBMIT_DISABLED"),
    (60015, Class::CoolDown, "CREATE_CONTEST_TASK_TASK_TYPE_EMPTY"),
    (60016, Class::CoolDown, "CREATE_CONTEST_TASK_FRAMEWORK_EMPTY"),
    (60017, Class::CoolDown, "CREATE_CONTEST_TASK_DRIVER_IMAGE_NOT_FOUND"),
    (60018, Class::CoolDown, "CREATE_CONTEST_TASK_CONTRIBUTOR_NOT_FOUND"),
    (60019, Class::Permanent, "CREATE_CONTEST_TASK_SUBMISSION_GPU_TYPE_MISMATCH"),
    (60020, Class::Permanent, "CREATE_CONTEST_TASK_MODEL_NOT_DOWNLOADED"),
    (60021, Class::Permanent, "CREATE_CONTEST_TASK_FRAMEWORK_UNRESOLVED"),
    (60022, Class::Permanent, "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED"),
    (60023, Class::Permanent, "CREATE_CONTEST_TASK_YAML_CONFIG_EMPTY"),
    (60024, Class::Permanent, "CREATE_CONTEST_TASK_YAML_CONFIG_INVALID"),
    (60025, Class::Permanent, "CREATE_CONTEST_TASK_GPU_TYPE_UNSUPPORTED"),
    (60026, Class::Permanent, "CREATE_CONTEST_TASK_MODEL_NOT_FOUND"),
    (60027, Class::Permanent, "CREATE_CONTEST_TASK_MODEL_ALREADY_VERIFIED"),
    (60028, Class::Permanent, "CREATE_CONTEST_TASK_MODEL_VERIFY_RUNNING"),
    (60029, Class::Permanent, "CREATE_CONTEST_TASK_TRANSFORMERS_REQUIRES_FAILED_BASELINE"),
    (60030, Class::AccountRefused, "CREATE_CONTEST_TASK_API_VERSION_UNSUPPORTED"),
];

fn row(code: i64) -> Option<&'static (i64, Class, &'static str)> {
    CODES.binary_search_by_key(&code, |row| row.0).ok().and_then(|at| CODES.get(at))
}

/// The stable name of a code, in full; `unknown` for all that have none.
#[must_use]
pub fn name(code: i64) -> &'static str {
    row(code).map_or(UNKNOWN, |row| row.2)
}

/// What a code other than 0 asks for. An unlisted code is a rejection only in the ranges that
/// the platform keeps for rejections; outside of them nothing is proved.
#[must_use]
pub fn class(code: i64) -> Class {
    match row(code) {
        Some(row) => row.1,
        None if matches!(code, 40_000..=49_999 | 60_000..) => Class::CoolDown,
        None => Class::Unknown,
    }
}

/// Whether a pair is marked for good by this code.
#[must_use]
pub fn is_permanent(code: i64) -> bool {
    class(code) == Class::Permanent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contract's list, written down a second time.
    const LISTED: &str = "
        40100 Credential unknown
        40101 Credential unknown
        60006 AccountRefused CANNOT_CREATE_CONTEST_TASK_BECAUSE_NOT_IN_WHITE_LIST
        60007 TaskNumLimit MODEL_VERIFY_TASK_NUM_LIMIT
        60008 CoolDown CREATE_CONTEST_TASK_REQUEST_EMPTY
        60009 CoolDown CREATE_CONTEST_TASK_CONTRIBUTORS_EMPTY
        60010 CoolDown CREATE_CONTEST_TASK_SUBMISSION_CONFIG_EMPTY
        60011 CoolDown CREATE_CONTEST_TASK_GPU_TYPE_EMPTY
        60012 Permanent CREATE_CONTEST_TASK_MULTI_GPU_UNSUPPORTED
        60013 CoolDown CREATE_CONTEST_TASK_MODEL_ID_EMPTY
        60014 ScriptSubmitDisabled CREATE_CONTEST_TASK_SCRIPT_SUBMIT_DISABLED
        60015 CoolDown CREATE_CONTEST_TASK_TASK_TYPE_EMPTY
        60016 CoolDown CREATE_CONTEST_TASK_FRAMEWORK_EMPTY
        60017 CoolDown CREATE_CONTEST_TASK_DRIVER_IMAGE_NOT_FOUND
        60018 CoolDown CREATE_CONTEST_TASK_CONTRIBUTOR_NOT_FOUND
        60019 Permanent CREATE_CONTEST_TASK_SUBMISSION_GPU_TYPE_MISMATCH
        60020 Permanent CREATE_CONTEST_TASK_MODEL_NOT_DOWNLOADED
        60021 Permanent CREATE_CONTEST_TASK_FRAMEWORK_UNRESOLVED
        60022 Permanent CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED
        60023 Permanent CREATE_CONTEST_TASK_YAML_CONFIG_EMPTY
        60024 Permanent CREATE_CONTEST_TASK_YAML_CONFIG_INVALID
        60025 Permanent CREATE_CONTEST_TASK_GPU_TYPE_UNSUPPORTED
        60026 Permanent CREATE_CONTEST_TASK_MODEL_NOT_FOUND
        60027 Permanent CREATE_CONTEST_TASK_MODEL_ALREADY_VERIFIED
        60028 Permanent CREATE_CONTEST_TASK_MODEL_VERIFY_RUNNING
        60029 Permanent CREATE_CONTEST_TASK_TRANSFORMERS_REQUIRES_FAILED_BASELINE
        60030 AccountRefused CREATE_CONTEST_TASK_API_VERSION_UNSUPPORTED";

    #[test]
    fn every_listed_code_has_the_name_and_class_of_the_contract() {
        let mut seen = 0;
        for line in LISTED.lines().filter(|line| !line.trim().is_empty()) {
            let [code, kind, called] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let code: i64 = code.parse().unwrap();
            assert_eq!(format!("{:?}", class(code)), kind, "{code}");
            assert_eq!(name(code), called, "{code}");
            assert_eq!(is_permanent(code), kind == "Permanent", "{code}");
            seen += 1;
        }
        assert_eq!(seen, CODES.len());
        assert!(CODES.is_sorted_by_key(|row| row.0), "found by halving");
    }

    #[test]
    fn an_unlisted_code_is_a_rejection_only_in_the_ranges_of_rejections() {
        for code in [40_000, 40_102, 40_400, 49_999, 60_000, 60_005, 60_031, i64::MAX] {
            assert_eq!(class(code), Class::CoolDown, "{code}");
        }
        for code in [-60_012, -1, 1, 200, 404, 504, 39_999, 50_000, 50_001, 59_999] {
            assert_eq!(class(code), Class::Unknown, "{code}");
        }
        for code in [0, 504, 40_400, 50_000, 60_031] {
            assert_eq!(name(code), "unknown", "{code}");
            assert!(!is_permanent(code));
        }
    }
}
