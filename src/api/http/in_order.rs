//! Asking for many things at once and hearing of them in order.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

/// Calls `ask` for every number, up to `workers` at a time, and `each` with the answers in the
/// order of the numbers. When `each` breaks, nothing new is asked for; what is under way ends
/// first. At most twice as many answers as workers wait for their turn.
pub(super) fn in_order<T: Send>(
    numbers: RangeInclusive<u64>,
    workers: usize,
    ask: &(dyn Fn(u64) -> T + Sync),
    each: &mut dyn FnMut(u64, T) -> ControlFlow<()>,
) {
    let (first, last) = numbers.into_inner();
    let wanted = last.saturating_add(1).saturating_sub(first);
    let workers = workers.clamp(1, usize::try_from(wanted).unwrap_or(usize::MAX).max(1));
    if workers == 1 {
        return one_by_one(first..=last, ask, each);
    }
    let next = AtomicU64::new(first);
    let stop = AtomicBool::new(false);
    let (sender, answers) = sync_channel(workers);
    std::thread::scope(|scope| {
        let spawn = |sender: SyncSender<(u64, T)>| {
            let (next, stop) = (&next, &stop);
            Builder::new().spawn_scoped(scope, move || {
                while !stop.load(Ordering::SeqCst) {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number > last || sender.send((number, ask(number))).is_err() {
                        return;
                    }
                }
            })
        };
        // A machine that has no room for another thread may still have it for fewer.
        let spawned = (0..workers).filter(|_| spawn(sender.clone()).is_ok()).count();
        if spawned == 0 {
            return one_by_one(first..=last, ask, each);
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = first;
        // A worker that is ahead stands in the channel until the one that is due has answered.
        for (number, answer) in answers {
            waiting.insert(number, answer);
            while let Some(answer) = waiting.remove(&due) {
                if each(due, answer).is_break() {
                    stop.store(true, Ordering::SeqCst);
                    // Dropping the receiver wakes the workers that stand in the channel.
                    return;
                }
                due += 1;
            }
        }
    });
}

fn one_by_one<T>(
    mut numbers: RangeInclusive<u64>,
    ask: &dyn Fn(u64) -> T,
    each: &mut dyn FnMut(u64, T) -> ControlFlow<()>,
) {
    let _ = numbers.try_for_each(|number| each(number, ask(number)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Condvar, Mutex};

    fn heard(numbers: RangeInclusive<u64>, workers: usize, until: u64) -> Vec<(u64, u64)> {
        let mut heard = Vec::new();
        in_order(numbers, workers, &|number| number * 10, &mut |number, answer| {
            heard.push((number, answer));
            if number == until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        heard
    }

    #[test]
    fn answers_come_in_order_and_end_where_nobody_wants_more() {
        for workers in [0, 1, 2, 4, 100] {
            let all: Vec<(u64, u64)> = (2..=9).map(|number| (number, number * 10)).collect();
            assert_eq!(heard(2..=9, workers, 0), all, "{workers} workers");
            assert_eq!(heard(2..=9, workers, 4), all[..3], "{workers} workers");
        }
        #[expect(clippy::reversed_empty_ranges, reason = "a list of one page has no others")]
        let none = heard(2..=1, 4, 0);
        assert_eq!(none, []);
    }

    /// The first answer comes last, and the others have all been asked for by then.
    #[test]
    fn workers_ask_at_the_same_time() {
        let asked = (Mutex::new(0), Condvar::new());
        let ask = |number: u64| {
            let mut count = asked.0.lock().unwrap();
            *count += 1;
            asked.1.notify_all();
            if number == 1 {
                let all = asked.1.wait_while(count, |count| *count < 4).unwrap();
                drop(all);
            }
            number
        };
        let mut order = Vec::new();
        in_order(1..=4, 4, &ask, &mut |number, _| {
            order.push(number);
            ControlFlow::Continue(())
        });
        assert_eq!(order, [1, 2, 3, 4]);
    }
}
