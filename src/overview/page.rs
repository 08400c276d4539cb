//! The page: one file without scripts and without anything from elsewhere.

mod activity;
mod now;
mod tables;

use std::fmt;

use super::Facts;
use super::time::{machine, minute};

const STYLE: &str = include_str!("page.css");

/// Writes the part of the page that a section is about.
type Write = fn(&Facts, &mut fmt::Formatter<'_>) -> fmt::Result;

/// The sections: anchor, heading, content.
const SECTIONS: [(&str, &str, Write); 6] = [
    ("now", "Now", now::now),
    ("days", "Day by day", activity::days),
    ("rates", "How often models pass", tables::rates),
    ("doubt", "In doubt", tables::doubts),
    ("rejections", "Rejections", tables::rejections),
    ("coverage", "Models and cards", tables::coverage),
];

/// The facts as a whole HTML document.
#[must_use]
pub fn page(facts: &Facts) -> String {
    Page(facts).to_string()
}

struct Page<'a>(&'a Facts);

impl fmt::Display for Page<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, shown) = (machine(self.0.now), minute(self.0.now));
        let read = self.0.stats.map(|(at, _)| {
            let (at, shown) = (machine(at), minute(at));
            format!(", by the list that a run read <time datetime=\"{at}\">{shown}</time> UTC")
        });
        // The policy makes the browser refuse what this page must not need.
        write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <title>submitter: {shown} UTC</title>\n<style>\n{STYLE}</style>\n</head>\n"
        )?;
        write!(
            out,
            "<body>\n<header>\n<h1>submitter</h1>\n<p>Drawn <time datetime=\"{at}\">{shown}</time> \
             UTC{}</p>\n<nav aria-label=\"Sections\">\n<ul>",
            read.unwrap_or_default()
        )?;
        for (id, title, _) in SECTIONS {
            write!(out, "<li><a href=\"#{id}\">{title}</a></li>")?;
        }
        out.write_str("</ul>\n</nav>\n</header>\n<main>\n")?;
        for (id, title, write) in SECTIONS {
            writeln!(out, "<section id=\"{id}\" aria-labelledby=\"{id}-h\">")?;
            writeln!(out, "<h2 id=\"{id}-h\">{title}</h2>")?;
            write(self.0, out)?;
            out.write_str("</section>\n")?;
        }
        write!(
            out,
            "</main>\n<footer>\n<p>Written <time datetime=\"{at}\">{shown}</time> UTC by submitter \
             {}, from the journal and the account of one state folder. Days are those of UTC, from \
             midnight to midnight; today is not over.</p>\n</footer>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION")
        )
    }
}
