//! Task files of other projects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use steadfast_model::Status;
use steadfast_plan::{CompileOptions, Compiled, ListFormat, compile};
use steadfast_testkit::unpacked_corpus;

use crate::round_trip::comes_back;

/// The unpacked corpus and its files. `None` after a skip: it is not there.
pub(crate) fn corpus() -> Option<(tempfile::TempDir, Vec<PathBuf>)> {
    let dir = unpacked_corpus("tasks.tar.zst")?;
    let mut files = Vec::new();
    find(dir.path(), &mut files);
    files.sort();
    assert!(!files.is_empty());
    Some((dir, files))
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn read(file: &Path) -> (String, Result<Compiled, steadfast_plan::LintReport>) {
    let text = std::fs::read_to_string(file).unwrap();
    let compiled = compile(&text, &file.to_string_lossy(), &CompileOptions::default());
    (text, compiled)
}

fn is_markdown(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "md")
}

fn count(compiled: &Compiled, status: Status) -> usize {
    compiled.reported.iter().filter(|reported| reported.status == status).count()
}

/// What each format's files hold, in sum: files, tasks, done, in progress, blocked, dependencies.
#[test]
fn every_file_is_read_and_says_what_it_is() {
    let Some((_dir, files)) = corpus() else { return };
    let mut sums: BTreeMap<String, [usize; 6]> = BTreeMap::new();
    for file in &files {
        let (_, compiled) = read(file);
        let (name, add) = match &compiled {
            Ok(compiled) => {
                let tasks = &compiled.plan.tasks;
                let dependencies = tasks.iter().map(|task| task.blocked_by.len()).sum();
                let of = |status| count(compiled, status);
                let add = [1, tasks.len(), of(Status::Done), of(Status::InProgress), of(Status::Blocked), dependencies];
                (compiled.format.describe().to_owned(), add)
            }
            Err(report) => {
                let errors: BTreeSet<&str> =
                    report.problems.iter().filter(|problem| problem.is_error()).map(|p| p.code.as_str()).collect();
                (format!("{errors:?}"), [1, 0, 0, 0, 0, 0])
            }
        };
        let sum = sums.entry(name).or_default();
        sum.iter_mut().zip(add).for_each(|(sum, add)| *sum += add);
    }
    let sums: String = sums.iter().map(|(name, sum)| format!("{name}: {sum:?}\n")).collect();
    insta::assert_snapshot!(sums, @r#"
    a breakdown into tasks: [11, 187, 0, 0, 0, 538]
    a checklist: [2, 50, 26, 0, 0, 0]
    a spec in Markdown: [16, 109, 8, 0, 0, 117]
    the issues of beads: [5, 1822, 1674, 13, 1, 1538]
    the tasks of an OpenSpec change: [14, 206, 174, 0, 0, 0]
    {"no-tasks"}: [26, 0, 0, 0, 0, 0]
    "#);
}

/// Every issue that is not deleted, with its status, and everything that blocks it.
#[test]
fn no_issue_is_lost() {
    let Some((_dir, files)) = corpus() else { return };
    let mut issues = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "jsonl")) {
        let (text, compiled) = read(file);
        let compiled = compiled.unwrap();
        let live: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let live: Vec<_> = live.into_iter().filter(|issue| issue["status"] != "tombstone").collect();
        let word = |value: &serde_json::Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let expected: BTreeMap<String, String> =
            live.iter().map(|issue| (word(issue, "id"), word(issue, "status"))).collect();
        let stands: BTreeMap<&str, Status> =
            compiled.reported.iter().map(|reported| (reported.task.as_str(), reported.status)).collect();
        let found: BTreeMap<String, String> = compiled
            .plan
            .tasks
            .iter()
            .map(|task| {
                let status = match stands.get(task.id.as_str()) {
                    None | Some(Status::Pending) => "open",
                    Some(Status::Done) => "closed",
                    Some(Status::InProgress) => "in_progress",
                    Some(Status::Blocked) => "blocked",
                };
                (task.id.as_str().to_owned(), status.to_owned())
            })
            .collect();
        assert_eq!(found, expected, "{}", file.display());
        for issue in &live {
            let task = compiled.plan.tasks.iter().find(|task| task.id.as_str() == issue["id"]).unwrap();
            let waits: BTreeSet<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
            for dependency in issue["dependencies"].as_array().into_iter().flatten() {
                let on = word(dependency, "depends_on_id");
                if dependency["type"] == "blocks" && expected.contains_key(&on) {
                    assert!(waits.contains(on.as_str()), "{} waits for {on}", task.id);
                }
            }
        }
        issues += found.len();
    }
    assert_eq!(issues, 1_822);
}

/// Every box of a checklist is a task with its status.
#[test]
fn no_box_is_lost() {
    let Some((_dir, files)) = corpus() else { return };
    let mut boxes = (0, 0);
    for file in files.iter().filter(|file| is_markdown(file)) {
        let (text, compiled) = read(file);
        let Some(compiled) = compiled.ok().filter(|c| matches!(c.format, ListFormat::OpenSpec | ListFormat::Checklist))
        else {
            continue;
        };
        let lines = || text.lines().map(str::trim_start);
        let done = lines().filter(|line| line.starts_with("- [x] ")).count();
        let all = done + lines().filter(|line| line.starts_with("- [ ] ")).count();
        assert_eq!((compiled.plan.tasks.len(), count(&compiled, Status::Done)), (all, done), "{}", file.display());
        boxes = (boxes.0 + all, boxes.1 + done);
    }
    assert_eq!(boxes, (256, 200));
}

/// Every heading that is a task is one, whatever fences are around it.
#[test]
fn no_task_of_a_breakdown_is_lost() {
    let Some((_dir, files)) = corpus() else { return };
    let mut tasks = 0;
    for file in files.iter().filter(|file| is_markdown(file)) {
        let (text, compiled) = read(file);
        let Some(compiled) = compiled.ok().filter(|compiled| compiled.format == ListFormat::Breakdown) else {
            continue;
        };
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("### Task ")).collect();
        let ids: BTreeSet<&str> = headings.iter().filter_map(|heading| heading.split(':').next()).collect();
        let found: BTreeSet<&str> = compiled.plan.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(found, ids, "{}", file.display());
        tasks += headings.len();
    }
    assert_eq!(tasks, 187);
}

#[test]
fn every_plan_comes_back_from_every_export() {
    let Some((_dir, files)) = corpus() else { return };
    let mut plans = 0;
    for file in &files {
        if let (_, Ok(compiled)) = read(file) {
            comes_back(&compiled);
            plans += 1;
        }
    }
    assert!(plans > 30, "{plans}");
}
