//! The allowed dependencies between the crates. Cargo refuses cycles; this check refuses every dependency that is not
//! listed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::process::{cargo, root};

/// External packages that a crate must not contain, even indirectly.
const FORBIDDEN: [(&str, &[&str]); 18] = [
    ("steadfast-text", &["regex", "clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-system", &["clap", "tokio", "tracing", "log", "rusqlite"]),
    ("steadfast-redact", &["regex", "clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-model", &["serde_json", "rusqlite", "toml", "clap", "tokio"]),
    ("steadfast-engine", &["serde_json", "rusqlite", "toml", "clap", "tokio"]),
    ("steadfast-observe", &["clap", "tokio", "tracing", "log", "rusqlite"]),
    ("steadfast-store", &["clap", "tokio", "tracing", "log"]),
    ("steadfast-hosts", &["clap", "tokio", "tracing", "log", "rusqlite"]),
    ("steadfast-shell", &["regex", "clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-words", &["regex", "clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-plan", &["clap", "tokio", "tracing", "log", "rusqlite", "rustix", "libc", "tempfile"]),
    ("steadfast-check", &["clap", "tokio", "tracing", "log", "rusqlite"]),
    ("steadfast-hook", &["clap", "tokio", "hyper", "rustls", "tracing", "log", "similar", "httparse"]),
    ("steadfast-splice", &["clap", "tokio", "hyper", "rustls", "tracing", "log", "rusqlite", "rustix", "tempfile"]),
    ("steadfast-proxy", &["clap", "log", "rusqlite", "regex", "aws-lc-rs", "h2", "openssl"]),
    ("steadfast-proxied", &["clap", "log", "regex", "aws-lc-rs", "h2", "openssl"]),
    ("steadfast-work", &["clap", "tokio", "tracing", "log"]),
    ("steadfast-runner", &["clap", "log", "regex", "aws-lc-rs", "h2", "openssl"]),
];

/// Every crate of the product, and the product crates that it may use directly. An unlisted crate fails the check.
const ARROWS: [(&str, &[&str]); 21] = [
    ("steadfast-text", &[]),
    ("steadfast-system", &[]),
    ("steadfast-model", &[]),
    ("steadfast-redact", &[]),
    ("steadfast-shell", &["text"]),
    ("steadfast-words", &[]),
    ("steadfast-engine", &["model", "shell", "text", "words"]),
    ("steadfast-observe", &["model", "system", "text"]),
    ("steadfast-plan", &["model", "text", "words"]),
    ("steadfast-hosts", &["model", "system", "text"]),
    ("steadfast-store", &["model", "observe", "redact", "system", "text"]),
    ("steadfast-check", &["model", "observe", "shell", "system"]),
    ("steadfast-hook", &["engine", "hosts", "model", "observe", "plan", "redact", "store", "system", "text"]),
    (
        "steadfast-work",
        &["check", "engine", "hook", "hosts", "model", "observe", "plan", "redact", "store", "system", "text"],
    ),
    (
        "steadfast-runner",
        &[
            "check", "engine", "hosts", "model", "observe", "plan", "proxied", "redact", "store", "system", "text",
            "work",
        ],
    ),
    ("steadfast-splice", &[]),
    // Knows HTTP and the formats of models, and no rules: the command gives it a judge.
    ("steadfast-proxy", &["splice"]),
    ("steadfast-proxied", &["hook", "hosts", "model", "proxy", "redact", "store", "text"]),
    ("steadfast-sim", &[]),
    // Only for tests: no product crate may use it.
    ("steadfast-testkit", &[]),
    (
        "steadfast",
        &[
            "check", "engine", "hook", "hosts", "model", "observe", "plan", "proxied", "proxy", "redact", "runner",
            "shell", "sim", "store", "system", "text", "work",
        ],
    ),
];

pub(crate) fn check() -> Result<()> {
    let mut broken = not_as_listed(&arrows()?);
    for (package, forbidden) in FORBIDDEN {
        let beneath = beneath(package)?;
        broken.extend(
            forbidden
                .iter()
                .filter(|name| beneath.iter().any(|found| found == *name))
                .map(|name| format!("{package} → {name}")),
        );
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("arrows between the crates: {}", broken.join(", ")).into()) }
}

/// Returns the differences between the crates and the list.
fn not_as_listed(arrows: &[(String, Vec<String>)]) -> Vec<String> {
    let mut broken = Vec::new();
    for (package, uses) in arrows {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == package) else {
            broken.push(format!("{package} is not in the list"));
            continue;
        };
        let allowed: Vec<String> = allowed.iter().map(|short| format!("steadfast-{short}")).collect();
        let unlisted = uses.iter().filter(|name| !allowed.contains(name));
        broken.extend(unlisted.map(|name| format!("{package} → {name} is not in the list")));
        let unused = allowed.iter().filter(|name| !uses.contains(name));
        broken.extend(unused.map(|name| format!("{package} → {name} is in the list and not used")));
    }
    broken
}

/// Returns the product crates that each crate in `crates/` uses, except in tests.
fn arrows() -> Result<Vec<(String, Vec<String>)>> {
    let mut metadata: Command = cargo(["metadata", "--format-version", "1", "--no-deps"]);
    let output = metadata.output()?;
    if !output.status.success() {
        return Err(format!("{metadata:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let crates = root().join("crates");
    let is_product =
        |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(&crates));
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(packages.iter().filter(is_product).map(|package| (text(&package["name"]), uses(package))).collect())
}

fn uses(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_linked = |dependency: &&Value| dependency["kind"] != "dev";
    let names = dependencies.iter().filter(is_linked).map(|dependency| text(&dependency["name"]));
    names.filter(|name| name.starts_with("steadfast")).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns every package that is linked into a crate.
fn beneath(package: &str) -> Result<Vec<String>> {
    let mut tree: Command = cargo(["tree", "--edges", "normal", "--prefix", "none", "--package", package]);
    let output = tree.output()?;
    if !output.status.success() {
        return Err(format!("{tree:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_is_not_listed_a_listed_one_that_is_gone_and_a_new_crate_are_named() {
        let arrow = |package: &str, uses: &[&str]| {
            (package.to_owned(), uses.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let arrows = [
            arrow("steadfast-plan", &["steadfast-model", "steadfast-store", "steadfast-text", "steadfast-words"]),
            arrow("steadfast-store", &["steadfast-model"]),
            arrow("steadfast-new", &[]),
            arrow("steadfast-shell", &["steadfast-text"]),
        ];
        assert_eq!(
            not_as_listed(&arrows),
            [
                "steadfast-plan → steadfast-store is not in the list",
                "steadfast-store → steadfast-observe is in the list and not used",
                "steadfast-store → steadfast-redact is in the list and not used",
                "steadfast-store → steadfast-system is in the list and not used",
                "steadfast-store → steadfast-text is in the list and not used",
                "steadfast-new is not in the list",
            ]
        );
    }
}
