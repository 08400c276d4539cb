//! The task list, paged as MyBatis-Plus pages: `total` and the check for a page past the end use
//! the size that was *asked* for, and only then the size is clamped.

use std::fmt::Write;

use super::account::{Account, CardNames, Numerals, Order};
use super::api::{AUTHOR_MARKER, Kind, MESSAGE_MARKER};
use super::http::Request;
use super::names::{card_chinese, card_enum};
use super::tasks::Task;

/// The envelope with one page of the tasks that `request` asks for. `read` is the number of reads
/// of the own list before this one.
///
/// Rows are written as text: through `serde_json::Value` a thousand of them would take most of the
/// time of a test with a long history.
pub fn answer(account: &Account, request: &Request, read: usize) -> String {
    let number =
        |name, default| request.query(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let asked = number("pageSize", 10).max(1);
    let mut current: u64 = number("current", 1).max(1);

    let mut rows = selection(account, request);
    if request.kind == Kind::Own {
        arrange(&mut rows, &account.order, read);
    }
    let total = u64::try_from(rows.len()).unwrap();
    let mut size = asked;
    let past_the_end = current > total.div_ceil(asked);
    if past_the_end && account.overflow {
        current = 1;
    }
    let shown: &[&Task] = if total == 0 || (past_the_end && !account.overflow) {
        &[]
    } else {
        size = account.page_clamp.map_or(asked, |clamp| asked.min(clamp));
        let start = (current - 1).saturating_mul(size).min(total);
        let end = start.saturating_add(size).min(total);
        &rows[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()]
    };

    let mut out = String::with_capacity(200 + shown.len() * 400);
    out.push_str(r#"{"code":0,"message":"ok","data":{"records":["#);
    for (n, task) in shown.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_row(&mut out, task, account, n);
    }
    let kind = account.numerals;
    let all_quoted = kind == Numerals::Strings;
    let mixed = kind == Numerals::Mixed;
    let _ = write!(
        out,
        r#"],"total":{},"size":{},"current":{},"pages":{}}}}}"#,
        numeral(total, !mixed && kind != Numerals::Numbers),
        numeral(size, all_quoted || mixed),
        numeral(current, all_quoted),
        numeral(total.div_ceil(size), all_quoted || mixed),
    );
    out
}

/// The tasks that the filters let through, in descending order of ids.
fn selection<'a>(account: &'a Account, request: &Request) -> Vec<&'a Task> {
    let only_mine = request.query("onlyMine") == Some("true");
    let status = request.query("status");
    let result: Option<Option<i64>> = request.query("verifyResult").map(|text| text.parse().ok());
    let wanted = |task: &&Task| {
        task.hidden_reads == 0
            && (task.mine || !only_mine)
            && status.is_none_or(|status| task.status == status)
            && result.is_none_or(|result| task.verify_result == result)
    };
    account.tasks.iter().filter(wanted).collect()
}

fn arrange(rows: &mut [&Task], order: &Order, read: usize) {
    match order {
        Order::Descending => {}
        Order::Ascending => rows.reverse(),
        Order::Unstable(orders) => {
            let first = &orders[read % orders.len()];
            let place = |task: &&Task| first.iter().position(|id| *id == task.id);
            rows.sort_by_key(|task| place(task).unwrap_or(usize::MAX));
        }
    }
}

fn write_row(out: &mut String, task: &Task, account: &Account, n: usize) {
    let (id_quoted, result_quoted) = match account.numerals {
        Numerals::IdsAndTotal | Numerals::Strings => (true, false),
        Numerals::Numbers => (false, false),
        Numerals::Mixed => (n.is_multiple_of(2), n % 2 == 1),
    };
    let gpu = match account.cards {
        CardNames::AsStored => &task.gpu,
        CardNames::Enum => card_enum(&task.gpu),
        CardNames::Chinese => card_chinese(&task.gpu),
    };
    let _ = write!(
        out,
        r#"{{"taskId":{},"modelId":{},"gpuType":{},"status":{}"#,
        numeral(task.id, id_quoted),
        quote(&task.model),
        quote(gpu),
        quote(&task.status),
    );
    if let Some(result) = task.verify_result {
        let _ = write!(out, r#","verifyResult":{}"#, numeral(result, result_quoted));
    }
    if let Some(points) = task.points {
        let _ = write!(out, r#","points":{points}"#);
    }
    let _ =
        write!(out, r#","updateTime":{},"createUser":"{AUTHOR_MARKER}""#, quote(&task.update_time));
    let message =
        format!("{MESSAGE_MARKER}: the container ended after 1380 s, and the log says why");
    let _ = write!(out, r#","priority":0,"logUrl":null,"resultMessage":"{message}"}}"#);
}

fn numeral(value: impl std::fmt::Display, quoted: bool) -> String {
    if quoted { format!("\"{value}\"") } else { value.to_string() }
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
