//! A graph as a plan: every task with the links its type brings along.

use steadfast_model::{Check, Phase, Plan, PlannedTask, TaskId, TaskKind, TaskType};

use crate::Options;
use crate::commands::Commands;
use crate::draft::{DraftPhase, DraftTask};
use crate::graph::{Graph, Node, Stage};
use crate::natural;

const HOW_TO_DECIDE: &str = "`steadfast decide TEXT --why TEXT` writes a line";

/// What fits into a ledger's title.
const TITLE: usize = 500;
const NOTES: usize = 4_000;

pub(crate) fn plan(graph: &Graph<'_>, order: &[usize], commands: &Commands, options: &Options) -> Plan {
    let mut tasks = Vec::new();
    let mut openings: Vec<&Stage<'_>> = graph.phases.iter().collect();
    openings.sort_by(|left, right| natural::compare(&left.opening, &right.opening));
    let mut openings = openings.into_iter().peekable();
    // The way people count, and a chain in the order it is worked on.
    for index in order {
        let node = &graph.tasks[*index];
        while let Some(stage) = openings.next_if(|stage| natural::compare(&stage.opening, &node.id).is_lt()) {
            tasks.push(opening(graph, stage));
        }
        links(graph, node, commands, options, &mut tasks);
    }
    tasks.extend(openings.map(|stage| opening(graph, stage)));
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
        promise: draft.promise.clone(),
        phases: phases.collect(),
        tasks,
    }
}

/// `X.0`: what was decided before the phase begins.
fn opening(graph: &Graph<'_>, stage: &Stage<'_>) -> PlannedTask {
    let name = &stage.draft.name;
    let title = match stage.authored {
        Some(task) => task.title.value.clone(),
        None => format!("Decisions of {name}: what it is to reach, and what was decided for it"),
    };
    let mut blocked_by: Vec<TaskId> = Vec::new();
    for phase in &stage.after {
        let sinks = graph.sinks(*phase);
        if sinks.is_empty() {
            // An empty phase: its beginning is its end.
            blocked_by.push(TaskId::new(&graph.phases[*phase].opening));
        }
        blocked_by.extend(sinks.into_iter().map(|task| TaskId::new(graph.tasks[task].links().last())));
    }
    PlannedTask {
        id: TaskId::new(&stage.opening),
        title: cut(title, TITLE),
        kind: TaskKind::Decision,
        task_type: None,
        phase: Some(stage.draft.id.value.clone()),
        item: None,
        files: stage.authored.map(files).unwrap_or_default(),
        notes: stage.authored.and_then(notes).or_else(|| Some(HOW_TO_DECIDE.to_owned())),
        verify: Some(Check::Decision),
        blocked_by,
    }
}

fn links(graph: &Graph<'_>, node: &Node<'_>, commands: &Commands, options: &Options, tasks: &mut Vec<PlannedTask>) {
    let Node { draft, task_type, .. } = node;
    let phase = graph.phases[node.phase].draft;
    let chain = node.links();
    let title = titled(draft, phase, node.item);
    let own = draft.command.as_ref().map(|command| commands.fill(&command.value));
    let criteria = draft.criteria();
    let command = |command: String| Check::Command { command, criteria: criteria.clone() };
    let named = |name: &str| commands.get(name).map(|text| Check::Command { command: text.to_owned(), criteria: None });

    let mut first: Vec<TaskId> = node.after.iter().map(|task| TaskId::new(graph.tasks[*task].links().last())).collect();
    let inside = node.after.iter().any(|task| graph.tasks[*task].phase == node.phase);
    if !inside {
        first.insert(0, TaskId::new(&graph.phases[node.phase].opening));
    }
    let link = |id: &str, kind: TaskKind, title: String, verify: Option<Check>, blocked_by: Vec<TaskId>| PlannedTask {
        id: TaskId::new(id),
        title: cut(title, TITLE),
        kind,
        task_type: *task_type,
        phase: Some(phase.id.value.clone()),
        item: node.item,
        files: files(draft),
        notes: notes(draft),
        verify,
        blocked_by,
    };

    let mut waits = first;
    if let Some(before) = &chain.before {
        let skills: Vec<String> = options.ui_skills.iter().map(|name| format!("/{name}")).collect();
        let text = format!("Run {} for: {title}", skills.join(" and "));
        let check = Check::Skills { names: options.ui_skills.clone() };
        let check = (!options.ui_skills.is_empty()).then_some(check);
        tasks.push(link(before, TaskKind::Pre, text, check, std::mem::take(&mut waits)));
        waits = vec![TaskId::new(before)];
    }
    let main = match (task_type, &own) {
        (None, Some(own)) => Some(command(own.clone())),
        (None, None) => named("typecheck"),
        // The last link is the picture; the command is about the work.
        (Some(TaskType::Ui), Some(own)) => Some(command(own.clone())),
        (Some(_), _) => Some(Check::Changed),
    };
    tasks.push(link(&chain.main, TaskKind::Main, title.clone(), main, waits));
    let Some(after) = &chain.after else { return };
    let (text, check) = match task_type {
        Some(TaskType::Ui) => {
            let text = match &criteria {
                Some(criteria) => format!("Look at it: {title} ({}); to be seen: {criteria}", listed_files(draft)),
                None => format!("Look at it: {title} ({})", listed_files(draft)),
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

fn titled(draft: &DraftTask, phase: &DraftPhase, item: Option<u32>) -> String {
    let name = item.and_then(|item| phase.each.as_ref()?.items.get(item as usize));
    match name {
        Some(name) => format!("{} [{name}]", draft.title.value),
        None => draft.title.value.clone(),
    }
}

fn files(task: &DraftTask) -> Vec<String> {
    task.files.iter().map(|file| file.value.clone()).collect()
}

fn notes(task: &DraftTask) -> Option<String> {
    task.notes.as_ref().map(|notes| cut(notes.value.clone(), NOTES))
}

fn listed_files(task: &DraftTask) -> String {
    match task.files.as_slice() {
        [] => "no files named".to_owned(),
        files => files.iter().map(|file| file.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn cut(text: String, most: usize) -> String {
    if text.len() <= most || text.chars().count() <= most {
        return text;
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
