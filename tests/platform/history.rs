//! Plausible pasts: the same arguments always give the same tasks.

use super::names::CARDS;
use super::tasks::{Task, Tasks};

/// The highest id of a history, unless it has more tasks than that.
const NEWEST_ID: u64 = 33_000;

/// Adds `count` tasks, newest first, of which a few at the top still wait or run. Pairs are
/// distinct until every model has had every card.
pub fn write(tasks: &mut Tasks, count: usize, models: &[&str], mine: bool) {
    assert!(!models.is_empty(), "a history needs models");
    let mut dice = Dice(if mine { 0x9E37_79B9_7F4A_7C15 } else { 0xD1B5_4A32_D192_ED03 });
    let mut pairs: Vec<(&str, (&str, &str))> =
        models.iter().flat_map(|model| CARDS.map(|card| (*model, card))).collect();
    dice.shuffle(&mut pairs);

    // Ids leave gaps, for the tasks of others, as far as they reach.
    let [wanted, taken] = [count, tasks.len()].map(|n| u64::try_from(n).unwrap());
    let mut id = NEWEST_ID.max(wanted + taken);
    let widest_step = ((id - taken) / wanted.max(1)).clamp(1, 4);
    let open = (count / 20).min(5);
    let mut past = Vec::with_capacity(count);
    for (n, (model, (code, chinese))) in pairs.into_iter().cycle().take(count).enumerate() {
        while tasks.contains(id) {
            id -= 1;
        }
        let gpu = if dice.roll(2) == 0 { code } else { chinese };
        let task = Task { mine, update_time: minutes_ago(n * 17), ..Task::new(id, model, gpu) };
        past.push(if n < open { unfinished(task, &mut dice) } else { finished(task, &mut dice) });
        id = id.saturating_sub(1 + dice.roll(widest_step));
    }
    tasks.extend(past);
}

fn unfinished(task: Task, dice: &mut Dice) -> Task {
    match dice.roll(3) {
        0 => task.with("waiting", Some(1)),
        1 => task.with("running", Some(0)),
        _ => task.with("running", None),
    }
}

fn finished(task: Task, dice: &mut Dice) -> Task {
    match dice.roll(20) {
        0..10 => task.with("success", Some(1)).with_points(if dice.roll(2) == 0 { 10 } else { 25 }),
        10..15 => task.with("success", Some(-1)),
        15..19 => task.with("failed", Some(1)),
        _ => task.with("stopped", Some(1)),
    }
}

/// A time so many minutes before the end of day 280 of a calendar of 28-day months: valid, and in
/// order.
fn minutes_ago(minutes: usize) -> String {
    let minute = (280 * 24 * 60_usize).saturating_sub(minutes + 1);
    let (day, minute) = (minute / (24 * 60), minute % (24 * 60));
    let (month, day) = (1 + day / 28, 1 + day % 28);
    format!("2026-{month:02}-{day:02} {:02}:{:02}:00", minute / 60, minute % 60)
}

/// Xorshift: enough chance for a plausible mix.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.roll(u64::try_from(last + 1).unwrap());
            items.swap(last, usize::try_from(other).unwrap());
        }
    }
}
