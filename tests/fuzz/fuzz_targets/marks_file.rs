//! `reject-marks.json`: what is read is what is written, and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::codes;
use submitter::exit::{Hold, Reason};
use submitter::marks::{Mark, MarksFile};
use submitter::pair::ModelId;
use submitter_fuzz::{assert_told_safely, catalog};

fuzz_target!(|text: &str| {
    let mut marks = match MarksFile::parse(text, catalog()) {
        Ok(marks) => marks,
        Err(why) => return assert_told_safely(&Hold::because(Reason::MarksReadFailed, why)),
    };

    let written = marks.to_text().expect("written");
    let again = MarksFile::parse(&written, catalog()).expect("what is written is read");
    assert_eq!(sorted(&again), sorted(&marks));
    // Fields that the program does not know are in the text alone.
    assert_eq!(again.to_text().expect("written"), written);

    for Mark { model, gpu, .. } in &again {
        let id = ModelId::parse(model).expect("a model");
        assert!(!marks.insert_if_new(&id, gpu, 60_012, codes::name(60_012), "2026-11-02"));
    }
    assert_eq!(marks.len(), again.len());
});

type Known<'a> = (&'a str, &'a str, &'a str, u32, Option<&'a str>, Option<&'a str>);

fn sorted(marks: &MarksFile) -> Vec<Known<'_>> {
    let mut all: Vec<_> = marks.iter().map(known).collect();
    all.sort_unstable();
    all
}

fn known(mark: &Mark) -> Known<'_> {
    let Mark { model, key, gpu, code, reason, date, .. } = mark;
    (key.as_str(), gpu.as_str(), model, *code, reason.as_deref(), date.as_deref())
}
