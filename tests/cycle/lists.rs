//! Lists of own tasks that come in an odd shape, or change while they are read, and can be read
//! completely all the same.

use serde_json::{Value, json};

use crate::kit::{Ended, Machine, account};
use crate::platform::{Account, Fault, Kind, Numerals, Order, Task, Trigger};

/// A finished task that no candidate is about.
pub(crate) fn past(id: u64) -> Task {
    Task::new(id, &format!("Past/Task-{id}"), "Biren_166m").with("success", Some(1))
}

/// An account with finished tasks of the ids 1 to `rows`.
pub(crate) fn with_past(rows: u64) -> Account {
    (1..=rows).fold(account(), |account, id| account.with_task(past(id)))
}

/// A machine with one candidate, `Org/Model-0` for `壁砺` and then the other targets, that reads
/// `size` rows a page.
pub(crate) fn reading(account: Account, size: u64) -> Machine {
    let mut machine = Machine::new(account, &["Org/Model-0"]);
    machine.set("LIVE_PAGE_SIZE", &size.to_string());
    machine
}

/// Pages of the own list, each as (rows asked for, page), that were read before the first
/// precheck: those of the rebuild.
fn rebuild(machine: &Machine) -> Vec<(u64, u64)> {
    let number = |text: Option<&str>| text.unwrap().parse().unwrap();
    let requests = machine.platform.requests();
    let reads = requests.iter().take_while(|asked| asked.kind == Kind::Own);
    reads.map(|asked| (number(asked.query("pageSize")), number(asked.query("current")))).collect()
}

fn submits_one(machine: &Machine) -> Ended {
    let ended = machine.cycle(0);
    assert_eq!(machine.posts(), 1, "{}", ended.log);
    ended
}

fn data(answer: &mut Value) -> &mut Value {
    &mut answer["data"]
}

#[test]
fn p01_a_list_whose_page_size_is_clamped_is_read_with_the_smaller_size() {
    let machine = reading(with_past(20).page_clamp(10), 500);
    let ended = submits_one(&machine);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=20 "), "{}", ended.log);
    let read = rebuild(&machine);
    assert_eq!(read[0], (500, 1));
    assert!(read[1..].iter().all(|(size, _)| *size == 10), "{read:?}");
    assert_eq!(read.len(), 4, "one page with the large size, two with the small, page 1 again");
}

#[test]
fn p01_a_list_that_fills_one_clamped_page_needs_no_page_2() {
    let machine = reading(with_past(10).page_clamp(10), 500);
    submits_one(&machine);
    assert_eq!(rebuild(&machine), [(500, 1), (10, 1)]);
}

/// Rows 6 and 7 have equal sort keys, and change places between two reads.
#[test]
fn p04_a_row_on_two_pages_and_another_on_none_is_healed_by_a_single_page() {
    let ids = |six, seven| vec![12, 11, 10, 9, 8, six, seven, 5, 4, 3, 2, 1];
    let (honest, swapped) = (ids(7, 6), ids(6, 7));
    let orders = vec![honest.clone(), swapped, honest.clone(), honest];
    let mut account = with_past(12).order(Order::Unstable(orders));
    // The row that the first pass misses is one that would be submitted twice.
    account.tasks.remove(6);
    let machine = reading(account.with_task(Task::new(6, "org/MODEL-0", "壁砺")), 6);
    let ended = submits_one(&machine);
    assert_eq!(rebuild(&machine), [(6, 1), (6, 2), (6, 1), (12, 1)]);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=12 queue=1 "));
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn p05_an_insertion_while_the_list_is_read_is_seen_and_read_anew() {
    let machine = reading(with_past(10), 5);
    let insert = |tasks: &mut crate::platform::Tasks| tasks.insert(past(11));
    machine.platform.fault(Trigger::nth(Kind::Own, 1), Fault::then(insert));
    let ended = submits_one(&machine);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=11 "), "{}", ended.log);
    let read = rebuild(&machine);
    assert!(read.len() > 3 && read.len() <= 6, "a second pass, and no third: {read:?}");
}

/// Without the second pass, row 5 of ten, now on page 1, would not be in the ledger.
#[test]
fn p05_a_deletion_while_the_list_is_read_hides_no_row() {
    let mut account = with_past(10);
    account.tasks.remove(5);
    let machine = reading(account.with_task(Task::new(5, "Org/Model-0", "Biren_166m")), 5);
    let delete = |tasks: &mut crate::platform::Tasks| drop(tasks.remove(8));
    machine.platform.fault(Trigger::nth(Kind::Own, 1), Fault::then(delete));
    let ended = submits_one(&machine);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=9 queue=1 "));
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
    assert!(rebuild(&machine).len() > 2);
}

/// The totals stay equal and ten distinct rows are read: only page 1, asked for again, tells.
#[test]
fn p05_a_deletion_and_an_insertion_with_equal_totals_are_caught_by_page_1_asked_again() {
    let mut account = (11..=20).fold(account(), |account, id| account.with_task(past(id)));
    account.tasks.remove(15);
    let machine = reading(account.with_task(Task::new(15, "Org/Model-0", "Biren_166m")), 5);
    let shift = |tasks: &mut crate::platform::Tasks| {
        tasks.remove(18);
        tasks.insert(past(1));
    };
    machine.platform.fault(Trigger::nth(Kind::Own, 1), Fault::then(shift));
    let ended = submits_one(&machine);
    assert_eq!(rebuild(&machine), [(5, 1), (5, 2), (5, 1), (10, 1)]);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=10 queue=1 "));
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn p07_numbers_may_come_as_numbers_as_strings_and_mixed() {
    for numerals in [Numerals::IdsAndTotal, Numerals::Strings, Numerals::Numbers, Numerals::Mixed] {
        let account = with_past(10)
            .with_task(Task::new(11, "Past/Lost", "壁砺").with("success", Some(-1)))
            .with_task(Task::new(12, "Past/Open", "壁砺"))
            .numerals(numerals);
        let machine = reading(account, 5);
        let ended = submits_one(&machine);
        assert_eq!(
            ended.line("[live] stats "),
            "[live] stats total=12 queue=1 verify_pass=10 verify_fail=1 failed=0 unknown=0 \
             points=0",
            "{numerals:?}"
        );
        assert_eq!(rebuild(&machine).len(), 4, "{numerals:?}: no second pass was needed");
    }
}

#[test]
fn p09_no_records_of_none_are_an_empty_list() {
    let machine = reading(account(), 100);
    let empty = r#"{"code":0,"data":{"records":null,"total":"0","size":100,"current":1}}"#;
    machine.platform.fault(Trigger::every(Kind::Own), Fault::body(empty));
    let ended = submits_one(&machine);
    assert!(ended.line("[live] ledger ").starts_with("[live] ledger rebuilt remote=0 baked=0 "));
}

#[test]
fn whatever_an_incomplete_pass_has_seen_stays_taken_for_the_run() {
    let machine = reading(with_past(3), 100);
    let add_a_row = |answer: &mut Value| {
        let row = json!({"taskId": "9", "modelId": "Org/Model-0", "gpuType": "壁砺",
            "status": "waiting"});
        data(answer)["records"].as_array_mut().unwrap().push(row);
    };
    machine.platform.fault(Trigger::nth(Kind::Own, 1), Fault::edit(add_a_row));
    let ended = submits_one(&machine);
    assert_eq!(rebuild(&machine).len(), 2);
    assert!(ended.line("[live] stats ").starts_with("[live] stats total=3 queue=0 "));
    assert_eq!(machine.posted(), ["org/model-0 Sunrise_pt-200-x1"]);
}

#[test]
fn statuses_and_results_are_read_as_pairs_and_sum_to_the_total() {
    let states = [
        ("waiting", Some(1)),
        ("running", Some(0)),
        ("running", None),
        ("quantum", Some(1)),
        ("success", Some(1)),
        (" SUCCESS ", Some(1)),
        ("success", Some(-1)),
        ("failed", Some(1)),
        ("stopped", Some(1)),
        ("canceled", Some(1)),
        ("Cancelled", Some(1)),
        ("success", Some(0)),
        ("success", None),
    ];
    let account = states.into_iter().zip(1..).fold(account(), |account, ((status, result), id)| {
        account.with_task(past(id).with(status, result).with_points(3))
    });
    let mut machine = reading(account, 100);
    machine.set("LIVE_QUEUE_THRESHOLD", "4");
    let ended = machine.cycle(10);
    assert_eq!(ended.held(), "queue_full", "the four that have not ended fill the queue");
    assert_eq!(
        ended.line("[live] stats "),
        "[live] stats total=13 queue=4 verify_pass=2 verify_fail=1 failed=1 unknown=5 points=6"
    );
    assert_eq!(machine.posts(), 0);
}

#[test]
fn a_card_of_no_known_name_takes_its_model_on_all_cards_and_an_unlisted_enum_only_itself() {
    let account = account()
        .with_task(Task::new(1, "Org/Model-0", "天垓 999").with("success", Some(1)))
        .with_task(Task::new(2, "Org/Model-1", "Newcomer_x-1").with("success", Some(1)));
    let machine = Machine::new(account, &["Org/Model-0", "Org/Model-1"]);
    let ended = machine.run(&["-v", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.log);
    assert_eq!(
        ended.line("[live] skip "),
        "[live] skip model=Org/Model-0 reason=all_gpus_done_or_unmapped"
    );
    assert_eq!(machine.posted(), ["org/model-1 Biren_166m"]);
}
