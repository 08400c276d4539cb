//! The way it was done before: everything is read before every step, page by page, each request
//! on a new connection, one after the other.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

const PAGE_SIZE: u64 = 100;
const SEARCH: &str = "/api/computility/models/search-by-model-id?modelId=";

/// A whole cycle: a full read to start with, one for the statistics, and then, for each model, a
/// precheck, a full read and a POST.
pub(crate) fn cycle(address: &str, token: &str, card: &str, models: &[String]) {
    let platform = Platform { address, token };
    platform.read_all();
    platform.read_all();
    for model in models {
        platform.ask("GET", &format!("{SEARCH}{}", model.replace('/', "%2F")), "");
        let pairs = platform.read_all();
        assert!(!pairs.contains(&(model.clone(), card.to_owned())));
        let task = json!({
            "modelAddress": model, "taskType": "text-generation", "targetGpu": card,
            "framework": "vllm", "strategyId": "strategy-1", "configParams": "model: x\n",
        });
        let answer = platform.ask("POST", "/api/adapt/task/add", &task.to_string());
        assert_eq!(answer["code"], 0);
    }
}

struct Platform<'a> {
    address: &'a str,
    token: &'a str,
}

impl Platform<'_> {
    /// The pairs of all own tasks.
    fn read_all(&self) -> HashSet<(String, String)> {
        let mut pairs = HashSet::new();
        let mut pages = 1;
        let mut page = 1;
        while page <= pages {
            let path =
                format!("/api/adapt/task/page?onlyMine=true&pageSize={PAGE_SIZE}&current={page}");
            let data = self.ask("GET", &path, "")["data"].take();
            let total: u64 = data["total"].as_str().expect("a total").parse().expect("a number");
            pages = total.div_ceil(PAGE_SIZE);
            for task in data["records"].as_array().expect("records") {
                let text = |name: &str| task[name].as_str().expect("a text").to_owned();
                pairs.insert((text("modelId"), text("gpuType")));
            }
            page += 1;
        }
        pairs
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(self.address).expect("the platform listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nXc-Token: {}\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("the request leaves");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the answer arrives");
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
        serde_json::from_slice(&answer[end + 4..]).expect("JSON")
    }
}
