use super::*;
use crate::pair::ModelKey;

/// A data folder with one file in it.
fn folder(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    dir
}

fn pair(model: &str, gpu: &str) -> Pair {
    Pair::new(ModelKey::parse(model).unwrap(), Gpu::verbatim(gpu))
}

fn held(name: &str, bytes: &[u8]) -> Hold {
    let dir = folder(name, bytes);
    let hold = load(Some(dir.path()), true).unwrap_err();
    let file = dir.path().join(name).display().to_string();
    assert!(hold.detail.starts_with(&file), "{}", hold.detail);
    hold
}

#[test]
fn all_is_there_without_a_folder() {
    let data = load(None, true).unwrap();
    assert_eq!(data.catalog.targets().len(), 4);
    assert_eq!(data.rules.banned("gpt2", ""), Some("gpt2"));
    let marked = pair("abaryan/CyberXP_Agent_Llama_3.2_1B", "Biren_166m");
    assert_eq!(data.marks.get(&marked), Some(&60029));
    let rows = LEDGER.matches("\"gpu\"").count();
    assert_eq!(data.ledger.pairs.len(), rows);
    assert!(!data.candidates.is_empty());
    assert_eq!(data.samples.keys().collect::<Vec<_>>(), ["vllm"]);
}

#[test]
fn every_shipped_candidate_has_a_sample_and_known_cards() {
    let data = load(None, true).unwrap();
    for row in &data.candidates {
        assert!(data.samples.contains_key(&row.framework), "{row:?}");
        for card in row.cards.iter().flatten() {
            assert!(data.catalog.find(card).is_some(), "{row:?}");
        }
    }
}

#[test]
fn the_shipped_sample_has_what_the_platform_asks_for() {
    let data = load(None, false).unwrap();
    let sample = &data.samples["vllm"];
    for part in [
        "framework: vllm\n",
        "api: ",
        "lang: ",
        "max_model_len: 4096\n",
        "max_tokens: ",
        "temperature: ",
        "repetition_penalty: ",
        "top_p: ",
        "\nsut_config:\n  gpu_num: 1\n  values:\n    command:\n",
        "\nref_config:\n  gpu_num: 1\n  values:\n    command:\n",
    ] {
        assert_eq!(sample.matches(part).count(), 1, "{part}");
    }
    for part in ["-tp 1 ", "--max-model-len 4096\n", "--port 8000\n", "--model /model "] {
        assert_eq!(sample.matches(part).count(), 2, "{part}");
    }
    assert!(!sample.contains(['<', '{', '\t']), "a placeholder or a tab");
}

#[test]
fn an_empty_folder_changes_nothing_and_a_missing_one_holds() {
    let dir = tempfile::tempdir().unwrap();
    let (with, without) = (load(Some(dir.path()), true), load(None, true));
    assert_eq!(with.unwrap().marks, without.unwrap().marks);
    let gone = dir.path().join("gone");
    let hold = load(Some(&gone), true).unwrap_err();
    assert_eq!(hold.reason, Reason::DataReadFailed);
    assert!(hold.detail.starts_with(&gone.display().to_string()), "{}", hold.detail);
    assert!(hold.detail.contains("--data-dir"), "{}", hold.detail);
    let file = folder("x", b"");
    let hold = load(Some(&file.path().join("x")), true).unwrap_err();
    assert!(hold.detail.contains("is not a folder"), "{}", hold.detail);
}

#[test]
fn marks_are_added_and_the_compiled_one_counts() {
    let dir = folder(
        "reject-marks.json",
        r#"{"version":1,"marks":[{"model":"a/b","gpu":"曦望","code":60022},
            {"model":"abaryan/cyberxp_agent_llama_3.2_1b","gpu":"Biren_166m","code":60022}]}"#
            .as_bytes(),
    );
    let marks = load(Some(dir.path()), true).unwrap().marks;
    assert_eq!(marks.len(), load(None, true).unwrap().marks.len() + 1);
    assert_eq!(marks.get(&pair("a/b", "Sunrise_pt-200-x1")), Some(&60022));
    let both = pair("abaryan/CyberXP_Agent_Llama_3.2_1B", "Biren_166m");
    assert_eq!(marks.get(&both), Some(&60029));
}

#[test]
fn the_ledger_is_added_with_cards_that_are_not_known() {
    let dir = folder(
        "submitted-ledger.json",
        br#"{"version":1,"pairs":[{"model":"a/b","gpu":"Newcomer_x-1"}],"blocked_models":["c/d"]}"#,
    );
    let ledger = load(Some(dir.path()), true).unwrap().ledger;
    assert!(ledger.pairs.contains(&pair("a/b", "Newcomer_x-1")));
    assert!(ledger.blocked.contains(&ModelKey::parse("c/d").unwrap()));
}

#[test]
fn a_ledger_only_grows_by_another() {
    let catalog = load(None, false).unwrap().catalog;
    let read = |model: &str, gpu: &str| {
        let text = format!(
            r#"{{"version":1,"pairs":[{{"model":"{model}","gpu":"{gpu}"}}],
                "blocked_models":["blocked/{gpu}"]}}"#
        );
        BakedLedger::parse(&text, &Catalog::parse(r#"{"version":1,"gpus":[]}"#).unwrap()).unwrap()
    };
    let ledger = joined(read("a/b", "BIREN_166m"), read("c/d", "X_1"), &catalog);
    let pairs = [pair("a/b", "Biren_166m"), pair("c/d", "X_1")];
    assert_eq!(ledger.pairs, pairs.into());
    assert_eq!(ledger.blocked.len(), 2);
}

#[test]
fn a_catalogue_of_its_own_frees_no_compiled_mark() {
    let dir = folder(
        "gpus.json",
        r#"{"version":1,"gpus":[{"enum":"biren_166M","aliases":["壁砺"],"target":true}]}"#
            .as_bytes(),
    );
    let data = load(Some(dir.path()), true).unwrap();
    let listed = data.catalog.find("壁砺").unwrap();
    let model = "abaryan/CyberXP_Agent_Llama_3.2_1B";
    assert!(data.marks.contains_key(&pair(model, listed.as_str())));
    assert!(data.marks.contains_key(&pair(model, "Iluvatar_bi-150")));
    assert_eq!(data.marks.len(), load(None, true).unwrap().marks.len());
}

#[test]
fn other_files_replace_the_compiled_ones() {
    let dir = folder(
        "candidates.json",
        b"\xef\xbb\xbf{\"version\":1,\"candidates\":[{\"model_address\":\"a/b\"}]}",
    );
    let rules = r#"{"version":1,"rules":[{"rule":"mine","pattern":"a/b"}]}"#;
    fs::write(dir.path().join("banned.json"), rules).unwrap();
    let data = load(Some(dir.path()), true).unwrap();
    assert_eq!(data.candidates.len(), 1);
    assert_eq!(data.rules.banned("a/b", "b"), Some("mine"));
    assert_eq!(data.rules.banned("gpt2", ""), None);
}

#[test]
fn samples_are_added_and_replaced_by_framework() {
    let dir = folder("config-params/vllm.yaml", b"\xef\xbb\xbfa: 1\n");
    let samples = dir.path().join("config-params");
    fs::write(samples.join("sglang.yaml"), "b: 2\n").unwrap();
    for other in [".vllm.yaml", ".yaml", "notes.txt", "x.yaml~"] {
        fs::write(samples.join(other), [0xff]).unwrap();
    }
    let data = load(Some(dir.path()), true).unwrap();
    let all: Vec<_> = data.samples.iter().map(|(k, v)| (&**k, &**v)).collect();
    assert_eq!(all, [("sglang", "b: 2\n"), ("vllm", "a: 1\n")]);
}

#[test]
fn candidates_that_are_not_wanted_are_not_read() {
    let dir = folder("candidates.json", b"{");
    assert!(load(Some(dir.path()), false).unwrap().candidates.is_empty());
    assert!(load(Some(dir.path()), true).is_err());
}

#[test]
fn a_bad_file_holds_with_its_place_and_a_way_out() {
    let data = Reason::DataReadFailed;
    for (name, bytes, reason, says) in [
        ("gpus.json", &b"{"[..], data, "line 1"),
        ("banned.json", br#"{"version":1,"rules":[{"rule":"a","pattern":"("}]}"#, data, "rules[0]"),
        ("banned.json", b"\xff", data, "not UTF-8 at byte 0"),
        ("config-params/vllm.yaml", b" \n# x\n", data, "is empty"),
        ("config-params/vllm.yaml", b"a: \xff", data, "not UTF-8 at byte 3"),
        ("config-params/vllm.yml", b"a: 1", data, "ends in .yaml"),
        (
            "candidates.json",
            br#"{"version":1,"candidates":[{"section":"C"}]}"#,
            Reason::CandidateReadFailed,
            "candidates[0]",
        ),
        (
            "reject-marks.json",
            br#"{"version":1,"marks":[{"model":"a/b","gpu":"A_1","code":1}]}"#,
            Reason::MarksReadFailed,
            "marks[0]",
        ),
        ("reject-marks.json", b"", Reason::MarksReadFailed, "line 1"),
        (
            "submitted-ledger.json",
            br#"{"version":1,"pairs":[{"model":"b","gpu":"A_1"}]}"#,
            Reason::StateReadFailed,
            "pairs[0]",
        ),
        ("submitted-ledger.json", &[0; 64], Reason::StateReadFailed, "line 1"),
    ] {
        let hold = held(name, bytes);
        assert_eq!(hold.reason, reason, "{name}");
        assert!(hold.detail.contains(says), "{}", hold.detail);
        assert!(hold.detail.contains("; correct it"), "{}", hold.detail);
    }
}

#[test]
fn what_is_there_and_no_file_holds() {
    for (name, reason) in [
        ("gpus.json", Reason::DataReadFailed),
        ("reject-marks.json", Reason::MarksReadFailed),
        ("submitted-ledger.json", Reason::StateReadFailed),
        ("candidates.json", Reason::CandidateReadFailed),
        ("config-params/x.yaml", Reason::DataReadFailed),
    ] {
        let dir = folder(&format!("{name}/inside"), b"");
        let hold = load(Some(dir.path()), true).unwrap_err();
        assert_eq!(hold.reason, reason, "{name}");
        assert!(hold.detail.contains("cannot be read: "), "{}", hold.detail);
    }
    let hold = held("config-params", b"a file where a folder belongs");
    assert!(hold.detail.contains("cannot be read: "), "{}", hold.detail);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_holds() {
    for name in ["reject-marks.json", "config-params"] {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join(name);
        std::os::unix::fs::symlink(dir.path().join("gone"), &link).unwrap();
        let hold = load(Some(dir.path()), true).unwrap_err();
        assert!(hold.detail.contains("a link to something"), "{}", hold.detail);
    }
}
