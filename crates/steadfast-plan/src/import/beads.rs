//! `.beads/issues.jsonl`: one issue per line. Also reads the list that `bd list --json` prints.

use std::collections::HashSet;
use std::fmt::Write;

use jsonc_parser::ast::Value;
use steadfast_model::Status;

use super::waits::{Part, add_parts};
use crate::draft::{Draft, DraftPhase, DraftStatus, DraftTask, Span, Text, estimate, labels};
use crate::json::parsed;
use crate::json::reader::{Members, Reader};
use crate::problem::{Code, Findings};
use crate::source::bom_len;

/// Fields of an issue that go into the notes, each with its label.
const TEXTS: [(&str, &str); 5] = [
    ("description", ""),
    ("design", "design: "),
    ("acceptance_criteria", "acceptance: "),
    ("notes", "notes: "),
    ("external_ref", "see: "),
];

/// Fields in which a line may name the check: some programs drop the metadata of an export.
const CHECKED: [&str; 2] = ["description", "acceptance_criteria"];

/// The beginning of such a line.
const VERIFY: &str = "verify:";

/// Help for a line that is not JSON.
const FIX_LINE: &str = "each line must be one issue in JSON: fix this line, or export the issues again";

/// The maximum number of errors that are listed.
const MOST_ERRORS: usize = 20;

/// The beginning of note lines that Steadfast wrote. They are not part of the task.
pub const NOTE: &str = "steadfast: ";

/// The label for the reason why an exported issue is blocked.
const BLOCKED: &str = "blocked: ";

pub(super) fn read(text: &str, findings: &mut Findings) -> Option<Draft> {
    let mut issues = Issues::default();
    let base = bom_len(text);
    if text[base..].trim_start().starts_with('[') {
        let value = parsed(&text[base..], base, FIX_LINE, findings)?;
        let mut reader = Reader { findings, base };
        let all: Vec<Span> = reader.array(&value, "the issues").iter().map(|value| reader.span(value)).collect();
        for (value, span) in reader.array(&value, "the issues").iter().zip(all) {
            issues.take(value, &span, &mut reader);
        }
    } else {
        let mut at = base;
        for line in text[base..].split_inclusive('\n') {
            let start = at;
            at += line.len();
            let line = line.trim_end();
            if line.trim().is_empty() {
                continue;
            }
            if findings.has_error() && findings.errors() >= MOST_ERRORS {
                break;
            }
            let Some(value) = parsed(line, start, FIX_LINE, findings) else { continue };
            issues.take(&value, &(start..start + line.len()), &mut Reader { findings, base: start });
        }
    }
    issues.report_left_out(findings);
    (!findings.has_error()).then(|| issues.into_draft(text.len()))
}

#[derive(Default)]
struct Issues {
    tasks: Vec<DraftTask>,
    ids: HashSet<String>,
    parts: Vec<Part>,
    deleted: Vec<Text>,
    templates: Vec<Text>,
}

impl Issues {
    fn take(&mut self, value: &Value<'_>, span: &Span, reader: &mut Reader<'_>) {
        let Some(members) = reader.foreign(value, "an issue") else { return };
        let Some(id) = members.word("id", reader) else {
            reader.missing(&members, "an issue", "id", "each issue in beads has an id: `\"id\": \"bd-1\"`");
            return;
        };
        let status = members.word("status", reader);
        if status.as_ref().is_some_and(|status| status.value == "tombstone") {
            self.deleted.push(id);
            return;
        }
        if matches!(members.get("is_template"), Some(Value::BooleanLit(template)) if template.value) {
            self.templates.push(id);
            return;
        }
        if !self.ids.insert(id.value.clone()) {
            let message = format!("the issue `{}` occurs twice; the first one is used", id.value);
            reader.findings.add(Code::RenamedId, &id.span, message, "export the issues again");
            return;
        }
        let title = members.word("title", reader).unwrap_or_else(|| Text::new(id.value.clone(), span.clone()));
        let mut task = DraftTask::new(id, title);
        task.estimate = members.word("estimated_minutes", reader).and_then(|minutes| estimate::length(&minutes.value));
        task.status = status.and_then(|status| read_status(&status, members, reader));
        let ours = members.get("metadata").and_then(Members::of).and_then(|all| all.get("steadfast"));
        if let Some(ours) = ours {
            read_metadata(&mut task, ours, reader);
        }
        if task.command.is_none() {
            let texts = CHECKED.iter().filter_map(|key| members.word(key, reader));
            task.command = texts.into_iter().find_map(|text| check_in(&text));
        }
        describe(&mut task, members, span, reader);
        self.wait(&mut task, members, reader);
        self.tasks.push(task);
    }

    /// Blocking issues become dependencies; related ones go into the notes.
    fn wait(&mut self, task: &mut DraftTask, members: Members<'_, '_>, reader: &mut Reader<'_>) {
        let Some(all) = members.get("dependencies") else { return };
        for value in reader.array(all, "`dependencies`") {
            let Some(members) = reader.foreign(value, "a dependency") else { continue };
            let word = |key: &str| members.word(key, reader);
            // `bd show --json` has the id of the other issue in `id`.
            let Some(on) = word("depends_on_id").or_else(|| word("id")) else { continue };
            let kind = word("type").or_else(|| word("dependency_type"));
            let kind = kind.map_or_else(|| "blocks".to_owned(), |kind| kind.value.replace('_', "-"));
            match kind.as_str() {
                "blocks" | "conditional-blocks" | "waits-for" => task.after.push(on),
                "parent-child" => self.parts.push((task.id.value.clone(), on.value)),
                other => task.note(&format!("{other}: {}", on.value), &on),
            }
        }
    }

    fn report_left_out(&self, findings: &mut Findings) {
        for (left, what) in [(&self.deleted, "deleted"), (&self.templates, "a template")] {
            let Some(first) = left.first() else { continue };
            let message = match left.len() {
                1 => format!("`{}` is {what}; it is not imported", first.value),
                count => format!("{count} issues (`{}` and others) are {what}; they are not imported", first.value),
            };
            findings.add(Code::LeftOut, &first.span, message, "no action is needed");
        }
    }

    fn into_draft(self, length: usize) -> Draft {
        let feature = self.tasks.first().map_or("beads", |task| family(&task.id.value)).to_owned();
        let span = 0..length.min(1);
        let id = Text::new("tasks", span.clone());
        let gone: HashSet<&str> = self.deleted.iter().chain(&self.templates).map(Text::as_str).collect();
        let mut tasks = self.tasks;
        // Dependencies on deleted issues are dropped.
        for task in &mut tasks {
            task.after.retain(|before| !gone.contains(before.as_str()));
        }
        let name = format!("Issues of {feature}");
        let phase = DraftPhase::new(id, name, tasks);
        let mut draft = Draft { feature, phases: vec![phase], span, ..Draft::default() };
        add_parts(&mut draft, &self.parts);
        draft
    }
}

/// Returns the prefix of an id: `bd` of `bd-x7y8.1`.
fn family(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(family, _)| family)
}

fn read_status(status: &Text, members: Members<'_, '_>, reader: &mut Reader<'_>) -> Option<DraftStatus> {
    let known = labels::status(status, reader.findings)?;
    let reason = match known.status {
        Status::Done => members.word("close_reason", reader).map(|text| text.value),
        Status::Blocked => {
            let word = |key: &str| members.word(key, reader).map(|text| text.value);
            let until = word("defer_until").map(|until| format!("deferred until {until}"));
            until.or_else(|| word("notes")?.strip_prefix(BLOCKED).map(str::to_owned))
        }
        Status::Pending | Status::InProgress => None,
    };
    Some(DraftStatus { reason: reason.or(known.reason), ..known })
}

/// Collects the texts of an issue into the notes, after its type and priority if these are not the default.
fn describe(task: &mut DraftTask, members: Members<'_, '_>, span: &Span, reader: &Reader<'_>) {
    let word = |key: &str| members.word(key, reader);
    let mut what = String::new();
    if let Some(kind) = word("issue_type").filter(|kind| kind.value != "task") {
        what.push_str(&kind.value);
    }
    if let Some(priority) = word("priority").filter(|priority| priority.value != "2") {
        // Writing into a string does not fail.
        let _ = write!(what, "{}priority {}", if what.is_empty() { "" } else { ", " }, priority.value);
    }
    if let Some(Value::Array(labels)) = members.get("labels") {
        let labels: Vec<String> =
            labels.elements.iter().filter_map(|label| reader.word(label)).map(|l| l.value).collect();
        if !labels.is_empty() {
            let _ = write!(what, "{}labels: {}", if what.is_empty() { "" } else { ", " }, labels.join(", "));
        }
    }
    if !what.is_empty() {
        task.note(&what, &Text::new(String::new(), span.clone()));
    }
    for (key, before) in TEXTS {
        let Some(text) = word(key) else { continue };
        match key {
            "acceptance_criteria" if task.command.is_some() => task.criteria.push(text.value),
            "notes" if task.status.is_some() && text.value.starts_with(BLOCKED) => {}
            "notes" => {
                let lines: Vec<&str> = text.value.lines().filter(|line| !line.starts_with(NOTE)).collect();
                let lines = lines.join("\n");
                if !lines.trim().is_empty() {
                    task.note(&format!("{before}{lines}"), &text);
                }
            }
            _ => task.note(&format!("{before}{}", text.value), &text),
        }
    }
}

/// Returns the command of a line ``Verify: `cargo test` ``. Without backticks the line is prose.
fn check_in(text: &Text) -> Option<Text> {
    text.value.lines().find_map(|line| {
        let line = line.trim_start_matches(['-', '*', ' ', '\t']);
        let said = line
            .get(..VERIFY.len())
            .filter(|begin| begin.eq_ignore_ascii_case(VERIFY))
            .map(|_| &line[VERIFY.len()..])?;
        let command = said.trim().strip_prefix('`')?.strip_suffix('`')?;
        (!command.is_empty() && !command.contains('`')).then(|| Text::new(command, text.span.clone()))
    })
}

/// Reads the metadata that an export wrote.
fn read_metadata(task: &mut DraftTask, ours: &Value<'_>, reader: &mut Reader<'_>) {
    let Some(ours) = Members::of(ours) else { return };
    task.task_type = ours.word("type", reader);
    task.command = ours.word("verify", reader);
    task.files = ours.get("files").map(|value| reader.texts(value, "`files`")).unwrap_or_default();
}
