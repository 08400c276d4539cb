//! A list of cards as people write it.

use crate::gpu::Catalog;

/// Words that one card's name may have.
const MAX_WORDS: usize = 6;

/// The cards in a text, as they are written there, in order: between `、` `,` `，` `/` `;` `；` or
/// white space. The longest run of words that `catalog` knows is one card, since a name may have
/// a space in it; words that it does not know stay together, for the plan to pass over.
pub(super) fn split(text: &str, catalog: &Catalog) -> Vec<String> {
    let words = words(text);
    let mut cards = Vec::new();
    // Where the last card began and ended, if `catalog` does not know it.
    let mut unknown: Option<(usize, usize)> = None;
    let mut at = 0;
    while let Some(&(start, end)) = words.get(at) {
        let longest = words[at..].iter().take(MAX_WORDS).enumerate().rev();
        let mut known = longest.filter(|(_, (_, end))| catalog.find(&text[start..*end]).is_some());
        if let Some((more, (_, end))) = known.next() {
            cards.push(text[start..*end].to_owned());
            unknown = None;
            at += more + 1;
            continue;
        }
        match unknown {
            Some((first, last)) if text[last..start].trim().is_empty() => {
                cards.pop();
                cards.push(text[first..end].to_owned());
                unknown = Some((first, end));
            }
            _ => {
                cards.push(text[start..end].to_owned());
                unknown = Some((start, end));
            }
        }
        at += 1;
    }
    cards
}

/// Where the words of a text begin and end.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() || "、,，/;；".contains(c) {
            words.extend(start.take().map(|start| (start, at)));
        } else {
            start = start.or(Some(at));
        }
    }
    words.extend(start.map(|start| (start, text.len())));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(text: &str) -> Vec<String> {
        split(text, &Catalog::parse(include_str!("../../../data/gpus.json")).unwrap())
    }

    #[test]
    fn cards_stand_between_any_separators() {
        for text in [
            "壁砺、曦望、天垓150",
            "壁砺,曦望,天垓150",
            " 壁砺，曦望 ，天垓150 ，",
            "壁砺/曦望/天垓150",
            "壁砺; 曦望；天垓150",
            "壁砺 曦望\t天垓150",
            "、壁砺 、 曦望,,天垓150/",
        ] {
            assert_eq!(cards(text), ["壁砺", "曦望", "天垓150"], "{text}");
        }
        assert_eq!(cards(""), [""; 0]);
        assert_eq!(cards(" 、, /"), [""; 0]);
    }

    #[test]
    fn a_name_may_have_a_space_in_it() {
        assert_eq!(cards("沐曦 C500 天垓 150 壁砺"), ["沐曦 C500", "天垓 150", "壁砺"]);
        assert_eq!(
            cards("Biren_166m Sunrise_pt-200-x1,hygon_K100-AI"),
            ["Biren_166m", "Sunrise_pt-200-x1", "hygon_K100-AI"]
        );
        assert_eq!(
            cards("寒武纪 MLU370-X4/摩尔线程 S4000"),
            ["寒武纪 MLU370-X4", "摩尔线程 S4000"]
        );
        // A separator between the words of a name parts them.
        assert_eq!(cards("天垓、150"), ["天垓", "150"]);
    }

    #[test]
    fn what_is_no_known_card_stays_as_it_is_written() {
        assert_eq!(cards("some card 9、壁砺 A100"), ["some card 9", "壁砺", "A100"]);
        assert_eq!(cards("x, y"), ["x", "y"]);
        assert_eq!(cards("-"), ["-"]);
    }
}
