//! Exports a plan as a list that other tools read and Steadfast reads back. Ids, order, dependencies and statuses are
//! kept.
//!
//! Generated tasks are not written, because they follow from the authored ones. A task that depends on a generated task
//! gets the dependencies of that generated task instead.

mod beads;
mod markdown;
mod spec;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use steadfast_model::{Check, Phase, Plan, PlannedTask, Reported, Status, TaskKind, TaskType};

use crate::draft::estimate;

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTarget {
    /// One issue per line, as in `.beads/issues.jsonl`.
    Beads,
    /// A SPEC.md with statuses.
    Markdown,
    /// A SPEC.json with statuses.
    Json,
}

/// A plan and the statuses of its tasks.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    pub plan: &'a Plan,
    pub reported: &'a [Reported],
    /// The current time in RFC 3339.
    pub at: &'a str,
}

pub fn export(outgoing: Outgoing<'_>, to: ExportTarget) -> String {
    let list = List::of(outgoing);
    match to {
        ExportTarget::Beads => beads::write(&list, outgoing.at),
        ExportTarget::Markdown => markdown::write(&list),
        ExportTarget::Json => spec::write(&list),
    }
}

/// The authored tasks, in order.
struct List<'a> {
    plan: &'a Plan,
    /// True if phases begin with a decision task.
    decides: bool,
    tasks: Vec<Item<'a>>,
    /// The phases that each phase depends on, by its id.
    phases: BTreeMap<&'a str, Vec<&'a str>>,
}

struct Item<'a> {
    task: &'a PlannedTask,
    status: Status,
    reason: Option<&'a str>,
    /// The author's check command.
    command: Option<&'a str>,
    criteria: Option<&'a str>,
    /// The authored tasks that the author named as dependencies.
    after: Vec<&'a str>,
    /// Those, and the dependencies that follow from the order of phases.
    after_all: Vec<&'a str>,
}

impl<'a> List<'a> {
    fn of(outgoing: Outgoing<'a>) -> Self {
        let Outgoing { plan, reported, .. } = outgoing;
        let statuses: HashMap<&str, &Reported> =
            reported.iter().map(|reported| (reported.task.as_str(), reported)).collect();
        let by_id: HashMap<&str, &PlannedTask> = plan.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
        let is_authored = |task: &PlannedTask| matches!(task.kind, TaskKind::Main | TaskKind::Remediation);
        let units = Units { by_id: &by_id };
        let tasks = plan.tasks.iter().filter(|task| is_authored(task)).map(|task| {
            let links = units.links(task);
            let (status, reason) = chain_status(&links, &statuses);
            let own = match task.task_type {
                Some(TaskType::Backend | TaskType::Func | TaskType::Docs) => links.last().copied().unwrap_or(task),
                Some(TaskType::Ui) | None => task,
            };
            let last = links.last().copied().unwrap_or(task);
            Item {
                task,
                status,
                reason,
                command: own.verify.as_ref().and_then(Check::as_command),
                criteria: [last, own].into_iter().find_map(|link| link.verify.as_ref()?.criteria()),
                after: units.after(task, Through::Links),
                after_all: units.after(task, Through::Everything),
            }
        });
        let tasks: Vec<Item<'a>> = tasks.collect();
        let decides = plan.tasks.iter().any(|task| task.kind == TaskKind::Decision);
        let phases = plan.tasks.iter().filter(|task| task.kind == TaskKind::Decision).filter_map(|task| {
            let before: BTreeSet<&str> =
                task.blocked_by.iter().filter_map(|id| by_id.get(id.as_str())?.phase.as_deref()).collect();
            let before = plan.phases.iter().map(|phase| phase.id.as_str()).filter(|id| before.contains(id));
            Some((task.phase.as_deref()?, before.collect()))
        });
        Self { plan, decides, phases: phases.collect(), tasks }
    }

    /// Returns the author's estimate of a task.
    fn estimate(&self, item: &Item<'_>) -> Option<String> {
        self.plan.estimates.get(&item.task.id).map(|length| estimate::text(*length))
    }

    /// Returns the phases with their tasks. Tasks without a phase come last.
    fn by_phase(&self) -> Vec<(Group<'a>, Vec<&Item<'a>>)> {
        let of = |id: &str| self.tasks.iter().filter(|item| item.task.phase.as_deref() == Some(id)).collect();
        let mut groups: Vec<(Group<'a>, Vec<&Item<'a>>)> =
            self.plan.phases.iter().map(|phase| (Group::of(phase), of(&phase.id))).collect();
        let known: HashSet<&str> = self.plan.phases.iter().map(|phase| phase.id.as_str()).collect();
        let loose = |item: &&Item<'a>| item.task.phase.as_deref().is_none_or(|phase| !known.contains(phase));
        let loose: Vec<&Item<'a>> = self.tasks.iter().filter(loose).collect();
        if !loose.is_empty() {
            let id = (0..).map(|n| if n == 0 { "tasks".to_owned() } else { format!("tasks-{n}") });
            let id = id.into_iter().find(|id| !known.contains(id.as_str())).unwrap_or_default();
            groups.push((Group { id, name: "Tasks" }, loose));
        }
        groups
    }
}

struct Group<'a> {
    id: String,
    name: &'a str,
}

impl<'a> Group<'a> {
    fn of(phase: &'a Phase) -> Self {
        Self { id: phase.id.clone(), name: if phase.name.is_empty() { &phase.id } else { &phase.name } }
    }
}

/// Kinds of generated tasks through which a dependency is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    /// The tasks before and after a main task: they are part of it.
    Links,
    /// Decision tasks of phases, too.
    Everything,
}

struct Units<'a, 'm> {
    by_id: &'m HashMap<&'a str, &'a PlannedTask>,
}

impl<'a> Units<'a, '_> {
    /// Returns the chain of a task, in order: `Xa`, `X`, `Xb`.
    fn links(&self, task: &'a PlannedTask) -> Vec<&'a PlannedTask> {
        let id = task.id.as_str();
        let link = |letter: char, kind: TaskKind| {
            self.by_id.get(format!("{id}{letter}").as_str()).copied().filter(|link| link.kind == kind)
        };
        let before = link('a', TaskKind::Pre);
        let after = link('a', TaskKind::Post).or_else(|| link('b', TaskKind::Post));
        before.into_iter().chain([task]).chain(after).collect()
    }

    /// Returns the authored tasks that a task depends on.
    fn after(&self, task: &'a PlannedTask, through: Through) -> Vec<&'a str> {
        let mut found = BTreeSet::new();
        let mut seen = HashSet::from([task.id.as_str()]);
        let mut left: Vec<&'a PlannedTask> = self.links(task);
        while let Some(next) = left.pop() {
            for before in next.blocked_by.iter().filter_map(|id| self.by_id.get(id.as_str()).copied()) {
                if !seen.insert(before.id.as_str()) {
                    continue;
                }
                match before.kind {
                    TaskKind::Main | TaskKind::Remediation => {
                        found.insert(before.id.as_str());
                    }
                    TaskKind::Decision if through == Through::Links => {}
                    TaskKind::Decision => left.push(before),
                    // A neighbour in its own chain: follow what it depends on.
                    TaskKind::Pre | TaskKind::Post => left.push(before),
                }
            }
        }
        found.remove(task.id.as_str());
        let mut found: Vec<&str> = found.into_iter().collect();
        found.sort_by(|left, right| crate::ids::natural_order(left, right));
        found
    }
}

/// Returns the status of a chain: done when all its tasks are done, blocked when one is blocked.
fn chain_status<'a>(links: &[&PlannedTask], statuses: &HashMap<&str, &'a Reported>) -> (Status, Option<&'a str>) {
    let all: Vec<Option<&&Reported>> = links.iter().map(|link| statuses.get(link.id.as_str())).collect();
    let with = |status: Status| all.iter().flatten().find(|reported| reported.status == status);
    if all.iter().all(|reported| reported.is_some_and(|reported| reported.status == Status::Done)) {
        return (Status::Done, all.iter().flatten().find_map(|reported| reported.reason.as_deref()));
    }
    match (with(Status::Blocked), with(Status::InProgress).or(with(Status::Done))) {
        (Some(blocked), _) => (Status::Blocked, blocked.reason.as_deref()),
        (None, Some(_)) => (Status::InProgress, None),
        (None, None) => (Status::Pending, None),
    }
}
