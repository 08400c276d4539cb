//! `submitted-ledger.json` from the platform, from a list, or by hand. Pairs and models are only
//! ever added: baking must not free a pair.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::Target;
use crate::access::Access;
use crate::cli::BakeLedger;
use crate::clock::Clock;
use crate::env::Env;
use crate::exit::{Hold, Reason};
use crate::gpu::Catalog;
use crate::pair::{ModelKey, Pair};
use crate::remote::{self, Remote, Task};
use crate::settings;
use crate::sources::baked::BakedLedger;
use crate::sources::{carried_over, read_text};

const REASON: Reason = Reason::StateReadFailed;

/// Adds what the arguments name to a `submitted-ledger.json`. Returns what to tell of the whole
/// file: `pairs 206 blocked 28`.
///
/// # Errors
/// `state_read_failed`: nothing is named, or a list, a model or the file itself is not legible;
/// those of a credential; `ledger_rebuild_failed` and `ledger_incomplete`: the own tasks could
/// not be read, or not provably all of them; `state_write_failed`. The file is then as it was.
pub fn ledger(
    args: &BakeLedger,
    env: &Env,
    clock: &dyn Clock,
    stop: &AtomicBool,
) -> Result<String, Hold> {
    if !args.from_remote && args.from_json.is_none() && args.block.is_empty() {
        let what = "nothing to add: name --from-remote, --from-json FILE or --block MODEL";
        return Err(Hold::because(REASON, what));
    }
    let (output, data_dir) = (args.output.as_deref(), args.data_dir.as_deref());
    let target = Target::find(output, data_dir, env, "submitted-ledger.json")?;
    // Local things first: a damaged file costs no request.
    existing(&target)?;
    let mut ledger = BakedLedger::default();
    for model in &args.block {
        let key = ModelKey::parse(model)
            .map_err(|bad| Hold::because(REASON, format!("--block {model:?}: {bad}")))?;
        ledger.blocked.insert(key);
    }
    let json = args.from_json.as_deref();
    if let Some(path) = settings::path("--from-json", json, None, env, REASON)? {
        add(&mut ledger, from_json(&path, &target.catalog)?);
    }
    if args.from_remote {
        let remote = read_remote(args, env, clock, stop, &target.catalog)?;
        let nameless = take(&mut ledger, remote.all_seen());
        if nameless > 0 {
            log::warn!(
                "[live] warning {nameless} own tasks of models that are not of the form org/name \
                 are left out: no candidate can be one of them"
            );
        }
    }
    let _lock = target.lock(clock)?;
    add(&mut ledger, existing(&target)?);
    let text =
        ledger.to_text().map_err(|error| target.not_read_back(REASON, &error.to_string()))?;
    match BakedLedger::parse(&text, &target.catalog) {
        Ok(read) if read == ledger => {}
        Ok(_) => return Err(target.not_read_back(REASON, "would be read as something else")),
        Err(why) => return Err(target.not_read_back(REASON, &why)),
    }
    target.write(&text)?;
    Ok(format!("pairs {} blocked {}", ledger.pairs.len(), ledger.blocked.len()))
}

/// What the file holds; nothing where there is none.
fn existing(target: &Target) -> Result<BakedLedger, Hold> {
    let read = read_text(&target.path).and_then(|text| match text {
        Some(text) => BakedLedger::parse(&text, &target.catalog),
        None => Ok(BakedLedger::default()),
    });
    read.map_err(|why| {
        let path = target.path.display();
        let what = "correct it, or name another file with -o FILE; it is left as it is";
        Hold::because(REASON, format!("{path}: {why}; {what}"))
    })
}

fn from_json(path: &Path, catalog: &Catalog) -> Result<BakedLedger, Hold> {
    let read = read_text(path)
        .and_then(|text| text.ok_or_else(|| "there is no such file".to_owned()))
        .and_then(|text| parse(&text, catalog));
    read.map_err(|why| {
        let path = path.display();
        let what = "expected a JSON list of \"model|gpuEnum\", or a submitted-ledger.json";
        Hold::because(REASON, format!("--from-json {path}: {why}; {what}"))
    })
}

/// Reads either form of a list of taken pairs.
fn parse(text: &str, catalog: &Catalog) -> Result<BakedLedger, String> {
    if text.trim_start().starts_with('[') {
        let pairs = carried_over::parse(text, catalog)?;
        Ok(BakedLedger { pairs: pairs.into_iter().collect(), ..BakedLedger::default() })
    } else {
        BakedLedger::parse(text, catalog)
    }
}

fn add(ledger: &mut BakedLedger, other: BakedLedger) {
    ledger.pairs.extend(other.pairs);
    ledger.blocked.extend(other.blocked);
}

/// One complete read of the own tasks.
fn read_remote(
    args: &BakeLedger,
    env: &Env,
    clock: &dyn Clock,
    stop: &AtomicBool,
    catalog: &Catalog,
) -> Result<Remote, Hold> {
    let access = Access::prepare(&args.platform, env)?;
    let reader = access.reader(clock, stop, catalog);
    Ok(remote::read_all(&reader, catalog, access.page_size())?)
}

/// Takes the pairs of tasks, and on every card the models of those whose card could be any.
/// Returns how many were left out, since a file cannot name their models.
fn take<'a>(ledger: &mut BakedLedger, tasks: impl Iterator<Item = &'a Task>) -> usize {
    let mut nameless = 0;
    for task in tasks {
        let named = |model: &&ModelKey| ModelKey::parse(model.as_str()).as_ref() == Ok(*model);
        let mut models = task.models().filter(named).peekable();
        nameless += usize::from(models.peek().is_none());
        for model in models {
            match &task.gpu {
                Some(gpu) => drop(ledger.pairs.insert(Pair::new(model.clone(), gpu.clone()))),
                None => drop(ledger.blocked.insert(model.clone())),
            }
        }
    }
    nameless
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TaskId;
    use crate::gpu::Gpu;
    use crate::remote::State;

    fn catalog() -> Catalog {
        Catalog::parse(include_str!("../../data/gpus.json")).unwrap()
    }

    fn shown(ledger: &BakedLedger) -> Vec<String> {
        let mut shown: Vec<String> = ledger.pairs.iter().map(Pair::to_string).collect();
        shown.extend(ledger.blocked.iter().map(ToString::to_string));
        shown.sort();
        shown
    }

    #[test]
    fn both_forms_of_a_list_are_read() {
        let list = parse(" \n[\"Org/Model|壁砺\",\"a/b|New_x\"]", &catalog()).unwrap();
        assert_eq!(shown(&list), ["a/b on New_x", "org/model on Biren_166m"]);
        let text = list.to_text().unwrap();
        assert_eq!(parse(&text, &catalog()).as_ref(), Ok(&list));
        let error = parse("[\"a/b|A100\"]", &catalog()).unwrap_err();
        assert!(error.contains("[0]: unknown card"), "{error}");
        assert!(parse("{}", &catalog()).is_err());
        assert!(parse("", &catalog()).is_err());
    }

    #[test]
    fn a_task_takes_its_pair_or_its_model() {
        let task = |model: &str, gpu: Option<&str>| Task {
            id: TaskId(1),
            model: ModelKey::seen(model).remove(0),
            or_models: Box::default(),
            gpu: gpu.map(Gpu::verbatim),
            state: State::Open,
            points: 0.0,
        };
        let tasks = [
            task("Org/Model", Some("Biren_166m")),
            task("org/mod\u{200b}el", Some("Biren_166m")),
            task("org/odd", None),
            task("gpt2", Some("Biren_166m")),
            task("org/x.git.git", Some("Biren_166m")),
            task("模型", Some("Biren_166m")),
        ];
        let mut ledger = BakedLedger::default();
        assert_eq!(take(&mut ledger, tasks.iter()), 2);
        assert_eq!(shown(&ledger), ["org/model on Biren_166m", "org/odd", "org/x on Biren_166m"]);
        let text = ledger.to_text().unwrap();
        assert_eq!(BakedLedger::parse(&text, &catalog()).as_ref(), Ok(&ledger));
    }
}
