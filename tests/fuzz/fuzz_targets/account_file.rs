//! `account.jsonl`: whatever is read must be read again as it is written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::account::Account;

fuzz_target!(|text: &str| {
    let Ok(account) = Account::parse(text) else { return };
    let mut written = Vec::new();
    account.write_to(&mut written).expect("written");
    let written = String::from_utf8(written).expect("JSON");
    assert_eq!(Account::parse(&written).expect("read again"), account, "{written}");
});
