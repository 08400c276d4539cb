//! The text format of Prometheus, for `node_exporter`'s textfile collector.

use std::fmt::Display;

use super::Facts;

/// The facts as metrics. What is not known has no sample.
#[must_use]
pub fn metrics(facts: &Facts) -> String {
    let mut out = Metrics(String::new());
    out.gauge("build_info", "The program that wrote this file.")
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    if let Some((at, stats)) = &facts.stats {
        let mut tasks = out.gauge("tasks", "Own tasks in the last complete list, by state.");
        for (state, count) in [
            ("open", stats.queue),
            ("passed", stats.verify_pass),
            ("not_passed", stats.verify_fail),
            ("failed", stats.failed),
            ("other", stats.unknown),
        ] {
            tasks.sample(&[("state", state)], count);
        }
        out.gauge("points", "Points of the passed tasks.").sample(&[], stats.points);
        out.gauge("last_read_timestamp_seconds", "When all own tasks were last read.")
            .sample(&[], at);
    }
    if let Some((queue, threshold)) = facts.queue {
        out.gauge("queue", "Unfinished tasks, with those that no list shows yet.")
            .sample(&[], queue);
        out.gauge("queue_threshold", "Nothing is submitted from this many unfinished tasks on.")
            .sample(&[], threshold);
    }
    if let Some((at, end)) = &facts.cycle {
        out.gauge(
            "last_cycle_timestamp_seconds",
            "When the last cycle that asked the platform ended.",
        )
        .sample(&[], at);
        out.gauge("last_cycle_exit_code", "Its exit code.").sample(&[], end.exit);
        out.gauge("last_cycle_info", "Why it ended.").sample(&[("reason", &end.reason)], 1);
    }
    out.gauge("paused", "1 while nothing is submitted until a person resumes.")
        .sample(&[], u8::from(facts.pause.is_some()));
    out.gauge("in_doubt_pairs", "Pairs of which nobody knows whether the platform took them.")
        .sample(&[], facts.doubts.len());
    out.gauge("in_doubt_models", "Models in doubt on every card, by an intent that was cut off.")
        .sample(&[], facts.torn_models.len());
    out.gauge("missing_tasks", "Accepted tasks that the last complete list lacks.")
        .sample(&[], facts.missing.len());
    out.counter("accepted_total", "Tasks that the platform took.").sample(&[], facts.accepted);
    out.counter("settled_total", "Pairs in doubt that a list or a person has settled.")
        .sample(&[], facts.settled);
    let mut rejections = out.counter("rejections_total", "Submissions that were refused, by code.");
    for row in &facts.rejections {
        rejections.sample(&[("code", &row.code.to_string()), ("name", row.name)], row.count);
    }
    out.0
}

struct Metrics(String);

struct Family<'a> {
    out: &'a mut String,
    name: &'static str,
}

impl Metrics {
    fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, help, "gauge")
    }

    fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, help, "counter")
    }

    fn family(&mut self, name: &'static str, help: &str, kind: &str) -> Family<'_> {
        let out = &mut self.0;
        out.extend([format!("# HELP submitter_{name} {help}\n# TYPE submitter_{name} {kind}\n")]);
        Family { out, name }
    }
}

impl Family<'_> {
    fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.out.extend([format!("submitter_{}{labels} {value}\n", self.name)]);
    }
}

/// A label's value, as the format asks.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::event::CycleEnd;

    #[test]
    fn what_is_not_known_has_no_sample_and_every_sample_has_its_type() {
        let none = metrics(&Facts::default());
        assert!(!none.contains("submitter_queue ") && !none.contains("timestamp"), "{none}");
        assert!(none.contains("\nsubmitter_paused 0\n"));
        for line in none.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split([' ', '{']).next().unwrap();
            assert!(none.contains(&format!("# TYPE {name} ")), "{line}");
            assert!(none.contains(&format!("# HELP {name} ")), "{line}");
        }
    }

    #[test]
    fn no_reason_can_end_its_label() {
        let reason = "a\"} 1\nsubmitter_paused 0\\".to_owned();
        let end =
            CycleEnd { reason, exit: 10, submitted: 0, rejected: 0, in_doubt: 0, requests: 0 };
        let text = metrics(&Facts { cycle: Some((7, end)), ..Facts::default() });
        let line = text.lines().find(|line| line.contains("cycle_info{")).unwrap();
        assert_eq!(line, r#"submitter_last_cycle_info{reason="a\"} 1\nsubmitter_paused 0\\"} 1"#);
        assert_eq!(text.matches("\nsubmitter_paused ").count(), 1);
    }
}
