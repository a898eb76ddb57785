//! One issue per line, in the order of the plan.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use steadfast_model::{Status, TaskType};

use super::{Item, List};

#[derive(Serialize)]
struct Issue<'a> {
    id: &'a str,
    title: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptance_criteria: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    status: &'static str,
    priority: u8,
    issue_type: &'a str,
    created_at: &'a str,
    updated_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    close_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<Dependency<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
}

#[derive(Serialize)]
struct Dependency<'a> {
    issue_id: &'a str,
    depends_on_id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// Data that beads has no field for. The import reads it back from here.
#[derive(Serialize)]
struct Metadata<'a> {
    steadfast: Ours<'a>,
}

#[derive(Serialize)]
struct Ours<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    task_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'a [String],
}

pub(super) fn write(list: &List<'_>, at: &str) -> String {
    let wholes = wholes(list);
    let lines =
        list.tasks.iter().map(|item| serde_json::to_string(&issue(item, &wholes, at)).unwrap_or_default() + "\n");
    lines.collect()
}

/// Returns the parent of each dotted id. An id is only treated as a part of its parent if that adds nothing new in
/// beads:
/// the parent already depends on the part, and the part on everything that the parent depends on.
fn wholes<'a>(list: &'a List<'_>) -> HashMap<&'a str, &'a str> {
    let by_id: HashMap<&str, BTreeSet<&str>> =
        list.tasks.iter().map(|item| (item.task.id.as_str(), item.after_all.iter().copied().collect())).collect();
    let part_of = |id: &'a str| {
        let (whole, _) = id.rsplit_once('.')?;
        by_id.get(whole)?.contains(id).then_some(whole)
    };
    let parts: HashMap<&str, &str> = by_id.keys().filter_map(|id| Some((*id, part_of(id)?))).collect();
    let is_plain = |part: &str, whole: &str| {
        let mut others = by_id[whole].iter().filter(|before| parts.get(*before) != Some(&whole));
        others.all(|before| by_id[part].contains(before))
    };
    // All parts of a parent must qualify; else a part that qualifies would wait for one that does not.
    let all_plain: BTreeSet<&str> = parts
        .values()
        .copied()
        .filter(|whole| parts.iter().all(|(part, of)| of != whole || is_plain(part, whole)))
        .collect();
    parts.iter().filter(|(_, whole)| all_plain.contains(*whole)).map(|(part, whole)| (*part, *whole)).collect()
}

fn issue<'a>(item: &'a Item<'_>, wholes: &HashMap<&'a str, &'a str>, at: &'a str) -> Issue<'a> {
    let of = item.task;
    let id = of.id.as_str();
    let is_done = item.status == Status::Done;
    let before = item.after_all.iter().filter(|before| wholes.get(*before) != Some(&id));
    let blocks = before.map(|before| Dependency { issue_id: id, depends_on_id: before, kind: "blocks" });
    let part = wholes.get(id).map(|whole| Dependency { issue_id: id, depends_on_id: whole, kind: "parent-child" });
    let ours = Ours { task_type: of.task_type.map(TaskType::as_str), verify: item.command, files: &of.files };
    let is_more = ours.task_type.is_some() || ours.verify.is_some() || !ours.files.is_empty();
    let About { kind, priority, labels, text } = About::of(of.notes.as_deref().unwrap_or_default());
    Issue {
        id,
        title: &of.title,
        description: text,
        acceptance_criteria: item.criteria,
        notes: item.reason.filter(|_| item.status == Status::Blocked).map(|reason| format!("blocked: {reason}")),
        status: match item.status {
            Status::Pending => "open",
            Status::InProgress => "in_progress",
            Status::Done => "closed",
            Status::Blocked => "blocked",
        },
        priority,
        issue_type: kind,
        created_at: at,
        updated_at: at,
        closed_at: is_done.then_some(at),
        close_reason: item.reason.filter(|_| is_done),
        labels,
        dependencies: blocks.chain(part).collect(),
        metadata: is_more.then_some(Metadata { steadfast: ours }),
    }
}

/// The first line of the notes as the importer writes it: `bug, priority 1, labels: a, b`.
struct About<'a> {
    kind: &'a str,
    priority: u8,
    labels: Vec<&'a str>,
    text: &'a str,
}

impl<'a> About<'a> {
    fn of(notes: &'a str) -> Self {
        Self::read(notes).unwrap_or(Self { kind: "task", priority: 2, labels: Vec::new(), text: notes })
    }

    fn read(notes: &'a str) -> Option<Self> {
        const KINDS: [&str; 8] = ["bug", "feature", "epic", "chore", "decision", "event", "question", "docs"];
        let (first, text) = notes.split_once('\n').unwrap_or((notes, ""));
        let mut about = Self { kind: "task", priority: 2, labels: Vec::new(), text };
        let (mut rest, labels) = match first.split_once("labels: ") {
            Some((rest, labels)) => (rest.trim_end_matches(", "), Some(labels)),
            None => (first, None),
        };
        about.labels = labels.map(|labels| labels.split(", ").collect()).unwrap_or_default();
        if let Some(kind) = KINDS.into_iter().find(|kind| rest == *kind || rest.starts_with(&format!("{kind}, "))) {
            about.kind = kind;
            rest = rest[kind.len()..].trim_start_matches(", ");
        }
        if let Some(priority) = rest.strip_prefix("priority ") {
            about.priority = priority.parse().ok()?;
            rest = "";
        }
        (rest.is_empty() && !first.is_empty()).then_some(about)
    }
}
