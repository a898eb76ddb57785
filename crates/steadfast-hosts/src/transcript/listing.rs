//! Finds transcripts: the files that the user names, or those of a checkout.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Transcript;
use crate::install::Homes;

/// The error if there is no transcript to read.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("no transcript found in {}", named.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", "))]
    NoneIn { named: Vec<PathBuf> },
    #[error("no session of Claude Code or Codex found for `{}`", root.display())]
    NoneOf { root: PathBuf },
}

/// The most rows that are read to find the session's folder.
const SILENT: usize = 50;

/// Lists the named files, and the transcripts in named folders, in a stable order.
pub fn list_transcripts(named: &[PathBuf]) -> Result<Vec<PathBuf>, ListingError> {
    let mut files = Vec::new();
    for path in named {
        let metadata = fs::metadata(path).map_err(|source| ListingError::Unreadable { path: path.clone(), source })?;
        if metadata.is_dir() {
            let mut inside = Vec::new();
            walk(path, &mut inside);
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() { Err(ListingError::NoneIn { named: named.to_vec() }) } else { Ok(files) }
}

/// Returns the most recently written transcript of a checkout's main thread.
pub fn newest_transcript(homes: &Homes, root: &Path) -> Result<PathBuf, ListingError> {
    let files = transcripts_of(homes, root)?;
    let newest = files.iter().max_by_key(|file| fs::metadata(file).and_then(|metadata| metadata.modified()).ok());
    Ok(newest.cloned().unwrap_or_default())
}

/// Lists the transcripts that the hosts keep for a checkout.
pub fn transcripts_of(homes: &Homes, root: &Path) -> Result<Vec<PathBuf>, ListingError> {
    let mut files = Vec::new();
    let projects = homes.claude_dir().join("projects");
    let name = project_name(root);
    for folder in entries(&projects) {
        let here = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // The session may have started in a subfolder. Another folder can have the same name, so read its path.
        let below = here.strip_prefix(&name).is_some_and(|rest| rest.starts_with('-'));
        let found = entries(&folder).into_iter().filter(|file| is_transcript(file));
        files.extend(found.filter(|file| here == name || (below && was_in(file, root))));
    }
    let mut rollouts = Vec::new();
    walk(&homes.codex_dir().join("sessions"), &mut rollouts);
    files.extend(rollouts.into_iter().filter(|file| was_in(file, root)));
    files.sort();
    if files.is_empty() { Err(ListingError::NoneOf { root: root.to_owned() }) } else { Ok(files) }
}

/// Returns the name of Claude Code's folder for sessions in `root`.
fn project_name(root: &Path) -> String {
    root.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn was_in(file: &Path, root: &Path) -> bool {
    let Ok(mut transcript) = Transcript::open(file) else { return false };
    for _ in 0..SILENT {
        match transcript.next() {
            None => return false,
            Some(Ok(record)) => {
                if let Some(cwd) = record.cwd {
                    return Path::new(cwd.as_ref()).starts_with(root);
                }
            }
            Some(Err(_)) => {}
        }
    }
    false
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        // Do not follow links: they may form a cycle.
        if path.is_dir() && !path.is_symlink() {
            walk(&path, files);
        } else if is_transcript(&path) {
            files.push(path);
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) && path.is_file()
}
