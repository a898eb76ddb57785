//! Problems of a spec other than syntax.

pub(crate) mod exit_status;

use std::collections::BTreeSet;

use steadfast_model::{StatedCheck, TaskType};

use crate::CompileOptions;
use crate::draft::commands::Commands;
use crate::draft::labels::task_type;
use crate::draft::{Draft, DraftPhase, DraftTask, Text};
use crate::graph::{Graph, Stage};
use crate::problem::{Code, Findings};
use crate::source::Lines;
use exit_status::{is_void, swallowed};

/// Limits of the ledger, in characters.
const ID: usize = 90;
const TITLE: usize = 400;
const NOTES: usize = 4_000;
const VERIFY: usize = 4_000;
const PATH: usize = 4_096;

/// Above this number of tasks a plan is hard to follow.
const MANY: usize = 400;

/// Minimum tasks, and minimum changes between ui and other work, for the suggestion to group a phase.
const ALTERNATING: (usize, usize) = (4, 3);

pub(crate) fn draft(draft: &Draft, commands: &Commands, options: &CompileOptions, findings: &mut Findings) {
    for phase in &draft.phases {
        if phase.authored().next().is_none() && !phase.name.is_empty() {
            let message = format!("the phase `{}` has no tasks", phase.name);
            findings.add(Code::EmptyPhase, &phase.id.span, message, "add tasks or remove the phase");
        }
        if let Some(each) = &phase.each
            && each.items.is_empty()
        {
            let message = format!("the loop of the phase `{}` has no items", phase.name);
            findings.add(Code::EmptyPhase, &phase.id.span, message, "list the items that the loop repeats for");
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
        let message = format!("the plan has {count} tasks, more than {MANY}");
        findings.add(Code::ManyTasks, &graph.draft.span, message, "split the spec; smaller specs are easier to follow");
    }
}

/// Reports, once and at the first ui task, the skills that are configured but not installed.
fn skills(graph: &Graph<'_>, options: &CompileOptions, findings: &mut Findings) {
    let missing = &options.missing_skills;
    let mut tasks = graph.tasks.iter().filter(|task| task.task_type == Some(TaskType::Ui));
    let (Some(first), Some(example)) = (tasks.next(), missing.first()) else { return };
    let what = match (options.ui_skills.is_empty(), 1 + tasks.count()) {
        (false, _) => "the tasks before ui work do not mention it".to_owned(),
        (true, 1) => format!("`{}a` is left out", first.id),
        (true, count) => format!("the task before each of {count} ui tasks is left out (`{}a` and so on)", first.id),
    };
    let named: Vec<String> = missing.iter().map(|name| format!("`/{name}`")).collect();
    let message = format!("not installed: {}; {what}", named.join(", "));
    let help = format!(
        "install it in `.claude/skills/{example}/SKILL.md` (Codex: `.agents/skills`) or as a plugin, then load the \
         spec again; the setting `ledger.ui_skills` lists the skills"
    );
    let span = first.draft.task_type.as_ref().map_or(&first.draft.id.span, |name| &name.span);
    findings.add(Code::SkillNotInstalled, span, message, help);
}

/// Returns the phases that wait for the one before only by default: every task up to there names its files, no file is
/// shared, and no task depends on an earlier phase. This is a hint, not a problem: the order may be intended.
pub(crate) fn apart(graph: &Graph<'_>) -> Vec<String> {
    // Files of earlier phases, and their parent folders.
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
        // The matches of a pattern are not known here.
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

/// Returns the parent folders of a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Returns the files that the tasks of a phase change. `None`: a task names no files.
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

/// Reports lines that may be meant as tasks but were not read as tasks; returns their numbers.
pub(crate) fn unread(draft: &Draft, lines: &Lines<'_>, findings: &mut Findings) -> Vec<usize> {
    let mut numbers: Vec<usize> = draft.unread.iter().map(|at| lines.position(*at).0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if let (Some(first), false) = (draft.unread.iter().min(), numbers.is_empty()) {
        let help = "write a task with a box or an id, `- [ ] 1.2 …`; indent its details below it";
        findings.add(Code::NotRead, &(*first..first + 1), not_read(&numbers), help);
    }
    numbers
}

/// Formats `lines 12, 40 and 41 were not read as tasks`; a long list is cut.
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

/// Checks the commands that the spec states for its end.
pub(crate) fn stated(draft: &Draft, checks: &[StatedCheck], options: &CompileOptions, findings: &mut Findings) {
    if checks.iter().any(|check| (options.holds_secret)(&check.command)) {
        let message = "a command that has to pass at the end contains a secret";
        findings.add(Code::Secret, &draft.span, message, SECRET);
    }
}

/// Help for a secret in a command.
const SECRET: &str = "read it from the environment or a file: the spec and the ledger store checks in plain text";

fn one(task: &DraftTask, commands: &Commands, options: &CompileOptions, findings: &mut Findings) {
    length(&task.id, ID, "an id", findings);
    length(&task.title, TITLE, "a title", findings);
    if let Some(notes) = &task.notes
        && notes.value.chars().count() > NOTES
    {
        let message = format!("the notes of `{}` are cut to {NOTES} characters", task.id.value);
        findings.add(Code::CutNotes, &notes.span, message, "put the details into a file and name it in the notes");
    }
    for file in &task.files {
        length(file, PATH, "a path", findings);
    }
    match &task.command {
        Some(command) => {
            let filled = commands.fill(&command.value);
            length(&Text::new(filled.clone(), command.span.clone()), VERIFY, "a check", findings);
            if (options.holds_secret)(&filled) {
                let message = format!("the check of `{}` contains a secret", task.id.value);
                findings.add(Code::Secret, &command.span, message, SECRET);
            }
            let void = is_void(&filled).then_some("it always succeeds");
            if let Some(why) = swallowed(&filled).or(void) {
                let message = format!("the check of `{}` proves nothing: {why}", task.id.value);
                findings.add(
                    Code::SwallowedStatus,
                    &command.span,
                    message,
                    "write a check that fails when the work is not done",
                );
            }
        }
        // A task without an id is an error already, and could not be named.
        None if looks_at_files(task) && task.files.is_empty() && !task.id.value.is_empty() => {
            let message = format!("`{}` names no files, but its check needs them", task.id.value);
            findings.add(Code::NoFiles, &task.id.span, message, "add the files that the task changes");
        }
        None => {}
    }
}

/// Reports whether the checks of a task look at its files when it has no command.
fn looks_at_files(task: &DraftTask) -> bool {
    task.task_type.as_ref().is_some_and(|name| matches!(task_type(&name.value), Some(TaskType::Ui | TaskType::Docs)))
}

/// Returns the name of the missing default command that would check a task without its own.
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
        let message = format!("`{}` has no check: it closes as `claimed`, without proof", task.id.value);
        let help = format!("add a verification command to the task, or `verification_commands.{default}` to the spec");
        findings.add(Code::NoCheck, &task.id.span, message, help);
    }
}

/// Most lists have no checks at all, so one problem covers all tasks.
fn unchecked_list(draft: &Draft, commands: &Commands, findings: &mut Findings) {
    let tasks = draft.phases.iter().flat_map(DraftPhase::authored);
    let lacking: Vec<&DraftTask> = tasks.filter(|task| lacks(task, commands).is_some()).collect();
    let Some(first) = lacking.first() else { return };
    let message = match lacking.len() {
        1 => format!("`{}` has no check: it closes as `claimed`, without proof", first.id.value),
        count => format!("{count} tasks have no check: they close as `claimed`, without proof"),
    };
    let help =
        "export the plan as a spec (`steadfast plan export --to json`) and add a verification command to each task";
    findings.add(Code::NoCheck, &first.id.span, message, help);
}

fn length(text: &Text, most: usize, what: &str, findings: &mut Findings) {
    let count = text.value.chars().count();
    if count > most {
        let message = format!("{what} has {count} characters; the limit is {most}");
        findings.add(Code::TooLong, &text.span, message, "shorten it and move details to the notes or a file");
    }
}

/// Suggests to group ui tasks. Never a failure.
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
    let help = "group the ui tasks to need fewer visual checks; this is only a suggestion";
    findings.add(Code::AlternatingUi, &phase.id.span, message, help);
}
