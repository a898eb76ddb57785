//! `.planning/phases/NN-name/NN-MM-PLAN.md`: front matter, and tasks in tags: `<task><name>…</name>…</task>`.

use crate::draft::{Draft, DraftPhase, DraftTask, Span, Text};
use crate::markdown::names::{numbered, plain};
use crate::markdown::{blocks, stem};
use steadfast_words::blocks::{Block, BlockKind};

pub(super) fn read(text: &str, name: &str) -> Draft {
    let whole = Text::new(text, 0..text.len());
    let blocks: Vec<Tag> = tags(&whole).into_iter().flat_map(|tag| tag.unwrap_tag("tasks")).collect();
    let mut draft = Draft { span: 0..text.len().min(1), ..Draft::default() };
    let mut tasks: Vec<DraftTask> = Vec::new();
    let mut inside: Vec<Span> = Vec::new();
    for tag in &blocks {
        match tag.name.as_str() {
            "objective" => draft.description = first_paragraph(tag.body.as_str()),
            "success_criteria" => {
                let lines = tag.body.as_str().lines().map(unmarked).filter(|line| !line.is_empty());
                draft.criteria.extend(lines.map(str::to_owned));
                inside.push(tag.body.span.clone());
            }
            "task" => {
                inside.push(tag.body.span.clone());
                let task = task(tag, tasks.len() + 1);
                let is_taken = tasks.iter().any(|known| known.id.value == task.id.value);
                let id =
                    if is_taken { format!("{}-{}", task.id.value, tasks.len() + 1) } else { task.id.value.clone() };
                tasks.push(DraftTask { id: Text::new(id, task.id.span.clone()), ..task });
            }
            _ => {}
        }
    }
    around(text, &inside, &mut draft);
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    let id = Text::new("tasks", 0..text.len().min(1));
    draft.phases.push(DraftPhase::new(id, "Tasks", tasks));
    draft
}

/// Reads the text around the tasks: the title, the description, and the boxes with success criteria.
fn around(text: &str, inside: &[Span], draft: &mut Draft) {
    let mut is_objective = false;
    for Block { kind, text, .. } in blocks(text) {
        if inside.iter().any(|span| span.contains(&text.span.start)) {
            continue;
        }
        match kind {
            BlockKind::Heading(1) if draft.feature.is_empty() => draft.feature = plain(text.as_str()),
            BlockKind::Heading(_) => is_objective = text.as_str().eq_ignore_ascii_case("objective"),
            BlockKind::Box(_) => draft.criteria.push(text.value),
            BlockKind::Text if is_objective && draft.description.is_none() => draft.description = Some(text.value),
            _ => {}
        }
    }
}

fn task(block: &Tag, number: usize) -> DraftTask {
    let start = block.body.span.start..block.body.span.start + 1;
    let parts = tags(&block.body);
    let name = parts.iter().find(|part| part.name == "name").map(|part| part.body.clone());
    let name = name.unwrap_or_else(|| Text::new(format!("Task {number}"), start.clone()));
    let (id, title) = match numbered(&name) {
        Some(found) => found,
        None => (Text::new(number.to_string(), start), name),
    };
    let mut task = DraftTask::new(id, title);
    if block.attributes.contains("checkpoint") {
        task.note(&block.attributes, &block.body);
    }
    for Tag { name, body, .. } in parts {
        match name.as_str() {
            "name" => {}
            "files" => {
                let files = body.as_str().split([',', '\n']).map(|file| unmarked(file).trim_matches('`'));
                let files = files.filter(|file| !file.is_empty());
                task.files.extend(files.map(|file| Text::new(file, body.span.clone())));
            }
            "done" => task.criteria.push(body.value),
            // Prose, unless a tag marks it as a command.
            "verify" => match tags(&body).into_iter().find(|part| part.name == "automated") {
                Some(command) => task.command = Some(command.body),
                None => task.note(&format!("verify: {}", body.as_str()), &body),
            },
            "action" => task.note(body.as_str(), &body),
            other => task.note(&format!("{other}: {}", body.as_str()), &body),
        }
    }
    task
}

/// `<name attributes>body</name>`.
struct Tag {
    name: String,
    attributes: String,
    body: Text,
}

impl Tag {
    /// Returns the tags inside if this is only a wrapper of that name.
    fn unwrap_tag(self, name: &str) -> Vec<Self> {
        if self.name == name { tags(&self.body) } else { vec![self] }
    }
}

/// Returns the tags of a text, without nested ones. A tag that is not closed is ignored.
fn tags(text: &Text) -> Vec<Tag> {
    let whole = text.as_str();
    let mut found = Vec::new();
    let mut unclosed: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(start) = whole[at..].find('<').map(|start| at + start + 1) {
        at = start;
        let rest = &whole[start..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() || unclosed.contains(&name) {
            continue;
        }
        let Some(begin) = rest.find('>').map(|end| start + end + 1) else { break };
        let Some(length) = whole[begin..].find(&format!("</{name}>")) else {
            // Each unclosed name is searched once, or a text full of them would take quadratic time.
            if unclosed.len() < MOST_UNCLOSED {
                unclosed.push(name);
                continue;
            }
            break;
        };
        at = begin + length + name.len() + 3;
        let body = whole[begin..begin + length].trim();
        found.push(Tag {
            name: name.to_owned(),
            attributes: whole[start + end..begin - 1].trim().to_owned(),
            body: text.part(body),
        });
    }
    found
}

/// The limit for different unclosed names.
const MOST_UNCLOSED: usize = 100;

/// Removes the bullet of a list.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    ["[ ]", "[x]", "[X]"].into_iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim()
}

fn first_paragraph(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}
