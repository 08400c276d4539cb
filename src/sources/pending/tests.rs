use std::fs;

use super::*;

const MD: &str = include_str!("../../../examples/pending.md");
const TXT: &str = include_str!("../../../examples/pending.txt");

fn catalog() -> Catalog {
    Catalog::parse(include_str!("../../../data/gpus.json")).unwrap()
}

fn load_md(bytes: &[u8], section: Option<Section>) -> Result<Pending, Hold> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.md");
    fs::write(&path, bytes).unwrap();
    let mut pending = load(Some(&path), None, section, &catalog())?;
    for told in &mut pending.refused {
        *told = told.replace(&format!("{}:", path.display()), "p.md:");
    }
    Ok(pending)
}

const LIST: &str = "\
## A
| model | GPU |
|---|---|
| a/1 | 壁砺 |
| a/2 | 壁砺 | x |

## B
| model | GPU |
|---|---|
| b/3 | 曦望 |
";

/// I02: whatever ends a line, and with or without a byte order mark, the list is the same.
#[test]
fn i02_line_ends_and_a_byte_order_mark_change_nothing() {
    let plain = load_md(LIST.as_bytes(), None).unwrap();
    assert_eq!(plain.candidates.len(), 2);
    assert_eq!(plain.refused.len(), 1);
    assert!(plain.refused[0].starts_with("p.md:5: 3 cells"), "{:?}", plain.refused);
    for end in ["\r\n", "\r"] {
        let text = LIST.replace('\n', end);
        assert_eq!(load_md(text.as_bytes(), None).as_ref(), Ok(&plain), "{end:?}");
        let text = format!("\u{feff}{text}");
        assert_eq!(load_md(text.as_bytes(), None).as_ref(), Ok(&plain), "{end:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.txt");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        load(None, Some(&path), None, &catalog()).unwrap()
    };
    let plain = read("a/1 壁砺\nx\na/2\n");
    assert_eq!((plain.candidates.len(), plain.refused.len()), (2, 1));
    assert_eq!(read("\u{feff}a/1 壁砺\r\nx\r\na/2"), plain);
    assert_eq!(read("a/1 壁砺\rx\ra/2\r"), plain);
}

#[test]
fn a_section_chooses_and_the_markdown_file_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let (md, txt) = (dir.path().join("p.md"), dir.path().join("p.txt"));
    fs::write(&md, LIST).unwrap();
    fs::write(&txt, "b/4\n").unwrap();
    let models = |section| {
        let pending = load(Some(&md), Some(&txt), section, &catalog()).unwrap();
        pending.candidates.into_iter().map(|c| c.address).collect::<Vec<_>>()
    };
    assert_eq!(models(None), ["a/1", "b/3", "b/4"]);
    assert_eq!(models(Some(Section::A)), ["a/1"]);
    assert_eq!(models(Some(Section::B)), ["b/3", "b/4"]);
    let hold = load(None, Some(&txt), Some(Section::A), &catalog()).unwrap_err();
    assert_eq!(hold.reason, Reason::CandidateReadFailed);
    assert!(hold.detail.contains("p.txt: no row in section A"), "{}", hold.detail);
}

#[test]
fn a_file_that_yields_nothing_is_a_mistake() {
    for (text, says) in [
        ("", "no usable row; expected a table"),
        ("# A\n\ntext\n", "no usable row"),
        ("| date |\n|---|\n| x |\n", "no usable row"),
        ("| model |\n|---|\n", "no usable row"),
        ("| model |\n|---|\n| x |\n| y |\n| z |\n| w |\n", "p.md:3: the model \"x\": no owner"),
        ("| model |\n|---|\n| x |\n| y |\n| z |\n| w |\n", "; and 1 more"),
        ("\0", "no usable row"),
    ] {
        let hold = load_md(text.as_bytes(), None).unwrap_err();
        assert_eq!(hold.reason, Reason::CandidateReadFailed);
        assert!(hold.detail.contains(says), "{}", hold.detail);
    }
    let hold = load_md(b"\xff", None).unwrap_err();
    assert!(hold.detail.contains("not UTF-8 at byte 0"), "{}", hold.detail);
    let hold = load(None, Some(Path::new("/nonexistent/p.txt")), None, &catalog()).unwrap_err();
    assert_eq!(hold.reason, Reason::CandidateReadFailed);
    assert!(hold.detail.starts_with("/nonexistent/p.txt: there is no such file"));
}

/// I05: both spellings stay, in their own case: the key is folded where pairs are compared.
#[test]
fn i05_a_model_keeps_its_spelling() {
    let pending = load_md(b"| model |\n|---|\n| Org/Model |\n| org/model |\n", None).unwrap();
    let models: Vec<_> = pending.candidates.iter().map(|c| c.address.as_str()).collect();
    assert_eq!(models, ["Org/Model", "org/model"]);
}

/// xorshift: the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (below.max(1) as u64)).unwrap()
    }
}

const PIECES: [&str; 24] = [
    "|",
    "\\|",
    "\\\\|",
    "`",
    "``",
    "\n",
    "\n\n",
    "\r",
    "## A\n",
    "# B 组\n",
    "---",
    "|---|",
    "<br>",
    "**",
    "_",
    "[",
    "](https://huggingface.co/a/b)",
    "<!--",
    "> ",
    "\t",
    "壁砺",
    "&#124;",
    "\0",
    "#",
];

fn mutated(seed: &str, numbers: &mut Numbers) -> String {
    let mut chars: Vec<char> = seed.chars().collect();
    for _ in 0..=numbers.next(8) {
        let at = numbers.next(chars.len() + 1);
        let end = (at + numbers.next(6)).min(chars.len());
        let piece = PIECES[numbers.next(PIECES.len())];
        match numbers.next(3) {
            0 => drop(chars.drain(at..end)),
            1 => drop(chars.splice(at..at, piece.chars())),
            _ => drop(chars.splice(at..end, piece.chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_makes_a_parser_panic() {
    let catalog = catalog();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut used, mut refused) = (0, 0);
    for round in 0..2_000 {
        let seed = if round % 2 == 0 { MD } else { TXT };
        let text = mutated(seed, &mut numbers).replace('\r', "\n");
        for parse in [markdown::parse, text::parse] {
            let found = parse(&text, &catalog);
            let lines = text.lines().count();
            assert!(found.refused.iter().all(|(line, _)| (1..=lines).contains(line)), "{text}");
            for candidate in &found.candidates {
                assert!(ModelId::parse(&candidate.address).is_ok(), "{text}");
            }
            used += found.candidates.len();
            refused += found.refused.len();
        }
    }
    assert!(used > 1_000 && refused > 1_000, "{used} used, {refused} refused");
}

/// I04: whatever stands in the cells of a row, what is used is what stands between the pipes.
#[test]
fn i04_no_row_is_shifted() {
    let catalog = catalog();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let pieces =
        ["|", "\\|", "\\\\|", "`", "x", " ", "**", "_", "&#124;", "<b>", "[x](y)", "\\", "壁砺"];
    let (mut used, mut refused) = (0, 0);
    for _ in 0..2_000 {
        let mut noise = || (0..numbers.next(4)).map(|_| pieces[numbers.next(13)]).collect();
        let (before, after): (String, String) = (noise(), noise());
        let row = format!("| {before} | a/b | c/d | {after} |");
        let text = format!("| x | model | y | z |\n|---|---|---|---|\n{row}\n");
        let found = markdown::parse(&text, &catalog);
        // Independent of the parser: hide the escaped pipes and cut at the others.
        let cells = row.replace("\\|", "  ").matches('|').count() - 1;
        if let [one] = found.candidates.as_slice() {
            assert_eq!((cells, one.address.as_str()), (4, "a/b"), "{row}");
            used += 1;
        } else {
            assert_eq!((found.candidates.len(), found.refused.len()), (0, 1), "{row}");
            assert_ne!(cells, 4, "{row}");
            refused += 1;
        }
    }
    assert!(used > 200 && refused > 200, "{used} used, {refused} refused");
}
