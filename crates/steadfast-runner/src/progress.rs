//! Renders a run as text: `PROGRESS.md`, one line for a terminal, and the final report. Pure.

mod idle;
mod last_action;
mod report;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use steadfast_model::{RunState, RunUnit, RunView, Status, Task, TaskId, UnitStatus};
use steadfast_plan::counsel;
use steadfast_text::{cost, count, dollars, grouped, noun, one_line};

pub use last_action::last_action;
pub(crate) use last_action::tool_call;
pub use report::report;

/// Renders the page that people read while the run works.
pub fn progress_md(view: &RunView) -> String {
    let look = Look::at(view);
    let sections = Sections::of(&look);
    let mut page = format!("# Loop Progress: {}\n\n**Status:** {}\n", one_line(&view.title), status(&look));
    sections.done.put(&mut page, "✅ Completed", |_| String::new());
    sections.at_work.put(&mut page, "🔄 In Progress", |listed| match listed.unit.status {
        UnitStatus::Running | UnitStatus::Merging => " (assigned to subagent)".to_owned(),
        UnitStatus::Waiting | UnitStatus::Done | UnitStatus::Blocked => String::new(),
    });
    sections.pending.put(&mut page, "⏳ Pending", |listed| match look.waits_for(listed.task).as_slice() {
        [] => String::new(),
        open => format!(" (blocked by {})", open.join(", ")),
    });
    sections.blocked.put(&mut page, "🚫 Blocked", |listed| match look.why_blocked(listed) {
        Some(why) => format!(" ({})", one_line(why)),
        None => String::new(),
    });
    let (done, all) = look.counts();
    let stuck: u32 = view.units.iter().map(|unit| unit.stuck).sum();
    page += &format!("\n## 📊 Metrics\n- Tasks: {done}/{all} complete\n- Stuck count: {stuck}\n");
    if let Some(idle) = idle::idle_now(view) {
        page += &format!("- Idle places: {idle}\n");
    }
    page + &counsel(&view.tasks, 0)
}

/// `4 of 9 units landed · 3 agents · 5 of 12 tasks · $2.50 of $25`
pub fn status_line(view: &RunView) -> String {
    let look = Look::at(view);
    let (done, all) = look.counts();
    let agents = view.units.iter().filter(|unit| unit.status == UnitStatus::Running).count();
    let begins = match view.run.state {
        RunState::Running => format!("{} · {}", look.landed(), count(agents, "agent")),
        state => look.stated(state.as_str()),
    };
    format!("{begins} · {done} of {all} tasks · {}", look.spent(" of "))
}

fn status(look: &Look<'_>) -> String {
    let iteration = look.view.sums.iterations;
    let status = format!("{} | Iteration {iteration} | Cost: {}", look.landed(), look.spent("/"));
    let state = match look.view.run.state {
        RunState::Running => return status,
        RunState::Paused => "Paused",
        RunState::NeedsReview => "Needs review",
        RunState::Complete => "Complete",
        RunState::Stopped => "Stopped",
    };
    format!("{status} | {}", look.stated(state))
}

/// A run with an index of its tasks: there may be thousands, and the page is rendered every few seconds.
struct Look<'a> {
    view: &'a RunView,
    by_id: HashMap<&'a TaskId, &'a Task>,
}

#[derive(Clone, Copy)]
struct Listed<'a> {
    task: &'a Task,
    unit: &'a RunUnit,
}

impl<'a> Look<'a> {
    fn at(view: &'a RunView) -> Self {
        Self { view, by_id: view.tasks.iter().map(|task| (&task.id, task)).collect() }
    }

    /// The tasks of a unit, in the order of work.
    fn listed(&self, unit: &'a RunUnit) -> impl Iterator<Item = Listed<'a>> {
        unit.tasks.iter().filter_map(|id| self.by_id.get(id)).map(move |task| Listed { task, unit })
    }

    fn all(&self) -> impl Iterator<Item = Listed<'a>> {
        self.view.units.iter().flat_map(|unit| self.listed(unit))
    }

    /// Returns how many tasks of the run are done, and how many there are.
    fn counts(&self) -> (usize, usize) {
        let done = self.all().filter(|listed| listed.task.status == Status::Done).count();
        (done, self.all().count())
    }

    fn landed(&self) -> String {
        let units = &self.view.units;
        let landed = units.iter().filter(|unit| unit.status == UnitStatus::Done).count();
        format!("{landed} of {} units landed", units.len())
    }

    /// The state of a run, with the reason where one is known.
    fn stated(&self, state: &str) -> String {
        match &self.view.run.reason {
            Some(reason) => format!("{state}: {}", one_line(reason)),
            None => state.to_owned(),
        }
    }

    /// The cost so far, and the limit.
    fn spent(&self, of: &str) -> String {
        let RunView { run, sums, .. } = self.view;
        let mut text = cost(sums.micro_usd);
        if let Some(budget) = run.limits.micro_usd {
            text += &format!("{of}{}", dollars(budget));
        }
        match run.limits.tokens {
            Some(tokens) => text += &format!(", {}{of}{} tokens", grouped(sums.tokens), grouped(tokens)),
            // A sum without unpriced iterations names them.
            None if sums.unpriced > 0 => {
                let unpriced = sums.unpriced;
                text += &format!(" and {unpriced} {} of unknown price", noun(unpriced, "iteration"));
            }
            None => {}
        }
        text
    }

    /// Returns the unfinished tasks that this task depends on.
    fn waits_for(&self, task: &'a Task) -> Vec<&'a str> {
        let is_done = |id: &TaskId| self.by_id.get(id).is_some_and(|other| other.status == Status::Done);
        task.blocked_by.iter().filter(|id| !is_done(id)).map(TaskId::as_str).collect()
    }

    /// A unit is blocked as a whole, so its reason applies to its other tasks, too.
    fn why_blocked(&self, listed: &Listed<'a>) -> Option<&'a str> {
        let reason = self.view.blocked.get(&listed.task.id).map(String::as_str);
        reason.filter(|reason| !reason.is_empty()).or(listed.unit.note.as_deref())
    }
}

fn is_closed(unit: &RunUnit) -> bool {
    matches!(unit.status, UnitStatus::Done | UnitStatus::Blocked)
}

#[derive(Default)]
struct Section<'a>(Vec<Listed<'a>>);

#[derive(Default)]
struct Sections<'a> {
    done: Section<'a>,
    at_work: Section<'a>,
    pending: Section<'a>,
    blocked: Section<'a>,
}

impl<'a> Sections<'a> {
    fn of(look: &Look<'a>) -> Self {
        let mut sections = Self::default();
        for listed in look.all() {
            let section = match (listed.task.status, listed.unit.status) {
                (Status::Done, _) => &mut sections.done,
                (Status::Blocked, _) | (_, UnitStatus::Blocked) => &mut sections.blocked,
                (_, UnitStatus::Running | UnitStatus::Merging) => &mut sections.at_work,
                _ => &mut sections.pending,
            };
            section.0.push(listed);
        }
        sections
    }
}

impl<'a> Section<'a> {
    /// Writes nothing for a section without tasks.
    fn put(&self, page: &mut String, title: &str, more: impl Fn(&Listed<'a>) -> String) {
        if self.0.is_empty() {
            return;
        }
        *page += &format!("\n## {title}\n");
        for listed in &self.0 {
            let Task { id, title, status, .. } = listed.task;
            let mark = if *status == Status::Done { "x" } else { " " };
            *page += &format!("- [{mark}] {id}: {}{}\n", one_line(title), more(listed));
        }
    }
}
