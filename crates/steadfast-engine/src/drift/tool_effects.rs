use std::borrow::Cow;

use steadfast_model::{Action, EventKind, StepKind, ToolCall, fnv};
use steadfast_shell::{Argument, Op, Reading};
use steadfast_words::WordList;

use super::content;
use super::opaque::is_opaque;
use crate::ParsedEvent;
use crate::policy::{absolute, is_free, only_reads};

/// The effects of a call on files, as far as the score uses them. Paths are below the session's root and relative to
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolEffects {
    /// How it writes or tries to write. `None`: it only reads.
    pub kind: Option<StepKind>,
    pub writes: Vec<String>,
    pub deletes: Vec<String>,
    /// Files, and folders with a trailing `/`.
    pub reads: Vec<String>,
    /// Files that the text it read names.
    pub names: Vec<String>,
    pub command: Option<String>,
    /// The words that it writes, as far as it shows them.
    pub words: Vec<u32>,
    /// The texts that it replaces: per text and file one number for the change and one for its reversal.
    pub replaced: Vec<(u32, u32)>,
    /// It may write more than it shows.
    pub unknown: bool,
}

/// Steadfast's own server writes no file of the work.
const SERVER: &str = "steadfast";

/// The most paths of a command line that are used.
const PATHS: usize = 32;

impl ToolEffects {
    /// Returns the effects of the call of an event; the default if the event has no call.
    pub fn of(event: &ParsedEvent<'_>, root: &str, scratch: &str) -> Self {
        let Some(call) = event.call() else { return Self::default() };
        let mut effects = Self::of_call(event, call, root, scratch);
        if effects.changes_files() {
            effects.words = content::written_words(event, &effects);
            effects.replaced = replaced(event, &effects);
        }
        if let EventKind::PostTool(result) = &event.kind {
            effects.names =
                result.names.iter().filter_map(|path| path_of_work(&absolute(path, root), root, scratch)).collect();
        }
        effects
    }

    fn of_call(event: &ParsedEvent<'_>, call: &ToolCall, root: &str, scratch: &str) -> Self {
        let cwd = unix(&event.cwd, &event.cwd);
        let inside = |path: &str| path_of_work(&absolute(&unix(path, &event.cwd), &cwd), root, scratch);
        let all = |paths: &[String]| paths.iter().take(PATHS).filter_map(|path| inside(path)).collect::<Vec<_>>();
        match &call.action {
            Action::Write { paths } => {
                let kind = if call.tool == "Write" { StepKind::Write } else { StepKind::Edit };
                Self { kind: Some(kind), writes: all(paths), ..Self::default() }
            }
            Action::Read { paths } => {
                // A search in a folder counts for the folder.
                let folder = matches!(call.tool.as_str(), "Glob" | "Grep" | "LS");
                let reads =
                    all(paths).into_iter().map(|path| if folder && !is_file(&path) { path + "/" } else { path });
                Self { reads: reads.collect(), ..Self::default() }
            }
            Action::Shell { command, .. } => {
                let mut effects = Self { command: Some(command.clone()), ..Self::default() };
                event.reading().into_iter().for_each(|reading| effects.take(reading, inside));
                effects
            }
            Action::Mcp { server, tool, paths } if server != SERVER && !paths.is_empty() => {
                if only_reads(tool) {
                    Self { reads: all(paths), ..Self::default() }
                } else {
                    Self { kind: Some(StepKind::Mcp), writes: all(paths), ..Self::default() }
                }
            }
            _ => Self::default(),
        }
    }

    fn take(&mut self, reading: &Reading, inside: impl Fn(&str) -> Option<String>) {
        self.kind = Some(StepKind::Bash);
        self.unknown = is_opaque(reading);
        for effect in &reading.effects {
            match (&effect.path, effect.op) {
                // An empty folder is no change yet.
                _ if effect.via == "mkdir" => {}
                (Some(path), Op::Delete) if !path.contains(['*', '?']) => self.deletes.extend(inside(path)),
                (Some(path), Op::Write | Op::Move | Op::Chmod) if !path.contains(['*', '?']) => {
                    self.writes.extend(inside(path).filter(|path| !self.writes.contains(path)));
                }
                _ => {}
            }
            if self.writes.len() >= PATHS {
                break;
            }
        }
        for invocation in reading.runs() {
            let words = invocation.argv.iter().skip(1).filter_map(|argument| match argument {
                Argument::Known(text) => Some(text.as_str()),
                Argument::Pattern(_) => None,
            });
            for path in words.filter(|word| is_path(word)).filter_map(&inside).take(PATHS) {
                let path = if is_file(&path) { path } else { path.trim_end_matches('/').to_owned() + "/" };
                if !self.writes.contains(&path) && !self.reads.contains(&path) && self.reads.len() < PATHS {
                    self.reads.push(path);
                }
            }
        }
    }

    pub fn changes_files(&self) -> bool {
        !self.writes.is_empty() || !self.deletes.is_empty()
    }

    /// A subagent's work, of which only the end is visible.
    pub fn delegated() -> Self {
        Self { kind: Some(StepKind::Delegate), unknown: true, ..Self::default() }
    }

    /// Adds files that really changed, as relative or absolute paths.
    pub fn changed(&mut self, paths: impl IntoIterator<Item = impl AsRef<str>>, root: &str, scratch: &str) {
        for path in paths.into_iter().take(PATHS) {
            let path = path_of_work(&absolute(path.as_ref(), root), root, scratch);
            self.writes.extend(path.filter(|path| !self.writes.contains(path)));
        }
    }

    /// Returns a number that identifies the attempt.
    pub fn target(&self) -> Option<u32> {
        let text = self.command.as_deref().or(self.writes.first().map(String::as_str))?;
        Some(mark(text))
    }
}

/// Converts a Windows path as its own shells do: `C:\src\a.rs` becomes `/c/src/a.rs`. A path without a drive is a
/// Windows path if `cwd` is one; elsewhere a backslash is an ordinary character.
pub(crate) fn unix<'p>(path: &'p str, cwd: &str) -> Cow<'p, str> {
    let plain = path.strip_prefix(r"\\?\").unwrap_or(path);
    if let Some((drive, rest)) = drive(plain) {
        return Cow::Owned(format!("/{}/{}", drive.to_ascii_lowercase(), rest.replace('\\', "/")));
    }
    let of_windows = drive(cwd.strip_prefix(r"\\?\").unwrap_or(cwd)).is_some() || cwd.starts_with(r"\\");
    if of_windows && path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}

/// Splits off the letter of a drive.
fn drive(path: &str) -> Option<(char, &str)> {
    let mut chars = path.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str().strip_prefix(':')?;
    Some((letter, rest.strip_prefix(['/', '\\'])?))
}

/// Returns the changed texts, each with its reversal.
fn replaced(event: &ParsedEvent<'_>, effects: &ToolEffects) -> Vec<(u32, u32)> {
    let file = effects.writes.first().map_or("", String::as_str);
    let number = |old: u32, new: u32| mark(&format!("{file}\0{old}\0{new}"));
    event.content.edits.iter().map(|edit| (number(edit.old, edit.new), number(edit.new, edit.old))).collect()
}

/// Returns a path as the score uses it; `None` if it belongs to no work.
fn path_of_work(path: &str, root: &str, scratch: &str) -> Option<String> {
    let free = is_free(path, root, scratch);
    let below = path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    // A path outside the checkout stays absolute, which is far from every path of the work.
    let told = below.unwrap_or(path).to_owned();
    (!free && !told.is_empty() && !is_ours(&told)).then_some(told)
}

/// Returns a number that identifies a text.
#[expect(clippy::cast_possible_truncation, reason = "half of a hash tells enough apart among a dozen")]
pub(crate) fn mark(text: &str) -> u32 {
    let hash = fnv([text.as_bytes()]);
    (hash ^ (hash >> 32)) as u32
}

/// Files of git and Steadfast, and build output, are no work.
fn is_ours(path: &str) -> bool {
    const OURS: WordList = words!("no work");
    path.split('/').any(|part| OURS.contains(part))
}

/// Returns true if a word of a command line is a path.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+' | '[' | ']');
    !word.starts_with('-')
        && word.len() < 200
        && word.chars().all(plain)
        && (word.contains('/') || is_file(word))
        && word.chars().any(char::is_alphabetic)
}

/// Returns true if the last part of a path has an ending.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ending.len() <= 5 && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_is_told_like_any_other() {
        let from = r"C:\Users\anna\shop";
        for path in [r"C:\Users\anna\shop\src\a.rs", "c:/Users/anna/shop/src/a.rs", r"C:\Users\anna/shop\src/a.rs"] {
            assert_eq!(unix(path, from), "/c/Users/anna/shop/src/a.rs", "{path}");
        }
        assert_eq!(unix(r"\\?\C:\x", from), "/c/x");
        assert_eq!(unix(r"src\a.rs", from), "src/a.rs");
        assert_eq!(unix("src/a.rs", from), "src/a.rs");
        assert_eq!(unix(r"odd\name", "/repo"), r"odd\name");
        assert_eq!(unix("a:b", "/repo"), "a:b");
    }
}
