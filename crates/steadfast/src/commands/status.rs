use clap::Args;
use serde_json::json;
use steadfast_model::{PlanView, Status as TaskStatus};
use steadfast_store::SessionFiles;
use steadfast_store::ledger::SessionRow;

use crate::error::CommandError;
use crate::repository::Repository;
use crate::surroundings;
use crate::task_list::word;

/// Shows this repository: its tasks, its sessions and what needs a human.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// Print JSON with stable keys: `{root, state, plan, sessions: [{id, host, started_at, last_at, ended, prompts,
    /// tool_calls, refusals, released}]}`.
    #[arg(long)]
    json: bool,
}

/// How many sessions are shown, the newest first.
const SESSIONS: usize = 8;

impl Status {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = Repository::here()?;
        let ledger = repository.ledger()?;
        let plan = ledger.plan_view(&repository.place.worktree())?;
        let sessions = ledger.sessions()?;
        let released = |row: &SessionRow| {
            let state = SessionFiles::of(&repository.place, &row.id).peek()?;
            state.stop.released.map(steadfast_model::Release::as_str)
        };
        if self.json {
            let sessions: Vec<_> = sessions
                .iter()
                .map(|row| {
                    json!({
                        "id": row.id,
                        "host": row.host,
                        "started_at": row.started_at,
                        "last_at": row.last_at,
                        "ended": row.ended.as_ref().map(|end| &end.reason),
                        "prompts": row.prompts,
                        "tool_calls": row.tool_calls,
                        "refusals": row.refusals,
                        "released": released(row),
                    })
                })
                .collect();
            let place = &repository.place;
            println!("{}", json!({"root": place.root, "state": place.state, "plan": plan, "sessions": sessions}));
            return Ok(());
        }

        println!("{}", repository.place.root.display());
        show_plan(plan.as_ref());
        println!();
        let uncounted = SessionFiles::all(&repository.place).len().saturating_sub(sessions.len());
        match (sessions.is_empty(), uncounted) {
            (true, 0) => {
                println!("No session has been seen yet. If one is running, restart it; Codex wants its hooks trusted.");
            }
            (_, 0) => {}
            (_, uncounted) => {
                println!("{uncounted} more sessions are not in the ledger yet: it cannot be written here.");
            }
        }
        for row in sessions.iter().take(SESSIONS) {
            let state = match (&row.ended, released(row)) {
                (Some(_), Some(release)) => format!("ended, {release}"),
                (Some(end), None) => format!("ended ({})", end.reason),
                (None, Some(release)) => format!("stopped, {release}"),
                (None, None) => "working".to_owned(),
            };
            let ago = surroundings::now().since(row.last_at) / 1_000;
            println!(
                "{:<6} {}  {state}, {} ago: {} prompts, {} tool calls, {} refusals",
                row.host.as_str(),
                row.id,
                duration(ago),
                row.prompts,
                row.tool_calls,
                row.refusals
            );
        }
        if sessions.len() > SESSIONS {
            println!("and {} more; `steadfast status --json` lists all", sessions.len() - SESSIONS);
        }
        Ok(())
    }
}

fn show_plan(plan: Option<&PlanView>) {
    let Some(plan) = plan else {
        println!("No tasks. `steadfast task add TITLE` adds one.");
        return;
    };
    let counts = plan.counts;
    print!("{} of {} tasks done, {} open, {} blocked", counts.done, counts.all(), counts.open(), counts.blocked);
    match &plan.owner {
        Some(owner) if plan.owner_ended.is_none() => println!("; session {owner} works on them"),
        _ => println!("; no session works on them"),
    }
    if let Some(next) = plan.open.first() {
        let state = if next.status == TaskStatus::InProgress { word(next.status) } else { "next" };
        println!("{state}: {} {}", next.id, next.title);
    }
    if counts.blocked > 0 {
        println!("needs a human: {} blocked, see `steadfast task list`", counts.blocked);
    }
}

fn duration(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
