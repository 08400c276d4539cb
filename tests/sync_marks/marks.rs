//! The marks file: what is added to it, and what stays as it is.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::desk::{Desk, rejected, row};

const LOG: &str = "\
[live] rejected model=Org/New gpu=Biren_166m code=60022 http=200 queue_before=0 reason=X
[live] skip model=org/a gpu=Iluvatar_bi-150 reason=marked:precheck_60028
";

const MADE: &str = r#"{
  "version": 1,
  "marks": [
    {
      "model": "org/a",
      "gpu": "Iluvatar_bi-150",
      "code": 60028,
      "reason": "CREATE_CONTEST_TASK_MODEL_VERIFY_RUNNING",
      "date": "2026-11-02"
    },
    {
      "model": "Org/New",
      "gpu": "Biren_166m",
      "code": 60022,
      "reason": "CREATE_CONTEST_TASK_GPU_CONFIG_UNSUPPORTED",
      "date": "2026-11-02"
    }
  ]
}
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("run.log", LOG);
    desk
}

#[test]
fn a_missing_file_is_made_whole_and_a_second_sync_leaves_it() {
    let desk = desk();
    let args = ["run.log", "--date", "2026-11-02"];
    let output = desk.sync(&args);
    assert_eq!(output.stdout, b"added 2 total 2\n");
    assert_eq!(output.stderr, b"");
    assert_eq!(String::from_utf8(desk.bytes()).unwrap(), MADE);
    let before = fs::metadata(desk.marks()).unwrap();
    assert_eq!(desk.says(&["run.log", "--date", "2026-11-03"]), "added 0 total 2\n");
    let after = fs::metadata(desk.marks()).unwrap();
    assert_eq!(String::from_utf8(desk.bytes()).unwrap(), MADE);
    assert_eq!(
        (before.ino(), before.mtime_nsec(), before.mtime()),
        (after.ino(), after.mtime_nsec(), after.mtime())
    );
    assert_eq!(desk.data(), ["reject-marks.json"]);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let desk = desk();
    assert_eq!(desk.says(&["run.log", "--dry-run"]), "added 2 total 2\n");
    assert!(desk.data().is_empty());
    desk.write("data/reject-marks.json", br#"{"version":1,"marks":[]}"#);
    assert_eq!(desk.says(&["--dry-run", "run.log"]), "added 2 total 2\n");
    assert_eq!(desk.bytes(), br#"{"version":1,"marks":[]}"#);
}

#[test]
fn marks_that_are_there_and_fields_that_nobody_knows_stay() {
    let desk = desk();
    let old = concat!(
        "\u{feff}{\"marks\":[{\"model\":\"ORG/new\",\"code\":60029,\"gpu\":\"壁砺\",",
        "\"seen_by\":{\"who\":\"me\",\"n\":[1, 2.50]},\"date\":\"2026-01-01\"}],\"version\":1}",
    );
    desk.write("data/reject-marks.json", old);
    assert_eq!(desk.says(&["run.log", "--date", "2026-11-02"]), "added 1 total 2\n");
    let text = String::from_utf8(desk.bytes()).unwrap();
    let kept = "    {\n      \"model\": \"ORG/new\",\n      \"gpu\": \"Biren_166m\",\n      \
                \"code\": 60029,\n      \"date\": \"2026-01-01\",\n      \
                \"seen_by\": {\"who\":\"me\",\"n\":[1, 2.50]}\n    }\n";
    assert!(text.contains(kept), "{text}");
    assert_eq!(
        desk.rows(),
        [row("org/a", "Iluvatar_bi-150", 60028), row("ORG/new", "Biren_166m", 60029)]
    );
}

#[test]
fn a_damaged_file_is_refused_untouched() {
    for damaged in [
        &b""[..],
        b"\0\0\0\0",
        br#"{"version":1,"marks":[{"model":"a/b""#,
        br#"{"version":2,"marks":[]}"#,
        br#"{"version":1,"marks":[],"more":1}"#,
        br#"{"version":1,"marks":[{"model":"a/b","gpu":"A100","code":1}]}"#,
        br#"{"version":1,"marks":[{"model":"a/b","gpu":"Biren_166m","code":"1"}]}"#,
        br#"{"version":1,"marks":[{"model":" ","gpu":"Biren_166m","code":1}]}"#,
        b"{\"version\":1,\"marks\":[]}\xff",
    ] {
        let desk = desk();
        desk.write("data/reject-marks.json", damaged).write("empty.log", "");
        for args in [&["run.log"][..], &["run.log", "--dry-run"], &["empty.log"]] {
            let log = desk.fails(args, 32);
            assert!(log.contains("[live] hold reason=marks_read_failed"), "{log}");
            assert!(log.contains("data/reject-marks.json: "), "{log}");
            assert_eq!(desk.bytes(), damaged);
            assert_eq!(desk.data(), ["reject-marks.json"]);
        }
    }
}

#[test]
fn the_file_is_found_where_the_settings_say() {
    let desk = desk();
    for folder in ["flag", "variable", "elsewhere"] {
        fs::create_dir(desk.path(folder)).unwrap();
    }
    let with = |args: &[&str]| {
        let mut command = desk.command(args);
        let output = command.env("SUBMITTER_DATA_DIR", desk.path("variable")).output().unwrap();
        assert_eq!(output.stdout, b"added 2 total 2\n");
    };
    let is_there = |name: &str| desk.path(name).is_file();
    with(&["run.log", "--marks", "elsewhere/mine.json"]);
    assert!(is_there("elsewhere/mine.json"));
    with(&["run.log", "--data-dir", "flag"]);
    assert!(is_there("flag/reject-marks.json"));
    assert!(!is_there("variable/reject-marks.json"));
    with(&["run.log"]);
    assert!(is_there("variable/reject-marks.json"));
    assert!(desk.data().is_empty());
    // A bare name is in the current folder.
    with(&["run.log", "--marks", "mine.json"]);
    assert!(is_there("mine.json"));
}

/// The cards are those that `run` knows with the same data folder.
#[test]
fn cards_of_the_data_folder_are_known() {
    let desk = Desk::new();
    desk.write("run.log", rejected("org/a", "Newcomer_x-1", 60022) + "\n");
    let gpus = r#"{"version":1,"gpus":[{"enum":"Newcomer_x-1","aliases":[],"target":true}]}"#;
    desk.write("data/gpus.json", gpus);
    assert_eq!(desk.says(&["run.log", "--data-dir", "data"]), "added 1 total 1\n");
    desk.write("data/gpus.json", "{");
    let log = desk.fails(&["run.log", "--data-dir", "data"], 32);
    assert!(log.contains("data/gpus.json"), "{log}");
}

#[test]
fn a_missing_folder_is_named_and_not_made() {
    let desk = desk();
    fs::remove_dir(desk.path("data")).unwrap();
    for args in [&["run.log"][..], &["run.log", "--dry-run"]] {
        let log = desk.fails(args, 32);
        assert!(log.contains("reason=marks_read_failed"), "{log}");
        assert!(log.contains("the folder of reject-marks.json: data: "), "{log}");
    }
    let log = desk.fails(&["run.log", "--marks", "gone/m.json"], 32);
    assert!(log.contains("the folder of m.json: gone: "), "{log}");
    assert!(!desk.path("data").exists() && !desk.path("gone").exists());
}

#[test]
fn permissions_and_links_stay() {
    let desk = desk();
    fs::create_dir(desk.path("shared")).unwrap();
    desk.write("shared/marks.json", r#"{"version":1,"marks":[]}"#);
    let shared = desk.path("shared/marks.json");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o660)).unwrap();
    symlink("../shared/marks.json", desk.marks()).unwrap();
    assert_eq!(desk.says(&["run.log"]), "added 2 total 2\n");
    assert!(fs::symlink_metadata(desk.marks()).unwrap().is_symlink());
    assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, 0o660);
    assert_eq!(crate::desk::rows(&shared).len(), 2);
    // A link to nothing is somebody's mistake, not a missing file.
    fs::remove_file(&shared).unwrap();
    assert!(desk.fails(&["run.log"], 32).contains("a link to something that is not there"));
}

/// C03: as on a full disk, but for this file alone: no byte of a file can be written.
#[test]
fn c03_a_file_that_cannot_be_replaced_stays_and_is_told() {
    let desk = desk();
    desk.write("data/reject-marks.json", r#"{"version":1,"marks":[]}"#);
    let script = r#"trap "" XFSZ; ulimit -f 0; exec "$0" sync-marks run.log"#;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_submitter")]).current_dir(desk.path(""));
    let output = command.env_clear().output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(30), "{log}");
    assert_eq!(output.stdout, b"");
    assert!(log.contains("[live] hold reason=state_write_failed detail=\"replacing "), "{log}");
    assert_eq!(desk.bytes(), br#"{"version":1,"marks":[]}"#);
    assert_eq!(desk.data(), ["reject-marks.json"]);
    assert_eq!(desk.says(&["run.log"]), "added 2 total 2\n", "once there is room again");
}

#[test]
fn the_date_is_today_where_one_lives() {
    // These two zones never have the same day.
    let [east, west] = ["EAST-14", "WEST12"].map(|zone| {
        let desk = desk();
        let output = desk.command(&["run.log"]).env("TZ", zone).output().unwrap();
        assert_eq!(output.stdout, b"added 2 total 2\n");
        let file: serde_json::Value = serde_json::from_slice(&desk.bytes()).unwrap();
        file["marks"][0]["date"].as_str().unwrap().to_owned()
    });
    assert!(west < east, "{west} {east}");
    assert!(east.starts_with("20") && east.len() == 10, "{east}");
}

#[test]
fn a_time_zone_that_is_none_is_told() {
    let desk = desk();
    let output = desk.command(&["run.log"]).env("TZ", "Nowhere/None").output().unwrap();
    assert_eq!(output.stdout, b"added 2 total 2\n");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.starts_with("[live] warning new marks get the date of UTC, 20"), "{log}");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let desk = desk();
    for args in [
        &[][..],
        &["run.log", "--date", "2026-02-29"],
        &["run.log", "--date", "02.11.2026"],
        &["run.log", "--date", ""],
        &["run.log", "--marks"],
        &["run.log", "--state-dir", "x"],
    ] {
        desk.fails(args, 2);
    }
    assert!(desk.data().is_empty());
    let log = desk.fails(&["run.log", "--date", "2026-02-29"], 2);
    assert!(log.contains("YYYY-MM-DD"), "{log}");
    assert!(desk.fails(&["run.log", "--marks", "~/m.json"], 32).contains("--marks begins with ~"));
}
