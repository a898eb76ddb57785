//! Arrows between the rooms point one way. Cargo keeps most of it; what it cannot keep is kept here.

use std::process::Command;

use crate::Result;
use crate::process::cargo;

/// What must not be found beneath a room.
const FORBIDDEN: [(&str, &[&str]); 10] = [
    ("steadfast-model", &["serde_json", "rusqlite", "toml", "clap", "tokio", "steadfast-engine", "steadfast-store"]),
    ("steadfast-engine", &["serde_json", "rusqlite", "toml", "clap", "tokio", "steadfast-store", "steadfast-hosts"]),
    ("steadfast-observe", &["clap", "tokio", "tracing", "log", "rusqlite", "steadfast-engine", "steadfast-store"]),
    ("steadfast-store", &["clap", "tokio", "tracing", "log", "steadfast-engine", "steadfast-hosts"]),
    ("steadfast-hosts", &["clap", "tokio", "tracing", "log", "rusqlite", "steadfast-engine", "steadfast-store"]),
    ("steadfast-shell", &["regex", "clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-plan", &["clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-runner", &["clap", "tokio", "tracing", "log"]),
    ("steadfast-hook", &["clap", "tokio", "tracing", "log", "similar", "httparse", "steadfast-sim"]),
    // For tests only.
    ("steadfast", &["steadfast-testkit"]),
];

/// The rooms that a room may know, where these are all.
const KNOWN: [(&str, &[&str]); 3] = [
    ("steadfast-plan", &["steadfast-model"]),
    ("steadfast-shell", &[]),
    (
        "steadfast-runner",
        &["steadfast-model", "steadfast-observe", "steadfast-hosts", "steadfast-plan", "steadfast-store"],
    ),
];

pub(crate) fn check() -> Result<()> {
    let mut broken = Vec::new();
    for (room, known) in KNOWN {
        broken.extend(
            beneath(room)?
                .into_iter()
                .filter(|name| name.starts_with("steadfast") && name != room && !known.contains(&name.as_str()))
                .map(|name| format!("{room} → {name}")),
        );
    }
    for (room, forbidden) in FORBIDDEN {
        let beneath = beneath(room)?;
        broken.extend(
            forbidden
                .iter()
                .filter(|name| beneath.iter().any(|found| found == *name))
                .map(|name| format!("{room} → {name}")),
        );
    }
    if broken.is_empty() {
        Ok(())
    } else {
        Err(format!("arrows that point the wrong way: {}", broken.join(", ")).into())
    }
}

/// Every package that is linked into a room.
fn beneath(room: &str) -> Result<Vec<String>> {
    let mut tree: Command = cargo(["tree", "--edges", "normal", "--prefix", "none", "--package", room]);
    let output = tree.output()?;
    if !output.status.success() {
        return Err(format!("{tree:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}
