//! A draft as a graph: loops unrolled, ids and dependencies resolved.

pub(crate) mod expand;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use steadfast_model::{TaskId, TaskType};

use crate::draft::labels::task_type;
use crate::draft::{Draft, DraftPhase, DraftTask, Text};
use crate::ids::{listed, natural_order, nearest};
use crate::problem::{Code, Findings};

/// The maximum number of tasks that a ledger is designed for.
const MOST: usize = 200_000;

#[derive(Debug)]
pub(crate) struct Graph<'d> {
    pub(crate) draft: &'d Draft,
    pub(crate) phases: Vec<Stage<'d>>,
    /// In the order of the draft; the tasks of a loop item by item.
    pub(crate) tasks: Vec<Node<'d>>,
}

/// A phase with its decision task.
#[derive(Debug)]
pub(crate) struct Stage<'d> {
    pub(crate) draft: &'d DraftPhase,
    /// The id of its decision task `X.0`. `None`: the phase has none.
    pub(crate) opening: Option<String>,
    /// The authored task that serves as its decision task.
    pub(crate) authored: Option<&'d DraftTask>,
    /// The phases it depends on.
    pub(crate) after: Vec<usize>,
    pub(crate) tasks: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Node<'d> {
    pub(crate) id: String,
    pub(crate) draft: &'d DraftTask,
    pub(crate) phase: usize,
    pub(crate) item: Option<u32>,
    pub(crate) task_type: Option<TaskType>,
    /// True if skills are installed for ui work, so a ui task gets a task before it.
    pub(crate) has_skills: bool,
    /// The tasks it depends on.
    pub(crate) after: Vec<usize>,
}

impl Node<'_> {
    pub(crate) fn links(&self) -> Links {
        let links = Links::of(&self.id, self.task_type);
        if self.has_skills { links } else { Links { before: None, ..links } }
    }
}

/// The ids of the chain of a task: before it, itself, after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) before: Option<String>,
    pub(crate) main: String,
    pub(crate) after: Option<String>,
}

impl Links {
    fn of(id: &str, task_type: Option<TaskType>) -> Self {
        let with = |letter: &str| Some(format!("{id}{letter}"));
        let (before, after) = match task_type {
            Some(TaskType::Ui) => (with("a"), with("b")),
            Some(TaskType::Backend | TaskType::Func | TaskType::Docs) => (None, with("a")),
            None => (None, None),
        };
        Self { before, main: id.to_owned(), after }
    }

    pub(crate) fn last(&self) -> &str {
        self.after.as_deref().unwrap_or(&self.main)
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        [self.before.as_deref(), Some(self.main.as_str()), self.after.as_deref()].into_iter().flatten()
    }
}

impl<'d> Graph<'d> {
    pub(crate) fn of(draft: &'d Draft, has_skills: bool, findings: &mut Findings) -> Option<Self> {
        let mut graph = Self { draft, phases: Vec::new(), tasks: Vec::new() };
        graph.unroll(findings)?;
        graph.tasks.iter_mut().for_each(|task| task.has_skills = has_skills);
        graph.name_openings();
        graph.unique(findings);
        graph.phase_order(findings);
        graph.task_order(findings);
        Some(graph)
    }

    /// Unrolls loops into tasks. `None`: there are no tasks, or too many.
    fn unroll(&mut self, findings: &mut Findings) -> Option<()> {
        for (index, phase) in self.draft.phases.iter().enumerate() {
            let first = self.tasks.len();
            let mut stage = Stage { draft: phase, opening: None, authored: None, after: Vec::new(), tasks: Vec::new() };
            for task in &phase.tasks {
                if !self.draft.only_groups && is_opening(task) && stage.authored.is_none() {
                    stage.authored = Some(task);
                } else {
                    self.tasks.push(node(task.id.value.clone(), task, index, None, findings));
                }
            }
            if let Some(each) = &phase.each {
                for (number, _) in (1_u32..).zip(&each.items) {
                    for task in &each.tasks {
                        let id = in_item(&task.id.value, number);
                        self.tasks.push(node(id, task, index, Some(number - 1), findings));
                    }
                    if self.tasks.len() > MOST {
                        let message = format!("the spec has more than {MOST} tasks");
                        findings.add(Code::TooManyTasks, &phase.id.span, message, "split the spec");
                        return None;
                    }
                }
            }
            stage.tasks = (first..self.tasks.len()).collect();
            self.phases.push(stage);
        }
        if self.tasks.is_empty() && !findings.has_error() {
            let help =
                "write tasks: `- [ ] 1.1 …` below a heading, or `\"tasks\": [{\"id\": \"1.1\", \"task\": \"…\"}]`";
            findings.add(Code::NoTasks, &self.draft.span, "this spec has no tasks", help);
            return None;
        }
        Some(())
    }

    /// Names the decision tasks `X.0`: `X` is the common prefix of the ids in the phase, else the number of the phase.
    fn name_openings(&mut self) {
        if self.draft.only_groups {
            return;
        }
        let mut taken = BTreeSet::new();
        for index in 0..self.phases.len() {
            let stage = &self.phases[index];
            let place = (index + 1).to_string();
            let number = match stage.authored {
                Some(task) => prefix(&task.id.value).map(str::to_owned),
                None => self.common_prefix(stage),
            };
            let number = number.filter(|number| !taken.contains(number)).unwrap_or(place);
            let mut opening = format!("{number}.0");
            if !taken.insert(number) {
                opening = format!("p{}.0", index + 1);
            }
            self.phases[index].opening = Some(opening);
        }
    }

    fn common_prefix(&self, stage: &Stage<'_>) -> Option<String> {
        let mut prefixes = stage.tasks.iter().map(|task| prefix(&self.tasks[*task].id));
        let first = prefixes.next()??;
        prefixes.all(|other| other == Some(first)).then(|| first.to_owned())
    }

    fn unique(&self, findings: &mut Findings) {
        let mut seen: HashMap<&str, &DraftTask> = HashMap::new();
        for node in &self.tasks {
            let id = &node.draft.id;
            if id.value.is_empty() {
                continue;
            }
            if id.value.chars().any(|c| c.is_whitespace() || c.is_control()) {
                let message = format!("invalid id `{}`: it contains a space", id.value);
                findings.add(Code::InvalidId, &id.span, message, "write an id such as `1.1`");
            }
            if let Some(other) = seen.insert(&node.id, node.draft)
                && !std::ptr::eq(other, node.draft)
            {
                let message = format!("the id `{}` is used twice", node.id);
                findings.add(Code::DuplicateId, &id.span, message, "give one of the tasks another id");
            }
        }
        let mut generated: HashMap<String, &str> = HashMap::new();
        for stage in &self.phases {
            if let (None, Some(opening)) = (stage.authored, &stage.opening) {
                generated.insert(opening.clone(), "the decision task of its phase");
            }
        }
        for node in &self.tasks {
            // Checked even if it is not generated today, because the skill may be installed later.
            for link in Links::of(&node.id, node.task_type).all().filter(|link| *link != node.id) {
                generated.insert(link.to_owned(), "a generated task");
            }
        }
        for node in &self.tasks {
            if let Some(why) = generated.get(&node.id) {
                let message = format!("the id `{}` is reserved for {why}", node.id);
                findings.add(Code::CollidingId, &node.draft.id.span, message, "give this task another id");
            }
        }
    }

    fn phase_order(&mut self, findings: &mut Findings) {
        let ids: BTreeMap<&str, usize> =
            self.draft.phases.iter().enumerate().map(|(index, phase)| (phase.id.as_str(), index)).collect();
        let mut all = Vec::new();
        for (index, phase) in self.draft.phases.iter().enumerate() {
            if ids.get(phase.id.as_str()) != Some(&index) && !phase.id.value.is_empty() {
                let message = format!("the phase id `{}` is used twice", phase.id.value);
                findings.add(Code::DuplicatePhase, &phase.id.span, message, "give one of the phases another id");
            }
            let after = match &phase.after {
                None if self.draft.only_groups => Vec::new(),
                None => index.checked_sub(1).into_iter().collect(),
                Some(names) => names.iter().filter_map(|name| named_phase(name, &ids, findings)).collect(),
            };
            all.push(after);
        }
        for (stage, after) in self.phases.iter_mut().zip(all) {
            stage.after = after;
        }
    }

    fn task_order(&mut self, findings: &mut Findings) {
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, node) in self.tasks.iter().enumerate() {
            by_id.entry(node.id.as_str()).or_default().push(index);
            if node.item.is_some() {
                by_id.entry(node.draft.id.as_str()).or_default().push(index);
            }
        }
        let phases: HashMap<&str, &Vec<usize>> =
            self.phases.iter().map(|stage| (stage.draft.id.as_str(), &stage.tasks)).collect();
        let openings: BTreeSet<&str> = self.phases.iter().filter_map(|stage| stage.opening.as_deref()).collect();
        let mut all = Vec::with_capacity(self.tasks.len());
        let mut said: BTreeSet<usize> = BTreeSet::new();
        for node in &self.tasks {
            let mut after = Vec::new();
            for name in &node.draft.after {
                let found = match by_id.get(name.as_str()) {
                    // Inside a loop, a name means the task of the same item.
                    Some(found) if node.item.is_some() => {
                        let same: Vec<usize> = found
                            .iter()
                            .copied()
                            .filter(|other| {
                                self.tasks[*other].phase == node.phase && self.tasks[*other].item == node.item
                            })
                            .collect();
                        if same.is_empty() { found.clone() } else { same }
                    }
                    Some(found) => found.clone(),
                    None if phases.contains_key(name.as_str()) => phases[name.as_str()].clone(),
                    // Every task of the phase depends on its decision task anyway.
                    None if openings.contains(name.as_str()) => Vec::new(),
                    None => {
                        if said.insert(name.span.start) {
                            unknown(name, by_id.keys().copied().chain(phases.keys().copied()), findings);
                        }
                        Vec::new()
                    }
                };
                after.extend(found);
            }
            after.sort_unstable();
            after.dedup();
            all.push(after);
        }
        for (node, after) in self.tasks.iter_mut().zip(all) {
            node.after = after;
        }
    }

    /// Returns the tasks in order: dependencies first, else as people count. `None`: there is a cycle.
    pub(crate) fn order(&self, findings: &mut Findings) -> Option<Vec<usize>> {
        if let Some(circle) = self.circle() {
            let span = circle.first().map(|step| match step {
                Step::Task(task) => &self.tasks[*task].draft.id.span,
                Step::Phase(phase) => &self.phases[*phase].draft.id.span,
            });
            let words: Vec<String> = circle.iter().map(|step| self.step_name(step)).collect();
            let message = format!("circular dependency: {}", words.join(" → "));
            findings.add(
                Code::CircularDependency,
                span.unwrap_or(&self.draft.span),
                message,
                "remove one of these dependencies",
            );
            return None;
        }
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by(|left, right| natural_order(&self.tasks[*left].id, &self.tasks[*right].id));
        Some(order)
    }

    /// Returns the position of the check of each task, or of its id if it has no check.
    pub(crate) fn places(&self) -> BTreeMap<TaskId, Range<usize>> {
        let place = |task: &DraftTask| task.command.as_ref().map_or(task.id.span.clone(), |text| text.span.clone());
        self.tasks.iter().map(|node| (TaskId::new(&node.id), place(node.draft))).collect()
    }

    /// Returns the tasks of a phase that no other task in it depends on.
    pub(crate) fn sinks(&self, phase: usize) -> Vec<usize> {
        let waited: BTreeSet<usize> =
            self.phases[phase].tasks.iter().flat_map(|task| self.tasks[*task].after.iter().copied()).collect();
        self.phases[phase].tasks.iter().copied().filter(|task| !waited.contains(task)).collect()
    }

    fn step_name(&self, step: &Step) -> String {
        match step {
            Step::Task(task) => self.tasks[*task].id.clone(),
            Step::Phase(phase) => format!("phase {}", self.phases[*phase].draft.id.value),
        }
    }

    /// Returns the first cycle, with its first step repeated at the end.
    fn circle(&self) -> Option<Vec<Step>> {
        let count = self.tasks.len() + self.phases.len();
        let mut marks = vec![Mark::New; count];
        for start in 0..count {
            if marks[start] == Mark::New
                && let Some(circle) = self.walk(start, &mut marks)
            {
                return Some(circle);
            }
        }
        None
    }

    /// Searches depth first, without recursion: a chain may be as long as the spec.
    fn walk(&self, start: usize, marks: &mut [Mark]) -> Option<Vec<Step>> {
        let mut stack = vec![(start, self.causes(start), 0)];
        marks[start] = Mark::Open;
        while let Some((node, causes, next)) = stack.last_mut() {
            let Some(cause) = causes.get(*next).copied() else {
                marks[*node] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[cause] {
                Mark::Done => {}
                Mark::New => {
                    marks[cause] = Mark::Open;
                    stack.push((cause, self.causes(cause), 0));
                }
                Mark::Open => {
                    let from = stack.iter().position(|(node, ..)| *node == cause).unwrap_or(0);
                    let mut circle: Vec<Step> = stack[from..].iter().map(|(node, ..)| self.step(*node)).collect();
                    circle.push(self.step(cause));
                    return Some(circle);
                }
            }
        }
        None
    }

    fn step(&self, node: usize) -> Step {
        match node.checked_sub(self.tasks.len()) {
            Some(phase) => Step::Phase(phase),
            None => Step::Task(node),
        }
    }

    /// Returns the dependencies of a task or of the beginning of a phase.
    fn causes(&self, node: usize) -> Vec<usize> {
        match self.step(node) {
            Step::Task(task) => {
                let node = &self.tasks[task];
                node.after.iter().copied().chain([self.tasks.len() + node.phase]).collect()
            }
            Step::Phase(phase) => {
                let before = self.phases[phase].after.iter();
                before.flat_map(|phase| self.sinks(*phase).into_iter().chain([self.tasks.len() + phase])).collect()
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Task(usize),
    Phase(usize),
}

fn node<'d>(id: String, task: &'d DraftTask, phase: usize, item: Option<u32>, findings: &mut Findings) -> Node<'d> {
    let task_type = task.task_type.as_ref().and_then(|name| known_type(name, item, findings));
    Node { id, draft: task, phase, item, task_type, has_skills: true, after: Vec::new() }
}

fn known_type(name: &Text, item: Option<u32>, findings: &mut Findings) -> Option<TaskType> {
    let word = name.value.trim().to_lowercase();
    if matches!(word.as_str(), "none" | "default" | "") {
        return None;
    }
    let found = task_type(&word);
    // The first item of a loop stands for all, so a problem is reported once.
    if found.is_none() && item.unwrap_or(0) == 0 {
        let known = TaskType::ALL.map(TaskType::as_str);
        let help = match nearest(&word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known types: {}", listed(known)),
        };
        let message = format!("unknown task type `{}`; the task is read without a type", name.value);
        findings.add(Code::UnknownType, &name.span, message, help);
    }
    found
}

fn named_phase(name: &Text, ids: &BTreeMap<&str, usize>, findings: &mut Findings) -> Option<usize> {
    let found = ids.get(name.as_str()).copied();
    if found.is_none() {
        unknown(name, ids.keys().copied(), findings);
    }
    found
}

fn unknown<'a>(name: &Text, known: impl Iterator<Item = &'a str>, findings: &mut Findings) {
    let help = match nearest(&name.value, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write the id of a task or a phase in this spec".to_owned(),
    };
    findings.add(Code::UnknownDependency, &name.span, format!("unknown dependency `{}`", name.value), help);
}

/// Reports whether an authored `X.0` is about the decisions file.
fn is_opening(task: &DraftTask) -> bool {
    task.id.value.ends_with(".0") && task.files.iter().any(|file| file.value.contains("decisions"))
}

/// Returns `2` for `2.1`.
fn prefix(id: &str) -> Option<&str> {
    id.split_once('.').map(|(prefix, _)| prefix).filter(|prefix| !prefix.is_empty())
}

/// Returns the id in a loop: `2.1` for the third item is `2.3.1`, so that the tasks of an item stay together.
fn in_item(id: &str, item: u32) -> String {
    match id.split_once('.') {
        Some((prefix, rest)) => format!("{prefix}.{item}.{rest}"),
        None => format!("{id}.{item}"),
    }
}
