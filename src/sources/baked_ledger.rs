//! `submitted-ledger.json`: pairs and models that are taken whatever the platform lists.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize};

use crate::gpu::{Catalog, Seen};
use crate::json;
use crate::pair::{ModelKey, Pair};

/// What is taken by data files, whatever the platform lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BakedLedger {
    /// Taken pairs.
    pub pairs: HashSet<Pair>,
    /// Models that are taken on every card.
    pub blocked: HashSet<ModelKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version", deserialize_with = "json::version_1")]
    _version: (),
    #[serde(default, deserialize_with = "pairs")]
    pairs: Option<Vec<Row>>,
    #[serde(default, deserialize_with = "models")]
    blocked_models: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Row {
    model: String,
    gpu: String,
}

fn pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Row>>, D::Error> {
    json::list(deserializer, "pairs").map(Some)
}

fn models<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    json::list(deserializer, "blocked_models").map(Some)
}

impl BakedLedger {
    /// Reads the text of a `submitted-ledger.json`. A card that `catalog` does not know blocks
    /// by its own name, since the catalogue may learn it later.
    ///
    /// # Errors
    /// The place (`pairs[4]: ...`) and the reason: not JSON, another version, an unknown
    /// top-level key, a malformed model, a card that could be any; or neither list is there,
    /// since a file that says nothing must not pass for one that says "nothing is taken".
    pub fn parse(text: &str, catalog: &Catalog) -> Result<Self, String> {
        let file: File = crate::json::read(text)?;
        if file.pairs.is_none() && file.blocked_models.is_none() {
            return Err("neither `pairs` nor `blocked_models` is there".to_owned());
        }
        let mut ledger = Self::default();
        for (at, row) in file.pairs.into_iter().flatten().enumerate() {
            let model = model(&row.model).map_err(|why| format!("pairs[{at}]: {why}"))?;
            let Seen::Card(gpu) = catalog.seen(&row.gpu) else {
                return Err(format!(
                    "pairs[{at}]: the card {:?} is neither in gpus.json nor of the form \
                     Vendor_model",
                    row.gpu
                ));
            };
            ledger.pairs.insert(Pair::new(model, gpu));
        }
        for (at, text) in file.blocked_models.into_iter().flatten().enumerate() {
            let model = model(&text).map_err(|why| format!("blocked_models[{at}]: {why}"))?;
            ledger.blocked.insert(model);
        }
        Ok(ledger)
    }

    /// The text of a `submitted-ledger.json`: sorted, a row a line, as [`Self::parse`] reads it.
    ///
    /// # Errors
    /// None that a ledger can cause.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut pairs: Vec<&Pair> = self.pairs.iter().collect();
        pairs.sort();
        let rows: Vec<Written<'_>> = pairs
            .iter()
            .map(|pair| Written { model: pair.model.as_str(), gpu: pair.gpu.as_str() })
            .collect();
        let mut blocked: Vec<&str> = self.blocked.iter().map(ModelKey::as_str).collect();
        blocked.sort_unstable();
        Ok(format!(
            "{{\n  \"version\": 1,\n  \"pairs\": {},\n  \"blocked_models\": {}\n}}\n",
            json::lines(&rows)?,
            json::lines(&blocked)?
        ))
    }
}

#[derive(Serialize)]
struct Written<'a> {
    model: &'a str,
    gpu: &'a str,
}

fn model(text: &str) -> Result<ModelKey, String> {
    ModelKey::parse(text).map_err(|why| format!("the model {text:?}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;

    fn parse(text: &str) -> Result<BakedLedger, String> {
        let catalog = Catalog::parse(include_str!("../../data/gpus.json")).unwrap();
        BakedLedger::parse(text, &catalog)
    }

    #[test]
    fn pairs_and_models_are_read_in_every_spelling() {
        let ledger = parse(
            r#"{"version":1,"pairs":[{"model":"Org/Model","gpu":"天垓 150"},
                {"model":"https://huggingface.co/org/model","gpu":"Iluvatar_bi-150"},
                {"model":"org/model","gpu":"Newcomer_x-1","task":7}],
                "blocked_models":["Org/Bad","org/bad"]}"#,
        )
        .unwrap();
        let key = ModelKey::parse("org/model").unwrap();
        let pairs = ["Iluvatar_bi-150", "Newcomer_x-1"]
            .map(|gpu| Pair::new(key.clone(), Gpu::verbatim(gpu)));
        assert_eq!(ledger.pairs, HashSet::from(pairs));
        let blocked = ModelKey::parse("org/bad").unwrap();
        assert_eq!(ledger.blocked, HashSet::from([blocked]));
    }

    #[test]
    fn a_written_ledger_is_read_back() {
        let text = "{\n  \"version\": 1,\n  \"pairs\": [\n    \
                    {\"model\":\"a/b\",\"gpu\":\"Biren_166m\"},\n    \
                    {\"model\":\"a/b\",\"gpu\":\"New_x\"},\n    \
                    {\"model\":\"a/c\",\"gpu\":\"Biren_166m\"}\n  ],\n  \
                    \"blocked_models\": [\n    \"c/d\"\n  ]\n}\n";
        let ledger = parse(text).unwrap();
        assert_eq!(ledger.pairs.len(), 3);
        assert_eq!(ledger.to_text().unwrap(), text);
        let shipped = include_str!("../../data/submitted-ledger.json");
        assert_eq!(parse(shipped).unwrap().to_text().unwrap(), shipped);
    }

    #[test]
    fn one_list_alone_is_enough() {
        let pair = r#"{"version":1,"pairs":[{"model":"a/b","gpu":"壁砺"}]}"#;
        assert_eq!(parse(pair).unwrap().pairs.len(), 1);
        let model = r#"{"version":1,"blocked_models":["a/b"]}"#;
        assert_eq!(parse(model).unwrap().blocked.len(), 1);
    }

    #[test]
    fn a_bad_file_names_the_place() {
        for (text, says) in [
            ("", "line 1"),
            ("\0", "line 1"),
            (r#"{"version":1}"#, "neither `pairs` nor"),
            (r#"{"version":3,"pairs":[]}"#, "version 3"),
            (r#"{"version":1,"pairs":[],"entries":[]}"#, "unknown field `entries`"),
            (r#"{"version":1,"pairs":null}"#, "invalid type: null"),
            (r#"{"version":1,"pairs":[{"model":"a/b"}]}"#, "pairs[0]: missing field `gpu`"),
            (
                r#"{"version":1,"pairs":[{"model":"gpt2","gpu":"壁砺"}]}"#,
                "pairs[0]: the model \"gpt2\": no owner",
            ),
            (
                r#"{"version":1,"pairs":[{"model":"a/b","gpu":"A100"}]}"#,
                "pairs[0]: the card \"A100\"",
            ),
            (
                r#"{"version":1,"blocked_models":["a/b",""]}"#,
                "blocked_models[1]: the model \"\": the model is blank",
            ),
            (r#"{"version":1,"blocked_models":[7]}"#, "blocked_models[0]: invalid type"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
