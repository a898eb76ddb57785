use jsonc_parser::ast::Value;

use super::keys;
use super::reader::{Members, Reader, name_span};
use crate::draft::{Draft, DraftPhase, DraftTask, Each, Text, estimate, labels, promise};

pub(super) fn read(value: &Value<'_>, reader: &mut Reader<'_>) -> Option<Draft> {
    let members = reader.object(value, "the spec", keys::SPEC)?;
    let mut draft = Draft { span: reader.span(value), ..Draft::default() };
    let feature = reader.required(members, "the spec", "feature", "name what you build: `\"feature\": \"Login\"`");
    draft.feature = feature.map(|text| text.value).unwrap_or_default();
    draft.description = optional(&members, "description", reader).map(|text| text.value);
    draft.promise = optional(&members, "completion_promise", reader).and_then(|text| promise(&text.value));
    for key in keys::CONTEXT {
        if let Some(value) = members.get(key) {
            list(key, value, &mut draft, reader);
        }
    }
    match members.get("decisions") {
        Some(Value::BooleanLit(decisions)) => draft.only_groups = !decisions.value,
        Some(value) => reader.expected("`decisions`", "`true` or `false`", value),
        None => {}
    }
    // Other keys of `context` are free, for people who read the spec.
    if let Some(Value::Object(context)) = members.get("context") {
        reader.once(context);
        for member in context.properties.iter().filter(|member| !matches!(member.value, Value::NullKeyword(_))) {
            list(member.name.as_str(), &member.value, &mut draft, reader);
        }
    }
    if let Some(value) = members.get("verification_commands") {
        commands(value, &mut draft, reader);
    }
    match members.get("phases") {
        Some(value) => {
            draft.phases =
                reader.array(value, "`phases`").iter().filter_map(|phase| read_phase(phase, reader)).collect();
        }
        None => {
            reader.missing(&members, "the spec", "phases", "put the tasks into phases: `\"phases\": [{\"id\": …}]`");
        }
    }
    Some(draft)
}

fn optional(members: &Members<'_, '_>, key: &str, reader: &mut Reader<'_>) -> Option<Text> {
    members.get(key).and_then(|value| reader.text(value, &format!("`{key}`"))).filter(|text| !text.value.is_empty())
}

fn list(key: &str, value: &Value<'_>, draft: &mut Draft, reader: &mut Reader<'_>) {
    let into = match key {
        "constraints" | "must_not" => &mut draft.constraints,
        "success_criteria" => &mut draft.criteria,
        _ => return,
    };
    let lines = reader.texts(value, &format!("`{key}`")).into_iter().map(|text| match key {
        "must_not" => format!("must not: {}", text.value),
        _ => text.value,
    });
    into.extend(lines);
}

fn commands(value: &Value<'_>, draft: &mut Draft, reader: &mut Reader<'_>) {
    let Value::Object(object) = value else {
        reader.expected("`verification_commands`", "an object of names and commands", value);
        return;
    };
    reader.once(object);
    for member in &object.properties {
        let name = member.name.as_str();
        if matches!(member.value, Value::NullKeyword(_)) {
            continue;
        }
        if let Some(command) = reader.text(&member.value, &format!("the command `{name}`"))
            && !command.value.is_empty()
        {
            draft.commands.push((Text::new(name, name_span(reader, member)), command));
        }
    }
}

fn read_phase(value: &Value<'_>, reader: &mut Reader<'_>) -> Option<DraftPhase> {
    let members = reader.object(value, "a phase", keys::PHASE)?;
    let id = reader.required(members, "a phase", "id", "give it an id: `\"id\": \"phase-1\"`");
    let start = reader.span(value).start;
    // A phase without an id is still read, to report the problems inside it.
    let id = id.unwrap_or_else(|| Text::new(String::new(), start..start + 1));
    let name = optional(&members, "name", reader).map_or_else(|| id.value.clone(), |text| text.value);
    let after = members.get("depends_on").map(|value| reader.texts(value, "`depends_on`"));
    let tasks = members.get("tasks").map(|value| read_tasks(value, reader)).unwrap_or_default();
    let each = members.get("loop").and_then(|value| read_loop(value, reader));
    Some(DraftPhase { id, name, after, tasks, each })
}

fn read_loop(value: &Value<'_>, reader: &mut Reader<'_>) -> Option<Each> {
    let members = reader.object(value, "a loop", keys::EACH)?;
    let items = match members.get("items") {
        Some(value) => reader.array(value, "`items`").iter().filter_map(|item| read_item(item, reader)).collect(),
        None => {
            reader.missing(
                &members,
                "a loop",
                "items",
                "list the items that the tasks are repeated for: `\"items\": [\"a\", \"b\"]`",
            );
            Vec::new()
        }
    };
    let tasks = match members.get("tasks") {
        Some(value) => read_tasks(value, reader),
        None => {
            reader.missing(&members, "a loop", "tasks", "list the tasks for each item");
            Vec::new()
        }
    };
    Some(Each { items, tasks })
}

fn read_item(value: &Value<'_>, reader: &mut Reader<'_>) -> Option<String> {
    match value {
        Value::Object(object) => {
            reader.once(object);
            let named = keys::ITEM.iter().rev().find_map(|key| {
                object.properties.iter().find(|member| member.name.as_str() == *key).map(|member| &member.value)
            });
            match named {
                Some(value) => reader.text(value, "the name of an item").map(|text| text.value),
                None => {
                    reader.expected("an item", "a string, or an object with `id` or `name`", value);
                    None
                }
            }
        }
        _ => reader.text(value, "an item").map(|text| text.value),
    }
}

fn read_tasks(value: &Value<'_>, reader: &mut Reader<'_>) -> Vec<DraftTask> {
    reader.array(value, "`tasks`").iter().filter_map(|task| read_task(task, reader)).collect()
}

fn read_task(value: &Value<'_>, reader: &mut Reader<'_>) -> Option<DraftTask> {
    let members = reader.object(value, "a task", keys::TASK)?;
    let id = reader.required(members, "a task", "id", "give it an id: `\"id\": \"1.1\"`");
    let title = reader.required(members, "a task", "task", "describe the work: `\"task\": \"…\"`");
    let start = reader.span(value).start;
    let nothing = || Text::new(String::new(), start..start + 1);
    let mut task = DraftTask::new(id.unwrap_or_else(nothing), title.unwrap_or_else(nothing));
    task.task_type = optional(&members, "type", reader);
    task.files = members.get("files").map(|value| reader.texts(value, "`files`")).unwrap_or_default();
    task.notes = members.get("notes").and_then(|value| {
        let lines = reader.texts(value, "`notes`");
        let first = lines.first()?.span.clone();
        let lines: Vec<String> = lines.into_iter().map(|line| line.value).collect();
        Some(Text::new(lines.join("\n"), first))
    });
    task.after = members.get("depends_on").map(|value| reader.texts(value, "`depends_on`")).unwrap_or_default();
    task.estimate = members.word("estimate", reader).and_then(|word| estimate::read(&word, reader.findings));
    task.status = optional(&members, "status", reader).and_then(|word| labels::status(&word, reader.findings));
    match members.get("verification") {
        Some(Value::StringLit(literal)) if literal.value.trim().is_empty() => {}
        Some(value @ Value::StringLit(_)) => task.command = reader.text(value, "`verification`"),
        Some(value) => verification(value, &mut task, reader),
        None => {}
    }
    Some(task)
}

fn verification(value: &Value<'_>, task: &mut DraftTask, reader: &mut Reader<'_>) {
    let Some(members) = reader.object(value, "a verification", keys::VERIFICATION) else { return };
    // `type` is prose for people; only the command is used.
    let _ = optional(&members, "type", reader);
    task.command = optional(&members, "command", reader);
    task.criteria = members
        .get("success_criteria")
        .map(|value| reader.texts(value, "`success_criteria`"))
        .unwrap_or_default()
        .into_iter()
        .map(|text| text.value)
        .collect();
}
