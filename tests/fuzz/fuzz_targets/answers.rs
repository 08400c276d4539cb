//! Answers of the platform: whatever it says, an error shows nothing of it, no row vanishes, and
//! only a proof takes or frees a pair.
#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use submitter::api::answer::judge;
use submitter::api::wire::{build_config, is_unknown_model, precheck, slice_page, task_page};
use submitter::api::{Accepted, AddError, ReadError};
use submitter::codes::{self, Class};
use submitter::gpu::Gpu;
use submitter_fuzz::catalog;

const STATUSES: [u16; 16] =
    [100, 200, 201, 204, 299, 301, 302, 400, 401, 403, 404, 408, 429, 500, 502, 504];

/// An object, read independently; what its fields hold is not looked at.
type Object<'a> = HashMap<String, &'a RawValue>;

fuzz_target!(|body: &[u8]| {
    let text = String::from_utf8_lossy(body);
    let envelope: Object<'_> = serde_json::from_str(&text).unwrap_or_default();
    let code = envelope.get("code").copied().and_then(number);
    check_pages(body, &envelope, code);
    match precheck(body, catalog()) {
        Ok(blocked) => {
            assert!(matches!(code, Some(0 | 40_400)));
            for (gpu, code) in blocked {
                assert_eq!(catalog().find(gpu.as_str()), Some(&gpu));
                assert!([codes::ALREADY_VERIFIED, codes::VERIFY_RUNNING].contains(&code));
            }
        }
        Err(error) => check_error(&error),
    }
    match build_config(body) {
        Ok(yaml) => assert!(code == Some(0) && !yaml.trim().is_empty()),
        Err(error) => check_error(&error),
    }
    for http in STATUSES {
        check_judgement(http, body, code);
    }
    assert!(!is_unknown_model(body) || code == Some(40_400));
});

/// A whole number, as a number or a text.
fn number(value: &RawValue) -> Option<i64> {
    let text = serde_json::from_str::<String>(value.get());
    text.as_deref().unwrap_or(value.get()).parse().ok()
}

fn check_pages(body: &[u8], envelope: &Object<'_>, code: Option<i64>) {
    let data = envelope.get("data").and_then(|data| serde_json::from_str(data.get()).ok());
    let data: Object<'_> = data.unwrap_or_default();
    let records = data.get("records").map(|records| records.get());
    let records = records.and_then(|text| serde_json::from_str::<Vec<&RawValue>>(text).ok());
    let records = records.map(|records| records.len());
    let own = task_page(body);
    match &own {
        Ok(page) => {
            assert_eq!(code, Some(0), "success without saying so");
            assert_eq!(page.rows.len() + page.unreadable, records.unwrap_or(0), "rows vanish");
            assert!(records.is_some() || page.total == 0);
            for row in &page.rows {
                for text in [row.model.as_str(), &row.card, &row.status] {
                    assert!(!text.is_empty() && text.trim() == text, "{row:?}");
                }
                assert_eq!(row.status.to_lowercase(), row.status);
                assert!(row.points.is_finite());
            }
        }
        Err(error) => check_error(error),
    }
    match slice_page(body) {
        Ok(page) => {
            assert_eq!((code, Some(page.rows.len())), (Some(0), records), "rows vanish");
            if let Ok(own) = own {
                assert_eq!(own.total, page.total);
            }
        }
        Err(error) => check_error(&error),
    }
}

/// What is told of an answer is one of these sentences, whatever stands in the answer.
fn check_error(error: &ReadError) {
    const SENTENCES: [&str; 17] = [
        "the platform answered code N",
        "the platform refuses the credential (code N): renew the token, or see whether it was copied whole",
        "not the API's answer: an empty body, N bytes",
        "not the API's answer: something like HTML, N bytes",
        "not the API's answer: JSON without a readable code, or cut short, N bytes",
        "not the API's answer: neither JSON nor HTML, N bytes",
        "unexpected data: line N column N",
        "unexpected data: no data",
        "unexpected data: a list",
        "unexpected data: total is not a whole number",
        "unexpected data: current is not a whole number",
        "unexpected data: size is not a whole number",
        "unexpected data: no records of N",
        "unexpected data: no list",
        "unexpected data: a null record",
        "unexpected data: blank configParams",
        "unexpected data: the row of ",
    ];
    let told = error.to_string();
    let sentence = match told.split_once("the row of ") {
        Some((start, card)) => {
            assert_eq!(catalog().find(card).map(Gpu::as_str), Some(card));
            format!("{start}the row of ")
        }
        None => without_numbers(&told),
    };
    assert!(SENTENCES.contains(&sentence.as_str()), "{told}");
}

fn without_numbers(told: &str) -> String {
    let mut text = String::new();
    for c in told.chars().filter(|c| *c != '-') {
        match c {
            '0'..='9' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            c => text.push(c),
        }
    }
    text
}

fn check_judgement(http: u16, body: &[u8], code: Option<i64>) {
    let class = code.filter(|code| *code != 0).map(codes::class);
    match judge(http, body) {
        Ok(Accepted { http: of, .. }) => {
            assert!((200..=299).contains(&http) && of == http && code == Some(0));
        }
        Err(AddError::Rejected { http: of, code: by }) => {
            assert!((200..=299).contains(&http) || (400..=499).contains(&http));
            assert!(of == http && Some(by) == code, "{http} {by} {code:?}");
            assert!(!matches!(class, None | Some(Class::Unknown | Class::Credential)));
        }
        Err(AddError::Credential { http: of, code: by }) => {
            assert!(of == http && (by.is_none() || by == code));
            assert!(matches!(http, 401 | 403) || class == Some(Class::Credential));
        }
        Err(AddError::Refused { http: of }) => {
            assert!((400..=499).contains(&http) && http != 408 && of == http);
        }
        Err(AddError::InDoubt { http: of, detail }) => {
            assert_eq!(of, Some(http));
            let told = without_numbers(&detail);
            assert!(["HTTP N with code N", "HTTP N without a code"].contains(&told.as_str()));
        }
        Err(AddError::NotSent { .. } | AddError::TooLate) => {
            panic!("an answer proves that it was sent")
        }
    }
}
