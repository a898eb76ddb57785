//! What is wrong with a spec beside its spelling.

use std::collections::BTreeSet;

use steadfast_model::{StatedCheck, TaskType};

use crate::CompileOptions;
use crate::commands::Commands;
use crate::draft::{Draft, DraftPhase, DraftTask, Text};
use crate::exit_status::{is_void, swallowed};
use crate::graph::{Graph, Stage};
use crate::labels::task_type;
use crate::problem::{Code, Findings};
use crate::source::Lines;

/// What a ledger takes, in characters.
const ID: usize = 90;
const TITLE: usize = 400;
const NOTES: usize = 4_000;
const VERIFY: usize = 4_000;
const PATH: usize = 4_096;

/// More than this is hard to see through.
const MANY: usize = 400;

/// A phase this long that changes this often between the interface and other work is looked at too often.
const ALTERNATING: (usize, usize) = (4, 3);

pub(crate) fn draft(draft: &Draft, commands: &Commands, options: &CompileOptions, findings: &mut Findings) {
    for phase in &draft.phases {
        if phase.authored().next().is_none() && !phase.name.is_empty() {
            let message = format!("the phase `{}` has no tasks", phase.name);
            findings.add(Code::EmptyPhase, &phase.id.span, message, "give it tasks, or take it out");
        }
        if let Some(each) = &phase.each
            && each.items.is_empty()
        {
            let message = format!("the loop of the phase `{}` has no items", phase.name);
            findings.add(Code::EmptyPhase, &phase.id.span, message, "list what it is done for");
        }
        for task in phase.authored() {
            one(task, commands, options, findings);
            if !draft.only_groups {
                unchecked(task, commands, findings);
            }
        }
        alternates(phase, findings);
    }
    if draft.only_groups {
        unchecked_list(draft, commands, findings);
    }
}

pub(crate) fn graph(graph: &Graph<'_>, options: &CompileOptions, findings: &mut Findings) {
    skills(graph, options, findings);
    let chain = |node: &crate::graph::Node<'_>| {
        1 + usize::from(node.links().before.is_some()) + usize::from(node.links().after.is_some())
    };
    let openings = graph.phases.iter().filter(|phase| phase.opening.is_some()).count();
    let count = graph.tasks.iter().map(chain).sum::<usize>() + openings;
    if count > MANY {
        let message = format!("there are {count} tasks");
        findings.add(Code::ManyTasks, &graph.draft.span, message, "several specs are easier to see through");
    }
}

/// Says which skills are left out of the plan because nobody installed them, once, at the first task that would use them.
fn skills(graph: &Graph<'_>, options: &CompileOptions, findings: &mut Findings) {
    let missing = &options.missing_skills;
    let mut tasks = graph.tasks.iter().filter(|task| task.task_type == Some(TaskType::Ui));
    let (Some(first), Some(example)) = (tasks.next(), missing.first()) else { return };
    let what = match (options.ui_skills.is_empty(), 1 + tasks.count()) {
        (false, _) => "the tasks before ui work do not ask for it".to_owned(),
        (true, 1) => format!("`{}a` is left out", first.id),
        (true, count) => format!("the task before each of {count} ui tasks is left out (`{}a` and so on)", first.id),
    };
    let named: Vec<String> = missing.iter().map(|name| format!("`/{name}`")).collect();
    let message = format!("not installed: {}; {what}", named.join(", "));
    let help = format!(
        "put it into `.claude/skills/{example}/SKILL.md` (Codex: `.agents/skills`) or install its plugin, and load the \
         spec again; `ledger.ui_skills` names the skills"
    );
    let span = first.draft.task_type.as_ref().map_or(&first.draft.id.span, |name| &name.span);
    findings.add(Code::SkillNotInstalled, span, message, help);
}

/// The phases that wait for the one before them only because that is what phases do: every task there and before names its
/// files, none is shared, and none waits for a task of an earlier phase. A hint, no problem: the order may still be meant.
pub(crate) fn apart(graph: &Graph<'_>) -> Vec<String> {
    // The files of earlier phases, and the folders that these are in.
    let (mut files, mut folders): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    let mut has_pattern = false;
    let mut apart = Vec::new();
    if graph.draft.only_groups {
        return apart;
    }
    for (index, stage) in graph.phases.iter().enumerate() {
        let Some(own) = files_of(stage) else { return apart };
        let waits = index > 0 && stage.draft.after.is_none();
        let crosses = stage.tasks.iter().flat_map(|task| &graph.tasks[*task].after);
        let crosses = crosses.into_iter().any(|before| graph.tasks[*before].phase != index);
        // What a pattern stands for is not known here.
        has_pattern |= own.iter().any(|file| file.contains(['*', '?']));
        let is_shared = |file: &&str| {
            folders.contains(file) || files.contains(file) || above(file).any(|folder| files.contains(folder))
        };
        if waits && !crosses && !has_pattern && !own.iter().any(is_shared) {
            apart.push(stage.draft.name.clone());
        }
        for file in own {
            files.insert(file);
            folders.extend(above(file));
        }
    }
    apart
}

/// The folders that a path is in.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// What the tasks of a phase write. None: one does not say.
fn files_of<'d>(stage: &Stage<'d>) -> Option<Vec<&'d str>> {
    let mut files = Vec::new();
    for task in stage.draft.authored() {
        if task.files.is_empty() {
            return None;
        }
        files.extend(task.files.iter().map(|file| file.as_str().trim_end_matches('/')));
    }
    (!files.is_empty()).then_some(files)
}

/// Says which lines might be meant as tasks, and are none; returns their numbers.
pub(crate) fn unread(draft: &Draft, lines: &Lines<'_>, findings: &mut Findings) -> Vec<usize> {
    let mut numbers: Vec<usize> = draft.unread.iter().map(|at| lines.position(*at).0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if let (Some(first), false) = (draft.unread.iter().min(), numbers.is_empty()) {
        let help = "a task has a box or an id, `- [ ] 1.2 …`; what belongs to a task is indented below it";
        findings.add(Code::NotRead, &(*first..first + 1), not_read(&numbers), help);
    }
    numbers
}

/// `lines 12, 40 and 41 were not read as tasks`; of many, the first.
pub fn not_read(numbers: &[usize]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = numbers.iter().take(MOST).map(usize::to_string).collect();
    match (shown.as_slice(), numbers.len().saturating_sub(MOST)) {
        ([], _) => String::new(),
        ([one], _) => format!("line {one} was not read as a task"),
        ([first @ .., last], 0) => format!("lines {} and {last} were not read as tasks", first.join(", ")),
        (shown, more) => format!("lines {} and {more} more were not read as tasks", shown.join(", ")),
    }
}

/// What the words of a spec say has to pass at its end.
pub(crate) fn stated(draft: &Draft, checks: &[StatedCheck], options: &CompileOptions, findings: &mut Findings) {
    if checks.iter().any(|check| (options.holds_secret)(&check.command)) {
        let message = "a command that has to pass at the end holds a secret";
        findings.add(Code::Secret, &draft.span, message, SECRET);
    }
}

/// What to do about a secret in a command.
const SECRET: &str = "read it from the environment or a file: a check is kept as it is, in the spec and in the ledger";

fn one(task: &DraftTask, commands: &Commands, options: &CompileOptions, findings: &mut Findings) {
    length(&task.id, ID, "an id", findings);
    length(&task.title, TITLE, "a title", findings);
    if let Some(notes) = &task.notes
        && notes.value.chars().count() > NOTES
    {
        let message = format!("the notes of `{}` are cut after {NOTES} characters", task.id.value);
        findings.add(Code::CutNotes, &notes.span, message, "put the rest into a file, and name it");
    }
    for file in &task.files {
        length(file, PATH, "a path", findings);
    }
    match &task.command {
        Some(command) => {
            let filled = commands.fill(&command.value);
            length(&Text::new(filled.clone(), command.span.clone()), VERIFY, "a check", findings);
            if (options.holds_secret)(&filled) {
                let message = format!("the check of `{}` holds a secret", task.id.value);
                findings.add(Code::Secret, &command.span, message, SECRET);
            }
            let void = is_void(&filled).then_some("it succeeds whatever was done");
            if let Some(why) = swallowed(&filled).or(void) {
                let message = format!("the check of `{}` says nothing: {why}", task.id.value);
                findings.add(Code::SwallowedStatus, &command.span, message, "let the command's own status through");
            }
        }
        // What has no id is an error already, and could not be named.
        None if looks_at_files(task) && task.files.is_empty() && !task.id.value.is_empty() => {
            let message = format!("`{}` names no files, and its checks look at them", task.id.value);
            findings.add(Code::NoFiles, &task.id.span, message, "name what it changes");
        }
        None => {}
    }
}

/// The checks of such a task look at its files, where it has no command of its own.
fn looks_at_files(task: &DraftTask) -> bool {
    task.task_type.as_ref().is_some_and(|name| matches!(task_type(&name.value), Some(TaskType::Ui | TaskType::Docs)))
}

/// The default command that would check a task, where there is none and it has none of its own.
fn lacks<'a>(task: &DraftTask, commands: &Commands) -> Option<&'a str> {
    if task.command.is_some() || task.id.value.is_empty() || looks_at_files(task) {
        return None;
    }
    let has_type = task.task_type.as_ref().is_some_and(|name| task_type(&name.value).is_some());
    let default = if has_type { "test" } else { "typecheck" };
    commands.get(default).is_none().then_some(default)
}

fn unchecked(task: &DraftTask, commands: &Commands, findings: &mut Findings) {
    if let Some(default) = lacks(task, commands) {
        let message = format!("`{}` has no check: it closes on the agent's word, as `claimed`", task.id.value);
        let help = format!("give it a verification command, or the spec a `verification_commands.{default}`");
        findings.add(Code::NoCheck, &task.id.span, message, help);
    }
}

/// Most lists know no checks at all: that is said once.
fn unchecked_list(draft: &Draft, commands: &Commands, findings: &mut Findings) {
    let tasks = draft.phases.iter().flat_map(DraftPhase::authored);
    let lacking: Vec<&DraftTask> = tasks.filter(|task| lacks(task, commands).is_some()).collect();
    let Some(first) = lacking.first() else { return };
    let message = match lacking.len() {
        1 => format!("`{}` has no check: it closes on the agent's word, as `claimed`", first.id.value),
        count => format!("{count} tasks have no check: they close on the agent's word, as `claimed`"),
    };
    let help = "a spec (`steadfast plan export --to json`) can give each a verification command";
    findings.add(Code::NoCheck, &first.id.span, message, help);
}

fn length(text: &Text, most: usize, what: &str, findings: &mut Findings) {
    let count = text.value.chars().count();
    if count > most {
        let message = format!("{what} has {count} characters, and {most} is the most");
        findings.add(Code::TooLong, &text.span, message, "shorten it; details belong into the notes or a file");
    }
}

/// A suggestion, never a failure.
fn alternates(phase: &DraftPhase, findings: &mut Findings) {
    let (tasks, changes) = ALTERNATING;
    let kinds: Vec<(&str, &str)> = phase
        .authored()
        .map(|task| (task.id.as_str(), task.task_type.as_ref().map_or("none", |name| name.value.as_str())))
        .collect();
    let is_ui = |word: &str| task_type(word) == Some(TaskType::Ui);
    let flips = kinds.windows(2).filter(|pair| is_ui(pair[0].1) != is_ui(pair[1].1)).count();
    if kinds.len() < tasks || flips < changes {
        return;
    }
    let sequence: Vec<String> = kinds.iter().map(|(id, kind)| format!("{id}({kind})")).collect();
    let message = format!("{} alternates between ui and other work: {}", phase.name, sequence.join(" → "));
    let help = "grouping the ui tasks saves repeated looks; this is a suggestion";
    findings.add(Code::AlternatingUi, &phase.id.span, message, help);
}
