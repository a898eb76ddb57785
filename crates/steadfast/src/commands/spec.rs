use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use steadfast_model::{Check, PlannedTask, Status, TaskId, TaskKind, TaskType};
use steadfast_plan::Report;
use steadfast_plan::{Compiled, Format, Problem, compile as compile_spec, format_of, not_read, render};
use steadfast_work::spec_file;
use steadfast_work::task_list::word;

use crate::error::CommandError;
use crate::output::{note, put, put_aside, tell};
use crate::surroundings::environment;

/// Looks at a spec, SPEC.md or SPEC.json, or a list that `plan load` reads, and changes nothing.
#[derive(Debug, Subcommand)]
pub(super) enum Spec {
    /// Shows the plan of a spec, with generated tasks in.
    Compile {
        /// The spec; `-` is standard input.
        file: PathBuf,
        #[command(flatten)]
        output: CompileOutput,
    },
    /// Counts the tasks of its plan, generated ones among them.
    Count {
        /// The spec; `-` is standard input.
        file: PathBuf,
    },
    /// Says what is wrong with a spec, all at once.
    Lint {
        /// The spec; `-` is standard input.
        file: PathBuf,
        #[command(flatten)]
        output: LintOutput,
    },
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct CompileOutput {
    /// Print JSON with stable keys: `{feature, tasks: [{id, title, kind, type, phase, files, verify, check,
    /// blocked_by}], warnings: [{code, message, line}]}`. Tasks of a list that were begun have a `status`, too.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct LintOutput {
    /// Print JSON with stable keys: `{ok, problems: [{code, severity, line, column, message, help}]}`.
    #[arg(long)]
    json: bool,
}

impl Spec {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Compile { file, output } => compile(&file, output),
            Self::Count { file } => {
                let compiled = spec_file::compile(&environment(), &file)?;
                say_format(compiled.format, &file.to_string_lossy());
                tell!("{}", compiled.plan.tasks.len())?;
                Ok(())
            }
            Self::Lint { file, output } => look(&file, output),
        }
    }
}

fn compile(file: &Path, output: CompileOutput) -> Result<(), CommandError> {
    let text = spec_file::read(file)?;
    let compiled = spec_file::compile_text(&environment(), &text, file)?;
    let plan = &compiled.plan;
    say_format(compiled.format, &file.to_string_lossy());
    let stands: HashMap<&TaskId, Status> = compiled.reported.iter().map(|one| (&one.task, one.status)).collect();
    if output.json {
        let tasks: Vec<_> = plan.tasks.iter().map(|task| to_json(task, stands.get(&task.id))).collect();
        let warning = |problem: &Problem| json!({"code": problem.code.as_str(), "message": problem.message, "line": problem.line});
        let warnings: Vec<_> = compiled.warnings.iter().map(warning).collect();
        tell!("{}", json!({"feature": plan.feature, "tasks": tasks, "warnings": warnings}))?;
        return Ok(());
    }
    tell!("{}", plan.feature)?;
    for phase in &plan.phases {
        tell!("\n{}", phase.name)?;
        for task in plan.tasks.iter().filter(|task| task.phase.as_deref() == Some(&phase.id)) {
            show(task, stands.get(&task.id))?;
        }
    }
    put_aside(format_args!("{}", render(&compiled.warnings, &text, &file.to_string_lossy())));
    Ok(())
}

fn to_json(task: &PlannedTask, status: Option<&Status>) -> serde_json::Value {
    let mut shown = json!({
        "id": task.id,
        "title": task.title,
        "kind": task.kind,
        "type": task.task_type.map(TaskType::as_str),
        "phase": task.phase,
        "files": task.files,
        "notes": task.notes,
        "verify": task.verify.as_ref().and_then(Check::as_command),
        "check": task.verify.as_ref().map(Check::as_str),
        "blocked_by": task.blocked_by,
    });
    if let Some(status) = status {
        shown["status"] = json!(status);
    }
    shown
}

fn show(task: &PlannedTask, status: Option<&Status>) -> Result<(), CommandError> {
    let generated = if task.kind == TaskKind::Main { ' ' } else { '+' };
    tell!("{generated} {:<8} {}", task.id.as_str(), task.title)?;
    let check = task.verify.as_ref().map_or("nothing: it closes on the agent's word".to_owned(), Check::describe);
    tell!("           done when: {check}")?;
    if let Some(status) = status {
        tell!("           stands: {}", word(*status))?;
    }
    if !task.blocked_by.is_empty() {
        let after: Vec<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
        tell!("           after: {}", after.join(", "))?;
    }
    Ok(())
}

fn look(file: &Path, output: LintOutput) -> Result<(), CommandError> {
    let text = spec_file::read(file)?;
    let name = file.to_string_lossy();
    let known = spec_file::known_as(&environment(), file);
    let (report, understood) = match compile_spec(&text, &known, &spec_file::options(&environment())?) {
        Ok(compiled) => (Report { problems: compiled.warnings.clone() }, Some(understood(&compiled))),
        Err(report) => (report, None),
    };
    if let Some(format) = format_of(&text, &known) {
        say_format(format, &name);
    }
    let (errors, warnings) = (report.errors(), report.warnings());
    if output.json {
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
        put(&render(&report.problems, &text, &name))?;
    }
    match (errors, warnings) {
        (0, _) if output.json => {}
        (0, 0) => tell!("{name}: OK ({})", understood.unwrap_or_default())?,
        (0, _) => tell!("{name}: {}", understood.unwrap_or_default())?,
        (errors, warnings) => {
            let hint = format!("{} and {} in `{name}`", counted(errors, "error"), counted(warnings, "warning"));
            return Err(CommandError::failure(hint).hint("each says above what to do"));
        }
    }
    Ok(())
}

/// `6 tasks in 2 phases; lines 12, 40 and 41 were not read as tasks`.
pub(super) fn understood(compiled: &Compiled) -> String {
    let (authored, all) = (compiled.authored, compiled.plan.tasks.len());
    let mut words = format!("{} in {}", counted(authored, "task"), counted(compiled.plan.phases.len(), "phase"));
    if all > authored {
        words.push_str(&format!(", {all} with generated ones"));
    }
    if !compiled.unread.is_empty() {
        words.push_str(&format!("; {}", not_read(&compiled.unread)));
    }
    words
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Says what a file is that is not our own.
pub(super) fn say_format(format: Format, name: &str) {
    if !format.is_spec() {
        note!("`{name}` is {}", format.describe());
    }
}
