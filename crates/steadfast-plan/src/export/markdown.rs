//! A SPEC.md with a box for each task and its fields below. The boxes are for people; the status is a field. An id that
//! contains a comma is not read back, because commas separate names.

use std::fmt::Write;

use steadfast_model::{Status, TaskType};
use steadfast_text::one_line;

use super::{Item, List};
use crate::draft::Text;
use crate::markdown::names::{marked, numbered, tagged};

pub(super) fn write(list: &List<'_>) -> String {
    let plan = list.plan;
    let mut text = format!("# {}\n", one_line(&plan.feature));
    // Writing into a string does not fail.
    if let Some(description) = &plan.description {
        let _ = write!(text, "\n{}\n", prose(&one_line(description)));
    }
    if !list.decides {
        text.push_str("\nDecisions: none\n");
    }
    if let Some(promise) = &plan.promise {
        let _ = write!(text, "\nPromise: {}\n", one_line(promise));
    }
    for (heading, lines) in [("Constraints", &plan.constraints), ("Success criteria", &plan.criteria)] {
        if !lines.is_empty() {
            let _ = write!(text, "\n## {heading}\n\n");
            lines.iter().for_each(|line| text.push_str(&format!("- {}\n", one_line(line))));
        }
    }
    for (group, items) in list.by_phase() {
        let _ = write!(text, "\n## {} {{#{}}}\n\n", one_line(group.name), group.id);
        if list.decides {
            let before = list.phases.get(group.id.as_str()).filter(|before| !before.is_empty());
            let _ = write!(text, "Depends on: {}\n\n", before.map_or("none".to_owned(), |before| before.join(", ")));
        }
        items.into_iter().for_each(|item| task(&mut text, item, list.estimate(item)));
    }
    text
}

fn task(text: &mut String, item: &Item<'_>, estimate: Option<String>) {
    let of = item.task;
    let mark = match item.status {
        Status::Pending => ' ',
        Status::InProgress => '~',
        Status::Done => 'x',
        Status::Blocked => '!',
    };
    let _ = writeln!(text, "- [{mark}] {}", titled(of.id.as_str(), &one_line(&of.title)));
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "  - {name}: {value}");
    };
    if let Some(kind) = of.task_type {
        field("Type", TaskType::as_str(kind));
    }
    if !of.files.is_empty() {
        field("Files", &of.files.join(", "));
    }
    if let Some(command) = item.command {
        field("Verify", &format!("`{}`", one_line(command)));
    }
    if let Some(criteria) = item.criteria {
        field("Success criteria", &one_line(criteria));
    }
    if !item.after.is_empty() {
        field("Depends on", &item.after.join(", "));
    }
    if let Some(estimate) = estimate {
        field("Estimate", &estimate);
    }
    match (item.status, item.reason) {
        (Status::Pending, _) => {}
        (status, None) => field("Status", status.as_str()),
        (status, Some(reason)) => field("Status", &format!("{}: {}", status.as_str(), one_line(reason))),
    }
    for line in of.notes.iter().flat_map(|notes| notes.lines()) {
        let _ = writeln!(text, "  > {line}");
    }
}

/// Returns `1.1 Title` if that is read back unchanged, else `Title {#id}`.
fn titled(id: &str, title: &str) -> String {
    let plain = format!("{id} {title}");
    let text = Text::new(plain.clone(), 0..plain.len());
    let same = numbered(&text).is_some_and(|(read, name)| {
        read.value == id && name.value == title && marked(name).1.is_none() && tagged(&text).is_none()
    });
    // A title of a single word could be read as the id of another task.
    if same && title.contains(' ') { plain } else { format!("{title} {{#{id}}}") }
}

/// Returns a paragraph; a line that would be read as something else is quoted.
fn prose(line: &str) -> String {
    let is_plain = line.starts_with(char::is_alphanumeric)
        && !["Promise:", "Completion promise:", "Decisions:"].iter().any(|word| line.starts_with(word));
    if is_plain { line.to_owned() } else { format!("> {line}") }
}
