//! `report`: what is drawn is what was done, and nothing is touched meanwhile.

mod month;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use submitter::account;
use submitter::remote::Stats;

use self::month::{Counted, Month};
use crate::kit::{Machine, TOKEN, account as empty_account};

const DAY: u64 = 86_400;

fn machine() -> Machine {
    Machine::with_shipped_data(empty_account())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The rows of a table, head included, by its caption; each cell as text.
fn table(page: &str, caption: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(&format!("<caption>{caption}</caption>")).expect(caption);
    let (table, _) = rest.split_once("</table>").unwrap();
    let cells = |row: &str| {
        let row = row.split("</t").map(|cell| cell.rsplit_once("<t").map_or("", |(_, cell)| cell));
        row.filter(|cell| !cell.is_empty()).map(text).collect()
    };
    table.split("<tr>").skip(1).map(cells).collect()
}

/// What is left of the inside of an element, whose own tag is cut off in front, without tags.
fn text(html: &str) -> String {
    html.split('>').skip(1).filter_map(|part| part.split('<').next()).collect()
}

fn by_date(rows: &[Vec<String>]) -> BTreeMap<&str, &[String]> {
    rows.iter().skip(1).map(|row| (row[0].as_str(), &row[1..])).collect()
}

fn date(day: u64) -> String {
    jiff::Timestamp::from_second((day * DAY).try_into().unwrap()).unwrap().to_string()[..10].into()
}

#[test]
fn a_month_is_drawn_as_it_was() {
    let machine = machine();
    let month = Month::before(now());
    account::keep(
        &{
            std::fs::create_dir(machine.state()).unwrap();
            machine.state()
        },
        &month.account,
    )
    .unwrap();
    std::fs::write(machine.state().join("journal.jsonl"), &month.journal).unwrap();
    // Where a person finds them to look at.
    let to = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (html, prom) = (to.join("month.html"), to.join("month.prom"));
    let args = ["report", "-o", html.to_str().unwrap(), "--prometheus", prom.to_str().unwrap()];
    let ended = machine.run(&args);
    assert_eq!((ended.code, ended.log.as_str(), ended.stdout.as_str()), (0, "", ""));
    assert_eq!(machine.asked(), 0);
    let (page, metrics) =
        (std::fs::read_to_string(html).unwrap(), std::fs::read_to_string(prom).unwrap());
    assert!(page.len() < 400 << 10, "{} bytes", page.len());

    let (submissions, passes) = (table(&page, "Submissions a day"), table(&page, "Passes a day"));
    let (points, queue) = (table(&page, "Points"), table(&page, "Queue"));
    let doubts = table(&page, "Doubts opened and settled a day");
    let mut before: Option<Counted> = None;
    for (day, counted) in &month.days {
        let date = date(*day);
        let Counted { accepted, in_doubt, rejected, settled, stats } = *counted;
        let row = |rows| by_date(rows).remove(date.as_str()).expect(&date).join(" ");
        assert_eq!(row(&submissions), format!("{accepted} {in_doubt} {rejected}"), "{date}");
        assert_eq!(row(&doubts), format!("{in_doubt} {settled}"), "{date}");
        assert_eq!(row(&points), stats.points.to_string(), "{date}");
        assert_eq!(row(&queue), format!("{} 95", stats.queue), "{date}");
        let more = before.map(|before| stats.verify_pass - before.stats.verify_pass);
        assert_eq!(row(&passes), more.map_or("–".into(), |more| more.to_string()), "{date}");
        before = Some(*counted);
    }
    let all = |of: fn(&Counted) -> u64| month.days.values().map(of).sum::<u64>();
    let (accepted, in_doubt) = (all(|day| day.accepted), all(|day| day.in_doubt));
    let rejected = all(|day| day.rejected);
    assert!(accepted > 300 && in_doubt > 20 && rejected > 20 && !month.doubts.is_empty());
    let summary = format!(
        ": accepted {accepted} in all, in doubt {in_doubt} in all, rejected {rejected} in all."
    );
    assert!(page.contains(&summary), "{summary}");

    let codes = table(&page, "Refused submissions since the journal was made");
    let codes: BTreeMap<i64, u64> =
        codes[1..].iter().map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap())).collect();
    assert_eq!(codes, month.codes);
    let open = table(&page, "In doubt now, oldest first");
    assert_eq!(open.len() - 1, month.doubts.len());
    for pair in month.doubts.keys() {
        assert!(open.iter().any(|row| row[0] == pair.to_string()), "{pair}");
    }

    let stats = month.stats();
    for (caption, column) in [("Tasks by card", 3), ("Tasks by family", 3)] {
        let sum = |column: usize| -> u64 {
            table(&page, caption)[1..].iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
        };
        let sums = (0..5).map(|n| sum(column + n)).collect::<Vec<_>>();
        let Stats { queue, verify_pass, verify_fail, failed, unknown, .. } = stats;
        assert_eq!(sums, [verify_pass, verify_fail, failed, unknown, queue], "{caption}");
    }
    let (first, rest) =
        (table(&page, "Pairs by model and card"), table(&page, "More pairs by model and card"));
    let cells = || first[1..].iter().chain(&rest[1..]).flat_map(|row| &row[1..]);
    let count = |word: &str| cells().filter(|cell| *cell == word).count();
    assert_eq!(count("passed") as u64, stats.verify_pass);
    assert_eq!(count("in doubt"), month.doubts.len());
    assert_eq!(count("60022") as u64, month.codes[&60_022]);

    let last = month.days.values().last().unwrap().stats;
    for line in [
        format!("submitter_tasks{{state=\"passed\"}} {}", last.verify_pass),
        format!("submitter_points {}", last.points),
        format!("submitter_queue {}", last.queue),
        "submitter_queue_threshold 95".into(),
        format!("submitter_in_doubt_pairs {}", month.doubts.len()),
        format!("submitter_accepted_total {accepted}"),
        format!("submitter_settled_total {}", all(|day| day.settled)),
        format!(
            "submitter_rejections_total{{code=\"60022\",name=\"CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED\"}} {}",
            month.codes[&60_022]
        ),
        format!("submitter_last_cycle_timestamp_seconds {}", month.account.at),
        "submitter_last_cycle_exit_code 0".into(),
        "submitter_paused 0".into(),
    ] {
        assert!(metrics.contains(&format!("\n{line}\n")), "{line} in\n{metrics}");
    }
}

#[test]
fn a_page_of_a_real_run_goes_where_it_is_told_and_keeps_its_mode() {
    let mut machine = Machine::one_card_each(empty_account(), &["Org/Model-1"]);
    let page = machine.folder.path().join("page.html");
    let (to, state) = (page.to_str().unwrap(), machine.state());
    let first = machine.run(&["report", "-o", to]);
    assert_eq!(first.code, 0, "{}", first.log);
    assert!(first.line("[live] warning ").contains("no run has used"), "{}", first.log);
    assert!(!state.exists(), "it makes no state folder");
    let text = || std::fs::read_to_string(&page).unwrap();
    assert!(text().contains("No run has been recorded in this state folder yet."));

    std::fs::set_permissions(&page, std::fs::Permissions::from_mode(0o640)).unwrap();
    machine.cycle(0);
    // Of a token, not even the form in which HTML has it.
    let odd = "test-token-&<>-not-a-secret";
    machine.set("MODELHUB_XC_TOKEN", odd);
    machine.run(&["pause", "--reason", &format!("</ul><script>{TOKEN} {odd}")]);
    let asked = machine.asked();
    let journal = machine.journal();
    let ended = machine.run(&["report", "-o", to, "--prometheus", "-"]);
    assert_eq!((ended.code, ended.log.as_str()), (0, ""));
    assert_eq!((machine.asked(), machine.journal()), (asked, journal));
    assert_eq!(page.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    let text = text();
    let matrix = table(&text, "Pairs by model and card");
    assert_eq!(matrix[1], ["org/model-1", "taken"]);
    assert!(
        text.contains(
            ": &lt;/ul&gt;&lt;script&gt;(redacted) (redacted). Nothing is submitted until"
        )
    );
    assert!(!text.contains(machine.folder.path().to_str().unwrap()), "paths are nobody's business");
    assert!(ended.stdout.contains("\nsubmitter_paused 1\n") && !ended.stdout.ends_with("\n\n"));
}

#[test]
fn a_report_that_cannot_be_drawn_or_put_there_changes_nothing() {
    let machine = Machine::one_card_each(empty_account(), &["Org/Model-1"]);
    machine.cycle(0);
    let journal = machine.journal();
    let path = machine.state().join("journal.jsonl");
    let path = path.to_str().unwrap();
    let page = machine.write("page.html", "the page before");
    let device = machine.folder.path().join("device");
    let _socket = std::os::unix::net::UnixListener::bind(&device).unwrap();
    let device = device.to_str().unwrap();
    for (args, code, says) in [
        (&["report"][..], 2, "--output"),
        (&["report", "-o", "-", "--prometheus", "-"], 2, "need two"),
        (&["report", "-o", path], 30, "takes no report"),
        (&["report", "-o", device], 30, "not a regular file"),
        (&["report", "-o", "/nonexistent/page.html"], 30, "/nonexistent/page.html"),
    ] {
        let ended = machine.run(args);
        assert_eq!(ended.code, code, "{args:?}: {}", ended.log);
        assert!(ended.log.contains(says), "{args:?}: {}", ended.log);
    }
    assert_eq!(machine.journal(), journal);
    std::fs::write(path, journal.replacen("intent", "intend", 1)).unwrap();
    let ended = machine.run(&["report", "-o", &page]);
    assert_eq!((ended.code, ended.held()), (30, "journal_damaged"), "{}", ended.log);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "the page before");
}
