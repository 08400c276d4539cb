//! Lines of logs: what is taken from one is a well-formed pair with a permanent code, and does
//! not depend on what stands around it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::codes;
use submitter::pair::ModelId;
use submitter::report::{Action, Decision};
use submitter::sync_marks::line::parse;
use submitter_fuzz::catalog;

fuzz_target!(|line: &[u8]| {
    let found = parse(line, catalog());
    let behind_a_date = [b"2026-11-02T03:00:07 host: ", line].concat();
    assert_eq!(parse(&behind_a_date, catalog()), found);
    let Some(found) = found else { return };

    assert!(codes::is_permanent(found.code.into()));
    assert_eq!(catalog().find(found.gpu.as_str()), Some(&found.gpu));
    assert_eq!(ModelId::parse(found.model.as_str()).as_ref(), Ok(&found.model));
    if !line.contains(&0x1b) {
        let before_more = [line, b" host=box code=60012 model=a/b"].concat();
        assert_eq!(parse(&before_more, catalog()).as_ref(), Some(&found));
    }
    // Told again by this program, it is read as the same.
    let told = |action, reason: String| Decision {
        model: Some(found.model.as_str().to_owned()),
        gpu: Some(found.gpu.as_str().to_owned()),
        code: Some(found.code.into()),
        ..Decision::new(action, reason)
    };
    for again in [
        told(Action::Rejected, codes::name(found.code.into()).to_owned()),
        told(Action::Skip, format!("marked:precheck_{}", found.code)),
    ] {
        assert_eq!(parse(again.to_string().as_bytes(), catalog()).as_ref(), Some(&found));
    }
});
