use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{DefineError, MOST_PARTS, absolute, bytes_of, id_of, text_of, tidy};
use super::manifest;
use super::part::{Definition, DefinitionPart, PartState};
use super::program::is_installed;
use super::reference::{FileRunner, ManifestEntry, Reference, ReferenceTarget, references};

const MOST_COMMANDS: usize = 5_000;

/// Reads the definition of a command line that runs in `directory`. It searches for manifests upward, to the root.
pub fn define(root: &Path, directory: &Path, command: &str) -> Result<Definition, DefineError> {
    let root = tidy(&absolute(root));
    let directory = tidy(&root.join(directory));
    let mut reader = Reader { root, parts: BTreeMap::new(), seen: BTreeSet::new(), command };
    reader.follow(&directory, command)?;
    let parts = reader.parts.into_iter().map(|((file, what), state)| DefinitionPart { file, what, state });
    Ok(Definition { parts: parts.collect() })
}

pub(crate) struct Reader<'a> {
    pub(crate) root: PathBuf,
    parts: BTreeMap<(String, String), PartState>,
    seen: BTreeSet<(PathBuf, String)>,
    command: &'a str,
}

impl Reader<'_> {
    /// Follows a command to everything it runs. It reads each command once, so circles end.
    fn follow(&mut self, directory: &Path, command: &str) -> Result<(), DefineError> {
        let mut waiting = vec![(directory.to_owned(), command.to_owned())];
        while let Some((directory, command)) = waiting.pop() {
            if !self.seen.insert((directory.clone(), command.clone())) {
                continue;
            }
            if self.parts.len() > MOST_PARTS || self.seen.len() > MOST_COMMANDS {
                return Err(DefineError::TooMany { command: self.command.to_owned() });
            }
            for Reference { directory: inside, target } in references(&command, &directory) {
                waiting.extend(self.read(&tidy(&inside), &target)?);
            }
        }
        Ok(())
    }

    /// Records a target. Returns the commands in it, with their folders.
    fn read(&mut self, directory: &Path, target: &ReferenceTarget) -> Result<Vec<(PathBuf, String)>, DefineError> {
        match target {
            ReferenceTarget::PackageScript { name, everywhere, or_program } => {
                self.package_script(directory, name, *everywhere, *or_program)
            }
            ReferenceTarget::MakeTarget { file, name } => self.make(directory, file.as_deref(), name.as_deref()),
            ReferenceTarget::JustRecipe { file, name, or_argument } => {
                self.just(directory, file.as_deref(), name.as_deref(), *or_argument)
            }
            ReferenceTarget::Task { name } => self.task(directory, name),
            ReferenceTarget::Entry(entry) => self.entry(directory, entry),
            ReferenceTarget::File { path, run } => self.file(directory, path, *run),
        }
    }

    fn entry(&mut self, directory: &Path, entry: &ManifestEntry) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let mut commands = Vec::new();
        let mut nearest = None;
        for file in entry.files {
            let Some((path, text)) = self.above(directory, &[file])? else { continue };
            let Some(manifest) = manifest::read(file, &text) else {
                self.whole(&path)?;
                return Ok(commands);
            };
            if let Some(found) = manifest::find(&manifest, &entry.keys) {
                // A project's folder is above `.cargo`.
                let above = file.split('/').count();
                let folder = path.ancestors().nth(above).unwrap_or(directory).to_owned();
                let lines = manifest::commands(found).into_iter();
                // A composer script calls others with `@`; a task list names others.
                let lines = lines.map(|line| match line.strip_prefix('@') {
                    Some(other) => format!("composer {other}"),
                    None => format!("{}{line}", entry.before),
                });
                commands.extend(lines.map(|line| (folder.clone(), line)));
                commands.extend(self.siblings(&path, &manifest, entry, found));
                self.note(&path, format!("{} `{}`", entry.noun, entry.name), PartState::Text(manifest::text(found)));
                return Ok(commands);
            }
            nearest = nearest.or(Some(path));
        }
        if !entry.or_program {
            let path = nearest.unwrap_or_else(|| directory.join(entry.files[0]));
            self.note(&path, format!("{} `{}`", entry.noun, entry.name), PartState::Missing);
        }
        Ok(commands)
    }

    /// Returns other entries of the same table that an entry names, and its pre and post entries.
    fn siblings(
        &mut self,
        path: &Path,
        manifest: &Value,
        entry: &ManifestEntry,
        found: &Value,
    ) -> Vec<(PathBuf, String)> {
        let Some((_, table)) = entry.keys.split_last() else { return Vec::new() };
        let Some(Value::Object(table)) = manifest::find(manifest, table) else { return Vec::new() };
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        let mut commands = Vec::new();
        let mut seen = BTreeSet::from([entry.name.clone()]);
        let name = entry.name.rsplit(':').next().unwrap_or(&entry.name);
        let mut waiting = manifest::commands(found);
        waiting.extend(["pre", "post", "pre_", "post_", "pre-", "post-"].map(|when| format!("{when}{name}")));
        while let Some(line) = waiting.pop() {
            let Some(word) = line.split_whitespace().next() else { continue };
            let word = word.trim_start_matches('@');
            let Some(other) = table.get(word).filter(|_| seen.insert(word.to_owned())) else { continue };
            let lines = manifest::commands(other);
            commands.extend(lines.iter().map(|line| (folder.clone(), format!("{}{line}", entry.before))));
            waiting.extend(lines);
            self.note(path, format!("{} `{word}`", entry.noun), PartState::Text(manifest::text(other)));
        }
        commands
    }

    fn file(&mut self, directory: &Path, path: &Path, run: FileRunner) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let said = path.to_string_lossy();
        // The value of a variable or a home is unknown. Installed programs are not the author's.
        if said.contains(['$', '*', '~', '{']) || is_installed(&said) {
            return Ok(Vec::new());
        }
        let path = tidy(&directory.join(path));
        if run == FileRunner::Itself && !path.starts_with(&self.root) {
            return Ok(Vec::new());
        }
        let Some(bytes) = bytes_of(&path)? else {
            if run != FileRunner::ByName {
                self.note(&path, String::new(), PartState::Missing);
            }
            return Ok(Vec::new());
        };
        let head = &bytes[..bytes.len().min(8 << 10)];
        if run == FileRunner::Itself && head.contains(&0) {
            self.note(&path, String::new(), PartState::Program);
            return Ok(Vec::new());
        }
        self.whole(&path)?;
        let shell = run == FileRunner::Shell || run == FileRunner::Itself && is_for_shell(&path, head);
        if !shell {
            return Ok(Vec::new());
        }
        let text = with_its_folder(&String::from_utf8_lossy(&bytes), path.parent().unwrap_or(directory));
        Ok(vec![(directory.to_owned(), text)])
    }

    /// Records a whole file, if its parts cannot be separated.
    pub(crate) fn whole(&mut self, path: &Path) -> Result<(), DefineError> {
        let id = id_of(path)?;
        self.note(path, String::new(), PartState::Content(id));
        Ok(())
    }

    pub(crate) fn note(&mut self, path: &Path, what: String, state: PartState) {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let file = if relative.is_absolute() { path.to_string_lossy().into_owned() } else { parts.join("/") };
        self.parts.insert((file, what), state);
    }

    /// Returns the nearest of these files, from a folder upward to the root.
    pub(crate) fn above(&self, directory: &Path, names: &[&str]) -> Result<Option<(PathBuf, String)>, DefineError> {
        let inside = directory.starts_with(&self.root);
        let folders =
            directory.ancestors().take_while(|folder| *folder == directory || inside && folder.starts_with(&self.root));
        for folder in folders {
            for name in names {
                let path = folder.join(name);
                if let Some(text) = text_of(&path)? {
                    return Ok(Some((path, text)));
                }
            }
        }
        Ok(None)
    }
}

fn is_for_shell(path: &Path, head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    match line.strip_prefix("#!") {
        Some(program) => {
            program.split(['/', ' ']).any(|word| matches!(word.trim(), "sh" | "bash" | "dash" | "zsh" | "ksh"))
        }
        None => path.extension().is_none_or(|end| end == "sh" || end == "bash"),
    }
}

/// Scripts often call neighbours through their own path.
fn with_its_folder(text: &str, folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    let names = [r#""$0""#, "$0", r#""${BASH_SOURCE[0]}""#, r#""${BASH_SOURCE}""#, r#""$BASH_SOURCE""#];
    let dirnames = names.map(|name| format!("$(dirname {name})"));
    let mut text = dirnames.iter().fold(text.to_owned(), |text, spelled| text.replace(spelled, &folder));
    text = text.replace("$(dirname -- \"$0\")", &folder).replace("${0%/*}", &folder);
    text
}
