use super::*;
use crate::report::{Action, Decision};

const REJECTED: &str = "[live] rejected model=Org/Model-1.5_x gpu=Biren_166m code=60022 http=200 \
                        queue_before=0 reason=CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED";
const SKIPPED: &str =
    "[live] skip model=Org/Model-1.5_x gpu=Biren_166m reason=marked:precheck_60027";

fn read(line: impl AsRef<[u8]>) -> Option<(String, String, u32)> {
    let catalog = Catalog::parse(include_str!("../../../data/gpus.json")).unwrap();
    let Found { model, gpu, code } = parse(line.as_ref(), &catalog)?;
    Some((model.as_str().to_owned(), gpu.as_str().to_owned(), code))
}

fn pair(code: u32) -> (String, String, u32) {
    ("Org/Model-1.5_x".to_owned(), "Biren_166m".to_owned(), code)
}

#[test]
fn both_kinds_of_record_are_read() {
    assert_eq!(read(REJECTED), Some(pair(60022)));
    assert_eq!(read(SKIPPED), Some(pair(60027)));
    assert_eq!(read(SKIPPED.replace("60027", "60028")), Some(pair(60028)));
}

/// What is written here is what is read there.
#[test]
fn the_lines_of_a_report_are_read() {
    let decision = |action, reason: &str| Decision {
        model: Some("Org/Model-1.5_x".to_owned()),
        gpu: Some("Biren_166m".to_owned()),
        queue_before: Some(3),
        http: Some(200),
        code: Some(60029),
        detail: "model=a/b gpu=Biren_166m code=60012".to_owned(),
        ..Decision::new(action, reason)
    };
    assert_eq!(read(decision(Action::Rejected, codes::name(60029)).to_string()), Some(pair(60029)));
    assert_eq!(
        read(decision(Action::Skip, "marked:precheck_60028").to_string()),
        Some(pair(60028))
    );
    assert_eq!(read(decision(Action::Skip, "marked:60028").to_string()), None);
    for action in [Action::Submitted, Action::InDoubt, Action::Plan, Action::Hold] {
        assert_eq!(read(decision(action, "marked:precheck_60028").to_string()), None);
    }
}

#[test]
fn anything_may_stand_before_and_behind_it() {
    for line in [
        format!("2026-11-02T03:00:07+08:00 {REJECTED}"),
        format!("<30>Nov  2 03:00:07 host submitter[812]: {REJECTED}"),
        format!("\u{feff}{REJECTED}"),
        format!("[live] | submitter-1  | {REJECTED}"),
        format!("x[live]{REJECTED}"),
        format!("{REJECTED} host=box code=60012 model=a/b"),
        format!("{REJECTED}\t{SKIPPED}"),
        format!("{REJECTED}{SKIPPED}"),
        format!("[live] plan model=a/b gpu=Iluvatar_bi-150 queue_bef{REJECTED}"),
        format!("{{\"log\":\"{REJECTED}\\n\",\"stream\":\"stderr\"}}"),
        REJECTED.replace(' ', "  "),
        REJECTED.replace(' ', "\t"),
        "[live] rejected reason=X code=60022 gpu=Biren_166m model=Org/Model-1.5_x".to_owned(),
        "[live] rejected code=60022 gpu=壁砺 model=https://huggingface.co/Org/Model-1.5_x"
            .to_owned(),
    ] {
        assert_eq!(read(&line), Some(pair(60022)), "{line}");
    }
    for end in ["\\n\",\"stream\":\"stderr\"}", "\\r\\n\"}", "\"", "\"}", " x=y", "[live] skip"] {
        assert_eq!(read(format!("{{\"log\":\"{SKIPPED}{end}")), Some(pair(60027)), "{end}");
    }
}

#[test]
fn colours_are_not_part_of_a_line() {
    for line in [
        format!("\x1b[32m{REJECTED}\x1b[0m"),
        format!("\x1b[1;38;5;208m[\x1b[mlive\x1b[K] \x1b[31mrejected\x1b[0m{}", &REJECTED[15..]),
        REJECTED.replace('=', "\x1b[0m=\x1b[36m").replace(' ', "\x1b[0m "),
        REJECTED.replace("Model-1.5_x", "\x1b[01;31m\x1b[KModel\x1b[m\x1b[K-1.5_x"),
        format!("\x1b]0;[live] rejected model=a/b\x07{REJECTED}"),
        format!("\x1b]8;;file:///x\x1b\\{REJECTED}\x1b]8;;\x1b\\"),
        format!("\x1b(B\x1b7{REJECTED}\x1b"),
    ] {
        assert_eq!(read(&line), Some(pair(60022)), "{line:?}");
    }
    assert_eq!(read(format!("{SKIPPED}\x1b[0m")), Some(pair(60027)));
    // Nobody sees a record in a title.
    assert_eq!(read(format!("\x1b]0;{REJECTED}\x07")), None);
    assert_eq!(read(format!("\x1b]0;{REJECTED}")), None);
}

/// I01: a bad byte costs its field, not its line.
#[test]
fn i01_bytes_that_are_not_utf8_are_passed_over() {
    let with = |before: &[u8], after: &[u8]| [before, REJECTED.as_bytes(), after].concat();
    assert_eq!(read(with(b"\xff\xfe \xd6\xd0\xb9\xfa ", b"")), Some(pair(60022)));
    assert_eq!(read(with(b"", b" note=\xd6\xd0 \x80\0\xff")), Some(pair(60022)));
    let (model, gpu) = (b"model=Org/M\xff".as_slice(), b" gpu=Biren_166m\xd6".as_slice());
    assert_eq!(read([b"[live] rejected code=60022 gpu=Biren_166m ", model].concat()), None);
    assert_eq!(read([b"[live] rejected code=60022 model=a/b", gpu].concat()), None);
}

#[test]
fn only_permanent_codes_are_taken() {
    for code in 59_990..=60_050 {
        let permanent = code == 60_012 || (60_019..=60_029).contains(&code);
        for line in [REJECTED.replace("60022", &code.to_string()), {
            SKIPPED.replace("60027", &code.to_string())
        }] {
            assert_eq!(read(&line), permanent.then(|| pair(code)), "{line}");
        }
    }
    for code in ["", "-", "60022x", "60022.0", "60022-1", "+60022", "0x1", "4294967296", "60022\\u"]
    {
        assert_eq!(read(REJECTED.replace("60022", code)), None, "{code}");
        assert_eq!(read(SKIPPED.replace("60027", code)), None, "{code}");
    }
}

#[test]
fn what_is_no_id_or_no_known_card_is_not_taken() {
    for model in [
        "",
        "-",
        "gpt2",
        "a/b/c",
        "<a>/b",
        "TODO",
        "a/ｂ",
        "a/b\u{200b}",
        "a/b\\u{22}",
        "\\u{61}/b",
        "a/b#\\u{20}",
        "a/b?\\u{3d}",
        "\"a/b\"",
        "https://example.com/a/b",
        "../..",
    ] {
        assert_eq!(read(REJECTED.replace("Org/Model-1.5_x", model)), None, "{model}");
    }
    for gpu in ["", "-", "A100", "Newcomer_x-1", "Biren_166m,", "Biren_166m\\u{20}"] {
        assert_eq!(read(REJECTED.replace("Biren_166m", gpu)), None, "{gpu}");
    }
    for field in ["model=", "gpu=", "code="] {
        assert_eq!(read(REJECTED.replace(field, &format!("x{field}"))), None, "{field}");
        assert_eq!(read(REJECTED.replace(field, "")), None, "{field}");
    }
    assert_eq!(read(REJECTED.replace("gpu=Biren_166m", "gpu=biren_166M")), Some(pair(60022)));
}

#[test]
fn other_lines_say_nothing() {
    for line in [
        "",
        "[",
        "[live]",
        "[live] ",
        "[live] rejected",
        "[live] skip",
        "[live] skipped marked:precheck_60027=1",
        "[live] skip model=Org/Model gpu=Biren_166m reason=marked:60027",
        "[live] skip model=Org/Model reason=marked:precheck_60027",
        "[live] skip model=Org/Model gpu=Biren_166m reason=xmarked:precheck_60027",
        "[live] hold reason=x model=Org/Model gpu=Biren_166m code=60022",
        "[live] cycle result=held rejected=1 model=Org/Model gpu=Biren_166m code=60022",
        "[live] warning p.md:3: the model \"[live] rejected model=a/b gpu=Biren_166m code=60022 \"",
        "[foothold] rejected model=Org/Model gpu=Biren_166m code=60022",
        "[LIVE] rejected model=Org/Model gpu=Biren_166m code=60022",
        "live rejected model=Org/Model gpu=Biren_166m code=60022",
        // A record ends where the next begins: no pair of the two is made.
        "[live] rejected model=Org/Model gpu=Bir[live] rejected model=a/b gpu=Biren_166m code=60022",
    ] {
        assert_eq!(read(line), None, "{line}");
    }
}

#[test]
fn no_cut_of_a_line_reads_as_another_pair() {
    for line in [REJECTED, SKIPPED] {
        for at in 0..line.len() {
            for cut in [&line[..at], &line[at..]] {
                let read = read(cut).map(|(model, gpu, _)| (model, gpu));
                let (model, gpu, _) = pair(0);
                assert!(read.is_none() || read == Some((model, gpu)), "{cut}");
            }
        }
    }
}

#[test]
fn no_byte_in_any_place_is_a_trap() {
    let catalog = Catalog::parse(include_str!("../../../data/gpus.json")).unwrap();
    let coloured = format!("\x1b[1m{SKIPPED}\x1b]8;;x\x1b\\");
    for line in [REJECTED, &coloured] {
        for at in 0..line.len() {
            for byte in 0..=u8::MAX {
                let mut line = line.as_bytes().to_vec();
                line[at] = byte;
                if let Some(Found { gpu, code, .. }) = parse(&line, &catalog) {
                    assert!(codes::is_permanent(code.into()) && gpu.as_str() == "Biren_166m");
                }
            }
        }
    }
}
