mod draft;
mod export;
mod gate;
mod list;
mod status;

use super::Unasked;
pub(super) use draft::said as proposed;
pub(super) use status::{unloaded, words};

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;
use steadfast_model::{PlanId, Task, TaskKind};
use steadfast_plan::{Code, Compiled};
use steadfast_store::ledger::{Loaded, PlanRow};
use steadfast_text::{HANG, and_more, count, one_line};
use steadfast_work::task_list::{LoopState, TakenOver, TaskList, decisions_file, word};
use steadfast_work::tracker::{Beads, LOOK};
use steadfast_work::{WorkError, spec_file};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::report;
use crate::terminal::{heading, strong};

/// Load, approve and show the plan of this worktree.
#[derive(Debug, Subcommand)]
pub(super) enum Plan {
    /// Load a spec or another task list as a plan; unchanged tasks keep their status.
    ///
    /// Reads SPEC.md and SPEC.json. Reads these lists with their ids, dependencies and statuses: beads `issues.jsonl`,
    /// `tasks.md` of OpenSpec and spec-kit, `tasks.json` of Task Master, plans of GSD, breakdowns and checklists in
    /// Markdown. A task that is done there is `claimed` here.
    ///
    /// Without a file, reads the list that `ledger.source` names.
    Load {
        /// The spec or the list of tasks: Markdown, JSON or JSON lines. [default: the list that `ledger.source` names]
        file: Option<PathBuf>,
        /// Epic of a beads list to load alone.
        #[arg(long, value_name = "ID", requires = "file")]
        epic: Option<String>,
        /// Print JSON with stable keys: those of `plan status --json`.
        #[arg(long)]
        json: bool,
    },
    /// Store a draft of a plan for a human to approve, and close the plan gate.
    ///
    /// Protected files cannot be written until the human approves or rejects the draft. On approval, Steadfast writes
    /// the draft to its path.
    Propose(draft::Propose),
    /// Close the plan gate: of the session inside an agent's call, else of this checkout.
    Lock(gate::Lock),
    /// Show a draft, ask, and approve it.
    ///
    /// Signs the draft, writes it to its path, opens the plan gate, and loads the plan. No session works on it yet: the
    /// next one is offered its tasks.
    Approve(draft::Approve),
    /// Reject a draft, and open the gate.
    Reject(gate::Reject),
    /// Open the plan gates of this checkout without approving a plan.
    Unlock(Unasked),
    /// Restore a file that Steadfast moved aside, as your own work.
    ///
    /// Steadfast moves a protected file aside if it changes while the plan gate is closed. The gate stays closed, and
    /// no plan is approved.
    Take {
        /// File, relative to the root of the checkout.
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// List the plans of this worktree, the plan in force first.
    ///
    /// Sessions, `status` and the task commands use the plan in force: of the plans with open tasks, the one that was
    /// loaded or chosen last.
    List {
        /// Print JSON with stable keys: `{plans: [{id, title, spec, in_force, open, done, blocked, run}]}`.
        #[arg(long)]
        json: bool,
    },
    /// Put a plan in force.
    Use {
        /// Plan id, as `steadfast plan list` prints it.
        #[arg(value_name = "PLAN")]
        id: String,
    },
    /// Show the plan: its purpose, its phases and its tasks.
    Show {
        /// Show the draft that awaits approval instead. With `--json`: `{hash, title, tasks, path, format, worktree,
        /// session, proposed_at, replaces, text}`.
        #[arg(long)]
        draft: bool,
        /// Print JSON with stable keys: `{plan, feature, spec, description, constraints, criteria, promise, phases: [{id,
        /// name, items}], loops: [{phase, position, completed, failed}], tasks}`.
        #[arg(long)]
        json: bool,
    },
    /// Show the progress and the approval of the plan, and the state of the plan gate.
    Status {
        /// Print JSON with stable keys: `{plan, hash, approval, gate, open, done, blocked}`; approval: not_required,
        /// required, approved, unsigned, forged; gate: open, locked. Before the plan is loaded, `plan` is null, and
        /// `hash` is that of the draft.
        #[arg(long)]
        json: bool,
    },
    /// Export the plan with its statuses, for other programs and `plan load`.
    Export(export::Export),
    /// Release the sessions that are bound to the plan: they may stop while its tasks are open.
    ///
    /// The next request to work on the tasks binds a session again.
    Release,
    /// Archive the plan and its decisions file, and keep its evidence.
    Clear(Unasked),
}

impl Plan {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Load { file: Some(file), epic, json } => load(&file, epic.as_deref(), json),
            Self::Load { file: None, json, .. } => load_tracked(json),
            Self::Propose(command) => command.run(),
            Self::Lock(command) => command.run(),
            Self::Approve(command) => command.run(),
            Self::Reject(command) => command.run(),
            Self::Unlock(_) => gate::unlock(),
            Self::Take { file } => gate::take(&file),
            Self::List { json } => list::show(&followed_list("plan list")?, json),
            Self::Use { id } => list::put_in_force(&mut here::task_list("plan use")?, &PlanId::new(id)),
            Self::Show { draft: true, json } => draft::show(&here::task_list("plan show")?, json),
            Self::Show { draft: false, json } => show(&followed_list("plan show")?, json),
            Self::Status { json } => status::show(&followed_list("plan status")?, json),
            Self::Export(command) => command.run(),
            Self::Release => release(&here::task_list("plan release")?),
            Self::Clear(_) => clear(&mut here::task_list("plan clear")?),
        }
    }
}

/// The task list of this worktree, updated from its tracker.
fn followed_list(words: &str) -> Result<TaskList, CommandError> {
    let mut list = here::task_list(words)?;
    list.follow(LOOK);
    list.take_lines().iter().for_each(|line| note!("{line}"));
    Ok(list)
}

fn release(list: &TaskList) -> Result<(), CommandError> {
    let released = list.release()?;
    if released.is_empty() {
        return tell!("No session is bound to the plan of this worktree.");
    }
    for session in &released {
        tell!("session {session} is released: it may stop with open tasks")?;
    }
    Ok(())
}

fn load_tracked(json: bool) -> Result<(), CommandError> {
    let mut list = here::task_list("plan load")?;
    let Some(tracker) = list.named_tracker() else {
        return Err(CommandError::usage("no file to load: neither FILE nor `ledger.source` is set")
            .hint("give one: `steadfast plan load SPEC.md`"));
    };
    let plan = list.load_tracked(tracker)?;
    list.take_lines().iter().for_each(|line| note!("{line}"));
    if json {
        return tell!("{}", report::position_json(&list.position()?));
    }
    let (open, all) = list.open_of(&plan)?;
    tell!("plan {}: {all} tasks, {open} open", plan.id)?;
    tell!("decisions are in {}", decisions_file(&plan.id))
}

fn load(file: &std::path::Path, epic: Option<&str>, json: bool) -> Result<(), CommandError> {
    let mut list = here::task_list("plan load")?;
    let mut source = spec_file::source(file, &list.place().root);
    let compiled = match epic {
        None => spec_file::compile(&environment::current(), file)?,
        Some(epic) => {
            // Another epic of the same file is another plan.
            source = format!("{source}#{epic}");
            let lines = Beads::new(&list.place().root, Some(epic)).lines_of(&spec_file::read(file)?);
            let mut compiled = spec_file::compile_text(
                &environment::current(),
                &lines.map_err(|source| WorkError::Tracker { name: format!("`{}`", file.display()), source })?,
                file,
            )?;
            compiled.plan.feature = epic.to_owned();
            compiled
        }
    };
    let before = list.plans()?.in_force;
    let loaded = list.load(&compiled.plan, &source)?;
    let (plan, tasks) = (loaded.plan(), compiled.plan.tasks.len());
    super::spec::say_format(compiled.format, &source);
    if json {
        list.take_lines().iter().for_each(|line| note!("{line}"));
        list.take_over(plan, &compiled.reported, &source)?;
        warn(&compiled, &source);
        return tell!("{}", report::position_json(&list.position()?));
    }
    match &loaded {
        Loaded::New(_) => tell!("plan {plan}: {tasks} tasks in {}", count(compiled.plan.phases.len(), "phase"))?,
        Loaded::Same(_) => {
            tell!("plan {plan} is already loaded and unchanged")?;
            list::tell_in_force(&list, plan, before.as_ref())?;
        }
        Loaded::Replaced { kept, .. } => {
            tell!("plan {plan}: {tasks} tasks, {kept} of which keep their status; the previous plan is archived")?;
        }
    }
    list.take_lines().iter().try_for_each(|line| tell!("{line}"))?;
    taken_over(&list.take_over(plan, &compiled.reported, &source)?)?;
    tell!("decisions are in {}", decisions_file(plan))?;
    for check in list.ledger().stated_checks(plan)? {
        tell!("has to pass at the end: `{}`", check.command)?;
    }
    warn(&compiled, &source);
    note!("`{source}` was read as {}", super::spec::understood(&compiled));
    say_moved_checks(&compiled.plan);
    match compiled.plan.tasks.iter().filter(|task| task.verify.is_none()).count() {
        0 => {}
        1 => note!("1 task has no check: it closes on the agent's word, as `claimed`"),
        unchecked => note!("{unchecked} tasks have no check: they close on the agent's word, as `claimed`"),
    }
    Ok(())
}

/// Says which checks of the spec are run by generated tasks: the task itself is closed when its files changed.
fn say_moved_checks(plan: &steadfast_model::Plan) {
    let moved = plan.tasks.iter().filter_map(|task| Some((task.id.as_str(), plan.check_behind(task)?.0.as_str())));
    let moved: Vec<String> = moved.map(|(task, link)| format!("{task} by {link}")).collect();
    if !moved.is_empty() {
        note!("checks that a generated task runs: {}", and_more(&moved, 6));
    }
}

/// Prints all warnings about a spec, because its author can fix them. Of another tool's list, prints a few of each kind and
/// the number of the rest.
fn warn(compiled: &Compiled, source: &str) {
    const OF_EACH: usize = 3;
    let mut more: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in &compiled.warnings {
        let seen = more.entry(warning.code.as_str()).or_default();
        *seen += 1;
        // `load` prints the number of tasks without a check.
        let is_news = warning.code != Code::NoCheck && *seen <= OF_EACH;
        if compiled.format.is_spec() || is_news {
            note!("warning: {source}:{}: {}", warning.line, warning.message);
            // A lint on another machine would not find a skill that is missing on this one.
            if warning.code == Code::SkillNotInstalled {
                note!("  {}", warning.help);
            }
        }
    }
    let more: usize = more.into_values().map(|seen| seen.saturating_sub(OF_EACH)).sum();
    if more > 0 && !compiled.format.is_spec() {
        note!("{more} more warnings: `steadfast spec lint {source}` shows all");
    }
}

/// Prints the progress that was taken over from another tool.
fn taken_over(taken: &TakenOver) -> Result<(), CommandError> {
    let TakenOver { done, in_progress, blocked, unproven } = taken;
    let counts = [(done, "done, as `claimed`"), (in_progress, "in progress"), (blocked, "blocked")];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !counts.is_empty() {
        tell!("taken over: {}", counts.join("; "))?;
    }
    match unproven {
        0 => Ok(()),
        1 => tell!("1 task was done there, but stays open here until its check passes"),
        count => tell!("{count} tasks were done there, but stay open here until their checks pass"),
    }
}

fn show(list: &TaskList, json: bool) -> Result<(), CommandError> {
    let plan = list.plan_row()?;
    let tasks = list.all()?;
    let loops = LoopState::all(&plan.head.phases, &tasks);
    if json {
        let loops: Vec<_> = loops
            .iter()
            .map(|state| {
                json!({"phase": state.phase.id, "position": state.position, "completed": state.completed,
                    "failed": state.failed})
            })
            .collect();
        let PlanRow { id, title, source, head, .. } = &plan;
        let mut shown = report::tasks_json(list, &tasks)?;
        for (key, value) in [
            ("plan", json!(id)),
            ("feature", json!(title)),
            ("spec", json!(source)),
            ("description", json!(head.description)),
            ("constraints", json!(head.constraints)),
            ("criteria", json!(head.criteria)),
            ("promise", json!(head.promise)),
            ("phases", json!(head.phases)),
            ("loops", json!(loops)),
        ] {
            shown[key] = value;
        }
        tell!("{shown}")?;
        return Ok(());
    }
    tell!("{} ({})", strong(&plan.title), plan.id)?;
    if let Some(description) = &plan.head.description {
        tell!("{description}")?;
    }
    for constraint in &plan.head.constraints {
        tell!("must hold: {constraint}")?;
    }
    for phase in &plan.head.phases {
        tell!("\n{}", heading(if phase.name.is_empty() { &phase.id } else { &phase.name }))?;
        if let Some(state) = loops.iter().find(|state| state.phase.id == phase.id) {
            let at = phase.items.get(state.position).map_or("finished".to_owned(), |item| format!("at {item}"));
            tell!(
                "  {at}; {} of {} items completed, {} failed",
                state.completed.len(),
                phase.items.len(),
                state.failed.len()
            )?;
        }
        for task in tasks.iter().filter(|task| task.phase.as_deref() == Some(&phase.id)) {
            line(task)?;
        }
    }
    let loose: Vec<&Task> = tasks.iter().filter(|task| task.phase.is_none()).collect();
    if !loose.is_empty() {
        tell!("{}", if plan.head.phases.is_empty() { "" } else { "\nAdded" })?;
        loose.into_iter().try_for_each(line)?;
    }
    Ok(())
}

fn line(task: &Task) -> Result<(), CommandError> {
    let generated = if task.kind == TaskKind::Main { "" } else { "  (generated)" };
    let open = if task.status.is_closed() { String::new() } else { format!("  {}", word(task.status)) };
    let (mark, id) = (report::mark(task.status), task.id.as_str());
    tell!("  {mark} {id:<8} {HANG}{}{generated}{open}", one_line(&task.title))
}

fn clear(list: &mut TaskList) -> Result<(), CommandError> {
    let (plan, archived) = list.clear()?;
    tell!("plan {} is archived; its tasks and evidence are kept", plan.id)?;
    if let Some(path) = archived {
        tell!("its decisions are in {}", path.display())?;
    }
    Ok(())
}
