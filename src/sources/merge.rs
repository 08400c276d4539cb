//! The order in which candidates are tried.

use super::{Candidate, Foothold};

/// What a foothold text says of a model: success anywhere in it wins, and only waiting proves
/// nothing. None: it says nothing that is known.
#[must_use]
pub fn read_foothold(text: &str) -> Option<Foothold> {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["已验证成功", "验证通过"]) {
        Some(Foothold::VerifiedReuse)
    } else if says(&["正在验证", "验证进行中"]) {
        Some(Foothold::InFlight)
    } else if says(&["验证失败"]) {
        Some(Foothold::FailedFoothold)
    } else if says(&["验证排队中"]) {
        Some(Foothold::QueuedOnly)
    } else {
        None
    }
}

/// A candidate's foothold: its text beats its class, and a bare class `in_flight` is unknown,
/// since what was in flight when the list was written has landed since.
#[must_use]
pub fn foothold(candidate: &Candidate) -> Foothold {
    match candidate.foothold_text.as_deref().and_then(read_foothold) {
        Some(foothold) => foothold,
        None if candidate.foothold == Foothold::InFlight => Foothold::Unknown,
        None => candidate.foothold,
    }
}

/// Candidates by foothold rank, then by section, then as listed.
#[must_use]
pub fn order(candidates: &[Candidate]) -> Vec<&Candidate> {
    let rank = |candidate: &Candidate| match foothold(candidate) {
        Foothold::VerifiedReuse => 0,
        Foothold::FailedFoothold => 1,
        Foothold::InFlight => 2,
        Foothold::QueuedOnly | Foothold::Unknown => 3,
    };
    let mut ordered: Vec<&Candidate> = candidates.iter().collect();
    ordered.sort_by_key(|candidate| (rank(candidate), candidate.section));
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Section;

    #[test]
    fn text_beats_class_and_a_bare_in_flight_is_unknown() {
        let with = |class, text: Option<&str>| {
            foothold(&Candidate {
                foothold: class,
                foothold_text: text.map(str::to_owned),
                ..Candidate::new("a/b")
            })
        };
        assert_eq!(with(Foothold::InFlight, None), Foothold::Unknown);
        assert_eq!(with(Foothold::InFlight, Some("昇腾: 正在验证")), Foothold::InFlight);
        assert_eq!(with(Foothold::Unknown, Some("验证失败、验证通过")), Foothold::VerifiedReuse);
        assert_eq!(with(Foothold::VerifiedReuse, Some("验证失败")), Foothold::FailedFoothold);
        assert_eq!(with(Foothold::VerifiedReuse, Some("验证排队中")), Foothold::QueuedOnly);
        assert_eq!(with(Foothold::VerifiedReuse, Some("?")), Foothold::VerifiedReuse);
        assert_eq!(with(Foothold::FailedFoothold, None), Foothold::FailedFoothold);
    }

    #[test]
    fn rank_then_section_then_the_list_itself() {
        let row = |address: &str, foothold, section| Candidate {
            section,
            foothold,
            ..Candidate::new(address)
        };
        let list = [
            row("x/1", Foothold::Unknown, Section::B),
            row("x/2", Foothold::Unknown, Section::A),
            row("x/3", Foothold::FailedFoothold, Section::B),
            row("x/4", Foothold::VerifiedReuse, Section::B),
            row("x/5", Foothold::VerifiedReuse, Section::A),
            row("x/6", Foothold::QueuedOnly, Section::B),
        ];
        let order: Vec<&str> = order(&list).iter().map(|c| c.address.as_str()).collect();
        assert_eq!(order, ["x/5", "x/4", "x/3", "x/2", "x/1", "x/6"]);
    }
}
