//! What is exported and read again is the same work: ids, order, dependencies and statuses.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use steadfast_model::{Plan, PlannedTask, Reported, Status, TaskKind};
use steadfast_plan::{CompileOptions, Compiled, ExportTarget, Outgoing, compile, export};

use crate::{lists, said};

const AT: &str = "2026-01-01T00:00:00Z";

pub(crate) fn comes_back(first: &Compiled) {
    for (to, name) in
        [(ExportTarget::Json, "SPEC.json"), (ExportTarget::Markdown, "PLAN.md"), (ExportTarget::Beads, "issues.jsonl")]
    {
        let text = export(Outgoing { plan: &first.plan, reported: &first.reported, at: AT }, to);
        let again = match compile(&text, name, &CompileOptions::default()) {
            Ok(again) => again,
            Err(_) => panic!("{}\n{text}", said(&text, name)),
        };
        assert_eq!(work(&again), work(first), "{to:?}:\n{text}");
        if to != ExportTarget::Beads {
            assert_eq!(phases(&again.plan), phases(&first.plan), "{to:?}:\n{text}");
            assert_eq!(all(&again.plan), all(&first.plan), "{to:?}:\n{text}");
        }
        // An export of that says the same, byte for byte.
        let outgoing = Outgoing { plan: &again.plan, reported: &again.reported, at: AT };
        let (once, twice) = (text.lines(), export(outgoing, to));
        for (once, twice) in once.zip(twice.lines()) {
            assert_eq!(twice, once, "{to:?}");
        }
        assert_eq!(text.lines().count(), twice.lines().count(), "{to:?}");
    }
}

/// Every authored task, in order: id, title, what comes before it, status and why.
type Work = Vec<(String, String, BTreeSet<String>, Status, Option<String>)>;

fn work(compiled: &Compiled) -> Work {
    let stands: BTreeMap<&str, &Reported> =
        compiled.reported.iter().map(|reported| (reported.task.as_str(), reported)).collect();
    let by_id: BTreeMap<&str, &PlannedTask> = compiled.plan.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let mains = compiled.plan.tasks.iter().filter(|task| task.kind == TaskKind::Main);
    mains
        .map(|task| {
            let id = task.id.as_str();
            let standing = stands.get(id);
            let status = standing.map_or(Status::Pending, |standing| standing.status);
            // How it was closed is told to beads; nothing else is said about one without a reason.
            let reason = standing.and_then(|standing| standing.reason.clone()).filter(|_| status == Status::Blocked);
            (id.to_owned(), task.title.clone(), before(&by_id, id), status, reason)
        })
        .collect()
}

/// The authored tasks that a task cannot begin before, through generated ones.
fn before(by_id: &BTreeMap<&str, &PlannedTask>, id: &str) -> BTreeSet<String> {
    let own = |other: &str| [id.to_owned(), format!("{id}a"), format!("{id}b")].iter().any(|own| own == other);
    let mut found = BTreeSet::new();
    let mut left = vec![id.to_owned(), format!("{id}a"), format!("{id}b")];
    let mut seen: BTreeSet<String> = left.iter().cloned().collect();
    while let Some(next) = left.pop() {
        let Some(task) = by_id.get(next.as_str()) else { continue };
        if task.kind == TaskKind::Main && !own(&next) {
            found.insert(next);
            continue;
        }
        left.extend(task.blocked_by.iter().map(|id| id.as_str().to_owned()).filter(|id| seen.insert(id.clone())));
    }
    found
}

fn phases(plan: &Plan) -> Vec<(&str, &str)> {
    plan.phases.iter().map(|phase| (phase.id.as_str(), phase.name.as_str())).collect()
}

/// All tasks, generated ones among them.
fn all(plan: &Plan) -> Vec<(&str, TaskKind, BTreeSet<&str>)> {
    plan.tasks
        .iter()
        .map(|task| (task.id.as_str(), task.kind, task.blocked_by.iter().map(|id| id.as_str()).collect()))
        .collect()
}

#[test]
fn each_kind_of_list_comes_back() {
    for (text, name) in lists::ALL {
        match compile(text, name, &CompileOptions::default()) {
            Ok(compiled) => comes_back(&compiled),
            Err(_) => panic!("{}", said(text, name)),
        }
    }
}

fn spec() -> impl Strategy<Value = String> {
    let kinds = vec!["ui", "backend", "func", "docs", "none"];
    let statuses = vec!["pending", "in_progress", "done", "blocked", "blocked: why not"];
    let titles = vec!["Do it", "1.2 Fix", "Look (ui)", "Say `x`: y", "[P] z {#a}", "- [ ] **b**", "T1 # |", "> q"];
    let task = (
        prop::sample::select(titles),
        prop::sample::select(kinds),
        prop::sample::select(statuses),
        prop::collection::btree_set((1_usize..4, 1_usize..5), 0..3),
        prop::option::of(prop::sample::select(vec!["cargo test", "make -C x", "a && b"])),
        prop::option::of(prop::sample::select(vec!["one", "one\n\n- [ ] two\n# three", "> four\n```\nfive"])),
    );
    let phase = (prop::collection::vec(task, 1..5), prop::sample::select(vec!["", ", \"depends_on\": []"]));
    (prop::collection::vec(phase, 1..4), any::<bool>()).prop_map(|(phases, decides)| {
        let written = phases.iter().enumerate().map(|(index, (tasks, more))| {
            let number = index + 1;
            let tasks: Vec<_> = tasks
                .iter()
                .enumerate()
                .map(|(place, (title, kind, status, after, check, notes))| {
                    // Only what comes before, so that there is no circle.
                    let after = after.iter().filter(|(phase, task)| {
                        (*phase, *task) < (number, place + 1) && phases[phase - 1].0.len() >= *task
                    });
                    let after: Vec<String> = after.map(|(phase, task)| format!("{phase}.{task}")).collect();
                    serde_json::json!({"id": format!("{number}.{}", place + 1), "task": title, "type": kind,
                        "status": status, "depends_on": after, "verification": check, "notes": notes,
                        "files": [format!("src/{number}/{place}.rs")]})
                })
                .collect();
            let tasks = serde_json::to_string(&tasks).unwrap();
            format!(r#"{{"id": "p{number}", "name": "Phase of {number}", "tasks": {tasks}{more}}}"#)
        });
        let written: Vec<String> = written.collect();
        format!(r#"{{"feature": "F", "decisions": {decides}, "phases": [{}]}}"#, written.join(","))
    })
}

proptest! {
    // Each is compiled seven times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_spec_comes_back(text in spec()) {
        match compile(&text, "SPEC.json", &CompileOptions::default()) {
            Ok(compiled) => comes_back(&compiled),
            Err(_) => panic!("{}", said(&text, "SPEC.json")),
        }
    }

    /// Ids of any shape, as trackers make them.
    #[test]
    fn every_list_of_issues_comes_back(
        issues in prop::collection::vec(
            ("[a-z]{1,6}-[a-z0-9]{1,4}(\\.[0-9]{1,2})?", "[ -~]{1,40}", 0_usize..5, any::<prop::sample::Index>(), 0_usize..3),
            1..20,
        ),
    ) {
        let statuses = ["open", "in_progress", "closed", "blocked", "deferred"];
        let kinds = ["blocks", "parent-child", "related"];
        let mut lines = String::new();
        for (place, (id, title, status, on, kind)) in issues.iter().enumerate() {
            let on = &issues[on.index(issues.len()).min(place)].0;
            let issue = serde_json::json!({"id": id, "title": format!("t{title}"), "status": statuses[*status],
                "dependencies": [{"issue_id": id, "depends_on_id": on, "type": kinds[*kind]}]});
            lines += &format!("{issue}\n");
        }
        if let Ok(compiled) = compile(&lines, "issues.jsonl", &CompileOptions::default()) {
            comes_back(&compiled);
        }
    }
}
