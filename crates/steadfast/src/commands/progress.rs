use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use steadfast_model::{RunView, Status, UnitStatus};
use steadfast_runner::lifecycle;
use steadfast_runner::progress::{report, status_line};
use steadfast_runner::run::is_alive;
use steadfast_text::{cost, duration, one_line, wrap};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{Reader, note, put_laid_out, tell, wait};
use crate::terminal::{self, Screen};
use frame::{elapsed, frame, mark};

mod frame;

/// Time between two looks at a run that is followed.
const EACH: Duration = Duration::from_millis(900);

/// Show the progress of the run of this worktree.
#[derive(Debug, Args)]
pub(super) struct Progress {
    /// Run id. [default: the last run of this worktree]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Show each change until the run ends or pauses: in place at a terminal, else printed again.
    #[arg(long, conflicts_with = "json")]
    follow: bool,
    /// Print the full report: evidence of each task, cost of each unit, remaining work.
    #[arg(long, conflicts_with_all = ["json", "follow"])]
    report: bool,
    /// Print JSON with stable keys: `{run, plan, spec, host, branch, proxy, state, reason, alive, wave, waves, tasks: {done,
    /// all}, iterations, iterations_limit, cost_usd, budget_usd, tokens, units: [{id, title, tasks: [id], wave, status, attempts,
    /// stuck, note, session, merged}]}`; state: running, paused, complete, stopped. Without a run, `{run: null}`.
    #[arg(long)]
    json: bool,
}

impl Progress {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let Some(row) = lifecycle::last(&repository, self.run.as_deref())? else {
            return match &self.run {
                Some(id) => Err(CommandError::failure(format!("there is no run `{id}` in this worktree"))
                    .hint("`steadfast progress` shows the last one")),
                None if self.json => tell!("{}", json!({ "run": null })),
                None => {
                    note!("there is no run in this worktree; `steadfast run SPEC.md` starts one");
                    Ok(())
                }
            };
        };
        let ledger = repository.ledger()?;
        let look = || -> Result<RunView, CommandError> { Ok(lifecycle::as_it_is(ledger.run_view(&row.id)?)) };
        let view = look()?;
        if self.json {
            return tell!("{}", to_json(&view));
        }
        if self.report {
            return tell!("{}", report(&view).trim_end());
        }
        let state = &repository.place.state;
        let lines = |view: &RunView, size: (usize, usize)| frame(view, state, environment::now(), size);
        let Some(width) = terminal::width() else { return self.in_pipe(look, view) };
        let mut view = view;
        if let Some(mut screen) = Screen::of_stderr().filter(|_| self.follow) {
            while is_running(&view) {
                screen.draw(&lines(&view, screen.size()));
                // The last frame is printed even if the reader is gone.
                if wait(EACH) == Reader::Gone {
                    break;
                }
                view = look()?;
            }
            screen.wipe();
        }
        // What was printed may scroll: no row is left out.
        let lines: String = lines(&view, (width, usize::MAX)).iter().map(|line| wrap(line, width) + "\n").collect();
        put_laid_out(&terminal::quoted(&lines)).map(|_| ())
    }

    /// Prints the run, and again after each change.
    fn in_pipe(&self, look: impl Fn() -> Result<RunView, CommandError>, mut view: RunView) -> Result<(), CommandError> {
        let mut shown = String::new();
        loop {
            let text = page(&view);
            // A time that goes on is no change.
            let compared = compared(&text);
            if compared != shown {
                tell!("{}", text.trim_end())?;
                shown = compared;
            }
            if !self.follow || !is_running(&view) || wait(EACH) == Reader::Gone {
                return Ok(());
            }
            view = look()?;
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
        let mark = mark(unit.status);
        let attempts = if unit.attempts > 1 { format!(", attempt {}", unit.attempts) } else { String::new() };
        let note = unit.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let state = match unit.status {
            UnitStatus::Done | UnitStatus::Waiting if unit.note.is_none() => String::new(),
            status => format!("  {}{attempts}{note}", status.as_str()),
        };
        let took = elapsed(view, unit, environment::now()).map(duration);
        let spent = view.unit_sums.get(&unit.unit).map(|sums| sums.micro_usd).filter(|micro| *micro > 0).map(cost);
        let amounts: Vec<String> = took.into_iter().chain(spent).collect();
        let amounts = if amounts.is_empty() { String::new() } else { format!("  ({})", amounts.join(", ")) };
        text += &format!("  {mark} {:<8} {}{state}{amounts}\n", unit.unit.as_str(), one_line(&unit.title));
    }
    text
}

/// A page without its times and costs.
fn compared(page: &str) -> String {
    page.lines().map(|line| line.rsplit_once("  (").map_or(line, |(before, _)| before)).collect::<Vec<_>>().join("\n")
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
        "proxy": run.is_behind_proxy(), "state": run.state.as_str(), "reason": run.reason, "alive": run.runner.is_some_and(is_alive),
        "wave": wave.or(waves), "waves": waves,
        "tasks": {"done": tasks.iter().filter(|task| task.status == Status::Done).count(), "all": tasks.len()},
        "iterations": sums.iterations, "iterations_limit": run.limits.iterations(),
        "cost_usd": usd(sums.micro_usd), "budget_usd": run.limits.micro_usd.map(usd), "tokens": sums.tokens,
        "units": units})
}
