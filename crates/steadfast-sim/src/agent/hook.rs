//! The hook program: started for every event, obeyed as Claude Code would obey it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::AgentError;
use super::process::{self, Finished};

/// The command line: the program and the arguments before the event's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

impl HookCommand {
    #[must_use]
    pub fn new<const N: usize>(program: impl Into<PathBuf>, arguments: [&str; N]) -> Self {
        Self { program: program.into(), arguments: arguments.map(str::to_owned).into() }
    }

    pub(super) fn run(
        &self,
        event: &str,
        payload: &Value,
        cwd: &Path,
        env: &BTreeMap<String, String>,
        limit: Duration,
    ) -> Result<Answer, AgentError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(event).current_dir(cwd).envs(env);
        let finished = process::run(command, payload.to_string().into_bytes(), limit)
            .map_err(|source| AgentError::Hook { program: self.program.clone(), source })?;
        Ok(Answer::read(event, &finished, limit))
    }
}

/// A hook's answer, from either of its forms.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// `continue: false`, with its reason.
    pub(super) halt: Option<String>,
    /// The call, the prompt or the stop is refused.
    pub(super) refusal: Option<String>,
    pub(super) context: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) note: Option<String>,
    pub(super) problem: Option<String>,
}

/// The fields of the answer that a host uses. Claude Code ignores unknown ones.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerWire {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    system_message: Option<String>,
    #[serde(default)]
    hook_specific_output: SpecificWire,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecificWire {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    additional_context: Option<String>,
    updated_input: Option<Value>,
}

const NO_REASON: &str = "the hook gave no reason";

impl Answer {
    fn read(event: &str, finished: &Finished, limit: Duration) -> Self {
        let Some(status) = finished.status else {
            return Self::failed(format!("no answer within {} s", limit.as_secs_f32()));
        };
        let stdout = finished.stdout.trim();
        let mut answer = if stdout.starts_with('{') {
            match serde_json::from_str::<AnswerWire>(stdout) {
                Ok(wire) => Self::from(wire),
                Err(error) => Self::failed(format!("the answer is not understood: {error}")),
            }
        } else if !status.success() {
            Self::failed(format!("{status}: {}", finished.stderr.trim()))
        } else if stdout.is_empty() {
            Self::default()
        } else if matches!(event, "SessionStart" | "UserPromptSubmit") {
            Self { context: Some(stdout.to_owned()), ..Self::default() }
        } else {
            // Plain text is context only at those two events. At others it only goes to the host's log.
            Self::default()
        };
        if status.code() == Some(2) {
            answer.problem = None;
            let reason = finished.stderr.trim();
            answer.refusal.get_or_insert_with(|| reason.to_owned());
        }
        answer
    }

    fn failed(problem: String) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }
}

impl From<AnswerWire> for Answer {
    fn from(wire: AnswerWire) -> Self {
        let specific = wire.hook_specific_output;
        let refusal = match (specific.permission_decision.as_deref(), wire.decision.as_deref()) {
            // There is no human to ask.
            (Some("deny" | "ask"), _) => specific.permission_decision_reason.or(wire.reason),
            (_, Some("block" | "deny")) => wire.reason,
            _ => {
                return Self {
                    halt: halt(wire.r#continue, wire.stop_reason),
                    refusal: None,
                    context: specific.additional_context,
                    updated_input: specific.updated_input,
                    note: wire.system_message,
                    problem: None,
                };
            }
        };
        Self {
            halt: halt(wire.r#continue, wire.stop_reason),
            refusal: Some(refusal.unwrap_or_else(|| NO_REASON.to_owned())),
            context: specific.additional_context,
            updated_input: None,
            note: wire.system_message,
            problem: None,
        }
    }
}

fn halt(go_on: Option<bool>, reason: Option<String>) -> Option<String> {
    (go_on == Some(false)).then(|| reason.unwrap_or_else(|| NO_REASON.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use steadfast_testkit::PATIENCE;

    fn answer(event: &str, script: &str) -> Answer {
        let hook = HookCommand::new("sh", ["-c", script]);
        hook.run(event, &json!({}), Path::new("."), &BTreeMap::new(), PATIENCE).unwrap()
    }

    fn refusal(text: &str) -> Answer {
        Answer { refusal: Some(text.to_owned()), ..Answer::default() }
    }

    #[test]
    fn silence_is_consent() {
        assert_eq!(answer("PreToolUse", "exit 0"), Answer::default());
    }

    #[test]
    fn a_denied_permission_refuses_and_an_asked_one_too() {
        for decision in ["deny", "ask"] {
            let output = json!({"hookSpecificOutput": {
                "permissionDecision": decision, "permissionDecisionReason": "locked"}});
            assert_eq!(answer("PreToolUse", &format!("echo '{output}'")), refusal("locked"));
        }
    }

    #[test]
    fn a_blocked_stop_refuses_with_the_reason() {
        let output = r#"{"decision": "block", "reason": "2 tasks are open"}"#;
        assert_eq!(answer("Stop", &format!("echo '{output}'")), refusal("2 tasks are open"));
    }

    #[test]
    fn exit_2_refuses_with_stderr() {
        assert_eq!(answer("Stop", "echo not yet >&2; exit 2"), refusal("not yet"));
    }

    #[test]
    fn other_exits_are_problems_and_refuse_nothing() {
        let found = answer("PreToolUse", "echo broken >&2; exit 1");
        assert_eq!(found, Answer::failed("exit status: 1: broken".to_owned()));
    }

    #[test]
    fn plain_text_is_context_at_the_start_only() {
        let text = |event| answer(event, "echo hello").context;
        assert_eq!((text("SessionStart"), text("PreToolUse")), (Some("hello".to_owned()), None));
    }

    #[test]
    fn context_note_and_halt_are_all_read() {
        let output = json!({"continue": false, "stopReason": "enough", "systemMessage": "for you",
            "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "for it"}});
        let expected = Answer {
            halt: Some("enough".into()),
            context: Some("for it".into()),
            note: Some("for you".into()),
            ..Answer::default()
        };
        assert_eq!(answer("PostToolUse", &format!("echo '{output}'")), expected);
    }

    #[test]
    fn a_hook_that_hangs_is_ended_and_decides_nothing() {
        let hook = HookCommand::new("sh", ["-c", "sleep 600"]);
        let limit = Duration::from_millis(100);
        let found = hook.run("Stop", &json!({}), Path::new("."), &BTreeMap::new(), limit).unwrap();
        assert_eq!(found, Answer::failed("no answer within 0.1 s".to_owned()));
    }

    #[test]
    fn the_event_is_the_last_argument_and_the_payload_is_on_stdin() {
        let script = r#"printf '{"systemMessage":"%s %s"}' "$1" "$(cat | tr -d '"{}')""#;
        let hook = HookCommand::new("sh", ["-c", script, "hook"]);
        let found = hook.run("Stop", &json!({"a": 1}), Path::new("."), &BTreeMap::new(), PATIENCE).unwrap();
        assert_eq!(found.note.as_deref(), Some("Stop a:1"));
    }
}
