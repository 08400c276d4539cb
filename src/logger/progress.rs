//! What is under way, as one line of a terminal that is written over and over.

use std::time::Duration;

/// A person cannot read faster, and a terminal over a slow line should not have to.
const EVERY: Duration = Duration::from_millis(100);

/// Takes a terminal's line away, and what stood on it.
const CLEAR: &str = "\r\x1b[K";

/// The line as it stands.
#[derive(Debug, Default)]
pub(super) struct Progress {
    visible: bool,
    stage: String,
    drawn_at: Duration,
}

impl Progress {
    /// What to write so that `what` stands on the terminal, `width` columns wide; nothing where
    /// the same stage, which is named before the colon, was drawn a moment `now` ago. Of nothing,
    /// nothing stays.
    pub(super) fn draw(&mut self, what: &str, now: Duration, width: usize) -> String {
        if what.is_empty() {
            return self.clear().to_owned();
        }
        let (stage, _) = what.split_once(':').unwrap_or((what, ""));
        if self.visible && stage == self.stage && now < self.drawn_at + EVERY {
            return String::new();
        }
        self.visible = true;
        stage.clone_into(&mut self.stage);
        self.drawn_at = now;
        // One column for each: no control characters, no wide ones. And one column less than
        // there is, behind which some terminals wrap.
        let column = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
        let shown: String = what.chars().map(column).take(width.saturating_sub(1)).collect();
        format!("{CLEAR}{shown}")
    }

    /// What to write so that the line is free.
    pub(super) fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.visible) { CLEAR } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_stage_is_drawn_now_and_then_and_a_new_one_at_once() {
        let mut progress = Progress::default();
        assert_eq!(progress.clear(), "");
        assert_eq!(progress.draw("own tasks: 1 of 9", ms(0), 80), "\r\x1b[Kown tasks: 1 of 9");
        assert_eq!(progress.draw("own tasks: 2 of 9", ms(99), 80), "");
        assert_eq!(progress.draw("own tasks: 3 of 9", ms(100), 80), "\r\x1b[Kown tasks: 3 of 9");
        assert_eq!(progress.draw("precheck: a/b", ms(101), 80), "\r\x1b[Kprecheck: a/b");
        assert_eq!(progress.draw("", ms(101), 80), "\r\x1b[K");
        assert_eq!(progress.clear(), "");
        assert_ne!(progress.draw("precheck: a/c", ms(102), 80), "", "a log line took it away");
    }

    #[test]
    fn it_fits_its_terminal() {
        let mut progress = Progress::default();
        for (width, shown) in [(80, "own tasks: a\\b?c??"), (7, "own ta"), (1, ""), (0, "")] {
            progress.clear();
            let drawn = progress.draw("own tasks: a\\b\nc\u{1b}卡", ms(0), width);
            assert_eq!(drawn.strip_prefix(CLEAR), Some(shown));
        }
    }
}
