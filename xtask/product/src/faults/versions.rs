//! Other versions of the binary: an earlier commit, and this source with the next formats.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::Result;
use crate::process::{cargo, root, run, target, triple};

/// The first commit that builds by itself. Every version must read its data, and it must not fail on today's data.
const OLDER: &str = "b9a892ffcfd0eaf9e2a98e82cb9679700d66042c";

const STATE: &str = "crates/steadfast-model/src/state.rs";
const MIGRATIONS: &str = "crates/steadfast-store/src/ledger/database/migration.rs";

pub(super) struct Versions {
    /// `None`: this clone does not have its commit, and a skip was recorded.
    pub(super) older: Option<PathBuf>,
    pub(super) newer: PathBuf,
}

/// Builds them once. An existing build is used again.
pub(super) fn versions() -> Result<&'static Versions> {
    static BUILT: OnceLock<std::result::Result<Versions, String>> = OnceLock::new();
    let build = || -> Result<Versions> { Ok(Versions { older: older()?, newer: newer()? }) };
    let built = BUILT.get_or_init(|| build().map_err(|error| error.to_string()));
    built.as_ref().map_err(|error| format!("another version cannot be built: {error}").into())
}

fn folder() -> PathBuf {
    target().join("versions")
}

fn older() -> Result<Option<PathBuf>> {
    if !git(&["cat-file", "-e", OLDER])?.status.success() {
        let why = format!("an older version: commit {} is not in this clone; it may be a shallow one", &OLDER[..10]);
        if std::env::var_os("CI").is_some() {
            return Err(format!("{why}: in CI nothing is skipped").into());
        }
        eprintln!("SKIPPED: {why}");
        return Ok(None);
    }
    let source = folder().join("older");
    if !source.exists() {
        // In one step, because a partial source must never exist.
        fs::create_dir_all(folder())?;
        let draft = tempfile::tempdir_in(folder())?;
        let archive = draft.path().join("source.tar");
        run(Command::new("git").current_dir(root()).args(["archive", "--output"]).arg(&archive).arg(OLDER))?;
        let unpacked = draft.path().join("source");
        fs::create_dir(&unpacked)?;
        run(Command::new("tar").arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&unpacked))?;
        fs::rename(&unpacked, &source)?;
    }
    build(&source).map(Some)
}

/// Builds the current source, committed or not, with newer versions of state and ledger.
fn newer() -> Result<PathBuf> {
    let source = folder().join("newer");
    let listed = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let names = String::from_utf8(listed.stdout)?;
    let names: BTreeSet<&str> = names.split('\0').filter(|name| root().join(name).is_file()).collect();
    for name in &names {
        let bytes = fs::read(root().join(name))?;
        let bytes = match *name {
            STATE => next_state(&String::from_utf8(bytes)?)?.into_bytes(),
            MIGRATIONS => next_ledger(&String::from_utf8(bytes)?)?.into_bytes(),
            _ => bytes,
        };
        let path = source.join(name);
        // Cargo rebuilds files that are written again.
        if !fs::read(&path).is_ok_and(|before| before == bytes) {
            fs::create_dir_all(path.parent().unwrap_or(&source))?;
            fs::write(path, bytes)?;
        }
    }
    drop_others(&source, &source, &names)?;
    build(&source)
}

/// Removes source files that no longer exist.
fn drop_others(source: &Path, folder: &Path, names: &BTreeSet<&str>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_others(source, &path, names)?;
        } else if !path.strip_prefix(source)?.to_str().is_some_and(|name| names.contains(name)) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Raises the version of the state, also for sessions without new features.
fn next_state(text: &str) -> Result<String> {
    const PLAIN: &str = "const PLAIN: u32 = 1;";
    let next = count_up(text, "pub const STATE_VERSION: u32 = ", ";").filter(|text| text.contains(PLAIN));
    next.map(|text| text.replace(PLAIN, "const PLAIN: u32 = STATE_VERSION;")).ok_or_else(|| changed(STATE))
}

/// Adds a migration.
fn next_ledger(text: &str) -> Result<String> {
    let more = || {
        let text = count_up(text, "MIGRATIONS: [&str; ", "]")?;
        let list = text.find("MIGRATIONS: [&str; ")?;
        let (before, after) = text.split_at(list + text[list..].find("];")?);
        let before = before.trim_end().trim_end_matches(',');
        Some(format!("{before}, \"CREATE TABLE mood (bright INTEGER)\"{after}"))
    };
    more().ok_or_else(|| changed(MIGRATIONS))
}

/// Returns the text with the number between two texts increased by one.
fn count_up(text: &str, before: &str, after: &str) -> Option<String> {
    let start = text.find(before)? + before.len();
    let end = start + text[start..].find(after)?;
    let number: u32 = text[start..end].parse().ok()?;
    Some(format!("{}{}{}", &text[..start], number + 1, &text[end..]))
}

fn changed(path: &str) -> Box<dyn std::error::Error> {
    format!("`{path}` is not written as it was: `xtask/src/faults/versions.rs` looks for its version there").into()
}

/// Builds in a separate target folder, because cargo confuses equal crates of two workspaces.
fn build(source: &Path) -> Result<PathBuf> {
    let name = source.file_name().unwrap_or_default();
    eprintln!("building the {} version", name.display());
    let built = folder().join("target").join(name);
    let mut command = cargo(["build", "--quiet", "--locked", "--package", "steadfast", "--profile", "release"]);
    run(command.current_dir(source).env("CARGO_TARGET_DIR", &built))?;
    let binary = folder().join("bin").join(name);
    fs::create_dir_all(folder().join("bin"))?;
    fs::copy(built.join(triple()?).join("release/steadfast"), &binary)?;
    Ok(binary)
}

fn git(arguments: &[&str]) -> Result<std::process::Output> {
    let mut command = Command::new("git");
    command.current_dir(root()).args(arguments).stdin(Stdio::null());
    command.output().map_err(|error| format!("cannot start {command:?}: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_has_its_versions_where_they_are_looked_for() {
        let text = |path| fs::read_to_string(root().join(path)).unwrap();
        let (state, ledger) = (text(STATE), text(MIGRATIONS));
        assert_ne!(next_state(&state).unwrap(), state);
        let migrations = |text: &str| text.matches(".sql\")").count() + text.matches("CREATE TABLE mood").count();
        assert_eq!(migrations(&next_ledger(&ledger).unwrap()), migrations(&ledger) + 1);
    }
}
