//! Where the journal lives. Two folders for one account could submit a pair twice, so a folder
//! is taken from what somebody named, and never from where a run happens to start.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Warning;
use super::read::Given;
use crate::env::Env;
use crate::exit::{Hold, Reason};

/// The state folder: the flag `--state-dir`, else `SUBMITTER_STATE_DIR`, else the first folder
/// of systemd's `STATE_DIRECTORY`, else `$XDG_STATE_HOME/submitter`, else
/// `$HOME/.local/state/submitter`. A base folder that is not absolute is passed over with a
/// warning, as the XDG specification asks.
///
/// # Errors
/// [`Reason::NoStateFolder`] when nothing names a folder, or the flag or `SUBMITTER_STATE_DIR`
/// is not a path.
pub fn state_dir(flag: Option<&OsStr>, env: &Env) -> Result<(PathBuf, Vec<Warning>), Hold> {
    find(flag, env).map(|(path, _, warnings)| (path, warnings))
}

/// The state folder where nobody has named one.
#[must_use]
pub fn default_state_dir(flag: Option<&OsStr>, env: &Env) -> Option<PathBuf> {
    let (path, origin, _) = find(flag, env).ok()?;
    matches!(origin, "XDG_STATE_HOME" | "HOME").then_some(path)
}

/// The state folder and the flag or the variable that names it.
pub(super) fn find(flag: Option<&OsStr>, env: &Env) -> Result<Found, Hold> {
    let mut warnings = Vec::new();
    if let Some(given) = Given::find(env, ("--state-dir", flag), "SUBMITTER_STATE_DIR") {
        return match given.path() {
            Ok(path) => absolute(path).map(|path| (path, given.origin, warnings)),
            Err(wrong) => Err(Hold::because(Reason::NoStateFolder, wrong)),
        };
    }
    // systemd joins the folders of a unit with colons.
    let by_systemd = env
        .get_os("STATE_DIRECTORY")
        .and_then(|list| std::env::split_paths(list).find(|path| !path.as_os_str().is_empty()));
    if let Some(path) = by_systemd {
        return absolute(path).map(|path| (path, "STATE_DIRECTORY", warnings));
    }
    for (base, under) in [("XDG_STATE_HOME", "submitter"), ("HOME", ".local/state/submitter")] {
        let Some(path) = env.get_os(base).map(Path::new) else {
            continue;
        };
        if path.is_absolute() {
            return Ok((path.join(under), base, warnings));
        }
        warnings.push(Warning(format!(
            "{base} is not an absolute path: passed over in the choice of the state folder"
        )));
    }
    Err(Hold::because(
        Reason::NoStateFolder,
        "no folder for the journal: none of SUBMITTER_STATE_DIR, STATE_DIRECTORY, XDG_STATE_HOME \
         and HOME names one; name it with --state-dir DIR",
    ))
}

/// The folder, what names it, and what is to be told.
type Found = (PathBuf, &'static str, Vec<Warning>);

/// A path that is the same folder from wherever a run starts, and as it was meant.
fn absolute(path: PathBuf) -> Result<PathBuf, Hold> {
    let text = path.to_string_lossy();
    let odd = text.trim() != text || text.chars().any(char::is_control);
    if path.is_absolute() && !odd {
        return Ok(path);
    }
    let what =
        format!("the state folder {text:?} is not an absolute path without blanks at its ends");
    let why = "a relative one is another folder from another place, and so another journal";
    Err(Hold::because(Reason::NoStateFolder, format!("{what}: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flag: Option<&str>, pairs: &[(&str, &str)]) -> Result<(String, usize), Hold> {
        let env = Env::from_pairs(pairs.iter().copied());
        let (path, warnings) = state_dir(flag.map(OsStr::new), &env)?;
        Ok((path.to_str().unwrap().to_owned(), warnings.len()))
    }

    #[test]
    fn sources_are_asked_in_order() {
        let mut pairs = vec![
            ("SUBMITTER_STATE_DIR", "/own"),
            ("STATE_DIRECTORY", "/var/lib/submitter:/var/lib/other"),
            ("XDG_STATE_HOME", "/xdg"),
            ("HOME", "/home/me"),
        ];
        assert_eq!(of(Some("/flag"), &pairs), Ok(("/flag".to_owned(), 0)));
        for wrong in ["flag", "./flag", "/flag ", "/flag\r"] {
            assert_eq!(of(Some(wrong), &pairs).unwrap_err().reason, Reason::NoStateFolder);
        }
        for expected in
            ["/own", "/var/lib/submitter", "/xdg/submitter", "/home/me/.local/state/submitter"]
        {
            assert_eq!(of(None, &pairs), Ok((expected.to_owned(), 0)));
            pairs[0].1 = "";
            assert_ne!(
                of(None, &pairs),
                Ok((expected.to_owned(), 0)),
                "an empty variable is an unset one"
            );
            pairs.remove(0);
        }
    }

    #[test]
    fn a_default_is_a_folder_that_nobody_has_named() {
        let home = ("HOME", "/home/me");
        let of = |flag: Option<&str>, pairs: &[(&str, &str)]| {
            default_state_dir(flag.map(OsStr::new), &Env::from_pairs(pairs.iter().copied()))
        };
        assert_eq!(of(None, &[home]), Some("/home/me/.local/state/submitter".into()));
        assert_eq!(of(None, &[("XDG_STATE_HOME", "/x"), home]), Some("/x/submitter".into()));
        for named in ["SUBMITTER_STATE_DIR", "STATE_DIRECTORY"] {
            assert_eq!(of(None, &[(named, "/s"), home]), None, "{named}");
        }
        assert_eq!(of(Some("/s"), &[home]), None);
    }

    /// K03: cron and containers may set nothing at all.
    #[test]
    fn k03_without_any_source_the_option_is_named() {
        let hold = of(None, &[]).unwrap_err();
        assert_eq!(hold.reason, Reason::NoStateFolder);
        assert!(hold.detail.contains("--state-dir"), "{}", hold.detail);
        assert_eq!(of(Some("/s"), &[]), Ok(("/s".to_owned(), 0)));
        assert_eq!(of(None, &[("STATE_DIRECTORY", "/s")]), Ok(("/s".to_owned(), 0)));
    }

    #[test]
    fn of_a_list_by_systemd_the_first_folder_counts() {
        let home = ("HOME", "/home/me");
        for (list, path) in
            [("/a:/b", "/a"), (":/b", "/b"), (":", "/home/me/.local/state/submitter")]
        {
            let found = of(None, &[("STATE_DIRECTORY", list), home]);
            assert_eq!(found, Ok((path.to_owned(), 0)), "{list}");
        }
    }

    #[test]
    fn a_base_that_is_not_absolute_is_passed_over_and_told() {
        let home = ("HOME", "/home/me");
        assert_eq!(
            of(None, &[("XDG_STATE_HOME", "state"), home]),
            Ok(("/home/me/.local/state/submitter".to_owned(), 1))
        );
        let hold = of(None, &[("XDG_STATE_HOME", "state"), ("HOME", ".")]).unwrap_err();
        assert_eq!(hold.reason, Reason::NoStateFolder);
    }

    #[test]
    fn a_folder_that_is_named_wrongly_is_not_replaced() {
        let home = ("HOME", "/home/me");
        for value in ["~/state", "$HOME/state", "\"/state\""] {
            let hold = of(None, &[("SUBMITTER_STATE_DIR", value), home]).unwrap_err();
            assert_eq!(hold.reason, Reason::NoStateFolder);
            assert!(hold.detail.contains("SUBMITTER_STATE_DIR"));
        }
        let hold = of(Some(""), &[home]).unwrap_err();
        assert_eq!(hold.detail, "--state-dir is empty: it must be a path");
    }
}
