//! Specs in the styles that people use, each with the tasks that its author meant: `styles/*.txt`.
//!
//! Above `%%%` stands the name of the file and a row per task: id, title, phase, check, status; `*` is any. Below it
//! stands the spec. No row: the text has no tasks. `unread: 6`: line 6 has to be named as not read. `error: CODE LINE`:
//! the text is refused.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use steadfast_model::{Check, Status, TaskKind};
use steadfast_plan::{Code, CompileOptions, Compiled, LintReport, Problem, compile};

struct Style {
    name: String,
    text: String,
    rows: Vec<[String; 5]>,
    unread: Vec<usize>,
    error: Option<(String, usize)>,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    AsExpected,
    /// Other tasks than expected, and a warning or an error names lines.
    WithWarning(String),
    Silent(String),
}

fn style(path: &Path) -> Style {
    let whole = std::fs::read_to_string(path).unwrap();
    let (head, text) = whole.split_once("%%%\n").unwrap();
    let mut style =
        Style { name: String::new(), text: text.to_owned(), rows: Vec::new(), unread: Vec::new(), error: None };
    for line in head.lines() {
        if let Some(name) = line.strip_prefix("name: ") {
            style.name = name.to_owned();
        } else if line == "crlf: yes" {
            style.text = style.text.replace('\n', "\r\n");
        } else if let Some(lines) = line.strip_prefix("unread: ") {
            style.unread = lines.split(", ").map(|line| line.parse().unwrap()).collect();
        } else if let Some(error) = line.strip_prefix("error: ") {
            style.error = error.split_once(' ').map(|(code, line)| (code.to_owned(), line.parse().unwrap()));
        } else {
            let cells: Vec<String> = line.split(" | ").map(str::to_owned).collect();
            style.rows.push(cells.try_into().unwrap_or_else(|cells| panic!("{}: {cells:?}", path.display())));
        }
    }
    style
}

/// The authored tasks of a plan as the rows above write them.
fn rows(compiled: &Compiled) -> Vec<[String; 5]> {
    let plan = &compiled.plan;
    let phases: HashMap<&str, &str> =
        plan.phases.iter().map(|phase| (phase.id.as_str(), phase.name.as_str())).collect();
    let command = |id: &str| {
        let task = plan.tasks.iter().find(|task| task.id.as_str() == id)?;
        task.verify.as_ref().and_then(Check::as_command).map(str::to_owned)
    };
    let row = |id: &str, title: &str, phase: Option<&str>| {
        let check = ["", "a", "b"].iter().find_map(|link| command(&format!("{id}{link}")));
        let reported = compiled.reported.iter().find(|one| one.task.as_str() == id).map(|one| one.status);
        let status = match reported.unwrap_or(Status::Pending) {
            Status::Pending => "open",
            Status::InProgress => "doing",
            Status::Blocked => "blocked",
            Status::Done => "done",
        };
        let phase = phase.and_then(|phase| phases.get(phase)).unwrap_or(&"-");
        [id, title, phase, check.as_deref().unwrap_or("-"), status].map(str::to_owned)
    };
    let authored = plan.tasks.iter().filter(|task| task.kind == TaskKind::Main);
    authored.map(|task| row(task.id.as_str(), &task.title, task.phase.as_deref())).collect()
}

fn fits(expected: &[[String; 5]], found: &[[String; 5]]) -> bool {
    let cell = |(expected, found): (&String, &String)| expected == "*" || expected == found;
    expected.len() == found.len()
        && expected.iter().zip(found).all(|(expected, found)| expected.iter().zip(found).all(cell))
}

fn unread(compiled: &Result<Compiled, LintReport>) -> Vec<usize> {
    match compiled {
        Ok(compiled) => compiled.unread.clone(),
        Err(_) => Vec::new(),
    }
}

fn outcome(style: &Style) -> Outcome {
    let compiled = compile(&style.text, &style.name, &CompileOptions::default());
    let found = compiled.as_ref().map(rows).unwrap_or_default();
    let unread = unread(&compiled);
    let errors: Vec<(&str, usize)> = match &compiled {
        Ok(_) => Vec::new(),
        Err(report) => {
            report.problems.iter().filter(|one| one.is_error()).map(|one| (one.code.as_str(), one.line)).collect()
        }
    };
    let is_right = match &style.error {
        Some((code, line)) => errors == [(code.as_str(), *line)],
        None if style.rows.is_empty() => {
            errors.iter().all(|(code, _)| *code == Code::NoTasks.as_str()) && !errors.is_empty()
        }
        None => compiled.is_ok() && fits(&style.rows, &found) && style.unread.iter().all(|line| unread.contains(line)),
    };
    let names_lines =
        |one: &Problem| matches!(one.code, Code::OtherTitle | Code::RenamedId | Code::EmptyPhase | Code::UnclosedFence);
    let is_loud = compiled.as_ref().is_ok_and(|compiled| compiled.warnings.iter().any(names_lines));
    let what = || format!("{found:#?}\nunread {unread:?}, errors {errors:?}");
    match is_right {
        true => Outcome::AsExpected,
        false if is_loud || !errors.is_empty() || !unread.is_empty() => Outcome::WithWarning(what()),
        false => Outcome::Silent(what()),
    }
}

/// How many are read as expected, and what is said of the others.
fn measure(folder: &str, is_meant: impl Fn(usize) -> bool) -> (usize, usize, Vec<String>, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut all, mut right, mut silent) = (0, 0, 0);
    let mut others = Vec::new();
    for (number, file) in (1..).zip(&files) {
        if !is_meant(number) {
            continue;
        }
        all += 1;
        let stem = file.file_stem().unwrap().to_string_lossy();
        match outcome(&style(file)) {
            Outcome::AsExpected => right += 1,
            Outcome::WithWarning(what) => others.push(format!("{stem}, with a warning: {what}")),
            Outcome::Silent(what) => {
                silent += 1;
                others.push(format!("{stem}, SILENT: {what}"));
            }
        }
    }
    (all, right, others, silent)
}

/// Every fifth of these was kept aside while the rules were written.
#[test]
fn specs_are_read_as_their_authors_meant_them() {
    let (all, right, others, silent) = measure("styles", |_| true);
    assert!(all == 60 && right >= 57 && silent == 0, "{right} of {all}, {silent} silent\n{}", others.join("\n"));
}

/// Written after the rules.
#[test]
fn later_specs_are_read_as_their_authors_meant_them() {
    let (all, right, others, silent) = measure("later", |_| true);
    assert!(all == 20 && right == 20 && silent == 0, "{right} of {all}, {silent} silent\n{}", others.join("\n"));
}

/// Written after the rules as well, with other ways to say what a task needs.
#[test]
fn third_specs_are_read_as_their_authors_meant_them() {
    let (all, right, others, silent) = measure("third", |_| true);
    assert!(all == 20 && right >= 18 && silent == 0, "{right} of {all}, {silent} silent\n{}", others.join("\n"));
}
