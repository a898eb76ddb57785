use std::path::{Path, PathBuf};

use steadfast_shell::{Argument, Context, effects};

use super::program;

/// Something that a command line runs and that is written down elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The folder in which it is looked for.
    pub directory: PathBuf,
    pub target: ReferenceTarget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A script of a `package.json`.
    PackageScript {
        name: String,
        /// Of every package of the workspace, not of the nearest one.
        everywhere: bool,
        /// Without such a script the name means a program.
        or_program: bool,
    },
    /// `make`; without a name the first target.
    MakeTarget { file: Option<PathBuf>, name: Option<String> },
    /// `just`; without a name the first recipe. What is no recipe is an argument of the one before.
    JustRecipe { file: Option<PathBuf>, name: Option<String>, or_argument: bool },
    /// `task`, of a `Taskfile.yml`.
    Task { name: String },
    /// A named entry of a manifest.
    Entry(ManifestEntry),
    /// A file that is run.
    File { path: PathBuf, run: FileRunner },
}

/// How a file is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRunner {
    /// By its path.
    Itself,
    /// By a shell: its lines are commands, which may run other things.
    Shell,
    /// By another interpreter.
    Interpreter,
    /// By a program that knows its name. Nothing is missed when it is not there.
    ByName,
}

/// An entry of a manifest by its keys: the first of the files that is found, in this folder or one above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub files: &'static [&'static str],
    /// How it is called: `script`, `task`, `alias`.
    pub noun: &'static str,
    pub keys: Vec<String>,
    pub name: String,
    /// Its text is a command line when this comes before it.
    pub before: &'static str,
    /// Without such an entry the name means a program.
    pub or_program: bool,
}

/// What a command line refers to when it runs in `directory`. Nothing is read for it.
pub fn references(command: &str, directory: &Path) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(command, directory, &mut found, 0);
    found
}

/// No command line is nested deeper than this in earnest.
const DEEPEST: usize = 8;

fn collect(command: &str, directory: &Path, found: &mut Vec<Reference>, depth: usize) {
    let here = directory.to_string_lossy();
    // Whose home it is is not known, so `~` stays as it is.
    let context = Context { cwd: here.clone().into_owned(), home: "~".to_owned() };
    for run in effects(command, &context).runs() {
        let words: Vec<String> = run.argv.iter().map(text).collect();
        let Some((word, arguments)) = words.split_first() else { continue };
        let directory = match Path::new(&run.directory).strip_prefix(&*here) {
            // Where a variable leads is not known: then it is looked where we are.
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
