//! A host's request, stored for tests.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use super::http::{Incoming, header};

/// The beginning of Claude Code's request for a summary (2.1.197 to 2.1.325).
const COMPACTION: &str = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";

/// The thread that sent the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    Main,
    Subagent,
    /// Titles, summaries, token counts: short answers that do not advance the script.
    Side,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// `Null` if the body is missing or not JSON.
    pub body: Value,
    pub track: Track,
    pub at: SystemTime,
}

impl Request {
    pub(super) fn new(incoming: Incoming) -> Self {
        let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
        let mut request = Self {
            method: incoming.method,
            path: incoming.path,
            headers: incoming.headers,
            body,
            track: Track::Side,
            at: SystemTime::now(),
        };
        request.track = request.find_track();
        request
    }

    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the path without its query.
    #[must_use]
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    #[must_use]
    pub fn tools(&self) -> &[Value] {
        self.body["tools"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns all text for the model: instructions, messages and tool results, but not the definitions of tools.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in ["system", "instructions", "messages", "input"] {
            collect(&self.body[part], &mut text);
        }
        text
    }

    /// Returns the session, if the host names it.
    #[must_use]
    pub fn session(&self) -> &str {
        let names = ["x-claude-code-session-id", "session-id", "session_id", "thread-id"];
        names.into_iter().find_map(|name| self.header(name)).unwrap_or_default()
    }

    /// Returns the subagent, if the host names it.
    pub(super) fn agent(&self) -> &str {
        ["x-claude-code-agent-id", "thread-id"].into_iter().find_map(|name| self.header(name)).unwrap_or_default()
    }

    fn find_track(&self) -> Track {
        if self.tools().is_empty() || self.is_compaction() {
            return Track::Side;
        }
        match self.header("x-claude-code-request-class") {
            Some("main") => return Track::Main,
            Some("subagent" | "workflow") => return Track::Subagent,
            Some(_) => return Track::Side,
            None => {}
        }
        if self.header("x-claude-code-agent-id").is_some() {
            return Track::Subagent;
        }
        match self.header("x-openai-subagent") {
            Some("collab_spawn") => Track::Subagent,
            Some(_) => Track::Side,
            None => Track::Main,
        }
    }

    /// Claude Code compacts on the main thread, with tools. Only the words identify such a request.
    fn is_compaction(&self) -> bool {
        let messages = self.body["messages"].as_array();
        let last = messages.and_then(|all| all.iter().rfind(|message| message["role"] == "user"));
        let parts = last.and_then(|message| message["content"].as_array());
        parts.is_some_and(|parts| {
            parts.iter().filter_map(|part| part["text"].as_str()).any(|text| text.starts_with(COMPACTION))
        })
    }
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(part) => {
            text.push_str(part);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(path: &str, headers: &[(&str, &str)], body: &Value) -> Request {
        Request::new(Incoming {
            method: "POST".into(),
            path: path.into(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: body.to_string().into_bytes(),
        })
    }

    fn track(path: &str, headers: &[(&str, &str)], body: &Value) -> Track {
        request(path, headers, body).track
    }

    #[test]
    fn claude_code_names_its_subagents() {
        let body = json!({"tools": [{"name": "Bash"}], "messages": []});
        let path = "/v1/messages?beta=true";
        assert_eq!(track(path, &[], &body), Track::Main);
        assert_eq!(track(path, &[("x-claude-code-agent-id", "a1")], &body), Track::Subagent);
        assert_eq!(track(path, &[("x-claude-code-request-class", "auxiliary")], &body), Track::Side);
    }

    #[test]
    fn codex_names_its_subagents() {
        let body = json!({"tools": [{"name": "exec_command"}], "input": []});
        let path = "/v1/responses";
        assert_eq!(track(path, &[("thread-id", "t1")], &body), Track::Main);
        assert_eq!(track(path, &[("x-openai-subagent", "collab_spawn")], &body), Track::Subagent);
        assert_eq!(track(path, &[("x-openai-subagent", "review")], &body), Track::Side);
    }

    #[test]
    fn a_request_without_tools_is_a_side_request() {
        assert_eq!(track("/v1/messages", &[], &json!({"messages": []})), Track::Side);
    }

    #[test]
    fn a_compaction_is_a_side_request_though_it_has_tools() {
        let body = json!({"tools": [{"name": "Bash"}], "messages": [
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "one"},
                {"type": "text", "text": format!("{COMPACTION}\n\n- Do NOT use Read")}]},
            {"role": "system", "content": "a hook's context"}]});
        assert_eq!(track("/v1/messages", &[], &body), Track::Side);
    }

    #[test]
    fn the_text_is_what_the_model_is_told_without_the_tools() {
        let body = json!({
            "system": [{"type": "text", "text": "You are"}],
            "tools": [{"name": "Bash", "description": "runs commands"}],
            "messages": [{"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "out"}]}]}],
        });
        let text = request("/v1/messages", &[], &body).text();
        assert!(text.contains("You are\n") && text.contains("out\n"), "{text}");
        assert!(!text.contains("runs commands"), "{text}");
    }
}
