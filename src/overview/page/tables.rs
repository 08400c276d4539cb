//! The sections that are tables.

use std::fmt;
use std::iter::once;

use super::activity;
use crate::gpu::Gpu;
use crate::overview::Facts;
use crate::overview::coverage::{Cell, Coverage, Row, Tally};
use crate::overview::html::{Name, table};
use crate::overview::time::{age, date, minute};

/// As many families, cards and pairs in doubt are shown.
const MOST: usize = 40;
/// As many models are shown without being asked for.
const FIRST: usize = 30;

/// Pass rates by card and by family.
pub(super) fn rates(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let known = facts.coverage.as_ref().filter(|coverage| !coverage.by_family.is_empty());
    let Some(coverage) = known else {
        return out.write_str("<p>No own task is known yet.</p>\n");
    };
    out.write_str(
        "<p>The rate is the part of passed tasks in those that passed, did not pass or failed. A \
         family is a model's name up to its first <code>-</code> or <code>_</code>, with the \
         version number behind that: <code>llama-3.2</code>, <code>qwen2.5</code>, \
         <code>pythia</code>.</p>\n",
    )?;
    let cards = coverage.by_card.iter().filter(|(_, tally)| tally.tasks() > 0);
    let cards = cards.map(|(gpu, tally)| (card(gpu.as_ref()), tally)).collect();
    rate_table("Tasks by card", "Card", cards, out)?;
    let families = coverage.by_family.iter();
    let families = families.map(|(name, tally)| (Name(name).to_string(), tally)).collect();
    rate_table("Tasks by family", "Family", families, out)
}

fn rate_table(
    caption: &str,
    of: &str,
    rows: Vec<(String, &Tally)>,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let left_out = rows.len().saturating_sub(MOST);
    let (blue, orange, grey) = (key('a', "Passed"), key('b', "Not passed"), key('c', "Failed"));
    let head = [of, "Rate", "Parts", &blue, &orange, &grey, "Other", "Open"];
    let rows = rows.into_iter().take(MOST).map(|(name, tally)| {
        let Tally { passed, not_passed, failed, other, open } = *tally;
        let tried = tally.tried();
        let rate = (passed * 100 + tried / 2).checked_div(tried);
        let rate = rate.map_or("–".to_owned(), |rate| format!("{rate} %"));
        let counts = [passed, not_passed, failed, other, open].map(|count| count.to_string());
        [name, rate, bar(tally)].into_iter().chain(counts).collect()
    });
    table(out, caption, &head, rows)?;
    if left_out > 0 {
        writeln!(out, "<p>{left_out} more with fewer tasks are left out.</p>")?;
    }
    Ok(())
}

fn key(colour: char, name: &str) -> String {
    format!("<span class=\"key\"><i class=\"{colour}\"></i>{name}</span>")
}

/// The row's numbers as one bar, for the eye alone.
fn bar(tally: &Tally) -> String {
    let mut bar = "<svg class=\"bar\" viewBox=\"0 0 1000 1\" preserveAspectRatio=\"none\" \
                   aria-hidden=\"true\">"
        .to_owned();
    let mut x = 0;
    for (colour, count) in [('a', tally.passed), ('b', tally.not_passed), ('c', tally.failed)] {
        let width = (count * 1_000).checked_div(tally.tried()).unwrap_or_default();
        if width > 0 {
            bar.extend([format!(
                "<rect class=\"{colour}\" x=\"{x}\" width=\"{width}\" height=\"1\"/>"
            )]);
        }
        x += width;
    }
    bar + "</svg>"
}

fn card(gpu: Option<&Gpu>) -> String {
    gpu.map_or("any card".to_owned(), |gpu| Name(gpu.as_str()).to_string())
}

/// Pairs in doubt: day by day, and those that are open.
pub(super) fn doubts(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str(
        "<p>A pair is in doubt while nobody knows whether the platform took it: the answer to its \
         submission was lost. It stays taken.</p>\n",
    )?;
    if facts.days.iter().any(|day| day.in_doubt > 0 || day.settled > 0) {
        activity::doubts(&facts.days, out)?;
    }
    for model in facts.torn_models.iter().take(MOST) {
        let model = Name(model);
        writeln!(out, "<p>{model}: in doubt on every card, as the card is not legible.</p>")?;
    }
    if facts.doubts.is_empty() {
        return out.write_str("<p>No pair is in doubt now.</p>\n");
    }
    let rows = facts.doubts.iter().take(MOST).map(|(pair, at)| {
        vec![Name(pair).to_string(), format!("{} UTC", minute(*at)), age(*at, facts.now)]
    });
    table(out, "In doubt now, oldest first", &["Pair", "Submitted", "Age"], rows)?;
    match facts.doubts.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "<p>{more} younger ones are left out.</p>"),
    }
}

/// Rejections by code.
pub(super) fn rejections(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if facts.rejections.is_empty() {
        return out.write_str("<p>Nothing has been rejected yet.</p>\n");
    }
    let rows = facts.rejections.iter().map(|row| {
        let name = Name(row.name).to_string();
        vec![row.code.to_string(), row.count.to_string(), date(row.last), name]
    });
    let caption = "Refused submissions since the journal was made";
    table(out, caption, &["Code", "Times", "Last", "Name"], rows)
}

/// The matrix.
pub(super) fn coverage(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let known = facts.coverage.as_ref().filter(|coverage| !coverage.rows.is_empty());
    let Some(coverage) = known else {
        return out.write_str("<p>No model has been tried yet.</p>\n");
    };
    out.write_str(
        "<p>How each pair stands. <b>taken</b>: accepted, and not in the last list; <b>in \
         doubt</b>: submitted perhaps; a number: the code for which the platform will never take \
         the pair, as the journal knows. Models in doubt come first, then those with the newest \
         tasks.</p>\n",
    )?;
    let (first, rest) = coverage.rows.split_at(coverage.rows.len().min(FIRST));
    matrix("Pairs by model and card", coverage, first, out)?;
    if !rest.is_empty() {
        writeln!(out, "<details><summary>{} more models</summary>", rest.len())?;
        matrix("More pairs by model and card", coverage, rest, out)?;
        out.write_str("</details>\n")?;
    }
    for (left_out, what) in [
        (coverage.models_left_out, "models with older tasks or none"),
        (coverage.cards_left_out, "cards with fewer tasks"),
    ] {
        if left_out > 0 {
            writeln!(out, "<p>{left_out} {what} are left out here, and counted above.</p>")?;
        }
    }
    Ok(())
}

fn matrix(
    caption: &str,
    coverage: &Coverage,
    rows: &[Row],
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let cards = coverage.cards.iter().map(|gpu| card(gpu.as_ref()));
    let head: Vec<String> = once("Model".to_owned()).chain(cards).collect();
    let rows = rows.iter().map(|row| {
        let cells = row.cells.iter().map(|cell| cell.map_or(String::new(), shown));
        once(Name(&row.model).to_string()).chain(cells).collect()
    });
    table(out, caption, &head, rows)
}

fn shown(cell: Cell) -> String {
    let (class, word) = match cell {
        Cell::Marked(code) => return format!("<i class=\"mark\">{code}</i>"),
        Cell::InDoubt => ("doubt", "in doubt"),
        Cell::Taken => ("open", "taken"),
        Cell::Other => ("other", "other"),
        Cell::Failed => ("failed", "failed"),
        Cell::NotPassed => ("not", "not passed"),
        Cell::Open => ("open", "open"),
        Cell::Passed => ("passed", "passed"),
    };
    format!("<i class=\"{class}\">{word}</i>")
}
