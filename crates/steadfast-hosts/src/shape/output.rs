use std::borrow::Cow;

use serde::Serialize;
use steadfast_model::{Answer, EventName, Question, Ruling};

use super::{Capabilities, cut};

/// The JSON that a host reads from a hook's standard output. It contains only what [`super::Capabilities`] allows.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Dialog<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Permission<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Permission<'a> {
    behavior: &'static str,
    message: &'a str,
}

/// The input of the host's question dialog.
#[derive(Debug, Serialize)]
struct Dialog<'a> {
    questions: [AskedQuestion<'a>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AskedQuestion<'a> {
    question: &'a str,
    header: &'a str,
    options: Vec<Choice<'a>>,
    multi_select: bool,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    label: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<&'a str>,
}

impl<'a> Dialog<'a> {
    fn of(question: &'a Question, can: Capabilities) -> Self {
        let preview = question.preview.as_deref().filter(|_| can.preview);
        let options =
            question.options.iter().map(|(label, description)| Choice { label, description, preview }).collect();
        let entry = AskedQuestion { question: &question.text, header: &question.heading, options, multi_select: false };
        Self { questions: [entry] }
    }
}

/// The host shows a note under the name of its own event.
fn with_our_name(note: &str) -> Cow<'_, str> {
    if note.starts_with("Steadfast") { Cow::Borrowed(note) } else { Cow::Owned(format!("Steadfast: {note}")) }
}

/// Writes an answer, limited to the host's capabilities; `None` if it is empty.
pub(crate) fn write(event: EventName, can: Capabilities, answer: &Answer, limit: usize) -> Option<String> {
    let answer = can.degrade(answer);
    let context = answer.context.as_deref().map(|text| cut(text, limit));
    let note = answer.note.as_deref().map(|text| cut(&with_our_name(text), limit));
    let reason = match &answer.ruling {
        Ruling::Pass | Ruling::AskInstead(_) => String::new(),
        Ruling::Ask { reason, .. } | Ruling::Continue { reason } | Ruling::Deny { reason } => cut(reason, limit),
    };

    let mut specific = Specific { hook_event_name: event.as_str(), ..Specific::default() };
    let mut has_specific = false;
    let mut output = Output { system_message: note.as_deref(), ..Output::default() };
    match (&answer.ruling, event) {
        // At a permission request the host asks by itself.
        (Ruling::Pass, _) | (Ruling::Ask { .. }, EventName::PermissionRequest) => {}
        (Ruling::Deny { .. }, EventName::PermissionRequest) => {
            specific.decision = Some(Permission { behavior: "deny", message: &reason });
            has_specific = true;
        }
        (Ruling::Deny { .. }, EventName::PreToolUse) => {
            specific.permission_decision = Some("deny");
            specific.permission_decision_reason = Some(&reason);
            has_specific = true;
        }
        (Ruling::AskInstead(question), _) => {
            specific.permission_decision = Some("ask");
            specific.updated_input = Some(Dialog::of(question, can));
            has_specific = true;
        }
        (Ruling::Ask { .. }, _) => {
            specific.permission_decision = Some("ask");
            specific.permission_decision_reason = Some(&reason);
            has_specific = true;
        }
        (Ruling::Continue { .. }, _) if can.feedback => {
            specific.additional_context = Some(&reason);
            has_specific = true;
        }
        (Ruling::Continue { .. } | Ruling::Deny { .. }, _) => {
            output.decision = Some("block");
            output.reason = Some(&reason);
        }
    }
    if let Some(context) = &context {
        specific.additional_context = Some(context);
        has_specific = true;
    }
    if has_specific {
        output.hook_specific_output = Some(specific);
    }
    if output.decision.is_none() && output.system_message.is_none() && output.hook_specific_output.is_none() {
        return None;
    }
    serde_json::to_string(&output).ok()
}
