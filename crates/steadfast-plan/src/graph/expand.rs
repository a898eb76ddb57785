//! Expands a graph to a plan: each task with the generated tasks of its type.

use std::collections::HashMap;

use steadfast_model::{Check, Phase, Plan, PlannedTask, Reported, Status, TaskId, TaskKind, TaskType};

use steadfast_text::truncate;

use super::{Graph, Node, Stage};
use crate::CompileOptions;
use crate::draft::commands::Commands;
use crate::draft::{DraftPhase, DraftTask, estimate};
use crate::ids::natural_order;

const HOW_TO_DECIDE: &str = "`steadfast decide TEXT --why TEXT` writes a line";

/// The maximum length of a title in the ledger.
const TITLE: usize = 500;
const NOTES: usize = 4_000;

pub(crate) fn plan(graph: &Graph<'_>, order: &[usize], commands: &Commands, options: &CompileOptions) -> Plan {
    let mut tasks = Vec::new();
    let mut openings: Vec<(&str, &Stage<'_>)> =
        graph.phases.iter().filter_map(|stage| Some((stage.opening.as_deref()?, stage))).collect();
    openings.sort_by(|(left, _), (right, _)| natural_order(left, right));
    let mut openings = openings.into_iter().peekable();
    let mut begins: HashMap<usize, Vec<TaskId>> = HashMap::new();
    // In the order in which people count; the tasks of a chain in the order of work.
    for index in order {
        let node = &graph.tasks[*index];
        while let Some((id, stage)) = openings.next_if(|(id, _)| natural_order(id, &node.id).is_lt()) {
            tasks.push(opening(graph, id, stage));
        }
        let begin = begins.entry(node.phase).or_insert_with(|| beginning(graph, &graph.phases[node.phase]));
        links(graph, node, begin, (commands, options), &mut tasks);
    }
    tasks.extend(openings.map(|(id, stage)| opening(graph, id, stage)));
    let phases = graph.phases.iter().map(|stage| Phase {
        id: stage.draft.id.value.clone(),
        name: stage.draft.name.clone(),
        items: stage.draft.each.as_ref().map(|each| each.items.clone()).unwrap_or_default(),
    });
    let draft = graph.draft;
    Plan {
        feature: draft.feature.clone(),
        description: draft.description.clone(),
        constraints: draft.constraints.clone(),
        criteria: draft.criteria.clone(),
        checks: Vec::new(),
        promise: draft.promise.clone(),
        phases: phases.collect(),
        estimates: graph
            .tasks
            .iter()
            .filter_map(|node| Some((TaskId::new(&node.id), estimate::of(node.draft)?)))
            .collect(),
        tasks,
    }
}

/// Returns the reported statuses of tasks, and those that follow for their generated tasks.
pub(crate) fn reported(graph: &Graph<'_>) -> Vec<Reported> {
    let mut all = Vec::new();
    for stage in &graph.phases {
        // If work in a phase was started, its decisions were made.
        let started = stage.tasks.iter().filter_map(|task| graph.tasks[*task].draft.status.as_ref());
        let started = started.map(|reported_status| reported_status.status).any(|status| status != Status::Pending);
        if let Some(opening) = stage.opening.as_deref().filter(|_| started) {
            all.push(Reported { task: TaskId::new(opening), status: Status::Done, reason: None });
        }
    }
    for node in &graph.tasks {
        let Some(reported_status) =
            node.draft.status.as_ref().filter(|reported_status| reported_status.status != Status::Pending)
        else {
            continue;
        };
        let chain = node.links();
        let link = |id: &str, status| Reported { task: TaskId::new(id), status, reason: None };
        if reported_status.status != Status::Blocked {
            all.extend(chain.before.as_deref().map(|id| link(id, Status::Done)));
        }
        all.push(Reported { reason: reported_status.reason.clone(), ..link(&chain.main, reported_status.status) });
        if reported_status.status == Status::Done {
            all.extend(chain.after.as_deref().map(|id| link(id, Status::Done)));
        }
    }
    all
}

/// Returns the dependencies of the first tasks of a phase: its decision task, else the ends of the phases before it.
fn beginning(graph: &Graph<'_>, stage: &Stage<'_>) -> Vec<TaskId> {
    match &stage.opening {
        Some(opening) => vec![TaskId::new(opening)],
        None => ends(graph, stage),
    }
}

/// Returns the last tasks of the phases that a phase depends on.
fn ends(graph: &Graph<'_>, stage: &Stage<'_>) -> Vec<TaskId> {
    let mut ends = Vec::new();
    for phase in &stage.after {
        let sinks = graph.sinks(*phase);
        if sinks.is_empty() {
            // An empty phase ends with its decision task.
            ends.extend(graph.phases[*phase].opening.as_deref().map(TaskId::new));
        }
        ends.extend(sinks.into_iter().map(|task| TaskId::new(graph.tasks[task].links().last())));
    }
    ends
}

/// Builds the decision task `X.0` of a phase.
fn opening(graph: &Graph<'_>, id: &str, stage: &Stage<'_>) -> PlannedTask {
    let name = &stage.draft.name;
    let title = match stage.authored {
        Some(task) => task.title.value.clone(),
        None => format!("Decisions of {name}: its goal and the choices made"),
    };
    PlannedTask {
        id: TaskId::new(id),
        title: truncate(&title, TITLE).into_owned(),
        kind: TaskKind::Decision,
        task_type: None,
        phase: Some(stage.draft.id.value.clone()),
        item: None,
        files: stage.authored.map(files).unwrap_or_default(),
        notes: stage.authored.and_then(notes).or_else(|| Some(HOW_TO_DECIDE.to_owned())),
        verify: Some(Check::Decision),
        blocked_by: ends(graph, stage),
    }
}

fn links(
    graph: &Graph<'_>,
    node: &Node<'_>,
    begin: &[TaskId],
    (commands, options): (&Commands, &CompileOptions),
    tasks: &mut Vec<PlannedTask>,
) {
    let Node { draft, task_type, .. } = node;
    let phase = graph.phases[node.phase].draft;
    let chain = node.links();
    let title = titled(draft, phase, node.item);
    let item = item_of(phase, node.item);
    let own = draft.command.as_ref().map(|command| for_item(&commands.fill(&command.value), item));
    let criteria = draft.criteria().map(|criteria| for_item(&criteria, item));
    let command = |command: String| Check::Command { command, criteria: criteria.clone() };
    let named = |name: &str| commands.get(name).map(|text| Check::Command { command: text.to_owned(), criteria: None });

    let mut first: Vec<TaskId> = node.after.iter().map(|task| TaskId::new(graph.tasks[*task].links().last())).collect();
    let inside = node.after.iter().any(|task| graph.tasks[*task].phase == node.phase);
    if !inside {
        first.splice(0..0, begin.iter().cloned());
    }
    let link = |id: &str, kind: TaskKind, title: String, verify: Option<Check>, blocked_by: Vec<TaskId>| PlannedTask {
        id: TaskId::new(id),
        title: truncate(&title, TITLE).into_owned(),
        kind,
        task_type: *task_type,
        phase: Some(phase.id.value.clone()),
        item: node.item,
        files: files(draft).iter().map(|file| for_item(file, item)).collect(),
        notes: notes(draft).map(|notes| for_item(&notes, item)),
        verify,
        blocked_by,
    };

    let mut waits = first;
    if let Some(before) = &chain.before {
        let skills: Vec<String> = options.ui_skills.iter().map(|name| format!("/{name}")).collect();
        let text = format!("Run {} for: {title}", skills.join(" and "));
        let check = Check::Skills { names: options.ui_skills.clone() };
        tasks.push(link(before, TaskKind::Pre, text, Some(check), std::mem::take(&mut waits)));
        waits = vec![TaskId::new(before)];
    }
    let main = match (task_type, &own) {
        (None, Some(own)) => Some(command(own.clone())),
        (None, None) => named("typecheck"),
        // The last task of a ui chain takes a screenshot; the author's command belongs to the work itself.
        (Some(TaskType::Ui), Some(own)) => Some(command(own.clone())),
        (Some(_), _) => Some(Check::Changed),
    };
    tasks.push(link(&chain.main, TaskKind::Main, title.clone(), main, waits));
    let Some(after) = &chain.after else { return };
    let (text, check) = match task_type {
        Some(TaskType::Ui) => {
            let text = match &criteria {
                Some(criteria) => {
                    format!("Look at it: {title} ({}); expected: {criteria}", for_item(&listed_files(draft), item))
                }
                None => format!("Look at it: {title} ({})", for_item(&listed_files(draft), item)),
            };
            (text, Some(Check::Artifact { criteria: criteria.clone() }))
        }
        Some(TaskType::Docs) => match own {
            Some(own) => (format!("Verify: {title}"), Some(command(own))),
            None => (format!("Verify that it is written: {title}"), Some(Check::Written)),
        },
        _ => (format!("Test: {title}"), own.map(command).or_else(|| named("test"))),
    };
    tasks.push(link(after, TaskKind::Post, text, check, vec![TaskId::new(&chain.main)]));
}

/// The placeholder for the item in the tasks of a loop phase.
const ITEM: &str = "{item}";

/// Returns the title with the item filled in. Without a placeholder the item is appended.
fn titled(draft: &DraftTask, phase: &DraftPhase, item: Option<u32>) -> String {
    let title = &draft.title.value;
    match item_of(phase, item) {
        Some(name) if title.contains(ITEM) => title.replace(ITEM, name),
        Some(name) => format!("{title} [{name}]"),
        None => title.clone(),
    }
}

fn item_of(phase: &DraftPhase, item: Option<u32>) -> Option<&str> {
    Some(phase.each.as_ref()?.items.get(item? as usize)?.as_str())
}

fn for_item(text: &str, item: Option<&str>) -> String {
    match item {
        Some(item) => text.replace(ITEM, item),
        None => text.to_owned(),
    }
}

fn files(task: &DraftTask) -> Vec<String> {
    task.files.iter().map(|file| file.value.clone()).collect()
}

fn notes(task: &DraftTask) -> Option<String> {
    task.notes.as_ref().map(|notes| truncate(&notes.value, NOTES).into_owned())
}

fn listed_files(task: &DraftTask) -> String {
    match task.files.as_slice() {
        [] => "no files named".to_owned(),
        files => files.iter().map(|file| file.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}
