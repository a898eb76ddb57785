use serde_json::{Value, json};
use steadfast_model::{
    Action, Answer, BindingChange, Change, Entry, EventKind, Fact, Facts, Millis, Opening, OwnerEnd, PlanId, PlanView,
    Release, Ruling, State, Status, Task, ToolCall,
};
use steadfast_store::ledger::HistoryLine;
use steadfast_store::{SessionFiles, read_lines};
use steadfast_text::{printable, truncate};

use crate::history::History;
use crate::task_list::word;

/// A refusal, or a note in its place, with the known context.
#[derive(Debug)]
pub(super) struct Explanation {
    pub(super) line: HistoryLine,
    /// The facts at that time. Empty if an older or newer Steadfast wrote them.
    pub(super) facts: Facts,
    /// The event in the journal. `None` if the journal was restarted since.
    pub(super) journal: Option<Journal>,
    pub(super) since: Since,
    /// The plan as it is now.
    pub(super) plan: Option<PlanView>,
}

/// The event of a verdict in its session's journal.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) event: EventKind,
    pub(super) answer: Answer,
    /// The state of the session right after it.
    pub(super) state: State,
}

/// The events since the verdict.
#[derive(Debug, Default)]
pub(super) struct Since {
    pub(super) closed: Vec<Task>,
    pub(super) prompts: u64,
    pub(super) tool_calls: u64,
    pub(super) released: Option<(Release, Millis)>,
    pub(super) ended: Option<OwnerEnd>,
    /// How the plan gate was opened.
    pub(super) opened: Option<(Opening, Millis)>,
    /// The plan that the session works on since.
    pub(super) bound: Option<PlanId>,
}

/// The reason why a stop was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowedStop<'a> {
    Capped(&'a PlanView),
    AllBlocked(&'a PlanView),
    Unread(&'a str),
}

/// The recipient of the message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recipient {
    Agent,
    Human,
    NotSent,
}

impl Explanation {
    pub(super) fn of(history: &History, line: HistoryLine) -> Self {
        let facts: Facts = line.facts.clone().and_then(|facts| serde_json::from_value(facts).ok()).unwrap_or_default();
        let files = SessionFiles::of(&history.repository.place, &line.session);
        let (journal, mut since) = read_journal(&files, line.sequence);
        let mut plan = None;
        if let (Some(ledger), Fact::Known(Some(then))) = (&history.ledger, &facts.plan) {
            plan = ledger.plan_view(&then.worktree).ok().flatten();
            since.closed = ledger.tasks(&then.id).unwrap_or_default();
            since.closed.retain(|task| task.status.is_closed() && task.updated_at > line.at);
        } else if let (Some(ledger), true) = (&history.ledger, since.is_approved()) {
            plan = ledger.plan_view(&history.repository.place.worktree()).ok().flatten();
        }
        Self { line, facts, journal, since, plan }
    }

    /// Returns true if the verdict took effect.
    pub(super) fn took_effect(&self) -> bool {
        self.line.mode == "enforce"
    }

    pub(super) fn plan_then(&self) -> Option<&PlanView> {
        match &self.facts.plan {
            Fact::Known(plan) => plan.as_ref(),
            Fact::NotAsked | Fact::Unknown(_) => None,
        }
    }

    pub(super) fn allowed_stop(&self) -> Option<AllowedStop<'_>> {
        if (self.line.verdict.as_str(), self.line.event.as_str()) != ("note", "Stop") {
            return None;
        }
        match &self.facts.plan {
            Fact::Unknown(why) => Some(AllowedStop::Unread(why)),
            Fact::Known(Some(plan)) if plan.open.is_empty() => Some(AllowedStop::AllBlocked(plan)),
            Fact::Known(Some(plan)) => Some(AllowedStop::Capped(plan)),
            Fact::Known(None) | Fact::NotAsked => None,
        }
    }

    /// The tool call that was about to happen, if it was one.
    pub(super) fn what(&self) -> Option<String> {
        match &self.journal.as_ref()?.event {
            EventKind::PreTool(call) | EventKind::Permission(call) => Some(what(call)),
            EventKind::PostTool(result) => Some(what(&result.call)),
            _ => None,
        }
    }

    /// A question to a human counts as a refusal if no human was there to answer it.
    pub(super) fn was_denied(&self) -> bool {
        let ruling = self.journal.as_ref().map(|journal| &journal.answer.ruling);
        self.line.verdict == "deny" || matches!(ruling, Some(Ruling::Deny { .. }))
    }

    pub(super) fn told(&self) -> Recipient {
        match (self.line.mode.as_str(), self.line.verdict.as_str()) {
            ("observe", _) => Recipient::NotSent,
            (_, "note") | ("advise", "continue") => Recipient::Human,
            ("enforce", "ask") if !self.was_denied() => Recipient::Human,
            _ => Recipient::Agent,
        }
    }

    /// The number of this refusal, and the limit.
    pub(super) fn budget(&self) -> Option<(u32, u32)> {
        let State { stop, rules, .. } = &self.journal.as_ref()?.state;
        let counts = self.line.verdict == "continue" && stop.refused > 0;
        counts.then(|| (stop.refused, rules.stop.max_cycles.saturating_add(stop.earned)))
    }

    pub(super) fn to_json(&self, now: Millis) -> Value {
        let mut value = json!(self.line);
        let told = |who| (self.told() == who).then_some(&self.line.reason);
        let closed: Vec<Value> = self
            .since
            .closed
            .iter()
            .map(|task| json!({"id": task.id, "title": task.title, "status": task.status, "at": task.updated_at}))
            .collect();
        value["summary"] = self.summary(now).into();
        value["what"] = json!(self.what());
        value["told"] = json!({"agent": told(Recipient::Agent), "human": told(Recipient::Human)});
        value["budget"] = json!(self.budget().map(|(refusal, limit)| json!({"refusal": refusal, "limit": limit})));
        value["since"] = json!({
            "closed": closed,
            "prompts": self.since.prompts,
            "tool_calls": self.since.tool_calls,
            "released": self.since.released.map(|(release, _)| release),
            "ended": self.since.ended.as_ref().map(|end| &end.reason),
            "opened": self.since.opened.as_ref().map(|(opening, _)| opening),
        });
        value["next"] = json!(self.next());
        value
    }
}

/// Reads the event at line `sequence`, and the events after it.
fn read_journal(files: &SessionFiles, sequence: u64) -> (Option<Journal>, Since) {
    let (_, lines) = read_lines(files.dir(), 0).unwrap_or_default();
    let mut state: Option<State> = None;
    let mut moment = None;
    let mut since = Since::default();
    for line in lines {
        let record = match line.entry {
            Entry::Snapshot(snapshot) => {
                state = Some(*snapshot);
                continue;
            }
            Entry::Record(record) => record,
        };
        let event = &record.event;
        let state = state.get_or_insert_with(|| State::new(event.session.clone(), event.host, event.at));
        state.advance(line.sequence, event.at, &record.changes);
        if line.sequence == sequence {
            moment = Some(Journal { event: record.event.kind, answer: record.answer, state: state.clone() });
        } else if line.sequence > sequence {
            for change in &record.changes {
                since.add(change, event.at);
            }
        }
    }
    (moment, since)
}

impl Since {
    /// Returns true if a human approved a plan since.
    pub(super) fn is_approved(&self) -> bool {
        matches!(self.opened, Some((Opening::Approved { .. }, _)))
    }

    fn add(&mut self, change: &Change, at: Millis) {
        match change {
            Change::HumanSpoke => {
                self.prompts += 1;
                // A prompt restores the budget.
                self.released = None;
            }
            Change::ToolCalled => self.tool_calls += 1,
            Change::StopReleased(release) => self.released = Some((*release, at)),
            Change::GateOpened(opening) => self.opened = Some((opening.clone(), at)),
            Change::GateClosed(_) => self.opened = None,
            Change::Binding(BindingChange::Bound(plan)) => self.bound = Some(plan.clone()),
            Change::Started => self.ended = None,
            Change::Ended { reason } => self.ended = Some(OwnerEnd { reason: reason.clone(), at }),
            _ => {}
        }
    }
}

fn what(call: &ToolCall) -> String {
    /// Length limit in characters, because a command may be a whole script.
    const LONGEST: usize = 120;
    let object = match &call.action {
        Action::Write { paths } | Action::Read { paths } => paths.join(", "),
        Action::Shell { command, .. } => command.clone(),
        Action::Delegate { agent_type } => agent_type.clone(),
        Action::Skill { name } => name.clone(),
        Action::Mcp { .. } | Action::Ask | Action::LeavePlan | Action::List(_) | Action::Other => String::new(),
    };
    let said = printable(&format!("{} {object}", call.tool));
    format!("`{}`", truncate(&said, LONGEST))
}

/// A closed task with its status.
pub(super) fn closed(task: &Task) -> String {
    let Task { id, title, status, .. } = task;
    debug_assert!(matches!(status, Status::Done | Status::Blocked));
    format!("{id} {} ({})", printable(title), word(*status))
}
