use super::*;

fn shipped() -> Rules {
    Rules::parse(include_str!("../../data/banned.json")).unwrap()
}

/// The rule that bans an address whose name is its last part, as in a cycle.
fn ban<'a>(rules: &'a Rules, address: &str) -> Option<&'a str> {
    rules.banned(address, address.rsplit('/').next().unwrap_or_default())
}

/// A family, a colon, its members.
const BANNED: &str = "
    gguf: DevQuasar/efficientscaling.Z1-7B-GGUF TheBloke/Llama-2-7B-ggml x/model.gguf
    gguf: bartowski/Phi-3.1-mini-4k-instruct-GGUF x/model-lora-merged-gguf
    openchat: openchat/openchat_3.5 x/OpenChat-3.6-8b
    peft-lora: x/qwen2-lora x/LoRA-qwen2 lora/qwen2 x/adapter_model x/qwen-adapter-config
    peft-lora: x/qwen2-peft x/PEFT_qwen
    gpt2: gpt2 gpt-2 distilgpt2 distilbert/distilgpt2 openai-community/gpt2
    gpt2: openai-community%2Fgpt2 openai-community/gpt2.git openai-community/gpt2-xl
    gpt2: x/GPT_2_small x/gpt2xl x/gpt2base uer/gpt2-chinese-cluecorpussmall
    gpt2: ai-forever/rugpt2large aubmindlab/aragpt2-base microsoft/DialoGPT-medium x/dialo-gpt
    phi-3-4: microsoft/Phi-3.5-mini-instruct microsoft/Phi-3-mini-4k-instruct
    phi-3-4: microsoft/Phi-3-medium-128k-instruct microsoft/phi-4 microsoft%2Fphi-4
    phi-3-4: microsoft/Phi-4-mini-reasoning phi-4 phi3 Phi_3 x/phi-3_5 x/my_phi3 x/llama-phi-3
    phi-3-4: x/phi4base xtuner/llava-phi-3-mini
    nemotron-h: nvidia/Nemotron-H-8B nvidia/Nemotron-H-47B-Base-8K x/nemotron_h x/NemotronH-4B
    nemotron-h: x/NemotronH8B
    olmo2: allenai/OLMo-2-1124-7B allenai/OLMo-2-0425-1B-Instruct x/olmo2 x/my_OLMo2-7B
    lfm2: LiquidAI/LFM2-1.2B LiquidAI/LFM2-VL-450M LiquidAI/LFM2-8B-A1B
    lfm2: LiquidAI/LFM2.5-1.2B-Instruct x/lfm_2
    spark-x2.5: spark-x2.5 iflytek/Spark-X2.5-Flash x/Spark_X2_5
    breeze: MediaTek-Research/Breeze-7B MediaTek-Research/Breeze-7B-Instruct-v1_0
    breeze: MediaTek-Research/Llama-Breeze2-8B-Instruct x/my_breeze
    gemma2: google/gemma-2-9b-it google/gemma-2-2b google%2Fgemma-2-2b google%2fgemma-2
    gemma2: https://huggingface.co/google/gemma-2-27b/tree/main gemma2 gemma2-9b
    gemma2: unsloth/gemma-2-2b-it-bnb-4bit VAGOsolutions/SauerkrautLM-gemma-2-9b-it x/my_gemma_2
    gemma2: x/gemma2it
    mistral-v0.1: mistralai/Mistral-7B-v0.1 mistralai/Mistral-7B-Instruct-v0.1
    mistral-v0.1: TheBloke/Mistral-7B-Instruct-v0.1-AWQ x/mistral-7b-v0_1 x/mistral_7b_v0-1-sft
    mistral-v0.1: x/mistral-v0.1 x/mistral7b-vision-v0.1 x/dolphin-v0.2-mistral-7b-v0.1
    tinyllama: TinyLlama/TinyLlama-1.1B-Chat-v1.0 x/tiny-llama x/my_tiny_llama x/MyTinyLlama";

/// What is meant, a colon, names.
const FREE: &str = "
    a word within a word: org/flora org/lorax org/model_lora org/model-GRPO x/Destiny-Llama-3-8B
    a word within a word: x/SeaBreeze-7B breezedeus/coin-clip x/dolphin-3
    a word within a word: cognitivecomputations/dolphin-2.9-llama3-8b x/Delphi-3
    a word within a word: allenai/Molmo2-8B allenai/Molmo-7B-D-0924 nvidia/Nemotron-Hindi-4B
    a word within a word: x/Nemotron-H100-tuned nvidia/Llama-3.1-Nemotron-Nano-8B-v1
    a merged adapter: x/qwen2-lora-merged x/merge-lora-qwen2 x/qwen2-lora-fullft
    a merged adapter: x/qwen2-peft-full-FT mergekit/qwen2-lora
    a size: openai/gpt-oss-20b x/my-gpt-20b nvidia/GPT-2B-001 cerebras/Cerebras-GPT-2.7B
    a size: EleutherAI/gpt-neo-2.7B x/gpt-2bit google/gemma-2b google/gemma-2b-it
    a size: google/gemma-1.1-2b-it google/codegemma-2b google/recurrentgemma-2b
    a size: google/gemma-3-4b-it x/gemma-2x2b-moe x/OLMo-2b x/OLMo-20b x/lfm-2b x/lfm-20b
    a size: x/phi-3b mlx/phi-4bit x/spark-x2-5b
    another generation: microsoft/phi-2 microsoft/phi-1_5 x/phi-35 x/phi-40
    another generation: ai-forever/rugpt3large_based_on_gpt3 allenai/OLMo-7B-0724-hf
    another generation: allenai/OLMo-7B-Twin-2T allenai/OLMoE-1B-7B-0924 x/Spark-X1.5
    another generation: x/spark-x2.50 google/paligemma2-3b-pt-224 google/shieldgemma-2-4b-it
    another generation: google/t5gemma-2-270m-270m mistralai/Mistral-7B-v0.3
    another generation: mistralai/Mistral-7B-Instruct-v0.2 mistralai/Mixtral-8x7B-v0.1
    another generation: mistral-community/Mixtral-8x22B-v0.1 mistralai/Codestral-22B-v0.1
    another generation: x/mistral-7b-v0.10 x/Mistral-7B-v0.2-sft-v0.1
    another generation: OpenBuddy/openbuddy-mistral-7b-v13.1
    another generation: hf-internal-testing/tiny-random-LlamaForCausalLM
    another generation: prithivMLmods/Bellatrix-Tiny-0.5B";

#[test]
fn every_family_bans_its_members_by_its_own_name() {
    let rules = shipped();
    let mut families = HashSet::new();
    for line in BANNED.lines().filter(|line| !line.is_empty()) {
        let (family, members) = line.trim().split_once(": ").unwrap();
        families.insert(family);
        for address in members.split(' ') {
            assert_eq!(ban(&rules, address), Some(family), "{address}");
        }
    }
    let names: HashSet<_> = rules.0.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(families, names);
}

#[test]
fn what_only_looks_like_a_family_is_not_banned() {
    let rules = shipped();
    for line in FREE.lines().filter(|line| !line.is_empty()) {
        let (why, names) = line.trim().split_once(": ").unwrap();
        for address in names.split(' ') {
            assert_eq!(ban(&rules, address), None, "{address}: {why}");
        }
    }
}

#[test]
fn address_and_name_do_not_run_into_one_another() {
    let rules = shipped();
    for address in ["x/llama-3-tiny", "x/2-shot-gpt", "x/3-epochs-phi", "x/2-gemma"] {
        assert_eq!(ban(&rules, address), None, "{address}");
    }
}

#[test]
fn the_name_counts_as_much_as_the_address() {
    let rules = shipped();
    assert_eq!(rules.banned("x/y", "Model-GGUF"), Some("gguf"));
    assert_eq!(rules.banned("x/y", "gemma-2-9b"), Some("gemma2"));
    assert_eq!(rules.banned("x/model-lora", "merged weights"), None);
    assert_eq!(rules.banned("", ""), None);
}

#[test]
fn no_shipped_candidate_is_banned() {
    let rules = shipped();
    let file: serde_json::Value =
        serde_json::from_str(include_str!("../../data/candidates.json")).unwrap();
    let rows = file["candidates"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let address = row["model_address"].as_str().unwrap();
        assert_eq!(ban(&rules, address), None, "{address}");
    }
}

#[test]
fn the_first_rule_wins_and_unless_stands_anywhere() {
    let rules = Rules::parse(
        r#"{"version":1,"rules":[
            {"rule":"a","pattern":"x","unless":"FREE"},{"rule":"b","pattern":"[xy]"}]}"#,
    )
    .unwrap();
    assert_eq!(rules.banned("o/X", ""), Some("a"));
    assert_eq!(rules.banned("o/x", "is free"), Some("b"));
    assert_eq!(rules.banned("o/y", ""), Some("b"));
    assert_eq!(rules.banned("o/z", ""), None);
}

#[test]
fn a_bad_file_names_the_place() {
    let good = r#"{"rule":"a","pattern":"x"}"#;
    for (rows, says) in [
        (r#"{"rule":"b","pattern":"("}"#, "rules[1]: pattern \"(\" is no regular"),
        (r#"{"rule":"b","pattern":"x","unless":"["}"#, "rules[1]: unless \"[\""),
        (r#"{"rule":"b","pattern":" "}"#, "rules[1]: pattern is blank"),
        (r#"{"rule":"b","pattern":"x","unless":""}"#, "rules[1]: unless is blank"),
        (r#"{"rule":"b","pattern":"x*"}"#, "rules[1]: pattern \"x*\" matches every"),
        (r#"{"rule":" ","pattern":"x"}"#, "rules[1]: the rule name \" \""),
        (r#"{"rule":"b c","pattern":"x"}"#, "rules[1]: the rule name \"b c\""),
        (r#"{"rule":"A","pattern":"y"}"#, "rules[1]: a second rule named A"),
        (r#"{"rule":"b"}"#, "rules[1]: missing field `pattern`"),
        (r#"{"rule":"b","pattern":"x","x":1}"#, "rules[1]: unknown field `x`"),
    ] {
        let error =
            Rules::parse(&format!(r#"{{"version":1,"rules":[{good},{rows}]}}"#)).unwrap_err();
        assert!(error.starts_with(says), "{error}");
    }
    for (text, says) in [
        ("", "line 1"),
        (r#"{"version":2,"rules":[]}"#, "version 2"),
        (r#"{"version":1,"rules":[],"more":1}"#, "unknown field `more`"),
        (r#"{"version":1}"#, "missing field `rules`"),
    ] {
        let error = Rules::parse(text).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}
