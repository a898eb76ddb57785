//! `.claude/settings.local.json` names a path of this machine: git need not offer it for a commit.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_store::Place;

use crate::error::CommandError;

const LINES: &str = "# steadfast init\n/.claude/settings.local.json\n";

/// The repository's own list of what git passes over, which is not committed.
#[derive(Debug)]
pub(crate) struct Exclude {
    path: PathBuf,
    root: PathBuf,
}

impl Exclude {
    /// Only a git repository has one.
    pub(crate) fn of(place: &Place) -> Option<Self> {
        let git = place.state.parent()?;
        let path = git.join("info/exclude");
        (git.join("HEAD").is_file() && git.join("info").is_dir()).then(|| Self { path, root: place.root.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What adding would change: before and after.
    pub(crate) fn planned(&self) -> Option<(Option<Vec<u8>>, Vec<u8>)> {
        if [self.root.join(".gitignore"), self.root.join(".claude/.gitignore"), self.path.clone()]
            .iter()
            .any(|file| passes_over(file))
        {
            return None;
        }
        let before = fs::read(&self.path).ok();
        let mut after = before.clone().unwrap_or_default();
        if !after.is_empty() && !after.ends_with(b"\n") {
            after.push(b'\n');
        }
        after.extend_from_slice(LINES.as_bytes());
        Some((before, after))
    }

    pub(crate) fn add(&self) -> Result<(), CommandError> {
        self.planned().map_or(Ok(()), |(_, after)| self.write(&after))
    }

    pub(crate) fn remove(&self) -> Result<(), CommandError> {
        let Ok(text) = fs::read_to_string(&self.path) else { return Ok(()) };
        match text.find(LINES) {
            Some(at) if text == LINES && at == 0 => fs::remove_file(&self.path).map_err(|error| self.failed(&error)),
            Some(at) => self.write(format!("{}{}", &text[..at], &text[at + LINES.len()..]).as_bytes()),
            None => Ok(()),
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        fs::write(&self.path, bytes).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> CommandError {
        CommandError::failure(format!("cannot write `{}`: {error}", self.path.display()))
    }
}

fn passes_over(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::trim).any(|line| {
        let line = line.trim_start_matches('/').trim_end_matches('/');
        matches!(line, ".claude" | ".claude/*" | "*.local.json" | "settings.local.json" | ".claude/settings.local.json")
    })
}
