//! Sets the constants that `steadfast --version` prints: commit, target and profile.

#![expect(clippy::disallowed_methods, reason = "a build script runs git and reads the variables of cargo")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=STEADFAST_COMMIT={commit}");
    println!("cargo::rustc-env=STEADFAST_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=STEADFAST_PROFILE={}", profile());
}

/// `1a2b3c4d, 2026-11-15`, with `dirty` if the tree differs from the commit. `None` without git, or if the crate is
/// unpacked inside another repository.
fn commit() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/steadfast/" {
        return None;
    }
    // Not the index: every `git status` rewrites it, and cargo would rebuild the binary for nothing.
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

/// The sources of the binary in this workspace.
fn sources() -> Vec<PathBuf> {
    let crates = std::fs::read_dir("..").into_iter().flatten().flatten();
    crates.map(|folder| folder.path().join("src")).chain(["../../Cargo.lock".into()]).collect()
}

/// Skips missing paths: cargo would run the script every time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

/// `PROFILE` names only the profile that this one inherits from; the path has its own name:
/// `<profile>/build/<package>/out`.
fn profile() -> String {
    let out = PathBuf::from(variable("OUT_DIR"));
    let folder = out.ancestors().nth(3).and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    folder.unwrap_or_else(|| variable("PROFILE"))
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| "unknown".to_owned())
}
