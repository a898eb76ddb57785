use serde_json::json;
use steadfast_model::{Counts, PlanId};
use steadfast_store::ledger::PlanLine;
use steadfast_text::one_line;
use steadfast_work::task_list::{Plans, TaskList};

use crate::error::CommandError;
use crate::output::{put_laid_out, tell};
use crate::terminal::{Column, Table, strong};

pub(super) fn show(list: &TaskList, as_json: bool) -> Result<(), CommandError> {
    let Plans { lines, in_force } = list.plans()?;
    let is_in_force = |line: &PlanLine| Some(&line.id) == in_force.as_ref();
    if as_json {
        let plans: Vec<_> = lines
            .iter()
            .map(|line| {
                let PlanLine { id, title, source, counts, run } = line;
                json!({"id": id, "title": title, "spec": source, "in_force": is_in_force(line), "open": counts.open(),
                    "done": counts.done, "blocked": counts.blocked, "run": run})
            })
            .collect();
        return tell!("{}", json!({ "plans": plans }));
    }
    if lines.is_empty() {
        return tell!("no plan is loaded; `steadfast plan load SPEC.md` loads one");
    }
    let mut table = Table::new(&[
        Column::whole("  PLAN", 9),
        Column::whole("TASKS", 6),
        Column::text("TITLE", 7, 16),
        Column::text("SPEC", 3, 10),
        Column::whole("RUN", 4),
    ]);
    for line in &lines {
        let plan = if is_in_force(line) { strong(&format!("* {}", line.id)) } else { format!("  {}", line.id) };
        let source = line.source.as_ref().map(|source| format!("[{source}]")).unwrap_or_default();
        let run = line.run.as_ref().map(|run| format!("(run {run})")).unwrap_or_default();
        table.row([plan, counted(line.counts), one_line(&line.title), source, run]);
    }
    put_laid_out(&table.text())?;
    tell!("* in force")
}

fn counted(counts: Counts) -> String {
    let Counts { done, blocked, .. } = counts;
    format!("{done} of {} done, {} open, {blocked} blocked", counts.all(), counts.open())
}

pub(super) fn put_in_force(list: &mut TaskList, plan: &PlanId) -> Result<(), CommandError> {
    let row = list.use_plan(plan)?;
    tell!("plan {} is in force: {}", row.id, row.title)
}

/// Reports the plan in force after a plan was loaded again, unless nothing changed.
pub(super) fn tell_in_force(list: &TaskList, plan: &PlanId, before: Option<&PlanId>) -> Result<(), CommandError> {
    match list.plans()?.in_force {
        Some(now) if now == *plan && before == Some(plan) => Ok(()),
        Some(now) if now == *plan => tell!("plan {plan} is now in force"),
        Some(other) => tell!("plan {other} stays in force: it has open tasks"),
        None => Ok(()),
    }
}
