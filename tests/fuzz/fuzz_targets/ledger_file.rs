//! `submitted-ledger.json` and `LIVE_STATE_FILE`: no pair that is read may be lost by writing it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::exit::{Hold, Reason};
use submitter::sources::baked::BakedLedger;
use submitter::sources::carried_over;
use submitter_fuzz::{assert_told_safely, catalog};

fuzz_target!(|text: &str| {
    let told = |why| assert_told_safely(&Hold::because(Reason::StateReadFailed, why));
    match BakedLedger::parse(text, catalog()) {
        Ok(ledger) => {
            assert_is_read_back(&ledger);
        }
        Err(why) => told(why),
    }
    match carried_over::parse(text, catalog()) {
        Ok(pairs) => assert_is_read_back(&BakedLedger {
            pairs: pairs.into_iter().collect(),
            ..BakedLedger::default()
        }),
        Err(why) => told(why),
    }
});

fn assert_is_read_back(ledger: &BakedLedger) {
    let written = ledger.to_text().expect("written");
    assert_eq!(BakedLedger::parse(&written, catalog()).as_ref(), Ok(ledger), "{written}");
}
