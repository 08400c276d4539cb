//! HTML from values. Names come from a platform and reasons from people, so every text is escaped.

use std::fmt::{self, Write};

/// A text as HTML, in an element or a quoted attribute. Control characters, which no page may
/// hold, are written as `\u{hex}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() => write!(f, "{}", c.escape_unicode())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A name of a model or a card: in a direction of its own, and broken where it may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<bdi>")?;
        for part in self.0.split_inclusive(['/', '_', '-']) {
            write!(f, "{}<wbr>", Text(part))?;
        }
        f.write_str("</bdi>")
    }
}

/// A number for people: at most two decimals, and a minus sign that is one.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.strip_prefix('-') {
        Some("0") => "0".to_owned(),
        Some(text) => format!("−{text}"),
        None => text.to_owned(),
    }
}

/// A table that scrolls by itself where it is wider than the page. `cells` are HTML, the first of
/// each row its head.
pub(super) fn table<C: fmt::Display>(
    out: &mut fmt::Formatter<'_>,
    caption: &str,
    head: &[C],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> fmt::Result {
    let caption = Text(caption);
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n\
         <table>\n<caption>{caption}</caption>\n<thead><tr>"
    )?;
    for cell in head {
        write!(out, "<th scope=\"col\">{cell}</th>")?;
    }
    out.write_str("</tr></thead>\n<tbody>\n")?;
    for row in rows {
        out.write_str("<tr>")?;
        for (at, cell) in row.iter().enumerate() {
            let is_number = cell.starts_with(|c: char| c.is_ascii_digit() || "−–".contains(c));
            match (at, is_number) {
                (0, _) => write!(out, "<th scope=\"row\">{cell}</th>")?,
                (_, true) => write!(out, "<td class=\"n\">{cell}</td>")?,
                (_, false) => write!(out, "<td>{cell}</td>")?,
            }
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</tbody>\n</table>\n</div>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_leave_its_element_or_its_attribute() {
        let evil = "<script>alert('1')</script>\"&\u{0}\u{1b}";
        let escaped = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;\\u{0}\\u{1b}";
        assert_eq!(Text(evil).to_string(), escaped);
        assert_eq!(Name(evil).to_string().replace("<wbr>", ""), format!("<bdi>{escaped}</bdi>"));
    }

    #[test]
    fn numbers_are_short() {
        for (value, shown) in
            [(0.0, "0"), (-0.001, "0"), (2_505.0, "2505"), (12.5, "12.5"), (-3.0, "−3")]
        {
            assert_eq!(number(value), shown);
        }
    }
}
