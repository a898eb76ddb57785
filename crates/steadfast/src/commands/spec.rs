use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;
use steadfast_model::{Check, PlannedTask, Status, TaskId, TaskKind, TaskType};
use steadfast_plan::LintReport;
use steadfast_plan::{Compiled, ListFormat, Problem, compile as compile_spec, format_of, not_read, render};
use steadfast_redact::redact;
use steadfast_text::{HANG, count, quote};
use steadfast_work::spec_file;
use steadfast_work::task_list::{short, word};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put_aside, put_laid_out, tell};
use crate::report;
use crate::terminal::{self, Spinner};

/// Compile, count and lint a spec without changing anything.
#[derive(Debug, Subcommand)]
pub(super) enum Spec {
    /// Show the plan of a spec, with generated tasks.
    Compile {
        /// Spec, or another list that `plan load` reads; `-` is standard input.
        file: PathBuf,
        /// Print JSON with stable keys: `{feature, tasks: [{id, title, kind, type, phase, files, verify, check,
        /// verified_by, blocked_by}], warnings: [{code, message, line}]}`. `verified_by`: the generated task that runs
        /// `verify`. A task that was started in its list also has a `status`.
        #[arg(long)]
        json: bool,
    },
    /// Count the tasks of the plan, with generated ones.
    Count {
        /// Spec, or another list that `plan load` reads; `-` is standard input.
        file: PathBuf,
    },
    /// Report all problems of a spec.
    Lint {
        /// Spec, or another list that `plan load` reads; `-` is standard input.
        file: PathBuf,
        /// Print JSON with stable keys: `{ok, problems: [{code, severity, line, column, message, help}]}`.
        #[arg(long)]
        json: bool,
        /// Run the check of every open task in this checkout, and warn about checks that pass before any work.
        #[arg(long)]
        run_checks: bool,
    },
}

impl Spec {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Compile { file, json } => compile(&file, json),
            Self::Count { file } => {
                let compiled = spec_file::compile(&environment::current(), &file)?;
                say_format(compiled.format, &file.to_string_lossy());
                tell!("{}", compiled.plan.tasks.len())?;
                Ok(())
            }
            Self::Lint { file, json, run_checks } => lint(&file, json, run_checks),
        }
    }
}

fn compile(file: &Path, as_json: bool) -> Result<(), CommandError> {
    let text = spec_file::read(file)?;
    let compiled = spec_file::compile_text(&environment::current(), &text, file)?;
    let plan = &compiled.plan;
    say_format(compiled.format, &file.to_string_lossy());
    let statuses: HashMap<&TaskId, Status> = compiled.reported.iter().map(|one| (&one.task, one.status)).collect();
    if as_json {
        let json = |task: &PlannedTask| to_json(task, plan.check_behind(task), statuses.get(&task.id));
        let tasks: Vec<_> = plan.tasks.iter().map(json).collect();
        let warning = |problem: &Problem| json!({"code": problem.code.as_str(), "message": problem.message, "line": problem.line});
        let warnings: Vec<_> = compiled.warnings.iter().map(warning).collect();
        tell!("{}", json!({"feature": plan.feature, "tasks": tasks, "warnings": warnings}))?;
        return Ok(());
    }
    tell!("{}", plan.feature)?;
    for phase in &plan.phases {
        tell!("\n{}", terminal::heading(&phase.name))?;
        for task in plan.tasks.iter().filter(|task| task.phase.as_deref() == Some(&phase.id)) {
            show(task, plan.check_behind(task), statuses.get(&task.id))?;
        }
    }
    let warnings = render(&compiled.warnings, &text, &file.to_string_lossy(), redact);
    put_aside(format_args!("{}", report::problems(&warnings, None)));
    Ok(())
}

fn to_json(task: &PlannedTask, own: Option<(&TaskId, &str)>, status: Option<&Status>) -> serde_json::Value {
    let mut shown = json!({
        "id": task.id,
        "title": task.title,
        "kind": task.kind,
        "type": task.task_type.map(TaskType::as_str),
        "phase": task.phase,
        "files": task.files,
        "notes": task.notes,
        "verify": task.verify.as_ref().and_then(Check::as_command).or(own.map(|(_, command)| command)),
        "verified_by": own.map(|(link, _)| link),
        "check": task.verify.as_ref().map(Check::as_str),
        "blocked_by": task.blocked_by,
    });
    if let Some(status) = status {
        shown["status"] = json!(status);
    }
    shown
}

fn show(task: &PlannedTask, own: Option<(&TaskId, &str)>, status: Option<&Status>) -> Result<(), CommandError> {
    let generated = if task.kind == TaskKind::Main { ' ' } else { '+' };
    tell!("{generated} {:<8} {HANG}{}", task.id.as_str(), task.title)?;
    let mut check = task.verify.as_ref().map_or("no check: it closes on the agent's word".to_owned(), Check::describe);
    if let Some((link, command)) = own {
        check.push_str(&format!(", and `{command}` exits with 0 ({link})"));
    }
    tell!("           {HANG}done when: {check}")?;
    if let Some(status) = status {
        tell!("           {HANG}status: {}", word(*status))?;
    }
    if !task.blocked_by.is_empty() {
        let after: Vec<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
        tell!("           {HANG}after: {}", after.join(", "))?;
    }
    Ok(())
}

fn lint(file: &Path, as_json: bool, run_checks: bool) -> Result<(), CommandError> {
    let text = spec_file::read(file)?;
    let name = file.to_string_lossy();
    let known = spec_file::known_as(&environment::current(), file);
    let (report, understood) = match compile_spec(&text, &known, &spec_file::options(&environment::current())?) {
        Ok(mut compiled) => {
            if run_checks {
                let passing = passing(&compiled, &text, &known)?;
                compiled.warnings.extend(passing);
                compiled.warnings.sort_by_key(|problem| problem.line);
            }
            say_apart(&compiled);
            (LintReport { problems: compiled.warnings.clone() }, Some(understood(&compiled)))
        }
        Err(report) => (report, None),
    };
    if let Some(format) = format_of(&text, &known) {
        say_format(format, &name);
    }
    let (errors, warnings) = (report.errors(), report.warnings());
    if as_json {
        let problem = |problem: &Problem| {
            json!({
                "code": problem.code.as_str(),
                "severity": problem.severity.as_str(),
                "line": problem.line,
                "column": problem.column,
                "message": problem.message,
                "help": problem.help,
            })
        };
        let problems: Vec<_> = report.problems.iter().map(problem).collect();
        tell!("{}", json!({"ok": errors == 0, "problems": problems}))?;
    } else {
        put_laid_out(&report::problems(&render(&report.problems, &text, &name, redact), terminal::width()))?;
    }
    match (errors, warnings) {
        (0, _) if as_json => {}
        (0, 0) => tell!("{name}: {} ({})", terminal::good("OK"), understood.unwrap_or_default())?,
        (0, _) => tell!("{name}: {}", understood.unwrap_or_default())?,
        (errors, warnings) => {
            let hint = format!("{} and {} in `{name}`", count(errors, "error"), count(warnings, "warning"));
            return Err(CommandError::failure(hint).hint("each problem above names its fix"));
        }
    }
    if !as_json && name != "-" {
        let file = quote(&name);
        note!("\nnext: `steadfast plan load {file}`, or `steadfast plan propose {file}` to approve it first");
    }
    Ok(())
}

/// Runs the checks, and returns a warning for each that passes before any work.
fn passing(compiled: &Compiled, text: &str, source: &str) -> Result<Vec<Problem>, CommandError> {
    let list = here::task_list("spec lint")?;
    let mut passing = Vec::new();
    for (command, tasks) in compiled.commands() {
        let what = format!("running check of {}: `{}`", listed(&tasks), short(command));
        note!("{what}");
        let _running = Spinner::start(&what);
        if list.try_check(command, source)?.passed {
            passing.extend(compiled.passes_already(text, command, &tasks));
        }
    }
    Ok(passing)
}

fn listed(tasks: &[&TaskId]) -> String {
    tasks.iter().map(|task| task.as_str()).collect::<Vec<_>>().join(", ")
}

/// Notes phases that could run in parallel: they share no files, and the spec states no order.
fn say_apart(compiled: &Compiled) {
    let [first, more @ ..] = compiled.apart.as_slice() else { return };
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    note!(
        "`{first}`{more} waits for the previous phase but shares no files with it; with `Depends on: none` below its heading \
         (`\"depends_on\": []`), a run starts it at once"
    );
}

/// `6 tasks in 2 phases; lines 12, 40 and 41 were not read as tasks`.
pub(super) fn understood(compiled: &Compiled) -> String {
    let (authored, all) = (compiled.authored, compiled.plan.tasks.len());
    let mut words = format!("{} in {}", count(authored, "task"), count(compiled.plan.phases.len(), "phase"));
    if all > authored {
        words.push_str(&format!(", {all} with generated ones"));
    }
    if !compiled.unread.is_empty() {
        words.push_str(&format!("; {}", not_read(&compiled.unread)));
    }
    words
}

/// Notes the format of a file that is not a spec.
pub(super) fn say_format(format: ListFormat, name: &str) {
    if !format.is_spec() {
        note!("`{name}` is {}", format.describe());
    }
}
