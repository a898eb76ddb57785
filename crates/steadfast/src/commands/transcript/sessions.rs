//! Where sessions are written down: what somebody named, or what the hosts keep of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_hosts::transcript::{Transcript, Writer};

use crate::error::CommandError;
use crate::here;
use crate::output::note;

/// How many rows may come before the one that names a folder.
const SILENT: usize = 50;

/// The transcripts that are meant, in a stable order.
pub(in crate::commands) fn find(named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    if named.is_empty() {
        return of_repository();
    }
    let mut files = Vec::new();
    for path in named {
        let metadata = fs::metadata(path).map_err(|error| {
            CommandError::failure(format!("cannot read `{}`: {error}", path.display()))
                .hint("name a transcript, or a folder that holds some")
        })?;
        if metadata.is_dir() {
            let mut inside = Vec::new();
            walk(path, &mut inside);
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let named: Vec<String> = named.iter().map(|path| format!("`{}`", path.display())).collect();
        return Err(CommandError::failure(format!("there is no transcript in {}", named.join(", ")))
            .hint("transcripts end in `.jsonl`, or in `.jsonl.zst` where Codex packed them"));
    }
    Ok(files)
}

/// The transcript of this repository that was written to last, of a main thread.
pub(in crate::commands) fn newest() -> Result<PathBuf, CommandError> {
    let files = of_repository()?;
    let newest = files.iter().max_by_key(|file| fs::metadata(file).and_then(|metadata| metadata.modified()).ok());
    Ok(newest.cloned().unwrap_or_default())
}

fn of_repository() -> Result<Vec<PathBuf>, CommandError> {
    let setup = here::setup()?;
    let (homes, root) = (&setup.install.homes, &setup.place.root);
    let mut files = Vec::new();
    let projects = homes.claude_dir().join("projects");
    let name = project_name(root);
    for folder in entries(&projects) {
        let here = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // One that was started in a folder below. Another folder may have such a name too.
        let below = here.strip_prefix(&name).is_some_and(|rest| rest.starts_with('-'));
        let found = entries(&folder).into_iter().filter(|file| is_transcript(file));
        files.extend(found.filter(|file| here == name || (below && was_in(file, root))));
    }
    let mut rollouts = Vec::new();
    walk(&homes.codex_dir().join("sessions"), &mut rollouts);
    files.extend(rollouts.into_iter().filter(|file| was_in(file, root)));
    files.sort();
    if files.is_empty() {
        return Err(CommandError::failure(format!(
            "neither Claude Code nor Codex kept a session of `{}`",
            root.display()
        ))
        .hint("name a transcript, or a folder that holds some"));
    }
    Ok(files)
}

/// The folder in which Claude Code keeps what happened in another.
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
        // A link may lead in a circle.
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

/// Why is said before it, file by file.
pub(in crate::commands) fn none_read() -> CommandError {
    CommandError::failure("no session could be read, for the reasons above")
        .hint("name transcripts of Claude Code or Codex; without a name, `steadfast transcript stats` reads those of this repository")
}

/// Files that were asked for and cannot be read: said aside, and a failure only where nothing is left.
#[derive(Debug, Default)]
pub(in crate::commands) struct Unread {
    count: usize,
}

impl Unread {
    /// A session's transcript; nothing where it is not read.
    pub(in crate::commands) fn open(&mut self, file: &Path) -> Option<Transcript> {
        let why = match Transcript::open(file) {
            Ok(transcript) => match transcript.writer() {
                Some(Writer::Claude | Writer::Codex) | None => return Some(transcript),
                Some(writer @ (Writer::Copilot | Writer::Gemini)) => {
                    format!("`{}` is a session of {}, which is not read yet", file.display(), writer.name())
                }
            },
            Err(error) => error.to_string(),
        };
        note!("{why}");
        self.count += 1;
        None
    }

    pub(in crate::commands) fn end(self, asked: usize) -> Result<(), CommandError> {
        if asked == 0 || self.count < asked {
            return Ok(());
        }
        Err(none_read())
    }
}
