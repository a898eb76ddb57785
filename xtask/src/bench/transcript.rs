use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::process::{build, run};

use super::{corpora, own};

/// Without a corpus: the number of generated sessions, and of calls in each.
const SESSIONS: u32 = 100;
const CALLS: u32 = 1_000;

/// `cargo xtask bench transcript`: uses real sessions if there is a corpus beside this repository, otherwise generated
/// ones.
pub(crate) fn transcript(arguments: &[&str]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(format!("`{argument}` is unexpected").into());
    }
    let folder = tempfile::tempdir()?;
    let archive = corpora().join("transcripts.tar.zst");
    let unpack = || run(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder.path()));
    if !archive.exists() || unpack().is_err() {
        eprintln!("there is no corpus beside this repository; writing {SESSIONS} sessions");
        write(folder.path())?;
    }
    let binary = build("release")?;
    run(own("transcript").arg(folder.path()).arg(binary))
}

fn write(folder: &Path) -> Result<()> {
    for session in 0..SESSIONS {
        let mut text = String::new();
        for call in 0..CALLS {
            let id = format!("{session}-{call}");
            let row = |kind: &str, message: serde_json::Value| {
                serde_json::json!({"type": kind, "uuid": format!("{kind}-{id}"), "sessionId": session.to_string(),
                    "cwd": "/repo", "timestamp": "2026-03-01T10:00:00.000Z", "message": message})
            };
            let input = serde_json::json!({"file_path": "/repo/a.rs", "old_string": "a ".repeat(200)});
            let calls = serde_json::json!([{"type": "tool_use", "id": id, "name": "Edit", "input": input}]);
            let result = serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": "b ".repeat(500)}]);
            let usage = serde_json::json!({"input_tokens": 3, "output_tokens": 7});
            let called = row("assistant", serde_json::json!({"id": id, "content": calls, "usage": usage}));
            text += &format!("{called}\n{}\n", row("user", serde_json::json!({"role": "user", "content": result})));
        }
        fs::write(folder.join(format!("{session}.jsonl")), text)?;
    }
    Ok(())
}
