//! The charts of what was done and what came of it.

use std::fmt::{self, Display};

use crate::overview::Facts;
use crate::overview::chart::{Chart, Kind, Series};
use crate::overview::days::{Day, SHOWN};
use crate::overview::time::date;
use crate::remote::Stats;

pub(super) fn days(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let days = &facts.days;
    if days.is_empty() {
        return out.write_str("<p>Nothing has been recorded yet.</p>\n");
    }
    writeln!(
        out,
        "<p>Days of UTC, at most the last {SHOWN}. Lines show the last complete read of a day, and \
         passes are counted from one such read to the next. The threshold is that of the last \
         run.</p>"
    )?;
    let dates = dates(days);
    let count =
        |name, colour, of: fn(&Day) -> u64| series(days, name, colour, |d| Some(drawn(of(d))));
    let read =
        |name, of: fn(&Stats) -> f64| series(days, name, 'a', |day| day.stats.as_ref().map(of));
    #[expect(clippy::cast_precision_loss, reason = "a picture of a number")]
    let passed = series(days, "newly passed", 'a', |day| day.passed.map(|more| more as f64));
    let threshold = facts
        .queue
        .map(|(_, threshold)| series(days, "threshold", 'b', |_| Some(drawn(threshold))));
    let charts = [
        Chart {
            id: "chart-submissions",
            title: "Submissions a day",
            kind: Kind::Stacked,
            dates: &dates,
            series: vec![
                count("accepted", 'a', |day| day.accepted),
                count("in doubt", 'b', |day| day.in_doubt),
                count("rejected", 'c', |day| day.rejected),
            ],
            empty: "Nothing has been submitted yet.",
        },
        Chart {
            id: "chart-passes",
            title: "Passes a day",
            kind: Kind::Stacked,
            dates: &dates,
            series: vec![passed],
            empty: "None yet: they are counted from the last read of one day to that of the next.",
        },
        Chart {
            id: "chart-points",
            title: "Points",
            kind: Kind::Lines,
            dates: &dates,
            series: vec![read("points", |stats| stats.points)],
            empty: "No list has been read yet.",
        },
        Chart {
            id: "chart-queue",
            title: "Queue",
            kind: Kind::Lines,
            dates: &dates,
            series: std::iter::once(read("unfinished tasks", |stats| drawn(stats.queue)))
                .chain(threshold)
                .collect(),
            empty: "No list has been read yet.",
        },
    ];
    out.write_str("<div class=\"charts\">\n")?;
    for chart in charts {
        chart.fmt(out)?;
    }
    out.write_str("</div>\n")
}

/// Doubts that were opened and settled.
pub(super) fn doubts(days: &[Day], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let dates = dates(days);
    let opened = series(days, "opened", 'b', |day| Some(drawn(day.in_doubt)));
    let settled = series(days, "settled", 'a', |day| Some(drawn(day.settled)));
    let chart = Chart {
        id: "chart-doubts",
        title: "Doubts opened and settled a day",
        kind: Kind::Beside,
        dates: &dates,
        series: vec![opened, settled],
        empty: "None in the days that are shown.",
    };
    chart.fmt(out)
}

fn dates(days: &[Day]) -> Vec<String> {
    days.iter().map(|day| date(day.number)).collect()
}

fn series(
    days: &[Day],
    name: &'static str,
    colour: char,
    of: impl Fn(&Day) -> Option<f64>,
) -> Series {
    Series { name, colour, values: days.iter().map(of).collect() }
}

#[expect(clippy::cast_precision_loss, reason = "a picture of a number")]
fn drawn(count: u64) -> f64 {
    count as f64
}
