//! Drafts as text for the human who approves them.

use steadfast_model::{Plan, TaskKind};
use steadfast_store::{Draft, Granted};
use steadfast_work::task_list::short_of;

pub(crate) fn granted(draft: &Draft, granted: &Granted) -> String {
    let kept = granted.kept.as_ref().map(|kept| format!("\nthe file that was there is kept in {}", kept.display()));
    format!("plan {} is approved and written to {}{}", short_of(draft), draft.path, kept.unwrap_or_default())
}

/// The text of a draft that a human reads before approving it.
pub(crate) fn rendered(plan: &Plan) -> String {
    use std::fmt::Write;
    let mut text = format!("{}\n", plan.feature);
    let mut line = |said: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{said}");
    };
    if let Some(description) = &plan.description {
        line(format_args!("{description}"));
    }
    for constraint in &plan.constraints {
        line(format_args!("must hold: {constraint}"));
    }
    for criterion in &plan.criteria {
        line(format_args!("done when: {criterion}"));
    }
    let phases = plan.phases.iter().map(|phase| (Some(&phase.id), phase.name.as_str(), &phase.items[..]));
    for (id, name, items) in phases.chain([(None, "", &[][..])]) {
        let tasks: Vec<_> = plan.tasks.iter().filter(|task| task.phase.as_ref() == id).collect();
        if tasks.is_empty() {
            continue;
        }
        let name = if name.is_empty() { id.map_or("", String::as_str) } else { name };
        line(format_args!("\n{name}"));
        if !items.is_empty() {
            line(format_args!("  once for each of: {}", items.join(", ")));
        }
        for task in tasks {
            let generated = if task.kind == TaskKind::Main { "" } else { "  (generated)" };
            line(format_args!("  {:<8} {}{generated}", task.id.as_str(), task.title));
            if !task.files.is_empty() && task.kind == TaskKind::Main {
                line(format_args!("           files: {}", task.files.join(", ")));
            }
            if let Some(notes) = task.notes.as_ref().filter(|_| task.kind == TaskKind::Main) {
                line(format_args!("           notes: {notes}"));
            }
            if let Some((link, command)) = plan.check_behind(task) {
                line(format_args!("           check: {command} ({link})"));
            } else if let Some(command) = task.verify.as_ref().and_then(steadfast_model::Check::as_command)
                && task.kind == TaskKind::Main
            {
                line(format_args!("           check: {command}"));
            }
        }
    }
    text
}
