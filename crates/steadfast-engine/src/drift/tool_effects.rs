use std::borrow::Cow;

use steadfast_model::{Action, EventKind, StepKind, ToolCall, fnv};
use steadfast_shell::{Argument, Op, Reading};

use super::content;
use super::opaque::is_opaque;
use crate::ParsedEvent;
use crate::policy::{absolute, is_free, only_reads};

/// What a call does to files, as far as the score cares: paths below the session's root, told from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolEffects {
    /// How it writes or tries to. None: it only reads.
    pub kind: Option<StepKind>,
    pub writes: Vec<String>,
    pub deletes: Vec<String>,
    /// Files, and folders with a `/` behind them.
    pub reads: Vec<String>,
    /// Files that are named in what it read.
    pub names: Vec<String>,
    pub command: Option<String>,
    /// The words of what it writes, as far as it shows that.
    pub words: Vec<u32>,
    /// The texts that it replaces, each as one number with its file, there and back.
    pub replaced: Vec<(u32, u32)>,
    /// It may write what it does not show.
    pub unknown: bool,
}

/// Our own server writes nothing of the work.
const SERVER: &str = "steadfast";

/// The most paths of one command line.
const PATHS: usize = 32;

impl ToolEffects {
    /// What the call of an event does; nothing where it has none.
    pub fn of(event: &ParsedEvent<'_>, root: &str, scratch: &str) -> Self {
        let Some(call) = event.call() else { return Self::default() };
        let mut effects = Self::of_call(event, call, root, scratch);
        if effects.changes_files() {
            effects.words = content::written(event, &effects);
            effects.replaced = replaced(event, &effects);
        }
        if let EventKind::PostTool(result) = &event.kind {
            effects.names = result.names.iter().filter_map(|path| told(&absolute(path, root), root, scratch)).collect();
        }
        effects
    }

    fn of_call(event: &ParsedEvent<'_>, call: &ToolCall, root: &str, scratch: &str) -> Self {
        let cwd = unix(&event.cwd, &event.cwd);
        let inside = |path: &str| told(&absolute(&unix(path, &event.cwd), &cwd), root, scratch);
        let all = |paths: &[String]| paths.iter().take(PATHS).filter_map(|path| inside(path)).collect::<Vec<_>>();
        match &call.action {
            Action::Write { paths } => {
                let kind = if call.tool == "Write" { StepKind::Write } else { StepKind::Edit };
                Self { kind: Some(kind), writes: all(paths), ..Self::default() }
            }
            Action::Read { paths } => {
                // A search in a folder is told by the folder.
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
                // A folder is nothing before there is something in it.
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

    /// A subagent's, of which only the end is seen.
    pub fn delegated() -> Self {
        Self { kind: Some(StepKind::Delegate), unknown: true, ..Self::default() }
    }

    /// Takes in what really changed, told from the root or whole.
    pub fn changed(&mut self, paths: impl IntoIterator<Item = impl AsRef<str>>, root: &str, scratch: &str) {
        for path in paths.into_iter().take(PATHS) {
            let path = told(&absolute(path.as_ref(), root), root, scratch);
            self.writes.extend(path.filter(|path| !self.writes.contains(path)));
        }
    }

    /// Tells what is tried from any other attempt.
    pub fn target(&self) -> Option<u32> {
        let text = self.command.as_deref().or(self.writes.first().map(String::as_str))?;
        Some(mark(text))
    }
}

/// A path of Windows as its own shell has it: `C:\src\a.rs` is `/c/src/a.rs`. Without a drive it is one of Windows where
/// the folder it is told from is; elsewhere a backslash is a letter of a name.
pub(crate) fn unix<'p>(path: &'p str, cwd: &str) -> Cow<'p, str> {
    let plain = path.strip_prefix(r"\\?\").unwrap_or(path);
    if let Some((drive, rest)) = drive(plain) {
        return Cow::Owned(format!("/{}/{}", drive.to_ascii_lowercase(), rest.replace('\\', "/")));
    }
    let of_windows = drive(cwd.strip_prefix(r"\\?\").unwrap_or(cwd)).is_some() || cwd.starts_with(r"\\");
    if of_windows && path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { Cow::Borrowed(path) }
}

/// The letter of a drive, and what is behind it.
fn drive(path: &str) -> Option<(char, &str)> {
    let mut chars = path.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    let rest = chars.as_str().strip_prefix(':')?;
    Some((letter, rest.strip_prefix(['/', '\\'])?))
}

/// What is replaced, and what would put it back.
fn replaced(event: &ParsedEvent<'_>, effects: &ToolEffects) -> Vec<(u32, u32)> {
    let file = effects.writes.first().map_or("", String::as_str);
    let number = |old: u32, new: u32| mark(&format!("{file}\0{old}\0{new}"));
    event.content.edits.iter().map(|edit| (number(edit.old, edit.new), number(edit.new, edit.old))).collect()
}

/// A path as the score knows it; none where it is nobody's work.
fn told(path: &str, root: &str, scratch: &str) -> Option<String> {
    let free = is_free(path, root, scratch);
    let below = path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    // What is beside the checkout is told whole: it is apart from all of it.
    let told = below.unwrap_or(path).to_owned();
    (!free && !told.is_empty() && !is_ours(&told)).then_some(told)
}

/// Tells a text from others.
#[expect(clippy::cast_possible_truncation, reason = "half of a hash tells enough apart among a dozen")]
pub(crate) fn mark(text: &str) -> u32 {
    let hash = fnv([text.as_bytes()]);
    (hash ^ (hash >> 32)) as u32
}

/// What git and Steadfast keep for themselves, and what tools make, is no work.
fn is_ours(path: &str) -> bool {
    const OURS: [&str; 12] = [
        ".git",
        ".steadfast",
        ".claude",
        "node_modules",
        "target",
        "dist",
        "build",
        "__pycache__",
        ".venv",
        ".next",
        "coverage",
        ".cache",
    ];
    path.split('/').any(|part| OURS.contains(&part))
}

/// Whether a word of a command line is a path.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+' | '[' | ']');
    !word.starts_with('-')
        && word.len() < 200
        && word.chars().all(plain)
        && (word.contains('/') || is_file(word))
        && word.chars().any(char::is_alphabetic)
}

/// Whether the last part of a path has an ending.
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
