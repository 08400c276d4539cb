//! What may be written behind `status` and `explain`.

use clap::Args;

use super::StateDir;
use crate::flags::Flags;
use crate::pair::ModelId;

/// `submitter status`.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = STATUS_HELP)]
pub struct Status {
    /// Write JSON
    #[arg(long)]
    pub json: bool,

    /// Where the journal is.
    #[command(flatten)]
    pub state: StateDir,
}

/// `submitter explain`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXPLAIN_HELP, allow_negative_numbers = true)]
#[command(mut_arg("strategy_id", |arg| arg.help("Not needed here [env: STRATEGY_ID]")))]
pub struct Explain {
    /// The model: org/name, or its address on a model hub
    #[arg(value_parser = model)]
    pub model: ModelId,

    /// Write JSON
    #[arg(long)]
    pub json: bool,

    /// The flags of `submitter run`.
    #[command(flatten)]
    pub flags: Flags,
}

fn model(text: &str) -> Result<ModelId, String> {
    ModelId::parse(text).map_err(|bad| bad.to_string())
}

/// What `submitter status --help` says besides its flags.
const STATUS_HELP: &str = "\
Reads the state folder alone: no network, no credential, no lock; writes nothing.

Exit codes: 0 whatever it shows, 30 the journal is damaged or cannot be read, 32 no state folder is
named, 2 the command line was not understood.";

/// What `submitter explain --help` says besides its flags.
const EXPLAIN_HELP: &str = "\
Takes the flags and variables of `submitter run` and judges as it does, by the state folder and the
data files, and by the own tasks as the last run saw them: no network, no credential, no strategy,
no lock; writes nothing. What a precheck and, with --foothold, other users' results will say is not
known to it.

Exit codes: 0 whatever it shows, 30 the journal is damaged or cannot be read, 32 a setting or a data
file is wrong, 2 the command line was not understood, or the model is no org/name.

Example: why is it not submitted?
  submitter explain https://huggingface.co/org/model";
