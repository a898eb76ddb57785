use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use steadfast_model::{RunView, Status, UnitStatus};
use steadfast_runner::lifecycle;
use steadfast_runner::progress::{report, status_line};
use steadfast_runner::run::is_alive;

use crate::error::CommandError;
use crate::here;
use crate::output::{Reader, tell, wait};

/// Show the progress of the run of this worktree.
#[derive(Debug, Args)]
pub(super) struct Progress {
    /// Run id. [default: the last run of this worktree]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Print again after each change, until the run ends or pauses.
    #[arg(long, conflicts_with = "json")]
    follow: bool,
    /// Print the full report: evidence of each task, cost of each unit, remaining work.
    #[arg(long, conflicts_with_all = ["json", "follow"])]
    report: bool,
    /// Print JSON with stable keys: `{run, plan, spec, host, branch, state, reason, alive, wave, waves, tasks: {done, all},
    /// iterations, iterations_limit, cost_usd, budget_usd, tokens, units: [{id, title, tasks: [id], wave, status, attempts,
    /// stuck, note, session, merged}]}`; state: running, paused, complete, stopped.
    #[arg(long)]
    json: bool,
}

impl Progress {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let Some(row) = lifecycle::last(&repository, self.run.as_deref())? else {
            return Err(
                CommandError::failure("there is no run in this worktree").hint("`steadfast run SPEC.md` starts one")
            );
        };
        let ledger = repository.ledger()?;
        let mut shown = String::new();
        loop {
            let view = lifecycle::as_it_is(ledger.run_view(&row.id)?);
            if self.json {
                return tell!("{}", to_json(&view));
            }
            if self.report {
                return tell!("{}", report(&view).trim_end());
            }
            let text = page(&view);
            if text != shown {
                tell!("{}", text.trim_end())?;
                shown = text;
            }
            if !self.follow || !is_running(&view) || wait(Duration::from_millis(900)) == Reader::Gone {
                return Ok(());
            }
        }
    }
}

fn is_running(view: &RunView) -> bool {
    view.run.state == steadfast_model::RunState::Running && view.run.runner.is_some_and(is_alive)
}

fn page(view: &RunView) -> String {
    let mut text = format!("run {} of {}: {}\n", view.run.id, view.run.spec, status_line(view));
    if view.run.state == steadfast_model::RunState::Running && !is_running(view) {
        text += "its process is gone; continue with `steadfast resume`\n";
    }
    for unit in &view.units {
        let mark = match unit.status {
            UnitStatus::Done => "x",
            UnitStatus::Running | UnitStatus::Merging => ">",
            UnitStatus::Blocked => "!",
            UnitStatus::Waiting => " ",
        };
        let attempts = if unit.attempts > 1 { format!(", attempt {}", unit.attempts) } else { String::new() };
        let note = unit.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let state = match unit.status {
            UnitStatus::Done | UnitStatus::Waiting if unit.note.is_none() => String::new(),
            status => format!("  {}{attempts}{note}", status.as_str()),
        };
        text += &format!("  [{mark}] {:<8} {}{state}\n", unit.unit.as_str(), unit.title);
    }
    text
}

fn to_json(view: &RunView) -> Value {
    let RunView { run, units, tasks, sums, .. } = view;
    let usd = |micro: u64| micro as f64 / 1e6;
    let wave = units.iter().filter(|unit| unit.status != UnitStatus::Done).map(|unit| unit.wave).min();
    let waves = units.iter().map(|unit| unit.wave).max();
    let units: Vec<Value> = units
        .iter()
        .map(|unit| {
            json!({"id": unit.unit, "title": unit.title, "tasks": unit.tasks, "wave": unit.wave,
                "status": unit.status.as_str(), "attempts": unit.attempts, "stuck": unit.stuck, "note": unit.note,
                "session": unit.session, "merged": unit.merged})
        })
        .collect();
    json!({"run": run.id, "plan": run.plan, "spec": run.spec, "host": run.host, "branch": run.branch,
        "state": run.state.as_str(), "reason": run.reason, "alive": run.runner.is_some_and(is_alive),
        "wave": wave.or(waves), "waves": waves,
        "tasks": {"done": tasks.iter().filter(|task| task.status == Status::Done).count(), "all": tasks.len()},
        "iterations": sums.iterations, "iterations_limit": run.limits.iterations(),
        "cost_usd": usd(sums.micro_usd), "budget_usd": run.limits.micro_usd.map(usd), "tokens": sums.tokens,
        "units": units})
}
