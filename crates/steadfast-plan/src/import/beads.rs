//! `.beads/issues.jsonl`: an issue a line. Also the list that `bd list --json` prints.

use std::collections::HashSet;
use std::fmt::Write;

use jsonc_parser::ast::Value;
use steadfast_model::Status;

use super::waits::{Part, add_parts};
use crate::draft::{Draft, DraftPhase, DraftStatus, DraftTask, Span, Text};
use crate::estimate;
use crate::json::parsed;
use crate::json::reader::{Members, Reader};
use crate::labels;
use crate::problem::{Code, Findings};
use crate::source::bom_len;

/// What is kept of an issue beside its title, with what stands before it.
const TEXTS: [(&str, &str); 5] = [
    ("description", ""),
    ("design", "design: "),
    ("acceptance_criteria", "acceptance: "),
    ("notes", "notes: "),
    ("external_ref", "see: "),
];

/// Where a line may say how an issue is checked: not every program keeps what an export puts beside it.
const CHECKED: [&str; 2] = ["description", "acceptance_criteria"];

/// What such a line begins with.
const VERIFY: &str = "verify:";

/// What to do about a line that is no JSON.
const MEND_LINE: &str = "every line is an issue: mend it, or export the issues again";

/// More of the same helps nobody.
const MOST_ERRORS: usize = 20;

/// What a line of an issue's notes begins with that Steadfast wrote: it is not part of the task.
pub const NOTE: &str = "steadfast: ";

/// How an export says why an issue is blocked.
const BLOCKED: &str = "blocked: ";

pub(super) fn read(text: &str, findings: &mut Findings) -> Option<Draft> {
    let mut issues = Issues::default();
    let base = bom_len(text);
    if text[base..].trim_start().starts_with('[') {
        let value = parsed(&text[base..], base, MEND_LINE, findings)?;
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
            let Some(value) = parsed(line, start, MEND_LINE, findings) else { continue };
            issues.take(&value, &(start..start + line.len()), &mut Reader { findings, base: start });
        }
    }
    issues.say_what_is_left_out(findings);
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
            reader.missing(&members, "an issue", "id", "every issue of beads has one: `\"id\": \"bd-1\"`");
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
            let message = format!("the issue `{}` is there before: the first one counts", id.value);
            reader.findings.add(Code::RenamedId, &id.span, message, "export the issues again");
            return;
        }
        let title = members.word("title", reader).unwrap_or_else(|| Text::new(id.value.clone(), span.clone()));
        let mut task = DraftTask::new(id, title);
        task.estimate = members.word("estimated_minutes", reader).and_then(|minutes| estimate::length(&minutes.value));
        task.standing = status.and_then(|status| stands(&status, members, reader));
        let ours = members.get("metadata").and_then(Members::of).and_then(|all| all.get("steadfast"));
        if let Some(ours) = ours {
            take_back(&mut task, ours, reader);
        }
        if task.command.is_none() {
            let texts = CHECKED.iter().filter_map(|key| members.word(key, reader));
            task.command = texts.into_iter().find_map(|text| check_in(&text));
        }
        describe(&mut task, members, span, reader);
        self.wait(&mut task, members, reader);
        self.tasks.push(task);
    }

    /// What blocks is waited for; what is only related is noted.
    fn wait(&mut self, task: &mut DraftTask, members: Members<'_, '_>, reader: &mut Reader<'_>) {
        let Some(all) = members.get("dependencies") else { return };
        for value in reader.array(all, "`dependencies`") {
            let Some(members) = reader.foreign(value, "a dependency") else { continue };
            let word = |key: &str| members.word(key, reader);
            // `bd show --json` names the other issue itself.
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

    fn say_what_is_left_out(&self, findings: &mut Findings) {
        for (left, what) in [(&self.deleted, "deleted"), (&self.templates, "a template")] {
            let Some(first) = left.first() else { continue };
            let message = match left.len() {
                1 => format!("`{}` is {what}, and is left out", first.value),
                count => format!("{count} issues, `{}` among them, are {what}, and are left out", first.value),
            };
            findings.add(Code::LeftOut, &first.span, message, "there is nothing to do for what is no work");
        }
    }

    fn into_draft(self, length: usize) -> Draft {
        let feature = self.tasks.first().map_or("beads", |task| family(&task.id.value)).to_owned();
        let span = 0..length.min(1);
        let id = Text::new("tasks", span.clone());
        let gone: HashSet<&str> = self.deleted.iter().chain(&self.templates).map(Text::as_str).collect();
        let mut tasks = self.tasks;
        // Nobody waits for what was deleted.
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

/// `bd` of `bd-x7y8.1`.
fn family(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(family, _)| family)
}

fn stands(status: &Text, members: Members<'_, '_>, reader: &mut Reader<'_>) -> Option<DraftStatus> {
    let standing = labels::status(status, reader.findings)?;
    let reason = match standing.status {
        Status::Done => members.word("close_reason", reader).map(|text| text.value),
        Status::Blocked => {
            let word = |key: &str| members.word(key, reader).map(|text| text.value);
            let until = word("defer_until").map(|until| format!("deferred until {until}"));
            until.or_else(|| word("notes")?.strip_prefix(BLOCKED).map(str::to_owned))
        }
        Status::Pending | Status::InProgress => None,
    };
    Some(DraftStatus { reason: reason.or(standing.reason), ..standing })
}

/// All that people wrote about it; first what it is, where that is not the usual.
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
            "notes" if task.standing.is_some() && text.value.starts_with(BLOCKED) => {}
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

/// The command of a line ``Verify: `cargo test` ``, and of no other: without quotes it is prose.
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

/// What an export put beside the issue.
fn take_back(task: &mut DraftTask, ours: &Value<'_>, reader: &mut Reader<'_>) {
    let Some(ours) = Members::of(ours) else { return };
    task.task_type = ours.word("type", reader);
    task.command = ours.word("verify", reader);
    task.files = ours.get("files").map(|value| reader.texts(value, "`files`")).unwrap_or_default();
}
