//! `.taskmaster/tasks/tasks.json`: tasks with subtasks, with or without tags.

use jsonc_parser::ast::Value;

use super::waits::{Part, add_parts};
use crate::draft::{Draft, DraftPhase, DraftTask, Text, labels};
use crate::json::reader::{Members, Reader, name_span};
use crate::json::{FIX_PLACE, parsed};
use crate::markdown::stem;
use crate::problem::Findings;
use crate::source::bom_len;

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Option<Draft> {
    let base = bom_len(text);
    let value = parsed(&text[base..], base, FIX_PLACE, findings)?;
    let mut reader = Reader { findings, base };
    let top = reader.foreign(&value, "the file")?;
    let mut draft = Draft { span: reader.span(&value), feature: stem(name), ..Draft::default() };
    let mut parts = Vec::new();
    if let Some(tasks) = top.get("tasks") {
        about(top, &mut draft, &reader);
        let tasks = list(tasks, "", &mut parts, &mut reader);
        let id = Text::new("tasks", draft.span.start..draft.span.start + 1);
        draft.phases.push(DraftPhase::new(id, "Tasks", tasks));
    } else if let Value::Object(object) = &value {
        for member in &object.properties {
            let Value::Object(_) = member.value else { continue };
            let Some(tag) = reader.foreign(&member.value, "a tag") else { continue };
            let Some(tasks) = tag.get("tasks") else { continue };
            let name = member.name.as_str();
            // Each tag numbers its tasks from 1, so the ids of all but the first tag get its name as prefix.
            let prefix = if draft.phases.is_empty() { String::new() } else { format!("{name}:") };
            about(tag, &mut draft, &reader);
            let tasks = list(tasks, &prefix, &mut parts, &mut reader);
            let id = Text::new(name, name_span(&reader, member));
            draft.phases.push(DraftPhase::new(id, name, tasks));
        }
    }
    add_parts(&mut draft, &parts);
    Some(draft)
}

/// Reads the metadata of the file.
fn about(members: Members<'_, '_>, draft: &mut Draft, reader: &Reader<'_>) {
    let Some(Value::Object(_)) = members.get("metadata") else { return };
    let Some(metadata) = members.get("metadata").and_then(Members::of) else { return };
    if let Some(name) = metadata.word("projectName", reader) {
        draft.feature = name.value;
    }
    if draft.description.is_none() {
        draft.description = metadata.word("description", reader).map(|text| text.value);
    }
}

fn list(value: &Value<'_>, prefix: &str, parts: &mut Vec<Part>, reader: &mut Reader<'_>) -> Vec<DraftTask> {
    let mut tasks = Vec::new();
    for value in reader.array(value, "`tasks`") {
        let Some(members) = reader.foreign(value, "a task") else { continue };
        let Some(task) = one(members, value, prefix, reader) else { continue };
        let whole = task.id.value.clone();
        tasks.push(task);
        let Some(subtasks) = members.get("subtasks") else { continue };
        for value in reader.array(subtasks, "`subtasks`") {
            let Some(members) = reader.foreign(value, "a subtask") else { continue };
            let Some(part) = one(members, value, &format!("{whole}."), reader) else { continue };
            parts.push((part.id.value.clone(), whole.clone()));
            tasks.push(part);
        }
    }
    tasks
}

/// Reads a task. `prefix` is put before every id of a neighbour.
fn one(members: Members<'_, '_>, value: &Value<'_>, prefix: &str, reader: &mut Reader<'_>) -> Option<DraftTask> {
    let Some(id) = members.word("id", reader) else {
        let help = "each task in Task Master has an id: `\"id\": 1`";
        reader.missing(&members, "a task", "id", help);
        return None;
    };
    let title = members.word("title", reader).or_else(|| members.word("description", reader));
    let title = title.unwrap_or_else(|| Text::new(id.value.clone(), reader.span(value)));
    let mut task = DraftTask::new(Text::new(own(prefix, &id.value), id.span), title);
    let status = members.word("status", reader);
    task.status = status.and_then(|word| labels::status(&word, reader.findings));
    for (key, name) in
        [("description", ""), ("details", ""), ("testStrategy", "test strategy: "), ("priority", "priority: ")]
    {
        if let Some(text) = members.word(key, reader).filter(|text| text.value != task.title.value) {
            task.note(&format!("{name}{}", text.value), &text);
        }
    }
    if let Some(before) = members.get("dependencies") {
        let before = reader.array(before, "`dependencies`");
        let names = before.iter().filter_map(|value| reader.word(value));
        task.after = names.map(|name| Text::new(full_id(prefix, &name.value), name.span.clone())).collect();
    }
    Some(task)
}

fn own(prefix: &str, id: &str) -> String {
    // A subtask may have its full id.
    if !prefix.is_empty() && id.starts_with(prefix) { id.to_owned() } else { format!("{prefix}{id}") }
}

/// Resolves a dependency: a bare number is a neighbour, an id with a dot is complete within its tag.
fn full_id(prefix: &str, id: &str) -> String {
    let tag = prefix.split_once(':').map_or("", |(tag, _)| tag);
    match (id.contains('.'), tag) {
        (true, "") => id.to_owned(),
        (true, tag) if !id.starts_with(&format!("{tag}:")) => format!("{tag}:{id}"),
        _ => own(prefix, id),
    }
}
