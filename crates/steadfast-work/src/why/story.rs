//! The text of an explanation.

use steadfast_engine::goal::leave;
use steadfast_model::{Channel, Constraint, DraftLine, EventKind, Fact, Millis, Opening, PlanView, Status, TaskLine};
use steadfast_text::{HANG, ago, count, printable};

use super::explanation::{AllowedStop, Explanation, Recipient, closed};
use crate::Environment;
use crate::history::cut;

/// Length limit of the quoted last message of the agent, in characters.
const LAST_WORDS: usize = 200;

const UNBLOCK: &str = "`steadfast task unblock ID` makes one open again; only a human can run it.";

impl Explanation {
    pub(super) fn story(&self, environment: &Environment) -> String {
        let now = environment.now();
        let mut parts = vec![self.summary(now), self.moment(environment)];
        parts.extend(self.tasks());
        parts.push(self.said());
        parts.push(section("Since then", &self.happened(now)));
        parts.push(section("Next steps", &self.next()));
        parts.join("\n\n")
    }

    /// One line with the time, the session, the call and the reason.
    pub(super) fn summary(&self, now: Millis) -> String {
        let line = &self.line;
        let when = capital(&ago(now.since(line.at)));
        let policy = &line.policy;
        let who = match &line.agent {
            Some(agent) => format!("agent {agent} of session {}", line.session),
            None => format!("session {}", line.session),
        };
        if let Some(stop) = self.allowed_stop() {
            // In the mode `observe`, no stop is refused.
            let did = if line.mode == "observe" { "would have let" } else { "let" };
            return format!("{when} Steadfast {did} {who} stop {}", self.describe_allowed_stop(stop));
        }
        let what = self.what().unwrap_or_else(|| format!("an event `{}`", line.event));
        let why = self.why();
        let mode = &line.mode;
        match (line.verdict.as_str(), self.took_effect()) {
            ("continue", true) => format!("{when} `{policy}` refused to let {who} stop: {why}"),
            ("continue", false) => {
                format!("{when} `{policy}` would have refused to let {who} stop, but its mode was `{mode}`: {why}")
            }
            ("deny", true) => format!("{when} `{policy}` refused {what} of {who}: {why}"),
            ("deny", false) => {
                format!("{when} `{policy}` would have refused {what} of {who}, but its mode was `{mode}`: {why}")
            }
            ("ask", true) if self.was_denied() => {
                format!("{when} `{policy}` refused {what} of {who}, because no human was there to ask: {why}")
            }
            ("ask", true) => format!("{when} `{policy}` asked a human about {what} of {who}: {why}"),
            ("ask", false) => {
                format!(
                    "{when} `{policy}` would have asked a human about {what} of {who}, but its mode was `{mode}`: \
                     {why}"
                )
            }
            _ => format!("{when} `{policy}` added a note on {what} of {who}: {why}"),
        }
    }

    fn describe_allowed_stop(&self, stop: AllowedStop<'_>) -> String {
        match stop {
            AllowedStop::Capped(plan) => {
                let spent = match &self.journal {
                    Some(journal) => format!("after {}", count(journal.state.stop.refused, "refusal")),
                    None => "with no refusal left".to_owned(),
                };
                format!("as capped, not complete: {} {spent}.", how_many_open(plan))
            }
            AllowedStop::AllBlocked(plan) => {
                let (all, done) = (plan.counts.all(), plan.counts.done);
                let left = all - done;
                let are = if left == 1 { "is" } else { "are" };
                format!("as all blocked: {left} of {all} tasks {are} blocked, {done} done.")
            }
            AllowedStop::Unread(why) => format!("because its tasks could not be read: {}", printable(why)),
        }
    }

    fn why(&self) -> String {
        match (self.line.verdict.as_str(), self.plan_then()) {
            ("continue", Some(plan)) => match plan.open.first() {
                Some(next) => format!("{}, next is {} {}.", how_many_open(plan), next.id, printable(&next.title)),
                None => format!("{}.", how_many_open(plan)),
            },
            _ => printable(&self.line.reason),
        }
    }

    fn moment(&self, environment: &Environment) -> String {
        let line = &self.line;
        let at = environment.moment(line.at);
        let mut lines = vec![format!("Event    {HANG}{}, {at}, line {} of the journal", line.event, line.sequence)];
        let state = self.journal.as_ref().map(|journal| &journal.state);
        lines.push(format!(
            "Mode     {HANG}{}{}",
            line.mode,
            match line.mode.as_str() {
                "observe" if state.is_some_and(|state| state.is_paused(line.at)) => ": a human had paused steadfast",
                "observe" => ": it records, but sends no message",
                "advise" => ": it sends messages, but refuses nothing",
                _ => "",
            }
        ));
        if let (Some((refusal, limit)), Some(state)) = (self.budget(), state) {
            let (idle, most) = (state.stop.idle, state.rules.stop.max_idle);
            lines.push(format!(
                "Budget   {HANG}refusal {refusal} of {limit} since the last prompt, {idle} of {most} without a tool call"
            ));
        }
        if let Some(EventKind::Stop(stopping)) = self.journal.as_ref().map(|journal| &journal.event)
            && let Some(message) = &stopping.last_message
        {
            let said = printable(message);
            let more = if said.chars().count() > LAST_WORDS { "…" } else { "" };
            lines.push(format!("Said     {HANG}“{}{more}”", cut(&said, LAST_WORDS)));
        }
        lines.join("\n")
    }

    /// The tasks as they were known then.
    fn tasks(&self) -> Option<String> {
        let plan = match &self.facts.plan {
            Fact::Known(Some(plan)) => plan,
            Fact::Unknown(why) => return Some(section("Tasks then", &[format!("unknown: {}", printable(why))])),
            Fact::Known(None) | Fact::NotAsked => return None,
        };
        let mut lines = vec![counts(plan)];
        lines.extend(plan.open.iter().map(task));
        let more = usize::try_from(plan.counts.open()).unwrap_or(0).saturating_sub(plan.open.len());
        if more > 0 && !plan.open.is_empty() {
            lines.push(format!("and {more} more"));
        }
        Some(section("Tasks then", &lines))
    }

    fn said(&self) -> String {
        let title = match self.told() {
            Recipient::NotSent => "Not sent to anyone; the message would have been",
            Recipient::Agent => "The agent was told",
            Recipient::Human if self.line.verdict == "ask" => "The human was asked",
            Recipient::Human => "The human was told",
        };
        let lines: Vec<String> = self.line.reason.lines().map(printable).collect();
        section(title, &lines)
    }

    fn happened(&self, now: Millis) -> Vec<String> {
        let since = &self.since;
        let mut lines: Vec<String> = since.closed.iter().map(|task| format!("closed: {}", closed(task))).collect();
        let counted: Vec<String> = [(since.prompts, "prompt"), (since.tool_calls, "tool call")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| steadfast_text::count(count, what))
            .collect();
        if !counted.is_empty() {
            lines.push(counted.join(", "));
        }
        if let Some((opening, at)) = &since.opened {
            lines.push(format!("{}, {}", opened(opening), ago(now.since(*at))));
        }
        if let Some(plan) = &since.bound {
            lines.push(format!("the session works on plan {plan}"));
        }
        if let Some((release, at)) = since.released {
            lines.push(format!("Steadfast let the session stop as {}, {}", release.as_str(), ago(now.since(at))));
        }
        if let Some(end) = &since.ended {
            lines.push(format!("the session ended ({}), {}", printable(&end.reason), ago(now.since(end.at))));
        }
        if self.journal.is_none() {
            lines.push("the journal was restarted, so more is not known".to_owned());
        }
        if lines.is_empty() {
            lines.push("nothing yet".to_owned());
        }
        if let Some(plan) = &self.plan {
            lines.push(format!("now: {}", counts(plan)));
        }
        lines
    }

    /// The suggested commands.
    pub(super) fn next(&self) -> Vec<String> {
        match self.allowed_stop() {
            Some(AllowedStop::Capped(_)) => {
                let mut lines = self.about_tasks();
                lines.push("The next prompt to the session arms the stop gate again.".to_owned());
                return lines;
            }
            Some(AllowedStop::AllBlocked(_)) => {
                return vec!["`steadfast task list` shows why each is blocked.".to_owned(), UNBLOCK.to_owned()];
            }
            Some(AllowedStop::Unread(_)) => {
                return vec![
                    "`steadfast status` shows whether the tasks can be read now.".to_owned(),
                    "`steadfast log --problems` shows other failures of hooks.".to_owned(),
                ];
            }
            None => {}
        }
        let mut lines = match (self.line.verdict.as_str(), self.line.policy.as_str()) {
            ("continue", _) => self.about_tasks(),
            (_, "constraint") => self.lifting(),
            (_, "approval") if self.since.is_approved() && self.plan.is_some() => self.about_tasks(),
            _ => Vec::new(),
        };
        if lines.is_empty() {
            lines.push(format!("`steadfast log --session {}` shows what came before.", self.line.session));
        }
        lines.push("`steadfast config show` shows the modes and limits in effect, and where they are set.".to_owned());
        lines
    }

    /// Steps to lift the constraint that was the reason.
    fn lifting(&self) -> Vec<String> {
        let reason = &self.line.reason;
        if reason.starts_with("`steadfast.toml` says") {
            return vec!["It is set in `steadfast.toml`, under `[drift]`; a human changes it there.".to_owned()];
        }
        let Some(journal) = &self.journal else { return Vec::new() };
        let quoted = |constraint: &&Constraint| {
            let said = constraint.said.trim_end_matches(['.', '!', ' ', ';']);
            !said.is_empty() && reason.contains(&format!("\"{said}\""))
        };
        let Some(constraint) = journal.state.constraints().iter().find(quoted) else { return Vec::new() };
        let command = format!("`steadfast goal allow {}`", constraint.number);
        vec![match leave(constraint) {
            Some(said) => format!("To lift it, type to the agent: {said}. Or in a terminal: {command}."),
            None => format!("To lift it, in a terminal: {command}."),
        }]
    }

    fn about_tasks(&self) -> Vec<String> {
        let mut lines = vec!["`steadfast task list` shows all tasks.".to_owned()];
        let Some(plan) = &self.plan else { return lines };
        match plan.open.first() {
            Some(TaskLine { id, .. }) => lines.push(format!(
                "`steadfast task done {id}` closes {id}; `steadfast task block {id} --why REASON` sets it aside."
            )),
            None if plan.counts.blocked > 0 => {
                lines.push("The other tasks are blocked, so the session may stop.".to_owned());
                lines.push(UNBLOCK.to_owned());
            }
            None => lines.push("No task is open any more, so the session may stop.".to_owned()),
        }
        lines
    }
}

/// How the plan gate was opened, in words.
fn opened(opening: &Opening) -> String {
    match opening {
        Opening::Approved { hash, channel } => {
            let how = match channel {
                Channel::Prompt => "by a message",
                Channel::Question => "in the dialog",
                Channel::PlanMode => "in the dialog of plan mode",
                Channel::Terminal => "in a terminal",
                Channel::Load => "by loading it in a terminal",
            };
            format!("a human approved plan {} {how}", hash.get(..DraftLine::SHORT).unwrap_or(hash))
        }
        Opening::Rejected => "a human rejected the plan, and the plan gate opened".to_owned(),
        Opening::Unlocked => "the plan gate opened, and no plan was approved".to_owned(),
        Opening::Expired => "the plan gate expired and opened".to_owned(),
    }
}

fn section(title: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
    format!("{title}:\n{}", lines.join("\n"))
}

fn how_many_open(plan: &PlanView) -> String {
    let (open, all) = (plan.counts.open(), plan.counts.all());
    format!("{open} of {all} tasks {} open", if open == 1 { "is" } else { "are" })
}

fn counts(plan: &PlanView) -> String {
    let counts = plan.counts;
    format!("{} of {} tasks done, {} open, {} blocked", counts.done, counts.all(), counts.open(), counts.blocked)
}

fn task(task: &TaskLine) -> String {
    let state = if task.status == Status::InProgress { " (in progress)" } else { "" };
    format!("{} {}{state}", task.id, printable(&task.title))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
