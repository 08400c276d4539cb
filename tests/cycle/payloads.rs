//! Where a task's `configParams` come from.

use crate::kit::{Ended, Machine, account, models, strs};
use crate::platform::{BuildConfig, Fault, Kind, Trigger};

type Make = fn() -> Fault;

const PATH: &str = "/api/adapt/build-config";

fn asking(answer: BuildConfig) -> Machine {
    let mut machine = Machine::new(account().build_config(PATH, answer), &strs(&models(3)));
    machine.set("MODELHUB_BUILD_CONFIG_PATH", PATH);
    machine.set("LIVE_CYCLE_DEADLINE_SECONDS", "20");
    machine
}

/// The `configParams` of all POSTs, which must be equal.
fn sent(machine: &Machine) -> String {
    let requests = machine.platform.requests();
    let mut sent: Vec<String> = requests
        .iter()
        .filter(|asked| asked.kind == Kind::Add)
        .map(|asked| {
            let body: serde_json::Value = serde_json::from_str(&asked.body).unwrap();
            body["configParams"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(sent.len(), 3);
    sent.dedup();
    assert_eq!(sent.len(), 1);
    sent.remove(0)
}

fn told(ended: &Ended, source: &str, reason: &str) {
    let fields = format!(" config_source={source} config_reason={reason} reason=");
    assert_eq!(ended.lines("[live] submitted ").count(), 3, "{}", ended.log);
    for line in ended.lines("[live] submitted ") {
        assert!(line.contains(&fields), "{fields} in {line}");
    }
}

const SAMPLE: &str = include_str!("../../data/config-params/vllm.yaml");

#[test]
fn without_a_path_the_sample_is_sent() {
    let machine = Machine::new(account(), &strs(&models(3)));
    told(&machine.cycle(0), "sample", "not_configured");
    assert_eq!(sent(&machine), SAMPLE);
}

#[test]
fn a_sample_of_the_data_folder_replaces_the_shipped_one() {
    let machine = Machine::new(account(), &strs(&models(3)));
    std::fs::create_dir(machine.folder.path().join("data/config-params")).unwrap();
    machine.write_data("config-params/vllm.yaml", "mine: true\n");
    told(&machine.cycle(0), "sample", "not_configured");
    assert_eq!(sent(&machine), "mine: true\n");
}

#[test]
fn the_platform_builds_the_parameters_where_a_path_is_set() {
    for answer in [BuildConfig::Text("a: 1\n".into()), BuildConfig::Object("a: 1\n".into())] {
        let machine = asking(answer);
        told(&machine.cycle(0), "build-config", "ok");
        assert_eq!(sent(&machine), "a: 1\n");
        let requests = machine.platform.requests();
        let asked = requests.iter().find(|asked| asked.kind == Kind::BuildConfig).unwrap();
        let query = [
            ("modelAddress", "Org/Model-0"),
            ("taskType", "text-generation"),
            ("targetGpu", "Biren_166m"),
            ("framework", "vllm"),
        ];
        assert_eq!(asked.query, query.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}

#[test]
fn a_404_is_remembered_for_the_cycle_and_asked_again_in_the_next() {
    let machine = asking(BuildConfig::Status(404));
    told(&machine.cycle(0), "sample", "http_error");
    assert_eq!(sent(&machine), SAMPLE);
    assert_eq!(machine.platform.count(Kind::BuildConfig), 1);
    machine.age_journal(7_200);
    machine.cycle(0);
    assert_eq!(machine.platform.count(Kind::BuildConfig), 2);
}

#[test]
fn any_other_failure_sends_the_sample_and_asks_again_for_the_next_task() {
    let faults: [(Make, &str); 7] = [
        (|| Fault::status(403), "http_error"),
        (|| Fault::status(503).with_header("Retry-After", "30"), "http_error"),
        (|| Fault::html(), "malformed_json"),
        (|| Fault::body(r#"{"code":50000,"message":"m","data":null}"#), "platform_error"),
        (|| Fault::body(r#"{"code":0,"message":"m","data":null}"#), "malformed_data"),
        (|| Fault::body(r#"{"code":0,"message":"m","data":" "}"#), "malformed_data"),
        (|| Fault::body(r#"{"code":0,"data":{"configParams":{"a":1}}}"#), "malformed_data"),
    ];
    for (fault, reason) in faults {
        let machine = asking(BuildConfig::Text("a: 1\n".into()));
        machine.platform.fault(Trigger::every(Kind::BuildConfig), fault());
        told(&machine.cycle(0), "sample", reason);
        assert_eq!(sent(&machine), SAMPLE);
        assert_eq!(machine.platform.count(Kind::BuildConfig), 3);
    }
}

#[test]
fn config_params_source_sample_asks_nobody() {
    let mut machine = asking(BuildConfig::Text("a: 1\n".into()));
    machine.set("CONFIG_PARAMS_SOURCE", "sample").cycle(0);
    assert_eq!(sent(&machine), SAMPLE);
    assert_eq!(machine.platform.count(Kind::BuildConfig), 0);
}
