//! The work of one agent: a task with the tasks that were generated for it.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use steadfast_model::{Status, Task, TaskId, TaskKind};

/// The work of one agent in one worktree, with one merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The id of its main task, or of its only task.
    pub id: TaskId,
    pub title: String,
    /// In the order of work.
    pub tasks: Vec<TaskId>,
    pub files: Vec<String>,
    /// The units it depends on, in the order of the list.
    pub after: Vec<TaskId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitState {
    Waiting,
    Running,
    Done,
    Blocked,
}

/// Units that depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// Each depends on the next; the first is repeated at the end.
    pub path: Vec<TaskId>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("circular dependency:")?;
        for (index, id) in self.path.iter().enumerate() {
            write!(f, "{}{id}", if index == 0 { " " } else { " → " })?;
        }
        Ok(())
    }
}

impl Error for Circle {}

impl Unit {
    /// Returns the state by the statuses in the ledger. Only the runner knows whether the unit is running.
    pub fn state(&self, status: &dyn Fn(&TaskId) -> Status) -> UnitState {
        let mut all_done = true;
        for task in &self.tasks {
            match status(task) {
                Status::Blocked => return UnitState::Blocked,
                Status::Done => {}
                Status::Pending | Status::InProgress => all_done = false,
            }
        }
        if all_done { UnitState::Done } else { UnitState::Waiting }
    }
}

/// Groups the tasks of a plan into units, in their order. Dependencies on tasks outside of the list are ignored.
pub fn units(tasks: &[Task]) -> Result<Vec<Unit>, Circle> {
    let places: HashMap<&TaskId, usize> = tasks.iter().enumerate().map(|(place, task)| (&task.id, place)).collect();
    let mains: Vec<usize> =
        tasks.iter().enumerate().map(|(place, task)| main_of(tasks, &places, place, task)).collect();
    let mut units: Vec<Unit> = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut unit_of = vec![0; tasks.len()];
    let mut by_main: HashMap<usize, usize> = HashMap::new();
    for (place, main) in mains.into_iter().enumerate() {
        let index = *by_main.entry(main).or_insert_with(|| {
            let Task { id, title, .. } = &tasks[main];
            let (tasks, files, after) = (Vec::new(), Vec::new(), Vec::new());
            units.push(Unit { id: id.clone(), title: title.clone(), tasks, files, after });
            members.push(Vec::new());
            units.len() - 1
        });
        members[index].push(place);
        unit_of[place] = index;
    }
    let mut causes: Vec<Vec<usize>> = Vec::with_capacity(units.len());
    for (index, (unit, members)) in units.iter_mut().zip(&mut members).enumerate() {
        members.sort_by_key(|place| link(tasks[*place].kind));
        let mut after = Vec::new();
        for task in members.iter().map(|place| &tasks[*place]) {
            unit.tasks.push(task.id.clone());
            for file in &task.files {
                if !unit.files.contains(file) {
                    unit.files.push(file.clone());
                }
            }
            let waits = task.blocked_by.iter().filter_map(|id| places.get(id));
            after.extend(waits.map(|place| unit_of[*place]).filter(|cause| *cause != index));
        }
        after.sort_unstable();
        after.dedup();
        causes.push(after);
    }
    if let Some(circle) = circle(&causes) {
        return Err(Circle { path: circle.into_iter().map(|index| units[index].id.clone()).collect() });
    }
    for (index, after) in causes.into_iter().enumerate() {
        units[index].after = after.into_iter().map(|cause| units[cause].id.clone()).collect();
    }
    Ok(units)
}

/// Returns the index of the main task of a generated one, else the task's own index. The kind tells whether `Xa` comes
/// before or after `X`.
fn main_of(tasks: &[Task], places: &HashMap<&TaskId, usize>, place: usize, task: &Task) -> usize {
    let letters = match task.kind {
        TaskKind::Pre => ["a", "a"],
        TaskKind::Post => ["a", "b"],
        TaskKind::Main | TaskKind::Decision | TaskKind::Remediation => return place,
    };
    let id = letters.iter().find_map(|letter| task.id.as_str().strip_suffix(letter));
    let main = id.and_then(|id| places.get(&TaskId::new(id)).copied());
    main.filter(|main| tasks[*main].kind == TaskKind::Main).unwrap_or(place)
}

/// Returns the position in a chain: before the main task, the task, after it.
fn link(kind: TaskKind) -> u8 {
    match kind {
        TaskKind::Pre => 0,
        TaskKind::Main | TaskKind::Decision | TaskKind::Remediation => 1,
        TaskKind::Post => 2,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Closed,
}

/// Returns the first cycle, with its first step repeated at the end.
fn circle(causes: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut marks = vec![Mark::New; causes.len()];
    (0..causes.len()).find_map(|start| if marks[start] == Mark::New { walk(causes, start, &mut marks) } else { None })
}

/// Searches depth first, without recursion: a chain may be as long as the plan.
fn walk(causes: &[Vec<usize>], start: usize, marks: &mut [Mark]) -> Option<Vec<usize>> {
    let mut stack = vec![(start, 0)];
    marks[start] = Mark::Open;
    while let Some((unit, next)) = stack.last_mut() {
        let Some(cause) = causes[*unit].get(*next).copied() else {
            marks[*unit] = Mark::Closed;
            stack.pop();
            continue;
        };
        *next += 1;
        match marks[cause] {
            Mark::Closed => {}
            Mark::New => {
                marks[cause] = Mark::Open;
                stack.push((cause, 0));
            }
            Mark::Open => {
                let from = stack.iter().position(|(unit, _)| *unit == cause).unwrap_or(0);
                return Some(stack[from..].iter().map(|(unit, _)| *unit).chain([cause]).collect());
            }
        }
    }
    None
}
