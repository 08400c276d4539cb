//! `LIVE_STATE_FILE`: pairs that an earlier system has submitted.

use std::path::Path;

use super::read_text;
use crate::exit::{Hold, Reason};
use crate::gpu::{Catalog, Seen};
use crate::pair::{ModelKey, Pair};

/// Reads a JSON list of `"model|gpuEnum"`.
///
/// # Errors
/// `state_read_failed`: the file was named, so it must be there, and every entry must be legible:
/// one that is not could be the pair that would be submitted twice.
pub fn read(path: &Path, catalog: &Catalog) -> Result<Vec<Pair>, Hold> {
    let failed = |what: String| {
        let next = "expected a JSON list of \"model|gpuEnum\"; correct it or unset LIVE_STATE_FILE";
        Hold::because(
            Reason::StateReadFailed,
            format!("LIVE_STATE_FILE {}: {what}; {next}", path.display()),
        )
    };
    let text = read_text(path).map_err(failed)?;
    let text = text.ok_or_else(|| failed("there is no such file".into()))?;
    parse(&text, catalog).map_err(failed)
}

/// Reads the text of such a list.
///
/// # Errors
/// The place (`[4]: ...`) and the reason.
pub fn parse(text: &str, catalog: &Catalog) -> Result<Vec<Pair>, String> {
    let entries: Vec<String> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    entries
        .iter()
        .enumerate()
        .map(|(at, entry)| {
            let (model, card) =
                entry.split_once('|').ok_or_else(|| format!("[{at}]: no | in {entry:?}"))?;
            let model = ModelKey::parse(model).map_err(|bad| format!("[{at}]: {bad}"))?;
            match catalog.seen(card) {
                Seen::Card(gpu) => Ok(Pair::new(model, gpu)),
                Seen::Unreadable => Err(format!("[{at}]: unknown card {card:?}")),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_must_be_legible() {
        let catalog = Catalog::parse(include_str!("../../data/gpus.json")).unwrap();
        let pairs =
            parse(r#"["Org/Model|Biren_166m", "a/b|壁砺", "a/b|New_card-1"]"#, &catalog).unwrap();
        let shown: Vec<String> = pairs.iter().map(Pair::to_string).collect();
        assert_eq!(shown, ["org/model on Biren_166m", "a/b on Biren_166m", "a/b on New_card-1"]);
        assert_eq!(parse("[]", &catalog), Ok(vec![]));
        for bad in ["", "{}", "[1]", r#"["a/b"]"#, r#"["b|Biren_166m"]"#, r#"["a/b|卡"]"#, "[\"\"]"]
        {
            assert!(parse(bad, &catalog).is_err(), "{bad}");
        }
        let missing = read(Path::new("/nonexistent/state.json"), &catalog).unwrap_err();
        assert_eq!(missing.reason, Reason::StateReadFailed);
    }
}
