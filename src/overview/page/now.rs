//! The headline: what a person must look at, and the account in numbers.

use std::fmt;

use crate::overview::Facts;
use crate::overview::html::{Name, Text, number};
use crate::overview::time::{age, minute};

/// As many missing tasks are named.
const NAMED: usize = 10;

pub(super) fn now(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    attention(facts, out)?;
    out.write_str(match (&facts.stats, &facts.cycle) {
        (Some(_), _) => "",
        (None, Some(_)) => "<p>No run has read the account yet.</p>\n",
        (None, None) => "<p>No run has been recorded in this state folder yet.</p>\n",
    })?;
    out.write_str("<dl class=\"figures\">\n")?;
    account(facts, out)?;
    let (hour, day) = facts.submitted;
    let about = "submissions, accepted or in doubt";
    figure("Last hour", hour, about, out)?;
    figure("Last 24 hours", day, about, out)?;
    let in_doubt = facts.doubts.len() + facts.torn_models.len();
    figure("In doubt", in_doubt, "taken until a list or a person settles it", out)?;
    if let Some((at, end)) = &facts.cycle {
        let about = format!("ago, {} UTC: {}, exit {}", minute(*at), end.reason, end.exit);
        figure("Last cycle", age(*at, facts.now), about, out)?;
    }
    out.write_str("</dl>\n")
}

/// What only a list of the own tasks tells.
fn account(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((read, stats)) = &facts.stats else { return Ok(()) };
    figure("Points", number(stats.points), "of the passed tasks", out)?;
    figure("Passed", stats.verify_pass, "验证通过", out)?;
    figure("Not passed", stats.verify_fail, "验证失败", out)?;
    figure("Failed", stats.failed, "验证异常", out)?;
    match facts.queue {
        Some((queue, threshold)) => {
            let about = "unfinished tasks, with those that no list shows yet; nothing is sent at the \
                         threshold";
            figure("Queue", format_args!("{queue} of {threshold}"), about, out)?;
        }
        None => figure("Queue", stats.queue, "unfinished tasks", out)?,
    }
    let about = format!("ago, {} UTC: {} tasks", minute(*read), stats.total);
    figure("List read", age(*read, facts.now), about, out)
}

fn figure(
    name: &str,
    value: impl fmt::Display,
    about: impl AsRef<str>,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let about = Text(about.as_ref());
    writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd><dd class=\"about\">{about}</dd></div>")
}

fn attention(facts: &Facts, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut what = Vec::new();
    if let Some(pause) = &facts.pause {
        let since = Some(pause.at).filter(|at| *at > 0);
        let since = since.map_or(String::new(), |at| format!(" since {} UTC", minute(at)));
        let reason = Text(&pause.reason);
        what.push(format!(
            "Paused{since}: {reason}. Nothing is submitted until <code>submitter resume</code>."
        ));
    }
    if let Some((_, end)) = facts.cycle.as_ref().filter(|(_, end)| end.exit >= 30) {
        let reason = Text(&end.reason);
        what.push(format!("The last cycle needs a person: {reason}, exit {}.", end.exit));
    }
    if !facts.missing.is_empty() {
        let names: Vec<String> =
            facts.missing.iter().take(NAMED).map(|name| Name(name).to_string()).collect();
        let (count, names) = (facts.missing.len(), names.join("; "));
        what.push(format!("Accepted, and missing from a complete list ({count}): {names}."));
    }
    if what.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"attention\"><li>{}</li></ul>", what.join("</li><li>"))
}
