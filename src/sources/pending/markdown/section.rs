//! Headings that open a section.

use super::Section;

/// The section that a heading opens: `A`, `A 组`, `【B】`, `Section A: ...`, `A 组(优先)`; not
/// `A better list`, `A100` or `A/B`.
pub(super) fn section_of(heading: &str) -> Option<Section> {
    let bracket = |c: char| c.is_whitespace() || "([（【".contains(c);
    let heading = heading.trim_start_matches(bracket);
    let word = ["section", "group", "分组", "组"].into_iter().find_map(|word| {
        let (start, rest) = heading.split_at_checked(word.len())?;
        start.eq_ignore_ascii_case(word).then_some(rest)
    });
    let heading = word.unwrap_or(heading).trim_start_matches(bracket);
    let mut rest = heading.chars();
    let section = match rest.next()? {
        'A' | 'a' | 'Ａ' => Section::A,
        'B' | 'b' | 'Ｂ' => Section::B,
        _ => return None,
    };
    let rest = rest.as_str();
    let next = rest.trim_start().chars().next();
    let a_word = |c: char| c.is_ascii_alphanumeric() || "_/、,，&+和与或".contains(c);
    let joined = rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(a_word));
    (!next.is_some_and(a_word) && !joined).then_some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_that_open_a_section() {
        for text in [
            "A",
            "a",
            " A ",
            "A 组",
            "A组",
            "A 组(优先)",
            "A（优先）",
            "A: first",
            "A. 优先",
            "A - first",
            "【A 组】优先",
            "(A)",
            "Ａ 组",
            "Section A",
            "group a",
            "分组 A",
            "组A",
        ] {
            assert_eq!(section_of(text), Some(Section::A), "{text}");
        }
        for text in ["B", "B 组", "section B", "b"] {
            assert_eq!(section_of(text), Some(Section::B), "{text}");
        }
        for text in [
            "",
            " ",
            "C",
            "A100",
            "A 100",
            "A better list",
            "AB",
            "A/B",
            "A / B 组",
            "A、B",
            "A和B",
            "A & B",
            "A-1",
            "About",
            "Bert",
            "组",
            "section",
            "已提交",
            "优先 A",
        ] {
            assert_eq!(section_of(text), None, "{text}");
        }
    }
}
