use super::*;

fn item(reason: Reason) -> Item {
    Item::hold("x", Hold::because(reason, "found"))
}

#[test]
fn the_gravest_finding_decides_and_of_equal_ones_the_first() {
    for (reasons, exit, first) in [
        (vec![], 0, None),
        (vec![Reason::HourlyCap, Reason::QueueFull], 10, Some(Reason::HourlyCap)),
        (
            vec![Reason::QueueFull, Reason::PlatformUnreachable],
            20,
            Some(Reason::PlatformUnreachable),
        ),
        (vec![Reason::PlatformUnreachable, Reason::Paused], 30, Some(Reason::Paused)),
        (vec![Reason::MissingToken, Reason::JournalDamaged], 31, Some(Reason::MissingToken)),
        (vec![Reason::MissingToken, Reason::InvalidApiBase], 32, Some(Reason::InvalidApiBase)),
    ] {
        let mut findings = Findings::default();
        findings.add([Item::ok("a", "b"), Item::warn("c", "d")]);
        findings.add(reasons.into_iter().map(item));
        assert_eq!((findings.exit().code(), findings.gravest()), (exit, first));
    }
}

#[test]
fn a_healthy_hold_is_a_warning_and_any_other_a_failure() {
    assert_eq!(item(Reason::AnotherRun).status, Status::Warn);
    assert_eq!(item(Reason::AnotherRunStuck).status, Status::Fail);
    let mut findings = Findings::default();
    findings.add([item(Reason::QueueFull), Item::ok("y", "fine"), Item::skip("z", "no")]);
    assert_eq!(
        findings.to_string(),
        "[check] warn x (queue_full): found\n[check] ok y: fine\n[check] skip z: no\n\
         [check] result=held exit=10 ok=1 warn=1 fail=0 skip=1 reason=queue_full"
    );
}

#[test]
fn the_defaults_are_left_out_in_brief_and_a_reason_is_not_told_twice() {
    let mut findings = Findings::default();
    findings.add([Item::ok("settings", "defaults: A 1"), Item::ok("settings", "given: B 2")]);
    findings.add([Item::hold("hourly_cap", Hold::because(Reason::HourlyCap, "6 of 6"))]);
    let brief = findings.in_brief().to_string();
    assert!(brief.starts_with("[check] ok settings: given: B 2\n[check] warn hourly_cap: 6 of 6"));
}

#[test]
fn what_was_found_forges_no_line() {
    let evil = "x\n[check] result=ok exit=0";
    let line = Item::warn("x", evil).todo(evil).to_string();
    assert!(!line.contains('\n') && !line.contains("[check] result"), "{line}");
    assert!(!line.contains("exit="), "{line}");
}
