//! What `submitter run` logs is what `submitter sync-marks` reads, and the other way round.

use crate::desk::{row, rows};
use crate::kit::{Machine, account};
use crate::platform::Rejection;

const BIREN: &str = "Biren_166m";

#[test]
fn a_runs_own_log_makes_marks_that_the_next_run_heeds() {
    let account = account()
        .rejecting(Rejection::all(60022).model("Org/Refused").gpu(BIREN))
        .with_precheck("Org/Verified", BIREN, "已验证")
        .with_precheck("Org/Running", BIREN, "验证中");
    let models = ["Org/Refused", "Org/Verified", "Org/Running"];
    let mut machine = Machine::new(account, &models);
    let log = machine.cycle(0).log;
    let refused = "[live] rejected model=Org/Refused gpu=Biren_166m code=60022 ";
    assert!(log.contains(refused), "{log}");
    assert!(log.contains("reason=marked:precheck_60027\n"), "{log}");

    // As journald, a container or a wrapper may write it.
    let mut decorated = String::new();
    for line in log.lines() {
        decorated += "Nov 02 03:00:07 host submitter[812]: \x1b[32m";
        decorated += line;
        decorated += "\x1b[0m\n";
    }
    let folder = machine.folder.path().to_owned();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("run.log"), log).unwrap();
    std::fs::write(path("decorated.log"), decorated).unwrap();
    let decorated_alone = machine.run(&["sync-marks", "--dry-run", &path("decorated.log")]);
    assert_eq!(decorated_alone.stdout, "added 3 total 3\n", "{}", decorated_alone.log);
    let sync = ["sync-marks", &path("run.log"), &path("decorated.log")];
    assert_eq!(machine.run(&sync).stdout, "added 3 total 3\n");
    assert_eq!(machine.run(&sync).stdout, "added 0 total 3\n");
    let marks = folder.join("data/reject-marks.json");
    let expected = [
        row("Org/Refused", BIREN, 60022),
        row("Org/Running", BIREN, 60028),
        row("Org/Verified", BIREN, 60027),
    ];
    assert_eq!(rows(&marks), expected);

    // Another journal: what is known of the three is known from the marks alone.
    let other_state = path("other-state");
    machine.set("SUBMITTER_STATE_DIR", &other_state);
    let next = machine.run(&["run", "-v"]);
    assert_eq!(next.code, 0, "{}", next.log);
    for (model, code) in models.iter().zip([60022, 60027, 60028]) {
        let skip = format!("[live] skip model={model} gpu={BIREN} reason=marked:{code}\n");
        assert!(next.log.contains(&skip), "{skip}\n{}", next.log);
    }
    let posts = machine.platform.posts();
    for (model, times) in [("org/refused", Some(&1)), ("org/verified", None), ("org/running", None)]
    {
        assert_eq!(posts.get(&(model.to_owned(), BIREN.to_owned())), times, "{posts:?}");
    }

    // A skip that only repeats a mark is no new evidence.
    std::fs::write(path("next.log"), &next.log).unwrap();
    std::fs::remove_file(&marks).unwrap();
    assert_eq!(machine.run(&["sync-marks", &path("next.log")]).stdout, "added 0 total 0\n");
}
