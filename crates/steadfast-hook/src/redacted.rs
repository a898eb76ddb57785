//! Removes secrets from an event before any decision, and so before any write.

use std::borrow::Cow;
use std::ops::Deref;

use steadfast_model::{Action, Event, EventKind, GoalWord, ListCall, ListItem, Listed, Outcome, ToolCall};
use steadfast_redact::redact as without_secrets;

/// An event with redacted texts. The pipeline accepts no other.
#[derive(Clone, Debug)]
pub struct Redacted(Event);

impl Redacted {
    pub fn of(mut event: Event) -> Self {
        redact(&mut event.kind);
        event.thinking.iter_mut().for_each(clean);
        Self(event)
    }

    /// Allows changes of the sender. They add no text of the host.
    pub(crate) fn event_mut(&mut self) -> &mut Event {
        &mut self.0
    }
}

impl Deref for Redacted {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0
    }
}

fn redact(kind: &mut EventKind) {
    match kind {
        EventKind::Prompt { text, .. } | EventKind::StopFailed { error: text } => clean(text),
        EventKind::Goal(word) => clean_word(word),
        EventKind::PreTool(call) | EventKind::Permission(call) => clean_call(call),
        EventKind::PostTool(result) => {
            clean_call(&mut result.call);
            result.answers.iter_mut().for_each(|answer| clean(&mut answer.label));
            result.names.iter_mut().for_each(clean);
            if let Outcome::Failed { error } = &mut result.outcome {
                clean(error);
            }
        }
        EventKind::Stop(stopping) | EventKind::SubagentStop(stopping) => {
            if let Some(message) = &mut stopping.last_message {
                clean(message);
            }
            stopping.background.iter_mut().flatten().filter_map(|task| task.command.as_mut()).for_each(clean);
        }
        EventKind::ListSeen(diff) => diff.items.iter_mut().for_each(clean_item),
        EventKind::ItemCreated(told) | EventKind::ItemCompleted(told) => clean_item(&mut told.item),
        EventKind::SessionStart { .. }
        | EventKind::SessionEnd { .. }
        | EventKind::Command { .. }
        | EventKind::ToolBatch { .. }
        | EventKind::SubagentStart
        | EventKind::PreCompact { .. }
        | EventKind::PostCompact { .. }
        | EventKind::Notification { .. }
        | EventKind::ConfigChange { .. }
        | EventKind::Interrupt
        | EventKind::TaskChanged(_)
        | EventKind::Binding(_)
        | EventKind::Paused { .. }
        | EventKind::Forged(_)
        | EventKind::GateClosed(_)
        | EventKind::GateOpened(_) => {}
    }
}

fn clean_word(word: &mut GoalWord) {
    match word {
        GoalWord::Set { text, .. } => clean(text),
        GoalWord::Forbid(constraints) => constraints.iter_mut().for_each(|constraint| clean(&mut constraint.said)),
        GoalWord::Refined { goal, scope, keywords, .. } => {
            clean(goal);
            scope.iter_mut().chain(keywords).for_each(clean);
        }
        GoalWord::Allow(_) | GoalWord::Clear => {}
    }
}

fn clean_call(call: &mut ToolCall) {
    call.words.iter_mut().for_each(clean);
    match &mut call.action {
        Action::Shell { command, .. } => clean(command),
        Action::Write { paths } | Action::Read { paths } | Action::Mcp { paths, .. } => {
            paths.iter_mut().for_each(clean);
        }
        Action::List(call) => clean_list(call),
        Action::Delegate { .. } | Action::Ask | Action::LeavePlan | Action::Skill { .. } | Action::Other => {}
    }
}

fn clean_list(call: &mut ListCall) {
    match call {
        ListCall::Write { items, .. } => items.iter_mut().for_each(clean_listed),
        ListCall::Add { item, .. } => clean_listed(item),
        ListCall::Edit(edit) => edit.subject.iter_mut().chain(&mut edit.check).for_each(clean),
        ListCall::Told { items, .. } => items.iter_mut().for_each(clean_item),
        ListCall::Look => {}
    }
}

fn clean_listed(item: &mut Listed) {
    clean(&mut item.subject);
    item.check.iter_mut().for_each(clean);
}

pub(crate) fn clean_item(item: &mut ListItem) {
    clean(&mut item.subject);
    item.check.iter_mut().for_each(clean);
}

fn clean(text: &mut String) {
    if let Cow::Owned(clean) = without_secrets(text) {
        *text = clean;
    }
}
