//! Lists of own tasks that prove nothing: no POST, exit 20, and the reason with its numbers.

use serde_json::{Value, json};

use crate::kit::{Machine, account};
use crate::lists::{past, reading, with_past};
use crate::platform::{Fault, Kind, Task, Tasks, Trigger};

type Make = fn() -> Fault;

/// Runs a cycle that must end at its rebuild, with so many requests at the most.
fn holds(machine: &Machine, reason: &str, stats_reason: &str, at_most: usize) -> String {
    let (asked, posts) = (machine.asked(), machine.posts());
    let ended = machine.cycle(20);
    assert_eq!(ended.held(), reason, "{}", ended.log);
    let unavailable = format!("[live] stats unavailable reason={stats_reason}");
    assert_eq!(ended.line("[live] stats "), unavailable);
    assert_eq!(ended.lines("[live] ledger ").count(), 0, "{}", ended.log);
    assert_eq!(machine.posts(), posts, "{}", ended.log);
    let asked = machine.asked() - asked;
    assert!((1..=at_most).contains(&asked), "{asked} requests, {at_most} at the most");
    assert_eq!(ended.counted("requests"), asked);
    ended.line("[live] hold ").to_owned()
}

/// Runs a cycle that must hold with these numbers: rows by the server's word, rows seen.
fn incomplete(machine: &Machine, (total, distinct): (u64, u64), at_most: usize) {
    let hold = holds(machine, "ledger_incomplete", "ledger_incomplete", at_most);
    let numbers = format!("(total {total}, distinct tasks {distinct})");
    assert!(hold.contains(&numbers), "{numbers} in {hold}");
}

fn every_page(machine: &Machine, edit: impl FnMut(&mut Value) + Send + 'static) {
    machine.platform.reset_faults();
    machine.platform.fault(Trigger::every(Kind::Own), Fault::edit(edit));
}

fn records(answer: &mut Value) -> &mut Vec<Value> {
    answer["data"]["records"].as_array_mut().unwrap()
}

#[test]
fn p01_a_page_size_that_is_clamped_again_and_again_holds() {
    let machine = reading(with_past(20).page_clamp(10), 500);
    let mut reads = 0;
    every_page(&machine, move |answer| {
        reads += 1;
        if reads > 1 {
            answer["data"]["size"] = json!(5);
            records(answer).truncate(5);
        }
    });
    incomplete(&machine, (20, 5), 6);
}

#[test]
fn p01_a_clamp_that_does_not_tell_its_size_holds() {
    let machine = reading(with_past(20).page_clamp(10), 500);
    let mut reads = 0;
    every_page(&machine, move |answer| {
        reads += 1;
        answer["data"]["size"] = json!(if reads == 1 { 500 } else { 20 });
    });
    incomplete(&machine, (20, 10), 2);
}

#[test]
fn p02_page_1_in_place_of_the_page_after_the_last_holds() {
    let machine = reading(with_past(10).overflow(), 5);
    every_page(&machine, |answer| answer["data"]["total"] = json!("15"));
    incomplete(&machine, (15, 10), 4);
}

#[test]
fn p04_a_row_that_no_pass_shows_holds() {
    let machine = reading(with_past(12), 6);
    every_page(&machine, |answer| records(answer).retain(|row| row["taskId"] != "1"));
    incomplete(&machine, (12, 11), 4);
}

#[test]
fn p04_a_row_that_is_shown_twice_holds() {
    let machine = reading(with_past(12), 6);
    every_page(&machine, |answer| {
        let last = records(answer).len() - 1;
        records(answer)[last] = records(answer)[0].clone();
    });
    incomplete(&machine, (12, 11), 4);
}

#[test]
fn p05_a_list_that_never_rests_holds() {
    let machine = reading(with_past(10), 5);
    let mut id = 10;
    let grow = move |tasks: &mut Tasks| {
        id += 1;
        tasks.insert(past(id));
    };
    machine.platform.fault(Trigger::every(Kind::Own), Fault::then(grow));
    let hold = holds(&machine, "ledger_incomplete", "ledger_incomplete", 6);
    assert!(hold.contains("total "), "{hold}");
}

#[test]
fn a_total_that_changes_from_page_to_page_holds() {
    let machine = reading(with_past(10), 3);
    let mut total = 10;
    every_page(&machine, move |answer| {
        answer["data"]["total"] = json!(total);
        total += 1;
    });
    holds(&machine, "ledger_incomplete", "ledger_incomplete", 10);
}

/// A total that no list can have costs no more requests than any other wrong page.
#[test]
fn a_total_out_of_all_proportion_costs_a_handful_of_requests() {
    let machine = reading(with_past(10), 5);
    for total in [json!(1_000_000), json!("18446744073709551615"), json!(i64::MAX)] {
        every_page(&machine, move |answer| {
            answer["data"]["total"] = total.clone();
            records(answer).truncate(3);
        });
        holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
    }
}

#[test]
fn p07_a_number_that_is_not_decimal_digits_holds() {
    let machine = reading(with_past(10), 100);
    let odd = [
        json!(""),
        json!("1e3"),
        json!("-1"),
        json!(-1),
        json!("+10"),
        json!(" 10"),
        json!("10.0"),
        json!(10.0),
        json!(true),
        json!([10]),
        json!("99999999999999999999"),
        Value::Null,
    ];
    for name in ["total", "size", "current"] {
        for value in odd.clone() {
            every_page(&machine, move |answer| answer["data"][name] = value.clone());
            holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
        }
        every_page(&machine, move |answer| {
            answer["data"].as_object_mut().unwrap().remove(name);
        });
        holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
    }
    for value in odd {
        every_page(&machine, move |answer| records(answer)[4]["taskId"] = value.clone());
        incomplete(&machine, (10, 9), 2);
    }
}

#[test]
fn p09_records_that_are_missing_or_null_hold() {
    let machine = reading(with_past(5), 100);
    every_page(&machine, |answer| answer["data"]["records"] = Value::Null);
    holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
    every_page(&machine, |answer| {
        answer["data"].as_object_mut().unwrap().remove("records");
    });
    holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
    every_page(&machine, |answer| records(answer)[2] = Value::Null);
    incomplete(&machine, (5, 4), 2);
    every_page(&machine, |answer| answer["data"] = Value::Null);
    holds(&machine, "ledger_incomplete", "ledger_incomplete", 2);
}

#[test]
fn a_row_without_a_readable_id_model_card_or_status_holds() {
    let machine = reading(with_past(10), 100);
    for name in ["taskId", "modelId", "gpuType", "status"] {
        for value in [Value::Null, json!(""), json!("  "), json!({"is": "odd"}), json!(true)] {
            every_page(&machine, move |answer| records(answer)[9][name] = value.clone());
            incomplete(&machine, (10, 9), 2);
        }
        every_page(&machine, move |answer| {
            records(answer)[9].as_object_mut().unwrap().remove(name);
        });
        incomplete(&machine, (10, 9), 2);
    }
}

/// The readable rows are as many as the total says: the one that is not may still be the pair
/// that would be submitted twice.
#[test]
fn p09_an_unreadable_row_holds_also_where_the_total_leaves_it_out() {
    let machine = reading(with_past(10), 100);
    for name in ["taskId", "modelId", "gpuType", "status"] {
        every_page(&machine, move |answer| {
            answer["data"]["total"] = json!("9");
            records(answer).last_mut().unwrap()[name] = Value::Null;
        });
        // The second pass asks for nine rows, and can read eight of them.
        incomplete(&machine, (9, 8), 2);
    }
}

#[test]
fn a_page_that_is_not_the_one_asked_for_holds() {
    let machine = reading(with_past(10), 5);
    every_page(&machine, |answer| answer["data"]["current"] = json!(7));
    incomplete(&machine, (10, 10), 2);
    every_page(&machine, |answer| answer["data"]["size"] = json!(200));
    incomplete(&machine, (10, 10), 2);
    every_page(&machine, |answer| answer["data"]["size"] = json!(0));
    incomplete(&machine, (10, 10), 2);
}

#[test]
fn more_or_fewer_rows_than_asked_for_hold() {
    let machine = reading(with_past(10), 5);
    every_page(&machine, |answer| {
        let mut row = records(answer)[0].clone();
        row["taskId"] = json!("999");
        records(answer).push(row);
    });
    incomplete(&machine, (10, 11), 2);
    every_page(&machine, |answer| drop(records(answer).remove(0)));
    incomplete(&machine, (10, 9), 2);
}

/// P11, S08: no failure is the end of the list, or an empty one.
#[test]
fn p11_s08_a_page_that_cannot_be_read_holds_wherever_it_stands() {
    let mut machine = reading(with_past(10), 5);
    // A wait that the deadline does not allow is no wait.
    machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "20");
    let faults: [(Make, &str); 6] = [
        (|| Fault::status(404), "http_error"),
        (|| Fault::html().with_status(500).with_header("Retry-After", "30"), "http_error"),
        (|| Fault::html(), "malformed_json"),
        (|| Fault::redirect(302, "/login"), "http_error"),
        (|| Fault::body(r#"{"code":50000,"message":"m","data":null}"#), "platform_error"),
        (|| Fault::body(r#"{"code":0,"data":{"records":[],"total":"0""#), "malformed_json"),
    ];
    let places = [
        (Trigger::nth(Kind::Own, 1), 1),
        (Trigger::every(Kind::Own).page(2), 3),
        (Trigger::nth(Kind::Own, 2).page(1), 3),
    ];
    for (fault, stats_reason) in faults {
        for (place, at_most) in places.clone() {
            machine.platform.reset_faults();
            machine.platform.fault(place, fault());
            holds(&machine, "ledger_rebuild_failed", stats_reason, at_most);
            assert_eq!(machine.platform.unfired(), 0);
        }
    }
}

#[test]
fn a_second_pass_that_fails_is_no_end_of_the_list_either() {
    let machine = reading(with_past(10), 5);
    every_page(&machine, |answer| answer["data"]["current"] = json!(7));
    machine.platform.fault(Trigger::nth(Kind::Own, 2), Fault::status(404));
    holds(&machine, "ledger_rebuild_failed", "http_error", 2);
}

/// The read right before the POST is held to the same proof as the first.
#[test]
fn a_refresh_that_proves_nothing_sends_nothing() {
    let machine = reading(account().with_task(Task::new(1, "Past/Task", "壁砺")), 100);
    let short = |answer: &mut Value| answer["data"]["records"] = json!([]);
    for fault in [Fault::status(404), Fault::html(), Fault::edit(short)] {
        machine.platform.reset_faults();
        let read = machine.platform.count(Kind::Own);
        // Whatever is read after the rebuild.
        machine.platform.fault(Trigger::nth(Kind::Own, 2), fault);
        machine.platform.fault(Trigger::nth(Kind::Own, 3), Fault::status(404));
        let ended = machine.cycle(20);
        assert_eq!(ended.held(), "ledger_rebuild_failed", "{}", ended.log);
        assert!(machine.platform.count(Kind::Own) >= read + 2);
        assert_eq!(machine.posts(), 0);
    }
}
