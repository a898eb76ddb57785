//! Sessions as the hosts write them, small enough to read.

use std::path::PathBuf;

use serde_json::{Value, json};
use steadfast_hosts::transcript::{Events, Stats, Transcript};
use steadfast_model::Event;

/// A transcript on a disk of its own.
pub(crate) struct File {
    folder: tempfile::TempDir,
}

impl File {
    pub(crate) fn of(bytes: impl AsRef<[u8]>) -> Self {
        let file = Self { folder: tempfile::tempdir().unwrap() };
        file.write(bytes);
        file
    }

    /// Writes over what is there.
    pub(crate) fn write(&self, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(), bytes).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    pub(crate) fn open(&self) -> Transcript {
        Transcript::open(&self.path()).unwrap()
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats::of(self.open())
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        Events::of(self.open()).map(Iterator::collect).unwrap_or_default()
    }

    /// What happened, a line each.
    pub(crate) fn told(&self) -> String {
        self.events().iter().map(line).collect()
    }
}

/// An event in a line: its kind, as it is journalled, with the subagent it happened in.
pub(crate) fn line(event: &Event) -> String {
    let agent = event.agent.as_ref().map(|agent| format!(" in {} ({})", agent.id, agent.agent_type));
    format!("{}{}\n", serde_json::to_string(&event.kind).unwrap(), agent.unwrap_or_default())
}

/// Rows as lines.
pub(crate) fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A row of Claude Code's main thread, so many seconds after the beginning.
pub(crate) fn claude(second: u32, kind: &str, more: Value) -> Value {
    let mut row = json!({
        "type": kind,
        "uuid": format!("row-{second}"),
        "parentUuid": null,
        "isSidechain": false,
        "sessionId": "s-1",
        "cwd": "/repo",
        "version": "2.1.325",
        "timestamp": format!("2026-03-01T10:{:02}:{:02}.000Z", second / 60, second % 60),
    });
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row
}

pub(crate) fn prompt(second: u32, text: &str) -> Value {
    claude(second, "user", json!({"message": {"role": "user", "content": text}}))
}

/// One block of a message of the model, with the usage that all of its rows repeat.
pub(crate) fn said(second: u32, message: &str, block: Value, output_tokens: u64) -> Value {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
        "output_tokens": output_tokens});
    claude(
        second,
        "assistant",
        json!({"message": {"id": message, "role": "assistant", "content": [block], "usage": usage}}),
    )
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(id: &str, tool: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": tool, "input": input})
}

pub(crate) fn result(second: u32, id: &str, content: &str, more: Value) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claude(second, "user", json!({"message": {"role": "user", "content": [block]}}))
}

/// A row of Codex.
pub(crate) fn codex(second: u32, kind: &str, payload: Value) -> Value {
    json!({"timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "type": kind, "payload": payload})
}

/// A session of Claude Code with a bit of everything.
pub(crate) fn claude_session() -> Vec<Value> {
    vec![
        prompt(0, "fix the auth bug"),
        said(1, "m-1", text("I look."), 1),
        said(2, "m-1", call("c-1", "Read", json!({"file_path": "/repo/auth.rs"})), 30),
        result(3, "c-1", "fn auth() {}", json!({})),
        said(4, "m-2", call("c-2", "Bash", json!({"command": "cargo test"})), 40),
        result(9, "c-2", "Exit code 1", json!({"is_error": true})),
        said(10, "m-3", call("c-3", "Edit", json!({"file_path": "/repo/theme.css", "old_string": "a"})), 50),
        result(
            12,
            "c-3",
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user \
            said:\nnot that file",
            json!({"is_error": true}),
        ),
        claude(
            13,
            "user",
            json!({"message": {"role": "user", "content": [text("[Request interrupted by user for tool use]")]}}),
        ),
        prompt(20, "go on, with auth.rs"),
        said(21, "m-4", text("Done."), 10),
        claude(22, "system", json!({"subtype": "turn_duration", "durationMs": 2000})),
        claude(23, "system", json!({"subtype": "compact_boundary", "compactMetadata": {"trigger": "manual"}})),
        claude(
            23,
            "user",
            json!({"isCompactSummary": true, "message": {"role": "user", "content": "This session is …"}}),
        ),
        claude(24, "a-type-of-tomorrow", json!({"message": 7, "data": "x"})),
    ]
}
