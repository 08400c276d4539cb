//! Why a run ends, and the exit code that says so. Both are an interface: schedulers branch on
//! the code, people grep for the reason.

use std::fmt;

use serde::Serialize;

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// 0: at least one task was accepted; in a dry run: would have been sent.
    Submitted,
    /// 1: a bug in this program.
    Bug,
    /// 2: the command line was not understood.
    Usage,
    /// 10: healthy, and nothing to submit now.
    Held,
    /// 20: the platform or the time did not allow it; the next run may.
    Unavailable,
    /// 30: a person must look before anything is submitted again.
    Attention,
    /// 31: no usable credential, or the platform refused it.
    Credential,
    /// 32: settings or data files are wrong.
    Config,
}

impl Exit {
    /// The number handed to the caller.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Submitted => 0,
            Self::Bug => 1,
            Self::Usage => 2,
            Self::Held => 10,
            Self::Unavailable => 20,
            Self::Attention => 30,
            Self::Credential => 31,
            Self::Config => 32,
        }
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident $name:literal $exit:ident,)+) => {
        /// Why a run ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason { $($(#[$doc])* $variant,)+ }

        impl Reason {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in log lines and reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The exit code of a run that ends for this reason with nothing accepted.
            #[must_use]
            pub fn exit(self) -> Exit {
                match self { $(Self::$variant => Exit::$exit,)+ }
            }
        }
    };
}

reasons! {
    /// The queue, or a hint of it, is at the threshold.
    QueueFull "queue_full" Held,
    /// The cycle's own submit cap is used up.
    CycleCap "cycle_cap" Held,
    /// The submit cap over the trailing window is used up.
    HourlyCap "hourly_cap" Held,
    /// As many POSTs as a cycle may make.
    AttemptCap "attempt_cap" Held,
    /// As many prechecks as a cycle may make.
    PrecheckCap "precheck_cap" Held,
    /// Every candidate was looked at.
    CandidatesDone "candidates_done" Held,
    /// The candidate list is empty.
    NoCandidates "no_candidates" Held,
    /// Every candidate was skipped.
    NothingEligible "nothing_eligible" Held,
    /// The platform says that the account's tasks are too many.
    TaskNumLimit "task_num_limit" Held,
    /// Another run holds the journal.
    AnotherRun "another_run" Held,
    /// The own tasks could not be read.
    LedgerRebuildFailed "ledger_rebuild_failed" Unavailable,
    /// The own tasks were read, but not provably all of them.
    LedgerIncomplete "ledger_incomplete" Unavailable,
    /// A task that was accepted is not in a complete list.
    TaskMissing "task_missing" Unavailable,
    /// A POST certainly did not leave this machine.
    PlatformUnreachable "platform_unreachable" Unavailable,
    /// Two answers to POSTs were lost in one cycle.
    PlatformUnstable "platform_unstable" Unavailable,
    /// The platform asks for fewer requests.
    RateLimited "rate_limited" Unavailable,
    /// The POST was refused without a code of the platform.
    HttpError "http_error" Unavailable,
    /// The cycle has lasted too long.
    Deadline "deadline" Unavailable,
    /// SIGTERM or SIGINT.
    Interrupted "interrupted" Unavailable,
    /// A person or the platform asked for a pause.
    Paused "paused" Attention,
    /// An accepted task stayed missing.
    TaskVanished "task_vanished" Attention,
    /// The platform asked scripts to stop.
    ScriptSubmitDisabled "script_submit_disabled" Attention,
    /// The platform refuses this account, or this program's version of the API.
    AccountRefused "account_refused" Attention,
    /// The journal is not legible.
    JournalDamaged "journal_damaged" Attention,
    /// A pair that a person wants to settle is not in doubt.
    NotInDoubt "not_in_doubt" Attention,
    /// The journal, the pause or the marks could not be written.
    StateWriteFailed "state_write_failed" Attention,
    /// Another run has held the journal for more than twice the deadline.
    AnotherRunStuck "another_run" Attention,
    /// No credential.
    MissingToken "missing_token" Credential,
    /// A credential that cannot be one.
    InvalidToken "invalid_token" Credential,
    /// The platform refused the credential.
    CredentialRefused "credential_refused" Credential,
    /// `LIVE_MAX_SUBMITS_PER_CYCLE`.
    InvalidCycleCap "invalid_cycle_cap" Config,
    /// `LIVE_QUEUE_THRESHOLD`.
    InvalidQueueThreshold "invalid_queue_threshold" Config,
    /// `MODELHUB_API_BASE`.
    InvalidApiBase "invalid_api_base" Config,
    /// `STRATEGY_ID`.
    MissingStrategyId "missing_strategy_id" Config,
    /// No folder for the journal was named.
    NoStateFolder "no_state_folder" Config,
    /// The folder for the journal is on a network file system.
    NetworkState "network_state" Config,
    /// A candidate file, or a setting that chooses one.
    CandidateReadFailed "candidate_read_failed" Config,
    /// `reject-marks.json`.
    MarksReadFailed "marks_read_failed" Config,
    /// `LIVE_STATE_FILE` or `submitted-ledger.json`.
    StateReadFailed "state_read_failed" Config,
    /// Any other data file, or a setting that names one.
    DataReadFailed "data_read_failed" Config,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The end of a run before its work was done: a reason, and what a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Why.
    pub reason: Reason,
    /// What was tried, on which file or endpoint, and what to do next; may be empty.
    pub detail: String,
}

impl Hold {
    /// A hold that its reason explains.
    #[must_use]
    pub fn new(reason: Reason) -> Self {
        Self { reason, detail: String::new() }
    }

    /// A hold with something to tell.
    pub fn because(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// The exit code of a run that ended for `reason` with so many tasks accepted and in doubt.
/// Something accepted is a success, unless a person or a credential is needed (DESIGN §10).
#[must_use]
pub fn of_run(reason: Reason, accepted: u64, in_doubt: u64) -> Exit {
    match reason.exit() {
        exit @ (Exit::Attention | Exit::Credential) => exit,
        _ if accepted > 0 => Exit::Submitted,
        Exit::Held if in_doubt > 0 => Exit::Unavailable,
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_contract() {
        let all = [
            (Exit::Submitted, 0),
            (Exit::Bug, 1),
            (Exit::Usage, 2),
            (Exit::Held, 10),
            (Exit::Unavailable, 20),
            (Exit::Attention, 30),
            (Exit::Credential, 31),
            (Exit::Config, 32),
        ];
        for (exit, code) in all {
            assert_eq!(exit.code(), code);
        }
    }

    #[test]
    fn every_reason_has_the_exit_code_of_the_contract() {
        let table = "
            10 queue_full cycle_cap hourly_cap attempt_cap precheck_cap candidates_done
            10 no_candidates nothing_eligible task_num_limit another_run
            20 ledger_rebuild_failed ledger_incomplete task_missing platform_unreachable
            20 platform_unstable rate_limited http_error deadline interrupted
            30 paused task_vanished script_submit_disabled account_refused journal_damaged
            30 state_write_failed another_run not_in_doubt
            31 missing_token invalid_token credential_refused
            32 invalid_cycle_cap invalid_queue_threshold invalid_api_base missing_strategy_id
            32 no_state_folder candidate_read_failed marks_read_failed state_read_failed
            32 data_read_failed network_state";
        let mut said: Vec<String> = table
            .lines()
            .filter_map(|line| line.trim().split_once(' '))
            .flat_map(|(code, names)| names.split(' ').map(move |name| format!("{code} {name}")))
            .collect();
        let mut known: Vec<String> =
            Reason::ALL.iter().map(|r| format!("{} {r}", r.exit().code())).collect();
        said.sort();
        known.sort();
        assert_eq!(known, said);
    }

    #[test]
    fn something_accepted_wins_over_all_but_a_person_and_a_credential() {
        assert_eq!(of_run(Reason::CycleCap, 6, 0), Exit::Submitted);
        assert_eq!(of_run(Reason::LedgerIncomplete, 1, 0), Exit::Submitted);
        assert_eq!(of_run(Reason::ScriptSubmitDisabled, 5, 0), Exit::Attention);
        assert_eq!(of_run(Reason::CredentialRefused, 5, 1), Exit::Credential);
        assert_eq!(of_run(Reason::CandidatesDone, 0, 0), Exit::Held);
        assert_eq!(of_run(Reason::CandidatesDone, 0, 1), Exit::Unavailable);
        assert_eq!(of_run(Reason::PlatformUnstable, 0, 2), Exit::Unavailable);
    }
}
