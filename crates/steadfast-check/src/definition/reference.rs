use std::path::{Path, PathBuf};

use steadfast_shell::{Argument, Context, effects};

use super::program;

/// Something that a command line runs and that another file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The folder to search.
    pub directory: PathBuf,
    pub target: ReferenceTarget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A script of a `package.json`.
    PackageScript {
        name: String,
        /// In every package of the workspace, not only the nearest.
        everywhere: bool,
        /// If there is no such script, the name is a program.
        or_program: bool,
    },
    /// `make`. Without a name, the first target.
    MakeTarget { file: Option<PathBuf>, name: Option<String> },
    /// `just`. Without a name, the first recipe. A word that is not a recipe is an argument of the one before.
    JustRecipe { file: Option<PathBuf>, name: Option<String>, or_argument: bool },
    /// `task`, of a `Taskfile.yml`.
    Task { name: String },
    /// A named entry of a manifest.
    Entry(ManifestEntry),
    /// A file that runs.
    File { path: PathBuf, run: FileRunner },
}

/// The way a file runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRunner {
    /// Directly, by its path.
    Itself,
    /// By a shell: its lines are commands, which are followed.
    Shell,
    /// By another interpreter.
    Interpreter,
    /// By a program that expects this name. The file may be missing.
    ByName,
}

/// An entry of a manifest by its keys, in the first of the files that exists, in this folder or one above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub files: &'static [&'static str],
    /// The noun in messages: `script`, `task`, `alias`.
    pub noun: &'static str,
    pub keys: Vec<String>,
    pub name: String,
    /// The prefix that makes its text a command line.
    pub before: &'static str,
    /// If there is no such entry, the name is a program.
    pub or_program: bool,
}

/// Returns what a command line refers to when it runs in `directory`. It reads no files.
pub fn references(command: &str, directory: &Path) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(command, directory, &mut found, 0);
    found
}

/// The deepest nesting of command lines that is followed.
const DEEPEST: usize = 8;

fn collect(command: &str, directory: &Path, found: &mut Vec<Reference>, depth: usize) {
    let here = directory.to_string_lossy();
    // The user's home is unknown, so `~` stays as it is.
    let context = Context { cwd: here.clone().into_owned(), home: "~".to_owned() };
    for run in effects(command, &context).runs() {
        let words: Vec<String> = run.argv.iter().map(text).collect();
        let Some((word, arguments)) = words.split_first() else { continue };
        let directory = match Path::new(&run.directory).strip_prefix(&*here) {
            // The value of a variable is unknown, so the current folder is searched.
            _ if run.directory.contains("**") => directory.to_owned(),
            Ok(inside) => directory.join(inside),
            Err(_) => PathBuf::from(&run.directory),
        };
        for inner in program::command_lines(word, arguments).iter().filter(|_| depth < DEEPEST) {
            collect(inner, &directory, found, depth + 1);
        }
        for (inside, target) in program::targets(word, arguments, run.input.as_deref()) {
            found.push(Reference { directory: directory.join(inside), target });
        }
    }
}

fn text(argument: &Argument) -> String {
    match argument {
        Argument::Known(text) | Argument::Pattern(text) => text.clone(),
    }
}

pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|first: char| first.is_ascii_digit())
}
