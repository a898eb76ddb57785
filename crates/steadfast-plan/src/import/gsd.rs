//! `.planning/phases/NN-name/NN-MM-PLAN.md`: a front matter, and tasks in tags: `<task><name>…</name>…</task>`.

use super::note;
use crate::draft::{Draft, DraftPhase, DraftTask, Text};
use crate::markdown::names::numbered;
use crate::markdown::stem;

pub(super) fn read(text: &str, name: &str) -> Draft {
    let mut draft = Draft { feature: stem(name), span: 0..text.len().min(1), ..Draft::default() };
    let whole = Text::new(text, 0..text.len());
    draft.description = inside(&whole, "objective").and_then(|text| first_paragraph(text.as_str()));
    if let Some(criteria) = inside(&whole, "success_criteria") {
        let lines = criteria.as_str().lines().map(|line| line.trim().trim_start_matches("- ").trim());
        draft.criteria = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    }
    let mut tasks: Vec<DraftTask> = Vec::new();
    for (place, block) in all(&whole, "task").into_iter().enumerate() {
        let task = task(&block, place + 1);
        if tasks.iter().all(|known| known.id.value != task.id.value) {
            tasks.push(task);
        } else {
            let id = format!("{}-{}", task.id.value, place + 1);
            tasks.push(DraftTask { id: Text::new(id, task.id.span.clone()), ..task });
        }
    }
    let id = Text::new("tasks", 0..text.len().min(1));
    draft.phases.push(DraftPhase { id, name: "Tasks".to_owned(), after: None, tasks, each: None });
    draft
}

fn task(block: &Text, number: usize) -> DraftTask {
    let start = block.span.start..block.span.start + 1;
    let name = inside(block, "name").unwrap_or_else(|| Text::new(format!("Task {number}"), start.clone()));
    let (id, title) = match numbered(&name) {
        Some(found) => found,
        None => (Text::new(number.to_string(), start), name),
    };
    let mut task = DraftTask::new(id, title);
    if let Some(files) = inside(block, "files") {
        let names =
            files.as_str().split([',', '\n']).map(|name| name.trim().trim_start_matches("- ").trim_matches('`'));
        task.files = names.filter(|name| !name.is_empty()).map(|name| Text::new(name, files.span.clone())).collect();
    }
    if let Some(done) = inside(block, "done") {
        task.criteria.push(done.value);
    }
    for tag in ["action", "how-to-verify", "what-built", "decision", "context"] {
        if let Some(text) = inside(block, tag) {
            note(&mut task, text.as_str(), &text);
        }
    }
    if let Some(verify) = inside(block, "verify") {
        // Words for a reader, unless a tag says that it is a command.
        match inside(&verify, "automated") {
            Some(command) => task.command = Some(command),
            None => note(&mut task, &format!("verify: {}", verify.as_str()), &verify),
        }
    }
    task
}

/// What stands in the first `<tag …>…</tag>`.
fn inside(text: &Text, tag: &str) -> Option<Text> {
    all(text, tag).into_iter().next()
}

fn all(text: &Text, tag: &str) -> Vec<Text> {
    let whole = text.as_str();
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = whole[at..].find(&open).map(|start| at + start + open.len()) {
        at = start;
        // `<tasks>` is not `<task>`.
        if !whole[start..].starts_with(['>', ' ', '\n', '\t', '\r']) {
            continue;
        }
        let Some(begin) = whole[start..].find('>').map(|end| start + end + 1) else { break };
        let Some(end) = whole[begin..].find(&close).map(|end| begin + end) else { break };
        at = end + close.len();
        let part = whole[begin..end].trim();
        let start = text.span.start + (part.as_ptr() as usize - whole.as_ptr() as usize);
        found.push(Text::new(part, start..start + part.len()));
    }
    found
}

fn first_paragraph(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}
