use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use steadfast_model::{
    Counts, Course, DraftLine, Fact, ForgedSeen, LoopView, Millis, PlanView, Release, RunState, RunView, SessionId,
    State, Status as TaskStatus, Tally, TaskId,
};
use steadfast_observe::{Branch, Checkout, Point};
use steadfast_runner::lifecycle;
use steadfast_runner::progress::status_line;
use steadfast_runner::run::is_alive;
use steadfast_store::ledger::{Ledger, SessionRow, SessionState};
use steadfast_store::{Draft, SessionFiles, kept_aside, unseen_requests};
use steadfast_text::{HANG, ago, and_more, count, fit, one_line, wrap};
use steadfast_work::history::{cut, short_length};
use steadfast_work::liveness::{Liveness, note_killed_owner};
use steadfast_work::loops::Loops;
use steadfast_work::spec_file;
use steadfast_work::task_list::{Position, TaskList, short_of, word};
use steadfast_work::tracker::LOOK;
use steadfast_work::why::gate_line;

use super::goal::Waiting;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::report::{self, Summary};
use crate::terminal;

/// Show tasks, sessions and everything that needs a human.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// Print JSON with stable keys: `{root, state, branch, changed, plan, run: {id, state, reason, branch}, loop:
    /// {id, stage, standing, next, session, waits}, approval, gate, draft, kept: [path],
    /// unseen: [{pid, requests: {path: number}}], done_by,
    /// stale: [id], checking: [id], needs_human: [text], sessions: [{id, host, unit,
    /// started_at, last_at, ended, prompts, tool_calls, refusals, released, paused_until, forged, tags: [tag],
    /// drift: {steps, nudges, corrections, interventions, halts, course}}]}`.
    #[arg(long)]
    json: bool,
}

/// Number of sessions to show, the newest first.
const SESSIONS: usize = 8;

/// Time limit for git. A human waits for the output, so what takes longer is left out.
const BUDGET: Duration = Duration::from_secs(1);

/// A session, from its row in the ledger and its files.
struct Seen {
    row: SessionRow,
    /// Its tags, its course and the tally of its steps.
    work: Option<SessionState>,
    state: Option<State>,
    /// The unit of a run that it works on.
    unit: Option<TaskId>,
    liveness: Liveness,
}

impl Status {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("status")?;
        list.follow(LOOK);
        list.take_lines().iter().for_each(|line| note!("{line}"));
        let (place, ledger) = (list.place(), list.ledger());
        let mut plan = list.view()?;
        plan.iter_mut().for_each(|plan| note_killed_owner(place, plan));
        let summary = report::summary(&list)?;
        let all = SessionFiles::all(place);
        let work = ledger.session_states()?;
        let OfRuns { ended, mut units } = sessions_of_runs(list.ledger(), list.worktree())?;
        let sessions: Vec<Seen> = ledger
            .sessions()?
            .into_iter()
            .map(|row| {
                let files = SessionFiles::of(place, &row.id);
                let work = work.iter().find(|work| *work.session() == row.id).cloned();
                Seen {
                    work,
                    unit: units.remove(&row.id),
                    state: files.peek(),
                    liveness: Liveness::of(place, &row, &ended),
                    row,
                }
            })
            .collect();
        let checkout = Checkout::find(&place.root);
        let branch = branch(&checkout);
        let changed = match checkout.changed_since(&Point::Head, BUDGET) {
            Fact::Known(changes) => Some(changes.len()),
            Fact::Unknown(_) | Fact::NotAsked => None,
        };
        let position = list.position()?;
        let run = match ledger.runs_of(list.worktree())?.into_iter().find(|run| !run.state.is_over()) {
            Some(run) => Some(lifecycle::as_it_is(ledger.run_view(&run.id)?)),
            None => None,
        };
        let spec = position.plan.as_ref().and_then(|plan| spec_file::changed(&place.root, plan));
        let mut needs = needs_human(plan.as_ref(), &summary, &sessions);
        needs.splice(0..0, spec);
        needs.splice(0..0, position.unloaded.as_ref().map(super::plan::unloaded));
        needs.splice(0..0, approval_needed(&position));
        needs.splice(0..0, here::missing_hooks(place));
        needs.extend(run.iter().filter_map(run_needed));
        let looped = Loops::as_they_are(list.repository())?.view()?;
        needs.extend(looped.as_ref().and_then(loop_needed));
        let kept = kept_aside(place);
        let unseen = unseen_requests(place);
        if self.json {
            let sessions: Vec<Value> = sessions.iter().map(Seen::to_json).collect();
            tell!(
                "{}",
                json!({"root": place.root, "state": place.state, "branch": branch, "changed": changed, "plan": plan,
                    "run": run.as_ref().map(|view| json!({"id": view.run.id, "state": view.run.state.as_str(),
                        "reason": view.run.reason, "branch": view.run.branch})),
                    "loop": looped.as_ref().map(|looped| json!({"id": looped.id, "stage": looped.stage,
                        "standing": looped.standing, "next": looped.next, "session": looped.session,
                        "waits": looped.waits})),
                    "approval": position.approval,
                    "gate": if position.is_locked() { "locked" } else { "open" },
                    "draft": position.draft.as_ref().map(Draft::line),
                    "kept": kept, "unseen": unseen.iter().map(|proxy| json!({"pid": proxy.pid,
                        "requests": proxy.paths.iter().cloned().collect::<BTreeMap<_, _>>()})).collect::<Vec<_>>(),
                    "done_by": summary.done_by, "stale": summary.stale, "checking": summary.checking,
                    "needs_human": needs, "sessions": sessions})
            )?;
            return Ok(());
        }

        let on = branch.map(|branch| format!(" on {branch}")).unwrap_or_default();
        let changed = match changed {
            Some(0) => ", nothing changed".to_owned(),
            Some(1) => ", 1 file changed".to_owned(),
            Some(count) => format!(", {count} files changed"),
            None => String::new(),
        };
        tell!("{}{on}{changed}", terminal::strong(&place.root.display().to_string()))?;
        let mut used = 1;
        for need in &needs {
            let line = format!("{} {HANG}{}", terminal::warning("needs a human:"), shortened(need));
            used += taken(&line);
            tell!("{line}")?;
        }
        used += show_plan(plan.as_ref(), &summary, short_length(sessions.iter().map(|seen| &seen.row.id)))?;
        if let Some(run) = &run {
            tell!("run {}: {HANG}{}", run.run.id, status_line(run))?;
            used += 1;
        }
        if let Some(looped) = &looped {
            show_loop(looped)?;
            used += 2;
        }
        used += show_gate(&list, &position)?;
        if let Some(waiting) = Waiting::of(list.repository()) {
            waiting.show()?;
            used += 2;
        }
        if let [.., newest] = &kept[..] {
            tell!(
                "Steadfast restored a file while the plan gate was closed; the changed version is in {}",
                newest.display()
            )?;
            used += 2;
        }
        for proxy in &unseen {
            let requests = count(proxy.paths.iter().map(|(_, count)| count).sum::<u64>(), "request");
            let paths = and_more(proxy.paths.iter().map(|(path, _)| path), 3);
            tell!(
                "the proxy with process {} did not read {requests}, which have an unknown format: {HANG}{paths}",
                proxy.pid
            )?;
            used += 2;
        }
        tell!("")?;
        // Below it are the line that counts the rest, and the prompt.
        let room = terminal::rows().map(|rows| rows.saturating_sub(used + 3));
        show_sessions(&sessions, all.len().saturating_sub(sessions.len()), room)
    }
}

/// A text for one entry, of about three lines at a terminal. The whole is where its command shows it.
fn shortened(text: &str) -> String {
    let text = one_line(text);
    terminal::width().map_or_else(|| text.clone(), |width| fit(&text, 3 * width.saturating_sub(20)).into_owned())
}

/// The lines that a text takes at the terminal.
fn taken(text: &str) -> usize {
    terminal::width().map_or(1, |width| wrap(text, width).lines().count())
}

/// The sessions of agents that runs started.
#[derive(Default)]
struct OfRuns {
    /// Those that a run ended, or saw end: their hooks may not have reported it.
    ended: BTreeSet<SessionId>,
    /// The unit that each worked on.
    units: BTreeMap<SessionId, TaskId>,
}

fn sessions_of_runs(ledger: &Ledger, worktree: &str) -> Result<OfRuns, CommandError> {
    let OfRuns { mut ended, mut units } = OfRuns::default();
    for run in ledger.runs_of(worktree)? {
        let dispatches = ledger.dispatches(&run.id)?;
        let rows = ledger.units(&run.id)?;
        let of_dispatches = dispatches.iter().map(|dispatch| (&dispatch.session, &dispatch.unit));
        for (session, unit) in of_dispatches.chain(rows.iter().map(|row| (&row.session, &row.unit))) {
            units.extend(session.clone().map(|session| (session, unit.clone())));
        }
        let (over, open): (Vec<_>, Vec<_>) = dispatches.into_iter().partition(|dispatch| dispatch.ended_at.is_some());
        ended.extend(over.into_iter().filter_map(|dispatch| dispatch.session));
        // A killed runner recorded no end, and its agents ended with it.
        if open.is_empty() || run.runner.is_some_and(is_alive) {
            continue;
        }
        let killed = rows.into_iter().filter(|unit| !unit.agent.is_some_and(is_alive));
        ended.extend(killed.filter_map(|unit| unit.session));
    }
    Ok(OfRuns { ended, units })
}

/// A line about a run that is paused or has lost its process.
fn run_needed(view: &RunView) -> Option<String> {
    let run = &view.run;
    let gone = !run.runner.is_some_and(is_alive);
    (run.state == RunState::Paused || gone)
        .then(|| format!("run {} is paused; continue with `steadfast resume`", run.id))
}

/// A line about a loop that waits for a human.
fn loop_needed(looped: &LoopView) -> Option<String> {
    let why = looped.waits.as_deref()?;
    Some(format!("loop {} waits: {why}; `steadfast resume` continues it", looped.id))
}

fn show_loop(looped: &LoopView) -> Result<(), CommandError> {
    let who = match (&looped.session, &looped.session_ended, &looped.run) {
        (.., Some(run)) => format!("run {run} works on it"),
        (Some(session), None, None) => format!("session {session} is bound to it"),
        _ => "no session is bound to it".to_owned(),
    };
    tell!("loop {}: stage {}, {}; {who}", looped.id, looped.stage.as_str(), looped.standing)?;
    tell!("next: {}", looped.next)
}

impl Seen {
    fn released(&self) -> Option<Release> {
        self.state.as_ref()?.stop.released
    }

    fn is_over(&self) -> bool {
        self.liveness.is_over()
    }

    fn is_capped(&self) -> bool {
        self.released() == Some(Release::Capped)
    }

    fn paused_until(&self, now: Millis) -> Option<Millis> {
        let state = self.state.as_ref()?;
        state.paused_until.filter(|_| state.is_paused(now))
    }

    fn to_json(&self) -> Value {
        let Self { row, .. } = self;
        json!({
            "id": row.id,
            "host": row.host,
            "unit": self.unit,
            "started_at": row.started_at,
            "last_at": row.last_at,
            "ended": match (&row.ended, self.liveness) {
                (Some(end), _) => Some(end.reason.as_str()),
                (None, Liveness::Killed) => Some(Liveness::KILLED),
                (None, Liveness::EndedByRun) => Some(Liveness::BY_RUN),
                (None, _) => None,
            },
            "prompts": row.prompts,
            "tool_calls": row.tool_calls,
            "refusals": row.refusals,
            "released": self.released().map(Release::as_str),
            "paused_until": self.paused_until(environment::now()),
            "forged": self.forged().map_or(0, |forged| forged.count),
            "tags": self.work.as_ref().map(SessionState::tags).unwrap_or_default(),
            "drift": self.work.as_ref().map(|work| {
                let Tally { steps, nudges, corrections, interventions, halts, .. } = work.tally();
                json!({"steps": steps, "nudges": nudges, "corrections": corrections, "interventions": interventions,
                    "halts": halts, "course": work.course().as_str()})
            }),
        })
    }

    /// Events in the name of this session that no host sent.
    fn forged(&self) -> Option<&ForgedSeen> {
        self.state.as_ref()?.forged.as_ref()
    }

    /// The steps and corrections of the session in one line; `None` if it took no step.
    fn drift(&self) -> Option<String> {
        let work = self.work.as_ref().filter(|work| work.tally().steps > 0)?;
        let Tally { steps, nudges, corrections, interventions, halts, .. } = work.tally();
        let levels = [(nudges, "nudge"), (corrections, "correction"), (interventions, "intervention"), (halts, "halt")];
        let mut text = count(steps, "step");
        for (number, level) in levels.into_iter().filter(|(number, _)| *number > 0) {
            text += &format!(", {}", count(number, level));
        }
        text += match work.course() {
            Course::Normal => ", on course",
            Course::Drifted => ", drifted",
            Course::Forced => ", drifted: must take the named action first",
        };
        let tags = work.tags();
        if !tags.is_empty() {
            text += &format!(" ({})", tags.join(", "));
        }
        Some(text)
    }

    /// The session in a line, its course and what is wrong with it.
    fn lines(&self, now: Millis, short: usize) -> Vec<String> {
        let row = &self.row;
        let unit = self.unit.as_ref().map(|unit| format!(" on unit {unit}")).unwrap_or_default();
        let mut lines = vec![format!(
            "{:<6} {}  {HANG}{}{unit}, {}: {}, {}, {}",
            row.host.as_str(),
            terminal::strong(cut(row.id.as_str(), short)),
            self.doing(now),
            ago(now.since(row.last_at)),
            count(row.prompts, "prompt"),
            count(row.tool_calls, "tool call"),
            count(row.refusals, "refusal")
        )];
        lines.extend(self.drift().map(|drift| format!("       {HANG}{}", terminal::faint(&drift))));
        if let Some(forged) = self.forged() {
            let forged = format!("{}, latest: {}", count(u64::from(forged.count), "forged event"), forged.last);
            lines.push(format!("       {HANG}{}", terminal::warning(&forged)));
        }
        lines
    }

    /// The current activity in a few words.
    fn doing(&self, now: Millis) -> String {
        let released = self.released().map(Release::as_str);
        let doing = match (&self.row.ended, released) {
            (Some(_), Some(release)) => format!("ended, {release}"),
            (Some(end), None) => format!("ended ({})", end.reason),
            (None, Some(release)) if self.liveness == Liveness::Killed => format!("killed, {release}"),
            (None, None) if self.liveness == Liveness::Killed => Liveness::KILLED.to_owned(),
            (None, _) if self.liveness == Liveness::EndedByRun => Liveness::BY_RUN.to_owned(),
            (None, None) if self.liveness == Liveness::Unknown => {
                "working, if its process still runs (on another machine or in another container)".to_owned()
            }
            (None, Some(release)) => format!("stopped, {release}"),
            (None, None) => "working".to_owned(),
        };
        match self.paused_until(now) {
            Some(Millis(i64::MAX)) => format!("{doing}, Steadfast is off"),
            Some(until) => format!("{doing}, Steadfast is paused until {}", terminal::moment(until)),
            None => doing,
        }
    }
}

fn branch(checkout: &Checkout) -> Option<String> {
    match checkout.branch(BUDGET) {
        Fact::Known(Branch::Named(name)) => Some(name),
        Fact::Known(Branch::Detached(id)) => Some(format!("{id:.12}")),
        Fact::Unknown(_) | Fact::NotAsked => None,
    }
}

/// Everything in the plan and the sessions that needs a human.
fn needs_human(plan: Option<&PlanView>, summary: &Summary, sessions: &[Seen]) -> Vec<String> {
    // What follows must still be on a screen of 24 rows.
    let shown = terminal::rows().map_or(6, |rows| (rows / 6).clamp(2, 6));
    let counts = plan.map(|plan| plan.counts).unwrap_or_default();
    let mut needs: Vec<String> = summary.needs_human.iter().take(shown).cloned().collect();
    if summary.needs_human.len() > shown {
        needs.push(format!("{} more, see `steadfast task list`", summary.needs_human.len() - shown));
    }
    let owner = plan.and_then(|plan| plan.owner.as_ref());
    let short = short_length(sessions.iter().map(|seen| &seen.row.id));
    let capped = sessions.iter().find(|seen| Some(&seen.row.id) == owner && seen.is_capped());
    if let Some(capped) = capped.filter(|seen| counts.open() > 0 && !seen.is_over()) {
        needs.push(format!(
            "session {} stopped as capped with {} open, see `steadfast why`; its next prompt rearms the stop gate",
            cut(capped.row.id.as_str(), short),
            count(counts.open(), "task")
        ));
    } else if let Some(over) = sessions.iter().find(|seen| Some(&seen.row.id) == owner && seen.is_over())
        && counts.open() > 0
    {
        let ended = if over.liveness == Liveness::Killed { "was killed" } else { "ended" };
        let how = over.released().map_or(ended.to_owned(), |release| format!("stopped as {}", release.as_str()));
        let (id, open) = (cut(over.row.id.as_str(), short), count(counts.open(), "task"));
        needs.push(format!("session {id} {how} with {open} open; `steadfast resume` continues the plan"));
    }
    needs
}

/// A line about a draft that awaits approval.
fn approval_needed(position: &Position) -> Option<String> {
    let waits = position.draft.as_ref().filter(|_| position.is_locked())?;
    let short = short_of(waits);
    Some(format!("plan {short} awaits approval: {}; `steadfast plan approve {short}` shows it and asks", waits.title))
}

/// Prints the approval of the plan and its gates, and returns the number of lines.
fn show_gate(list: &TaskList, position: &Position) -> Result<usize, CommandError> {
    let mut lines = Vec::new();
    if position.plan.is_some() {
        let short = position.hash.as_deref().and_then(|hash| hash.get(..DraftLine::SHORT)).unwrap_or_default();
        lines.extend(super::plan::words(position.approval, short));
    }
    let environment = &list.repository().environment;
    lines.extend(position.gates.iter().map(|standing| gate_line(list.place(), standing, environment)));
    show(&lines)
}

/// Prints lines, and returns how many the terminal has for them.
fn show(lines: &[String]) -> Result<usize, CommandError> {
    lines.iter().try_for_each(|line| tell!("{line}"))?;
    Ok(lines.iter().map(|line| taken(line)).sum())
}

/// Prints the tasks of the plan, and returns the number of lines.
fn show_plan(plan: Option<&PlanView>, summary: &Summary, short: usize) -> Result<usize, CommandError> {
    let Some(plan) = plan else {
        return show(&["No tasks. `steadfast task add TITLE` adds one.".to_owned()]);
    };
    let mut lines = Vec::new();
    let counts = plan.counts;
    if let Some(spec) = &plan.brief.spec {
        lines.push(format!("{} ({spec})", plan.title));
    }
    let who = match &plan.owner {
        Some(owner) if plan.owner_ended.is_none() => format!("session {} works on them", cut(owner.as_str(), short)),
        _ => "no session works on them".to_owned(),
    };
    let Counts { done, blocked, .. } = counts;
    let done = format!("{done} of {} tasks done", counts.all());
    let done = if counts.open() + blocked == 0 { terminal::good(&done) } else { done };
    lines.push(format!("{done}, {} open, {blocked} blocked; {who}", counts.open()));
    if let Some(next) = plan.open.first() {
        let state = if next.status == TaskStatus::InProgress { word(next.status) } else { "next" };
        lines.push(format!("{}: {HANG}{} {}", terminal::strong(state), next.id, one_line(&next.title)));
    }
    if !summary.done_by.is_empty() {
        let parts: Vec<String> = summary.done_by.iter().map(|(class, count)| format!("{count} {class}")).collect();
        lines.push(format!("done: {}", parts.join(", ")));
    }
    if !summary.stale.is_empty() {
        lines.push(format!("stale (files changed after they were done): {}", ids(&summary.stale)));
    }
    if !summary.checking.is_empty() {
        lines.push(format!("checks running: {}", ids(&summary.checking)));
    }
    show(&lines)
}

fn ids(ids: &[TaskId]) -> String {
    and_more(ids.iter().map(TaskId::as_str), 12)
}

/// Prints the newest sessions. `room`: the lines that are left on the screen.
fn show_sessions(sessions: &[Seen], uncounted: usize, room: Option<usize>) -> Result<(), CommandError> {
    match (sessions.is_empty(), uncounted) {
        (true, 0) => {
            tell!("No sessions yet. Restart a running session to load the hooks; in Codex, trust them when asked.")?;
        }
        (_, 0) => {}
        (_, uncounted) => {
            let are = if uncounted == 1 { "session is" } else { "sessions are" };
            tell!("{uncounted} more {are} not in the ledger yet: the ledger is read-only here.")?;
        }
    }
    let now = environment::now();
    let short = short_length(sessions.iter().map(|seen| &seen.row.id));
    let (mut used, mut shown) = (0, 0);
    for seen in sessions.iter().take(SESSIONS) {
        let lines = seen.lines(now, short);
        used += lines.iter().map(|line| taken(line)).sum::<usize>();
        // The newest is always shown.
        if shown > 0 && room.is_some_and(|room| used > room) {
            break;
        }
        lines.iter().try_for_each(|line| tell!("{line}"))?;
        shown += 1;
    }
    if sessions.len() > shown {
        tell!("and {} more; `steadfast status --json` lists all", sessions.len() - shown)?;
    }
    Ok(())
}
