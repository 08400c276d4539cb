//! The honest answers.

use serde_json::{Map, Value, json};

use super::account::{BuildConfig, Denial, Precheck};
use super::http::{Reply, Request};
use super::names::{card_enum, model_id, model_key};
use super::page;
use super::state::State;

pub const PAGE_PATH: &str = "/api/adapt/task/page";
pub const PRECHECK_PATH: &str = "/api/computility/models/search-by-model-id";
pub const ADD_PATH: &str = "/api/adapt/task/add";

/// Stands where the platform names a person; must never be logged or stored.
pub const AUTHOR_MARKER: &str = "AUTHOR-NAME-MARKER";
/// Stands where the platform writes a message; must never be logged or stored.
pub const MESSAGE_MARKER: &str = "PLATFORM-MESSAGE-MARKER";

/// The fields of task/add, each with the code for its absence.
const ADD_FIELDS: [(&str, i64); 6] = [
    ("modelAddress", 60013),
    ("taskType", 60015),
    ("targetGpu", 60011),
    ("framework", 60016),
    ("strategyId", 60010),
    ("configParams", 60023),
];

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page of the own tasks.
    Own,
    /// A page of everybody's tasks.
    Slice,
    Precheck,
    /// A POST to task/add.
    Add,
    BuildConfig,
    /// None of these: a wrong path or method.
    Other,
    /// In triggers and counts only: whatever it is.
    Any,
}

impl Kind {
    /// `build_path` is the path of the build configuration, if there is one.
    pub fn of(request: &Request, build_path: Option<&str>) -> Self {
        match (&*request.method, &*request.path) {
            ("GET", PAGE_PATH) if request.query("onlyMine") == Some("true") => Self::Own,
            ("GET", PAGE_PATH) => Self::Slice,
            ("GET", PRECHECK_PATH) => Self::Precheck,
            ("POST", ADD_PATH) => Self::Add,
            ("GET", path) if Some(path) == build_path => Self::BuildConfig,
            _ => Self::Other,
        }
    }

    /// Whether a trigger or count for `self` means a request of kind `other`.
    pub fn covers(self, other: Self) -> bool {
        self == Self::Any || self == other
    }
}

/// Carries out a request and answers it.
pub fn answer(state: &mut State, request: &Request) -> Reply {
    let tokens: Vec<&str> = request.headers_named("xc-token").collect();
    if tokens != [state.account.token.as_str()] {
        return match state.account.denial {
            Denial::Code40100 => failure(200, 40100),
            Denial::Html401 => Reply::html(401),
            Denial::Http401Code0 => success(&Value::Null).with_status(401),
        };
    }
    match request.kind {
        Kind::Own | Kind::Slice => list(state, request),
        Kind::Precheck => precheck(state, request.query("modelId").unwrap_or_default()),
        Kind::Add => add(state, request),
        Kind::BuildConfig => build_config(state),
        Kind::Other | Kind::Any => Reply::html(404),
    }
}

/// The answer to a POST that was scripted to have no effect.
pub fn not_taken() -> Reply {
    failure(200, 50000)
}

fn success(data: &Value) -> Reply {
    Reply::json(200, json!({"code": 0, "message": "ok", "data": data}).to_string())
}

fn failure(status: u16, code: i64) -> Reply {
    Reply::json(status, json!({"code": code, "message": MESSAGE_MARKER, "data": null}).to_string())
}

fn list(state: &mut State, request: &Request) -> Reply {
    let body = page::answer(&state.account, request, state.own_reads);
    if request.kind == Kind::Own {
        state.own_reads += 1;
        state.account.tasks.count_read();
    }
    Reply::json(200, body)
}

fn precheck(state: &State, model: &str) -> Reply {
    match state.account.prechecks.get(&model_key(model)) {
        None => failure(200, 40400),
        Some(Precheck::Raw(body)) => Reply::json(200, body.clone()),
        Some(Precheck::Status(status)) => Reply::html(*status),
        Some(Precheck::Results(results)) => {
            let of_card = |(gpu, result): (&String, &String)| {
                let records =
                    json!([{"createUser": AUTHOR_MARKER, "resultMessage": MESSAGE_MARKER}]);
                (gpu.clone(), json!({"result": result, "records": records}))
            };
            let results: Map<String, Value> = results.iter().map(of_card).collect();
            success(&json!({"modelId": model_id(model), "verifyResult": results}))
        }
    }
}

/// Accepts whatever is complete and not scripted to be refused: a duplicate too, so that it is
/// seen.
fn add(state: &mut State, request: &Request) -> Reply {
    let Ok(Value::Object(body)) = serde_json::from_str(&request.body) else {
        return failure(200, 60008);
    };
    let field =
        |name: &str| body.get(name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if let Some((_, code)) = ADD_FIELDS.into_iter().find(|(name, _)| field(name).is_empty()) {
        return failure(200, code);
    }
    let (address, gpu) = (field("modelAddress"), field("targetGpu"));
    let pair = (model_key(address), card_enum(gpu).to_owned());
    let account = &mut state.account;
    if let Some(rejection) = account.rejections.iter().find(|rule| rule.matches(&pair.0, &pair.1)) {
        return failure(rejection.status, rejection.code);
    }
    if account.task_limit.is_some_and(|limit| account.tasks.unfinished() >= limit) {
        return failure(200, 60007);
    }
    let id = account.tasks.commit(&model_id(address), gpu, account.visible_after);
    *state.accepted.entry(pair).or_default() += 1;
    success(&json!({"id": id.to_string()}))
}

fn build_config(state: &State) -> Reply {
    match &state.account.build_config {
        None => Reply::html(404),
        Some((_, BuildConfig::Status(status))) => Reply::html(*status),
        Some((_, BuildConfig::Text(text))) => success(&json!(text)),
        Some((_, BuildConfig::Object(text))) => success(&json!({"configParams": text})),
    }
}
