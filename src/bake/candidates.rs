//! `candidates.json` from pending files.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Target;
use crate::cli::BakeCandidates;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::gpu::{Catalog, Gpu};
use crate::pair::ModelKey;
use crate::settings;
use crate::sources::foothold::Snapshot;
use crate::sources::merge::{Ranked, merge};
use crate::sources::{Candidate, Section, candidates as file, pending};

const REASON: Reason = Reason::CandidateReadFailed;

/// Writes the rows of the pending files, in the order in which `run` would try them, as a
/// `candidates.json`. Returns what to tell: `candidates 342 (A 46, B 296)`. Both sections are
/// written, whatever `PENDING_SECTION` says: it chooses among them in a run.
///
/// # Errors
/// `candidate_read_failed`: no file is named, or it cannot be read; `data_read_failed` and
/// others: the data folder is not as it should be; `state_write_failed`.
pub fn candidates(args: &BakeCandidates, env: &Env) -> Result<String, Hold> {
    let (output, data_dir) = (args.output.as_deref(), args.data_dir.as_deref());
    let target = Target::find(output, data_dir, env, "candidates.json")?;
    let (markdown, plain) = files(args, env)?;
    let (markdown, plain) = (markdown.as_deref(), plain.as_deref());
    let pending = pending::load(markdown, plain, None, &target.catalog)?;
    for what in &pending.refused {
        crate::text::warn(what);
    }
    let rows = rows(&pending.candidates, &target.catalog);
    let text =
        file::to_text(&rows).map_err(|error| target.not_read_back(REASON, &error.to_string()))?;
    match file::parse(&text) {
        Ok(read) if read == rows => {}
        Ok(_) => return Err(target.not_read_back(REASON, "would be read as something else")),
        Err(why) => return Err(target.not_read_back(REASON, &why)),
    }
    target.write(&text)?;
    let in_a = rows.iter().filter(|row| row.section == Section::A).count();
    Ok(format!("candidates {} (A {in_a}, B {})", rows.len(), rows.len() - in_a))
}

/// The pending files: those of the flags, or else those of the variables.
fn files(args: &BakeCandidates, env: &Env) -> Result<(Option<PathBuf>, Option<PathBuf>), Hold> {
    let by_flag = args.md.is_some() || args.txt.is_some();
    let variable = |name| (!by_flag).then_some(name);
    let md =
        settings::path("--md", args.md.as_deref(), variable("PENDING_SUBMIT_MD"), env, REASON)?;
    let txt =
        settings::path("--txt", args.txt.as_deref(), variable("PENDING_SUBMIT_TXT"), env, REASON)?;
    if md.is_none() && txt.is_none() {
        return Err(Hold::because(
            REASON,
            "no pending file: name one with --md FILE or --txt FILE, or set PENDING_SUBMIT_MD or \
             PENDING_SUBMIT_TXT",
        ));
    }
    Ok((md, txt))
}

/// Rows in the order in which they are tried, with cards by their enums. Of rows with the same
/// model and the same cards the first stays, and is not submitted if any of them is not.
fn rows(candidates: &[Candidate], catalog: &Catalog) -> Vec<Candidate> {
    let mut rows: Vec<Candidate> = Vec::new();
    let mut places: HashMap<(Option<ModelKey>, Option<Vec<String>>), usize> = HashMap::new();
    for Ranked { candidate, .. } in merge(candidates, &Snapshot::default(), catalog, None) {
        let cards = candidate.cards.as_ref().map(|cards| enums(cards, catalog));
        let place = (ModelKey::parse(&candidate.address).ok(), cards.clone());
        if let Some(at) = places.get(&place) {
            let skip = &mut rows[*at].skip_reason;
            *skip = skip.take().or(candidate.skip_reason);
        } else {
            places.insert(place, rows.len());
            rows.push(Candidate { cards, ..candidate });
        }
    }
    rows
}

/// Cards by their enums, each once; what `catalog` does not know stays as it is written.
fn enums(cards: &[String], catalog: &Catalog) -> Vec<String> {
    let mut enums: Vec<String> = Vec::new();
    for card in cards {
        let name = catalog.find(card).map_or(card.as_str(), Gpu::as_str);
        if !enums.iter().any(|known| known == name) {
            enums.push(name.to_owned());
        }
    }
    enums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Foothold;

    fn row(address: &str, section: Section, foothold: Foothold, cards: &[&str]) -> Candidate {
        let cards = Some(cards.iter().map(|card| (*card).to_owned()).collect());
        Candidate { section, foothold, cards, ..Candidate::new(address) }
    }

    fn baked(candidates: &[Candidate]) -> Vec<Candidate> {
        let catalog = Catalog::parse(include_str!("../../data/gpus.json")).unwrap();
        let baked = rows(candidates, &catalog);
        let ranked = merge(&baked, &Snapshot::default(), &catalog, None);
        let again: Vec<Candidate> = ranked.into_iter().map(|ranked| ranked.candidate).collect();
        assert_eq!(again, baked, "a run tries them in this order");
        assert_eq!(rows(&baked, &catalog), baked, "baking twice is baking once");
        baked
    }

    #[test]
    fn rows_stand_as_they_are_tried() {
        use Foothold::{FailedFoothold, Unknown, VerifiedReuse};
        let baked = baked(&[
            row("b/1", Section::B, Unknown, &["壁砺"]),
            row("a/2", Section::A, Unknown, &["壁砺"]),
            row("b/3", Section::B, VerifiedReuse, &["壁砺"]),
            row("b/4", Section::B, FailedFoothold, &["壁砺"]),
        ]);
        let order: Vec<&str> = baked.iter().map(|row| row.address.as_str()).collect();
        assert_eq!(order, ["b/3", "b/4", "a/2", "b/1"]);
    }

    /// I05: spellings of one model are one model.
    #[test]
    fn i05_one_model_with_the_same_cards_is_one_row() {
        use Foothold::{Unknown, VerifiedReuse};
        let baked = baked(&[
            row("org/model", Section::B, Unknown, &["壁砺", "天垓 150", "some card"]),
            row("Org/Model", Section::A, Unknown, &["Biren_166m", "天垓150", "some card", "壁砺"]),
            row("Org/Model", Section::B, Unknown, &["天垓150", "壁砺", "some card"]),
            row("https://huggingface.co/Org/Model", Section::B, VerifiedReuse, &["曦望"]),
            Candidate::new("Org/Model"),
            row("Org/Model", Section::B, Unknown, &[]),
        ]);
        let shown: Vec<String> =
            baked.iter().map(|row| format!("{} {:?}", row.address, row.cards)).collect();
        assert_eq!(
            shown,
            [
                "https://huggingface.co/Org/Model Some([\"Sunrise_pt-200-x1\"])",
                "Org/Model Some([\"Biren_166m\", \"Iluvatar_bi-150\", \"some card\"])",
                "Org/Model Some([\"Iluvatar_bi-150\", \"Biren_166m\", \"some card\"])",
                "Org/Model None",
                "Org/Model Some([])",
            ]
        );
    }

    #[test]
    fn a_ban_on_any_of_the_rows_stays() {
        let banned = Candidate { skip_reason: Some("禁提".into()), ..Candidate::new("a/b") };
        for list in [[Candidate::new("a/b"), banned.clone()], [banned, Candidate::new("a/b")]] {
            let baked = baked(&list);
            assert_eq!(baked.len(), 1);
            assert_eq!(baked[0].skip_reason.as_deref(), Some("禁提"));
        }
    }
}
