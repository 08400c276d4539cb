//! What an answer to `task/add` proves. The whole table of DESIGN §7.5, as one pure function.

use super::wire::Envelope;
use super::{Accepted, AddError};
use crate::codes::{self, Class};

/// Judges a complete HTTP answer to a POST. Whatever is not known to mean *taken* or *not
/// taken* is in doubt: a 5xx with any body (a proxy may have lost the platform's answer), a
/// 408, a redirect, a page of HTML, a code outside the documented ranges.
pub fn judge(http: u16, body: &[u8]) -> Result<Accepted, AddError> {
    let envelope = Envelope::read(body);
    let code = envelope.as_ref().and_then(Envelope::code);
    let class = code.filter(|code| *code != 0).map(codes::class);
    let in_doubt = |detail: String| Err(AddError::InDoubt { http: Some(http), detail });
    match (http, code, class) {
        (401 | 403, ..) => Err(AddError::Credential { http, code }),
        (200..=299 | 400..=499, _, Some(Class::Credential)) => {
            Err(AddError::Credential { http, code })
        }
        (200..=299, Some(0), _) => {
            Ok(Accepted { http, task: envelope.as_ref().and_then(Envelope::task_id) })
        }
        (200..=299 | 400..=499, Some(code), Some(class)) if class != Class::Unknown => {
            Err(AddError::Rejected { http, code })
        }
        (400..=499, None, _) if http != 408 && !may_hold_a_code(body) => {
            Err(AddError::Refused { http })
        }
        (_, Some(code), _) => in_doubt(format!("HTTP {http} with code {code}")),
        (_, None, _) => in_doubt(format!("HTTP {http} without a code")),
    }
}

/// Whether a body without a readable code may have held one: JSON that was cut, doubled or
/// written oddly. A page of HTML, an empty body and JSON of somebody else's make hold none.
fn may_hold_a_code(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    let like_json = body.starts_with(b"{") || body.starts_with(b"[");
    let whole = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    let names_a_code = body.windows(6).any(|six| six.eq_ignore_ascii_case(b"\"code\""));
    like_json && (!whole || names_a_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TaskId;

    fn envelope(code: &str) -> String {
        format!(r#"{{"code":{code},"message":"m","data":null}}"#)
    }

    #[test]
    fn only_a_2xx_with_code_0_is_accepted() {
        for body in [r#"{"code":0,"data":{"id":"33512"}}"#, r#"{"code":"0","data":{"id":33512}}"#] {
            let accepted = Accepted { http: 201, task: Some(TaskId(33_512)) };
            assert_eq!(judge(201, body.as_bytes()), Ok(accepted));
        }
        for body in [r#"{"code":0}"#, r#"{"code":0,"data":"?"}"#, r#"{"code":0,"data":{"id":""}}"#]
        {
            assert_eq!(judge(200, body.as_bytes()), Ok(Accepted { http: 200, task: None }));
        }
        for http in [302, 400, 408, 500, 502] {
            let lost = judge(http, envelope("0").as_bytes());
            assert!(matches!(lost, Err(AddError::InDoubt { .. })), "{http}: {lost:?}");
        }
    }

    #[test]
    fn a_rejection_needs_a_documented_code_and_a_2xx_or_4xx() {
        for code in [60_022, 60_999, 40_000, 49_999, 60_007] {
            for http in [200, 400, 404, 408, 422, 429] {
                let answer = judge(http, envelope(&code.to_string()).as_bytes());
                assert_eq!(answer, Err(AddError::Rejected { http, code }), "{http} {code}");
            }
            for http in [100, 301, 307, 500, 503] {
                let answer = judge(http, envelope(&code.to_string()).as_bytes());
                assert!(matches!(answer, Err(AddError::InDoubt { .. })), "{http} {code}");
            }
        }
    }

    #[test]
    fn every_other_code_leaves_the_outcome_open() {
        for code in ["504", "50000", "50001", "1", "-1", "39999", "59999", "\"500\""] {
            for http in [200, 400] {
                let answer = judge(http, envelope(code).as_bytes());
                assert!(matches!(answer, Err(AddError::InDoubt { .. })), "{http} {code}");
            }
        }
    }

    #[test]
    fn s09_a_refused_credential_is_told_from_status_or_code() {
        for (http, body, code) in [
            (401, "<html>".to_owned(), None),
            (401, envelope("0"), Some(0)),
            (403, String::new(), None),
            (200, envelope("40100"), Some(40_100)),
            (400, envelope("\"40101\""), Some(40_101)),
        ] {
            assert_eq!(judge(http, body.as_bytes()), Err(AddError::Credential { http, code }));
        }
    }

    #[test]
    fn s04_s08_what_is_not_the_platform_speaking() {
        for body in [
            "",
            " ",
            "<html>busy</html>",
            "null",
            "busy",
            r#"{"error":"busy"}"#,
            "[]",
            "[0]",
            " [60022]",
        ] {
            for http in [400, 404, 429] {
                assert_eq!(judge(http, body.as_bytes()), Err(AddError::Refused { http }), "{body}");
            }
            for http in [200, 204, 302, 408, 500, 502, 503, 504] {
                let answer = judge(http, body.as_bytes());
                assert!(matches!(answer, Err(AddError::InDoubt { .. })), "{http} {body:?}");
            }
        }
    }

    /// A code that was there and cannot be read may have been any.
    #[test]
    fn s04_a_4xx_whose_code_cannot_be_read_is_in_doubt() {
        for body in [
            r#"{"code":5000"#,
            r#"{"code":1.5}"#,
            r#"{"code":"50000 "}"#,
            r#"{"code":"00"}"#,
            r#"{"code":"-0"}"#,
            r#"{"code":"+0"}"#,
            r#"{"code":60022,"code":60022}"#,
            r#"{"message":"x","#,
            "\u{feff}{\"code\":0,\"data\":{\"id\":\"3\"}}",
            r#"[{"code":0}]"#,
        ] {
            for http in [400, 404, 429, 408] {
                let answer = judge(http, body.as_bytes());
                assert!(matches!(answer, Err(AddError::InDoubt { .. })), "{http} {body:?}");
            }
        }
    }
}
