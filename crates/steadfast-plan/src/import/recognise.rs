//! Recognises the format of a task list by its content, and by its file name if the content is ambiguous.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::ListFormat;
use super::list::task_heading;
use super::slices;
use crate::markdown::blocks;
use crate::markdown::fields::{Field, field};
use crate::markdown::names::{numbered, tagged};
use crate::problem::{Code, Findings};
use crate::source::{Notation, bom_len};
use steadfast_words::blocks::{Block, BlockKind};

/// Returns the format. `None`: unknown; a problem is added.
pub(crate) fn recognise(text: &str, name: &str, findings: &mut Findings) -> Option<ListFormat> {
    let body = &text[bom_len(text)..];
    let lower = name.to_ascii_lowercase();
    match Notation::of(text, name, findings)? {
        _ if is_issue(body) => Some(ListFormat::Beads),
        _ if lower.ends_with(".jsonl") => json_lines(body, findings),
        Notation::Json => json(body, findings),
        Notation::Markdown => Some(markdown(text, &lower)),
    }
}

type Keys<'a> = BTreeMap<String, &'a RawValue>;

/// Reports whether the first line, or the first entry of a list, is an issue of beads.
fn is_issue(body: &str) -> bool {
    let start = body.trim_start();
    let first = match start.chars().next() {
        Some('{') => start.lines().next().unwrap_or_default(),
        Some('[') => match serde_json::from_str::<Vec<&RawValue>>(start) {
            Ok(entries) => entries.first().map_or("", |entry| entry.get()),
            Err(_) => "",
        },
        _ => "",
    };
    let Ok(keys) = serde_json::from_str::<Keys<'_>>(first) else { return false };
    let has = |key: &str| keys.contains_key(key);
    has("id") && has("title") && (has("issue_type") || has("status")) && !has("phases") && !has("subtasks")
}

/// The reader of issues reports invalid JSON.
fn json_lines(body: &str, findings: &mut Findings) -> Option<ListFormat> {
    let first = body.trim_start().lines().next().unwrap_or_default();
    if serde_json::from_str::<serde::de::IgnoredAny>(first).is_err() {
        return Some(ListFormat::Beads);
    }
    let help = "an issue of beads has `id`, `title` and `status` in each line";
    findings.add(Code::UnknownFormat, &(0..1), "unknown format: lines of JSON that are not issues of beads", help);
    None
}

fn json(body: &str, findings: &mut Findings) -> Option<ListFormat> {
    // The reader of specs reports invalid JSON, and JSON that is not an object.
    let Ok(keys) = serde_json::from_str::<Keys<'_>>(body) else { return Some(ListFormat::SpecJson) };
    let is_list = |value: &RawValue| value.get().starts_with('[');
    let has_tasks = |value: &RawValue| {
        value.get().starts_with('{')
            && serde_json::from_str::<Keys<'_>>(value.get())
                .is_ok_and(|inner| inner.get("tasks").is_some_and(|tasks| is_list(tasks)))
    };
    if keys.contains_key("feature") || keys.contains_key("phases") {
        return Some(ListFormat::SpecJson);
    }
    if keys.get("tasks").is_some_and(|tasks| is_list(tasks)) || keys.values().any(|value| has_tasks(value)) {
        return Some(ListFormat::TaskMaster);
    }
    if keys.is_empty() {
        return Some(ListFormat::SpecJson);
    }
    let help =
        "a SPEC.json has `feature` and `phases`, Task Master's file has `tasks`, and beads an issue in each line";
    findings.add(Code::UnknownFormat, &(0..1), "unknown format: JSON that is not a known task list", help);
    None
}

/// Counts of the marks in a Markdown text by which its format is recognised.
#[derive(Default)]
struct Signs {
    boxes: usize,
    /// Ids such as `T001`.
    kit: usize,
    /// Ids such as `1.2` below `## 1. Heading`.
    numbered: usize,
    numbered_headings: usize,
    task_headings: usize,
    phase_headings: usize,
    /// Checks and fields, which only a spec has.
    checks: usize,
    fields: usize,
    rows: usize,
    /// Tags `<task …>`, and `<name>` inside them.
    tags: usize,
    names: usize,
    exported: bool,
    /// The next lines belong to a task.
    in_task: bool,
}

fn markdown(text: &str, name: &str) -> ListFormat {
    let signs = Signs::of(text);
    let path = name.replace('\\', "/");
    let file = path.rsplit('/').next().unwrap_or(&path);
    let is_list = ["tasks.md", "todo.md", "checklist.md"].iter().any(|end| file.ends_with(end));
    if signs.exported {
        return ListFormat::SpecMarkdown;
    }
    if file.ends_with("tdd-progress.md") && slices::has_slices(text) {
        return ListFormat::Slices;
    }
    if signs.tags > 0 && signs.names > 0 {
        return ListFormat::Gsd;
    }
    if file.starts_with("spec") {
        return ListFormat::SpecMarkdown;
    }
    if is_list && path.contains("openspec/changes/") && signs.boxes > 0 && signs.task_headings == 0 {
        return ListFormat::OpenSpec;
    }
    if signs.checks > 0 {
        return ListFormat::SpecMarkdown;
    }
    if signs.kit > 0 && signs.kit * 2 >= signs.boxes {
        return ListFormat::SpecKit;
    }
    if is_list && signs.task_headings > 0 {
        return ListFormat::Breakdown;
    }
    if is_list && signs.numbered_headings > 0 && signs.numbered * 2 >= signs.boxes && signs.boxes > 0 {
        return ListFormat::OpenSpec;
    }
    let only_boxes = signs.task_headings + signs.phase_headings + signs.fields + signs.rows == 0;
    if signs.boxes > 0 && (is_list || only_boxes && file.ends_with(".md")) {
        return ListFormat::Checklist;
    }
    ListFormat::SpecMarkdown
}

impl Signs {
    fn of(text: &str) -> Self {
        let mut signs = Self::default();
        for block in blocks(text) {
            signs.add(&block);
        }
        signs
    }

    fn add(&mut self, block: &Block) {
        let text = block.whole();
        let words = text.as_str();
        match &block.kind {
            BlockKind::Heading(level) => {
                self.exported |= tagged(text).is_some();
                self.phase_headings += usize::from(words.to_lowercase().starts_with("phase "));
                self.task_headings += usize::from(*level >= 3 && task_heading(text).is_some());
                self.in_task = *level >= 3 && numbered(text).is_some();
                self.numbered_headings += usize::from(words.starts_with(|c: char| c.is_ascii_digit()));
            }
            BlockKind::Box(_) => {
                self.boxes += 1;
                self.in_task = true;
                if let Some((id, _)) = numbered(text) {
                    let is_kit = id.as_str().len() > 3 && id.as_str().starts_with('T');
                    *(if is_kit { &mut self.kit } else { &mut self.numbered }) += 1;
                }
            }
            BlockKind::Bullet | BlockKind::Text | BlockKind::Ordered(_) => {
                self.tags += usize::from(words.starts_with("<task ") || words.starts_with("<task>"));
                self.names += usize::from(words.starts_with("<name>"));
                match field(text).filter(|_| self.in_task) {
                    Some((Field::Type | Field::Verify, _)) => self.checks += 1,
                    Some((Field::Notes | Field::Estimate, _)) | None => {}
                    Some(_) => self.fields += 1,
                }
            }
            BlockKind::Row(cells) => {
                self.rows += usize::from(cells.first().is_some_and(|cell| cell.as_str().eq_ignore_ascii_case("id")));
            }
            BlockKind::Blank | BlockKind::Fence | BlockKind::Code => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str, name: &str) -> Option<ListFormat> {
        recognise(text, name, &mut Findings::default())
    }

    #[test]
    fn a_list_is_known_by_what_is_in_it() {
        let issue = r#"{"id": "bd-1", "title": "T", "status": "open", "issue_type": "task"}"#;
        for (text, name, is) in [
            (issue, "x", ListFormat::Beads),
            (issue, ".beads/issues.jsonl", ListFormat::Beads),
            (&format!("[{issue}]"), "-", ListFormat::Beads),
            (r#"{"tasks": [{"id": 1, "title": "T"}]}"#, "tasks.json", ListFormat::TaskMaster),
            (r#"{"master": {"tasks": []}}"#, "-", ListFormat::TaskMaster),
            (r#"{"feature": "F", "phases": []}"#, "tasks.json", ListFormat::SpecJson),
            ("## 1. One\n\n- [x] 1.1 A\n", "openspec/changes/c/tasks.md", ListFormat::OpenSpec),
            ("## 1. One\n\n- [x] 1.1 A\n", "tasks.md", ListFormat::OpenSpec),
            ("# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 [P] A\n", "tasks.md", ListFormat::SpecKit),
            (
                "<tasks>\n<task type=\"auto\">\n<name>Task 1: A</name>\n</task>\n</tasks>\n",
                "01-01-PLAN.md",
                ListFormat::Gsd,
            ),
            ("# B\n\n## Phase 1\n\n### Task 1.1: A\n**Dependencies**: None\n", "x-tasks.md", ListFormat::Breakdown),
            ("# Things\n\n- [ ] A\n- [x] B\n", "notes.md", ListFormat::Checklist),
            ("# Things\n\n- [ ] A\n- [x] B\n", "SPEC.md", ListFormat::SpecMarkdown),
            ("# Things\n\n## Phase 1\n\n- [ ] A\n", "plan.md", ListFormat::SpecMarkdown),
            ("# Things\n\n- [ ] A\n  - Verify: `x`\n", "tasks.md", ListFormat::SpecMarkdown),
            ("## Tasks {#tasks}\n\n- [ ] A {#1}\n", "tasks.md", ListFormat::SpecMarkdown),
        ] {
            assert_eq!(format(text, name), Some(is), "{name}: {text}");
        }
        assert_eq!(format(r#"{"name": "a package"}"#, "package.json"), None);
    }
}
