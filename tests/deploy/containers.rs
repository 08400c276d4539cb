//! The image and the Kubernetes manifest: one pod at a time, no rights, no credential.

use std::collections::BTreeMap;

use crate::read;

/// The manifest's scalars by path, `spec.schedule`, lists by index; later documents overlay none
/// of the earlier, since each begins with its kind. Of YAML it knows what the manifest uses.
fn scalars(document: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut items = BTreeMap::<String, usize>::new();
    for line in document.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut rest = line.trim_start();
        let mut indent = line.len() - rest.len();
        open.retain(|(at, _)| *at < indent || (*at == indent && rest.starts_with("- ")));
        while let Some(item) = rest.strip_prefix("- ") {
            open.retain(|(at, key)| {
                *at < indent || (*at == indent && key.parse::<usize>().is_err())
            });
            let list = path(&open);
            let next = items.entry(list).and_modify(|n| *n += 1).or_insert(0);
            open.push((indent, next.to_string()));
            (rest, indent) = (item, indent + 2);
        }
        if let Some((key, value)) = rest.split_once(':') {
            open.push((indent, key.to_owned()));
            if !value.trim().is_empty() {
                found.insert(path(&open), value.trim().trim_matches('"').to_owned());
            }
        }
    }
    found
}

fn path(open: &[(usize, String)]) -> String {
    open.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".")
}

#[test]
fn the_cron_job_runs_one_pod_at_a_time_and_never_again_by_itself() {
    let manifest = read("examples/kubernetes.yaml");
    let (volume, job) = manifest.split_once("\n---\n").unwrap();
    let volume = scalars(volume);
    assert_eq!(volume["kind"], "PersistentVolumeClaim");
    assert_eq!(volume["spec.accessModes"], "[ReadWriteOncePod]");
    let job = scalars(job);
    let pod = "spec.jobTemplate.spec.template.spec";
    let container = &format!("{pod}.containers.0");
    for (place, value) in [
        ("kind", "CronJob"),
        ("spec.concurrencyPolicy", "Forbid"),
        ("spec.startingDeadlineSeconds", "900"),
        ("spec.jobTemplate.spec.backoffLimit", "0"),
        (&format!("{pod}.restartPolicy"), "Never"),
        (&format!("{pod}.automountServiceAccountToken"), "false"),
        (&format!("{pod}.securityContext.runAsNonRoot"), "true"),
        (&format!("{pod}.securityContext.seccompProfile.type"), "RuntimeDefault"),
        (&format!("{container}.args"), "[run, --held-exit-code, \"0\"]"),
        (&format!("{container}.securityContext.readOnlyRootFilesystem"), "true"),
        (&format!("{container}.securityContext.allowPrivilegeEscalation"), "false"),
        (&format!("{container}.securityContext.capabilities.drop"), "[ALL]"),
        (&format!("{container}.volumeMounts.0.mountPath"), "/var/lib/submitter"),
        (&format!("{container}.volumeMounts.1.readOnly"), "true"),
        (&format!("{pod}.volumes.0.persistentVolumeClaim.claimName"), &volume["metadata.name"]),
        (&format!("{pod}.volumes.1.secret.defaultMode"), "0400"),
    ] {
        assert_eq!(job.get(place).map(String::as_str), Some(value), "{place}");
    }
    let seconds = |place: &str| job[place].parse::<u64>().unwrap();
    assert!(seconds("spec.jobTemplate.spec.activeDeadlineSeconds") > 600 + 30, "a whole cycle");
    assert!(seconds(&format!("{pod}.terminationGracePeriodSeconds")) > 30, "a POST in flight");
    let context = format!("{pod}.securityContext");
    assert_eq!(job[&format!("{context}.fsGroup")], job[&format!("{context}.runAsGroup")]);
    let minute = job["spec.schedule"].strip_suffix(" * * * *").expect("once an hour");
    assert!(minute.parse::<u32>().is_ok_and(|minute| minute < 60 && minute % 2 == 1), "{minute}");
}

#[test]
fn the_token_reaches_a_pod_as_a_file_and_an_image_not_at_all() {
    let manifest = scalars(read("examples/kubernetes.yaml").split_once("\n---\n").unwrap().1);
    let container = "spec.jobTemplate.spec.template.spec.containers.0";
    let named: BTreeMap<_, _> = (0..)
        .map_while(|n| manifest.get(&format!("{container}.env.{n}.name")).map(|name| (n, name)))
        .map(|(n, name)| (name.as_str(), manifest[&format!("{container}.env.{n}.value")].as_str()))
        .collect();
    let mount = &manifest[&format!("{container}.volumeMounts.1.mountPath")];
    assert_eq!(named["XC_TOKEN_FILE"], format!("{mount}/token"));
    assert_eq!(named["ALL_TASKS_FOOTHOLD"], "1");
    let dockerfile = read("examples/Dockerfile");
    let steps: Vec<&str> = dockerfile.lines().filter(|line| !line.starts_with('#')).collect();
    for name in submitter::secret::SOURCES {
        assert!(!steps.iter().any(|step| step.contains(name)), "{name}");
        assert!(name == "XC_TOKEN_FILE" || !named.contains_key(name), "{name}");
    }
    assert!(!steps.iter().any(|step| step.starts_with("ARG")), "an ARG stays in the history");
}

#[test]
fn the_image_holds_the_program_alone_and_runs_without_root() {
    let dockerfile = read("examples/Dockerfile");
    let (_, image) = dockerfile.rsplit_once("\nFROM ").unwrap();
    let steps: Vec<&str> = image.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(steps[0], "scratch");
    let manifest = read("examples/kubernetes.yaml");
    let user = steps.iter().find_map(|step| step.strip_prefix("USER ")).unwrap();
    let (id, _) = user.split_once(':').unwrap();
    assert!(id.parse::<u32>().unwrap() > 0 && manifest.contains(&format!("runAsUser: {id}\n")));
    for step in [
        "ENV SUBMITTER_STATE_DIR=/var/lib/submitter ALL_TASKS_FOOTHOLD=1",
        "VOLUME /var/lib/submitter",
        "ENTRYPOINT [\"/usr/bin/submitter\"]",
        "CMD [\"run\"]",
    ] {
        assert!(steps.contains(&step), "{step}");
    }
    let context = read("examples/Dockerfile.dockerignore");
    let lines: Vec<&str> = context.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines, ["*", "!Cargo.toml", "!Cargo.lock", "!benches", "!data", "!src"]);
}
