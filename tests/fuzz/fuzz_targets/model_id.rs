//! Names of models: what is read as one must be read as the same one ever after.
#![no_main]

use libfuzzer_sys::fuzz_target;
use submitter::pair::{ModelId, ModelKey};
use submitter_fuzz::assert_one_plain_line;

fuzz_target!(|text: &str| {
    match ModelId::parse(text) {
        Ok(id) => {
            let (org, name) = id.as_str().split_once('/').expect("org/name");
            assert!(!org.is_empty() && !name.is_empty() && name == id.name());
            let may_stand = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
            assert!(org.bytes().all(may_stand) && name.bytes().all(may_stand));
            assert_eq!(ModelId::parse(id.as_str()).as_ref(), Ok(&id));

            let key = id.key();
            assert_eq!(key.as_str(), id.as_str().to_ascii_lowercase());
            assert_eq!(ModelKey::parse(key.as_str()).as_ref(), Ok(&key));
            assert_eq!(ModelKey::parse(text).as_ref(), Ok(&key));
            assert_eq!(ModelKey::seen(text), std::slice::from_ref(&key));
            let disguised: String = id.as_str().chars().flat_map(|c| [c, '\u{200b}']).collect();
            assert!(ModelKey::seen(&disguised).contains(&key));
        }
        Err(why) => {
            assert_one_plain_line(&why.to_string());
            assert_eq!(ModelKey::parse(text), Err(why));
        }
    }
    let seen = ModelKey::seen(text);
    assert!(!seen.is_empty());
    assert!(!seen.iter().any(|key| key.as_str().contains(|c: char| c.is_ascii_uppercase())));
});
