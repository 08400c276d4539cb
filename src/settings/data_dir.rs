//! Where data files are, for commands that need no other setting.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::read::Given;
use crate::env::Env;
use crate::exit::{Hold, Reason};

/// The data folder: the flag `--data-dir`, else `SUBMITTER_DATA_DIR`, else none.
///
/// # Errors
/// [`Reason::DataReadFailed`] when what was given is not a path.
pub fn data_dir(flag: Option<&OsStr>, env: &Env) -> Result<Option<PathBuf>, Hold> {
    Given::find(env, ("--data-dir", flag), "SUBMITTER_DATA_DIR")
        .map(|given| given.path())
        .transpose()
        .map_err(|wrong| Hold::because(Reason::DataReadFailed, wrong))
}

/// The marks file that a person keeps: the flag `--marks`, else the data folder's, else the one
/// that is compiled in when the program is built in the current folder.
///
/// # Errors
/// [`Reason::MarksReadFailed`] when the flag is not a path.
pub fn marks_file(flag: Option<&OsStr>, data_dir: Option<&Path>) -> Result<PathBuf, Hold> {
    match flag {
        Some(raw) => Given { origin: "--marks", raw }
            .path()
            .map_err(|wrong| Hold::because(Reason::MarksReadFailed, wrong)),
        None => Ok(data_dir.unwrap_or(Path::new("data")).join("reject-marks.json")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(marks: Option<&str>, dir: Option<&str>, variable: &str) -> Result<String, Hold> {
        let env = Env::from_pairs([("SUBMITTER_DATA_DIR", variable)]);
        let dir = data_dir(dir.map(OsStr::new), &env)?;
        let path = marks_file(marks.map(OsStr::new), dir.as_deref())?;
        Ok(path.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_marks_are_where_the_nearest_setting_says() {
        assert_eq!(of(None, None, "").unwrap(), "data/reject-marks.json");
        assert_eq!(of(None, None, "/env").unwrap(), "/env/reject-marks.json");
        assert_eq!(of(None, Some("flag"), "/env").unwrap(), "flag/reject-marks.json");
        assert_eq!(of(Some("m.json"), Some("flag"), "/env").unwrap(), "m.json");
    }

    #[test]
    fn what_is_not_a_path_is_told() {
        for (given, reason, says) in [
            (of(Some(""), None, ""), Reason::MarksReadFailed, "--marks is empty"),
            (of(Some("~/m.json"), None, ""), Reason::MarksReadFailed, "--marks begins with ~"),
            (of(None, Some(""), "/env"), Reason::DataReadFailed, "--data-dir is empty"),
            (of(None, None, "$HOME"), Reason::DataReadFailed, "SUBMITTER_DATA_DIR begins with"),
        ] {
            let hold = given.unwrap_err();
            assert_eq!(hold.reason, reason);
            assert!(hold.detail.contains(says), "{}", hold.detail);
        }
    }
}
