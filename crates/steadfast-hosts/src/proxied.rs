//! Calls that a proxy saw on their way from a model to its host, as the hook of that host would report them.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use steadfast_model::{Event, Host, PromptOrigin, Via};

use crate::claude::{origin, transcript as claude};
use crate::codex::transcript::{self as codex, patch, shell};
use crate::wire::{WireContext, WireError, decode};

/// Beginnings of texts that Claude Code itself writes for the model.
const BY_CLAUDE: [&str; 5] = [
    "(no content)",
    "CRITICAL: Respond with TEXT ONLY",
    "[SUGGESTION MODE",
    "Stop hook feedback",
    "Your task is to create a detailed summary",
];

/// The beginning of Codex's summary after a compaction.
const BY_CODEX: &str = "Another language model started to solve this problem";

/// A prompt of the human at the end of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxiedPrompt {
    pub text: String,
    /// The turn that it begins, where the host names it.
    pub turn: Option<String>,
}

impl ProxiedPrompt {
    /// Finds the prompt among the texts of a request. `turn`: the host's own description of the turn.
    pub fn of(host: Host, turn: Option<&str>, texts: &[String]) -> Option<Self> {
        let turn: CodexTurn = turn.and_then(|turn| serde_json::from_str(turn).ok()).unwrap_or_default();
        if turn.request_kind.is_some_and(|kind| kind != "turn") {
            return None;
        }
        let mut texts = texts.iter().map(String::as_str);
        let text = match host {
            // After a compaction, Codex repeats the earlier prompts before this one.
            Host::Codex => {
                let is_humans = |text: &&str| !codex::is_host_text(text) && !text.trim_start().starts_with(BY_CODEX);
                texts.rfind(is_humans).map(str::to_owned)
            }
            Host::Claude | Host::Sim => {
                let texts: Vec<&str> = texts.filter(|text| is_by_human(text)).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        };
        Some(Self { text: text?, turn: turn.turn_id })
    }
}

fn is_by_human(text: &str) -> bool {
    let start = text.trim_start();
    let is_by_host = claude::is_host_text(start) || BY_CLAUDE.iter().any(|by_host| start.starts_with(by_host));
    !is_by_host && origin(start, None) == PromptOrigin::Human
}

/// Codex's description of a turn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexTurn {
    /// `turn` for the agent's work; a compaction has another kind.
    request_kind: Option<String>,
    turn_id: Option<String>,
}

/// A call of a tool, in the words of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxiedCall {
    pub host: Host,
    pub session: String,
    /// The subagent.
    pub agent: Option<String>,
    pub id: String,
    pub tool: String,
    /// The group of the tool, where the host has groups.
    pub namespace: Option<String>,
    /// JSON of a function, or the text of another tool.
    pub input: String,
    /// The visible thinking of the model before it.
    pub thinking: String,
}

impl ProxiedCall {
    /// Returns the event before the call.
    pub fn before(&self, context: &WireContext) -> Result<Event, WireError> {
        self.event("PreToolUse", Map::new(), context)
    }

    /// Returns the event after the call. `output` is JSON.
    pub fn after(&self, output: &str, failed: bool, context: &WireContext) -> Result<Event, WireError> {
        let output: Value = serde_json::from_str(output).unwrap_or_default();
        if failed {
            let error = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
            return self.event("PostToolUseFailure", Map::from_iter([("error".to_owned(), error.into())]), context);
        }
        self.event("PostToolUse", Map::from_iter([("tool_response".to_owned(), output)]), context)
    }

    fn event(&self, name: &str, more: Map<String, Value>, context: &WireContext) -> Result<Event, WireError> {
        let (tool, input) = self.hooked();
        let mut payload = json!({
            "session_id": self.session,
            "cwd": context.cwd,
            "tool_name": tool,
            "tool_use_id": self.id,
        });
        if let Value::Object(payload) = &mut payload {
            if let Some(agent) = &self.agent {
                payload.insert("agent_id".to_owned(), agent.as_str().into());
            }
            payload.extend(more);
        }
        // The input stays as the model wrote it.
        let payload = payload.to_string();
        let start = payload.strip_suffix('}').unwrap_or(&payload);
        let payload = format!("{start},\"tool_input\":{}}}", input.get());
        let mut event = decode(self.host, Via::Proxy, name, payload.as_bytes(), context)?;
        let from = self.thinking.ceil_char_boundary(self.thinking.len().saturating_sub(Event::THOUGHT));
        event.thinking = Some(self.thinking[from..].to_owned()).filter(|thinking| !thinking.is_empty());
        Ok(event)
    }

    /// Returns tool and input as a hook gets them.
    fn hooked(&self) -> (String, Box<RawValue>) {
        let empty = || RawValue::from_string("{}".to_owned()).unwrap_or_default();
        let plain = || RawValue::from_string(self.input.clone()).ok();
        let quoted = || to_raw_value(&self.input).ok();
        if self.host != Host::Codex {
            return (self.tool.clone(), plain().unwrap_or_else(empty));
        }
        match (&*self.tool, &self.namespace) {
            ("exec_command" | "shell" | "shell_command" | "local_shell_call" | "container.exec", _) => {
                ("Bash".to_owned(), shell(quoted().as_deref()).or_else(plain).unwrap_or_else(empty))
            }
            ("apply_patch", _) => (self.tool.clone(), patch(quoted().as_deref()).or_else(plain).unwrap_or_else(empty)),
            (tool, Some(namespace)) if namespace.starts_with("mcp__") => {
                (format!("{}__{tool}", namespace.trim_end_matches('_')), plain().unwrap_or_else(empty))
            }
            (tool, _) => (tool.to_owned(), plain().unwrap_or_else(empty)),
        }
    }
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Action, EventKind, Millis, Outcome};

    use super::*;

    fn context() -> WireContext {
        WireContext { at: Millis(1), cwd: "/repo".to_owned(), session: None, attended: None, other_host: None }
    }

    fn call(host: Host, tool: &str, namespace: Option<&str>, input: &str) -> ProxiedCall {
        ProxiedCall {
            host,
            session: "s".to_owned(),
            agent: None,
            id: "c".to_owned(),
            tool: tool.to_owned(),
            namespace: namespace.map(str::to_owned),
            input: input.to_owned(),
            thinking: String::new(),
        }
    }

    fn action(call: &ProxiedCall) -> Action {
        match call.before(&context()).unwrap().kind {
            EventKind::PreTool(call) => call.action,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_becomes_what_the_hook_of_its_host_would_report() {
        let write = Action::Write { paths: vec!["a.txt".to_owned()] };
        assert_eq!(action(&call(Host::Claude, "Write", None, r#"{"file_path":"a.txt","content":"}"}"#)), write);
        assert_eq!(action(&call(Host::Claude, "Bash", None, r#"{"command":"ls"}"#)), Action::shell("ls"));
        for (tool, input) in [
            ("exec_command", r#"{"cmd":"ls"}"#),
            ("shell", r#"{"command":["bash","-lc","ls"]}"#),
            ("shell_command", r#"{"command":"ls"}"#),
        ] {
            assert_eq!(action(&call(Host::Codex, tool, None, input)), Action::shell("ls"), "{tool}");
        }
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n";
        assert_eq!(action(&call(Host::Codex, "apply_patch", None, patch)), write);
        let found = action(&call(Host::Codex, "task_done", Some("mcp__steadfast"), r#"{"id":"1"}"#));
        assert!(
            matches!(&found, Action::Mcp { server, tool, .. } if server == "steadfast" && tool == "task_done"),
            "{found:?}"
        );
    }

    #[test]
    fn the_prompt_is_what_the_host_did_not_add() {
        let found = |host, turn, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            ProxiedPrompt::of(host, turn, &texts).map(|prompt| (prompt.text, prompt.turn))
        };
        let both = Some(("Fix it.\nPlease.".to_owned(), None));
        assert_eq!(found(Host::Claude, None, &["<system-reminder>\nx", "Fix it.", "", "Please."]), both);
        for text in [
            "<task-notification>x",
            "<local-command-stdout>x",
            "(no content)",
            "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
            "This session is being continued from a previous conversation that ran out of context.",
        ] {
            assert_eq!(found(Host::Claude, None, &[text]), None, "{text}");
        }
        let summary = "Another language model started to solve this problem and produced a summary";
        let texts = ["<environment_context>\n", "An earlier prompt.", "Fix it.", summary];
        for turn in [None, Some(r#"{"request_kind":"turn"}"#), Some("{}"), Some("no JSON")] {
            assert_eq!(found(Host::Codex, turn, &texts), Some(("Fix it.".to_owned(), None)), "{turn:?}");
        }
        let turn = Some(r#"{"request_kind":"turn","turn_id":"t1"}"#);
        assert_eq!(found(Host::Codex, turn, &texts), Some(("Fix it.".to_owned(), Some("t1".to_owned()))));
        assert_eq!(found(Host::Codex, Some(r#"{"request_kind":"compaction"}"#), &texts), None);
    }

    #[test]
    fn an_input_that_is_not_json_is_empty() {
        assert_eq!(action(&call(Host::Claude, "Bash", None, "{\"command\": ")), Action::shell(""));
        assert_eq!(action(&call(Host::Claude, "Bash", None, "")), Action::shell(""));
    }

    #[test]
    fn what_the_model_thought_goes_with_its_call() {
        let thinking = |text: String| {
            let call = ProxiedCall { thinking: text, ..call(Host::Claude, "Bash", None, r#"{"command":"ls"}"#) };
            let after = call.after("\"\"", false, &context()).unwrap().thinking;
            assert_eq!(call.before(&context()).unwrap().thinking, after);
            after
        };
        assert_eq!(thinking(String::new()), None);
        assert_eq!(thinking("Look first.".to_owned()).as_deref(), Some("Look first."));
        // The end, and whole characters.
        let long = thinking(format!("{}then look", "ä".repeat(2_000))).unwrap();
        assert!(long.len() <= Event::THOUGHT && long.starts_with('ä') && long.ends_with("then look"), "{long}");
    }

    #[test]
    fn a_result_has_its_call_and_its_end() {
        let call = call(Host::Claude, "Bash", None, r#"{"command":"ls"}"#);
        let outcome = |output: &str, failed| match call.after(output, failed, &context()).unwrap().kind {
            EventKind::PostTool(result) => (result.call.action, result.outcome),
            other => panic!("{other:?}"),
        };
        for output in ["\"a.txt\"", r#"[{"type":"text","text":"a"}]"#, r#"{"a":{"b":{}}}"#, "", "{"] {
            assert_eq!(outcome(output, false), (Action::shell("ls"), Outcome::Ok), "{output}");
        }
        let failed = Outcome::Failed { error: "no".to_owned() };
        assert_eq!(outcome("\"no\"", true), (Action::shell("ls"), failed));
    }
}
