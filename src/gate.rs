//! The queue gate: how many unfinished tasks there are, and whether one more may be submitted.

use crate::exit::{Hold, Reason};
use crate::journal::history::{History, Submission};
use crate::pair::Pair;
use crate::remote::{Index, Remote, Stats};
use crate::settings::Hint;

/// Own tasks not in a terminal state, plus submissions, accepted or in doubt, that the list does
/// not show yet.
#[must_use]
pub fn queue(stats: &Stats, remote: &Remote, history: &History) -> u64 {
    stats.queue + unlisted(remote, history).len() as u64
}

/// Submissions of ours that the list does not show. A task that a person knows to be gone is not
/// waited for.
#[must_use]
pub fn unlisted<'a>(remote: &Remote, history: &'a History) -> Vec<&'a Pair> {
    let index = remote.index();
    history
        .submissions()
        .filter(|(pair, submission)| {
            !is_acknowledged(submission) && !is_listed(&index, pair, submission)
        })
        .map(|(pair, _)| pair)
        .collect()
}

fn is_acknowledged(submission: &Submission) -> bool {
    submission.accepted.as_ref().is_some_and(|accepted| accepted.acknowledged)
}

/// Whether the list shows a submission, by its task or by its pair.
#[must_use]
pub fn is_listed(index: &Index<'_>, pair: &Pair, submission: &Submission) -> bool {
    let task = submission.accepted.as_ref().and_then(|accepted| accepted.task);
    task.is_some_and(|id| index.has_id(id)) || index.has_pair(pair)
}

/// Whether one more task may be submitted.
///
/// # Errors
/// `queue_full`, with the number that is too high.
pub fn ask(queue: u64, hints: &[Hint], threshold: u64) -> Result<(), Hold> {
    let full = |detail: String| Err(Hold::because(Reason::QueueFull, detail));
    if queue >= threshold {
        return full(format!("queue {queue}, threshold {threshold}"));
    }
    for Hint { source, depth, detail } in hints {
        match depth {
            Some(depth) if *depth < threshold => {}
            Some(depth) => return full(format!("{source} says {depth}, threshold {threshold}")),
            None => return full(format!("{source} blocks: {detail}")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_only_ever_blocks_further() {
        let hint = |depth| Hint { source: "ASYNC_QUEUE_DEPTH", depth, detail: String::new() };
        for (queue, hints, open) in [
            (94, vec![], true),
            (95, vec![], false),
            (94, vec![hint(Some(94))], true),
            (0, vec![hint(Some(95))], false),
            (95, vec![hint(Some(0))], false),
            (0, vec![hint(Some(0)), hint(None)], false),
        ] {
            assert_eq!(ask(queue, &hints, 95).is_ok(), open, "{queue} {hints:?}");
        }
    }
}
