//! Charts over days. Shapes are SVG that is stretched to the page; words are HTML beside it, so
//! that they can be read at any width, and every number also stands in a table.

use std::fmt;

use super::html::{Text, number, table};

/// How the values of a day are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bars on each other. The sum over all days is told.
    Stacked,
    /// Bars beside each other. The sum over all days is told.
    Beside,
    /// A line from day to day. Its last value is told.
    Lines,
}

/// What is drawn in one colour.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: &'static str,
    /// The colour's class: a, b or c.
    pub(super) colour: char,
    /// A value for each day, where there is one.
    pub(super) values: Vec<Option<f64>>,
}

/// A chart with one value of each series for each day.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    /// Unique on the page.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) kind: Kind,
    /// The days' dates, oldest first.
    pub(super) dates: &'a [String],
    pub(super) series: Vec<Series>,
    /// What to say where there is no value at all.
    pub(super) empty: &'static str,
}

/// The chart and its table.
impl fmt::Display for Chart<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = Text(self.title);
        writeln!(out, "<section class=\"chart\"><h3>{title}</h3>")?;
        match (self.dates.first(), self.dates.last()) {
            (Some(first), Some(last)) if self.is_known() => {
                self.figure(first, last, out)?;
                self.numbers(out)?;
            }
            _ => writeln!(out, "<p>{}</p>", Text(self.empty))?,
        }
        out.write_str("</section>\n")
    }
}

impl Chart<'_> {
    fn is_known(&self) -> bool {
        let mut known = self.series.iter().flat_map(|series| series.values.iter().flatten());
        match self.kind {
            Kind::Stacked | Kind::Beside => known.any(|value| *value != 0.0),
            Kind::Lines => known.next().is_some(),
        }
    }

    fn figure(&self, first: &str, last: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, title, days, top) = (self.id, Text(self.title), self.dates.len(), self.top());
        let few = if days < 8 { " few" } else { "" };
        write!(
            out,
            "<figure>\n<div class=\"plot{few}\">\n<div class=\"y\" aria-hidden=\"true\">\
             <span>{}</span><span>{}</span><span>0</span></div>\n",
            number(top),
            number(top / 2.0)
        )?;
        write!(
            out,
            "<svg viewBox=\"0 0 {days} 100\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{title}</title>\
             <desc id=\"{id}-d\">From {first} to {last}: {}</desc>\n\
             <path class=\"grid\" d=\"M0 0H{days}M0 50H{days}M0 100H{days}\"/>\n",
            self.summary()
        )?;
        match self.kind {
            Kind::Stacked | Kind::Beside => self.bars(top, out)?,
            Kind::Lines => self.lines(top, out)?,
        }
        // What a pointer finds on a day.
        for (at, date) in self.dates.iter().enumerate() {
            let told = self.on_day(at);
            writeln!(
                out,
                "<rect class=\"hit\" x=\"{at}\" width=\"1\" height=\"100\">\
                 <title>{date}: {told}</title></rect>"
            )?;
        }
        out.write_str("</svg>\n<div class=\"x\" aria-hidden=\"true\">")?;
        // A date in the middle stands under its day only where a day is in the middle.
        let middle = self.dates.get(days / 2).filter(|_| days > 7 && days % 2 == 1);
        let last = Some(last).filter(|_| days > 1);
        for date in [Some(first), middle.map(String::as_str), last].into_iter().flatten() {
            write!(out, "<span>{date}</span>")?;
        }
        out.write_str("</div>\n</div>\n<figcaption>")?;
        for series in &self.series {
            let (colour, told) = (series.colour, self.told(series).unwrap_or_default());
            write!(out, "<span class=\"key\"><i class=\"{colour}\"></i>{told}</span> ")?;
        }
        out.write_str("</figcaption>\n</figure>\n")
    }

    fn bars(&self, top: f64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stacked = self.kind == Kind::Stacked;
        let width = if stacked { 0.8 } else { 0.8 / as_float(self.series.len()) };
        for at in 0..self.dates.len() {
            let (mut x, mut y) = (as_float(at) + 0.1, 100.0);
            for series in &self.series {
                let value = series.values.get(at).copied().flatten().unwrap_or_default();
                let height = value.max(0.0) / top * 100.0;
                y = if stacked { y - height } else { 100.0 - height };
                if height > 0.0 {
                    let colour = series.colour;
                    writeln!(
                        out,
                        "<rect class=\"{colour}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" \
                         height=\"{height:.2}\"/>"
                    )?;
                }
                x += if stacked { 0.0 } else { width };
            }
        }
        Ok(())
    }

    fn lines(&self, top: f64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for series in &self.series {
            let dot = if series.values.iter().flatten().count() == 1 { " dot" } else { "" };
            write!(out, "<path class=\"line {}{dot}\" d=\"", series.colour)?;
            let known = series.values.iter().enumerate();
            let known = known.filter_map(|(at, value)| Some((at, (*value)?)));
            for (n, (at, value)) in known.enumerate() {
                let to = if n == 0 { 'M' } else { 'L' };
                write!(out, "{to}{at}.5 {:.2}", 100.0 - value / top * 100.0)?;
            }
            // A line without length makes a single day a dot.
            out.write_str("h0\"/>\n")?;
        }
        Ok(())
    }

    fn numbers(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("<details><summary>Numbers</summary>\n")?;
        let head: Vec<&str> =
            std::iter::once("Day").chain(self.series.iter().map(|series| series.name)).collect();
        let rows = self.dates.iter().enumerate().rev().map(|(at, date)| {
            let value = |series: &Series| series.values.get(at).copied().flatten();
            let shown = |series| value(series).map_or("–".to_owned(), number);
            std::iter::once(date.clone()).chain(self.series.iter().map(shown)).collect()
        });
        table(out, self.title, &head, rows)?;
        out.write_str("</details>\n")
    }

    fn on_day(&self, at: usize) -> String {
        let told = self.series.iter().filter_map(|series| {
            let value = series.values.get(at).copied().flatten()?;
            Some(format!("{} {}", series.name, number(value)))
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { "not read".to_owned() } else { told.join(", ") }
    }

    fn summary(&self) -> String {
        let told: Vec<String> = self.series.iter().filter_map(|series| self.told(series)).collect();
        format!("{}.", told.join(", "))
    }

    /// A series in a few words.
    fn told(&self, series: &Series) -> Option<String> {
        let mut values = series.values.iter().flatten();
        let (when, value) = match self.kind {
            Kind::Stacked | Kind::Beside => ("in all", values.sum()),
            Kind::Lines => ("at last", *values.next_back()?),
        };
        Some(format!("{} {} {when}", series.name, number(value)))
    }

    /// The least even round number that no day exceeds.
    fn top(&self) -> f64 {
        let on = |at: usize| {
            let values =
                self.series.iter().filter_map(move |s| s.values.get(at).copied().flatten());
            match self.kind {
                Kind::Stacked => values.filter(|value| *value > 0.0).sum(),
                Kind::Beside | Kind::Lines => values.fold(0.0, f64::max),
            }
        };
        let most: f64 = (0..self.dates.len()).map(on).fold(0.0, f64::max);
        let mut unit = 1.0;
        while unit * 10.0 < most && unit < 1e300 {
            unit *= 10.0;
        }
        [2.0, 4.0, 6.0, 8.0]
            .map(|n| n * unit)
            .into_iter()
            .find(|top| *top >= most)
            .unwrap_or(10.0 * unit)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn as_float(place: usize) -> f64 {
    place as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(kind: Kind, values: &[&[Option<f64>]]) -> String {
        let dates: Vec<String> = (1..=values[0].len()).map(|n| format!("2026-11-{n:02}")).collect();
        let names = [("one", 'a'), ("two", 'b')];
        let series = values.iter().zip(names).map(|(values, (name, colour))| Series {
            name,
            colour,
            values: values.to_vec(),
        });
        let series = series.collect();
        let chart = Chart { id: "x", title: "A & B", kind, dates: &dates, series, empty: "None." };
        chart.to_string()
    }

    #[test]
    fn bars_stand_on_each_other_and_the_numbers_beside_them() {
        let html =
            drawn(Kind::Stacked, &[&[Some(3.0), None, Some(-2.0)], &[Some(1.0), None, None]]);
        assert!(
            html.contains(r#"<rect class="a" x="0.10" y="25.00" width="0.80" height="75.00"/>"#),
            "{html}"
        );
        assert!(
            html.contains(r#"<rect class="b" x="0.10" y="0.00" width="0.80" height="25.00"/>"#),
            "{html}"
        );
        assert!(html.contains("<title>2026-11-02: not read</title>"));
        assert!(
            html.contains(
                r#"<th scope="row">2026-11-03</th><td class="n">−2</td><td class="n">–</td>"#
            ),
            "{html}"
        );
        assert!(
            html.contains("From 2026-11-01 to 2026-11-03: one 1 in all, two 1 in all."),
            "{html}"
        );
        assert_eq!(html.matches("A &amp; B").count(), 4);
    }

    #[test]
    fn bars_stand_beside_each_other() {
        let html = drawn(Kind::Beside, &[&[Some(2.0)], &[Some(1.0)]]);
        assert!(html.contains(r#"x="0.10" y="0.00" width="0.40" height="100.00""#), "{html}");
        assert!(html.contains(r#"x="0.50" y="50.00" width="0.40" height="50.00""#), "{html}");
    }

    #[test]
    fn a_line_passes_over_days_without_a_value_and_one_day_is_a_dot() {
        let html = drawn(Kind::Lines, &[&[Some(0.0), None, Some(90.0)]]);
        assert!(html.contains("d=\"M0.5 100.00L2.5 10.00h0\""), "{html}");
        assert!(html.contains("<span>100</span><span>50</span><span>0</span>"), "{html}");
        let dot = "<path class=\"line a dot\" d=\"M0.5 50.00h0\"";
        assert!(drawn(Kind::Lines, &[&[Some(1.0)]]).contains(dot) && !html.contains(" dot"));
    }

    #[test]
    fn without_values_there_is_a_sentence() {
        for html in [drawn(Kind::Lines, &[&[None]]), drawn(Kind::Stacked, &[&[Some(0.0)]])] {
            assert!(html.contains("<p>None.</p>") && !html.contains("<svg"), "{html}");
        }
    }
}
