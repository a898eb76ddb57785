//! What the binary is built from, as constants: `steadfast --version` says it, and nothing else looks.

#![expect(clippy::disallowed_methods, reason = "a build script runs git and reads what cargo tells it")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=STEADFAST_COMMIT={commit}");
    println!("cargo::rustc-env=STEADFAST_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=STEADFAST_PROFILE={}", profile());
}

/// `1a2b3c4d, 2026-11-15`, with `dirty` where the tree is not the commit's. Nothing without git, or where this is not
/// the repository of the crate: it may be unpacked inside another.
fn commit() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/steadfast/" {
        return None;
    }
    // Not the index, which every `git status` writes anew: the binary would be built again for nothing.
    for name in ["HEAD", "logs/HEAD"] {
        watch(Path::new(&git(&["rev-parse", "--git-path", name])?));
    }
    for folder in sources() {
        watch(&folder);
    }
    let said = git(&["log", "-1", "--format=%h, %cs", "--abbrev=10"])?;
    let dirty = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|changes| !changes.is_empty());
    Some(if dirty { format!("{said}, dirty") } else { said })
}

/// What the binary is made of, in this workspace.
fn sources() -> Vec<PathBuf> {
    let crates = std::fs::read_dir("..").into_iter().flatten().flatten();
    crates.map(|folder| folder.path().join("src")).chain(["../../Cargo.lock".into()]).collect()
}

/// Cargo runs a script every time that watches something which is not there.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

/// Cargo names only what a profile inherits from; its own name is in the path: `<profile>/build/<package>/out`.
fn profile() -> String {
    let out = PathBuf::from(variable("OUT_DIR"));
    let folder = out.ancestors().nth(3).and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.unwrap_or_else(|| variable("PROFILE"))
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| "unknown".to_owned())
}
