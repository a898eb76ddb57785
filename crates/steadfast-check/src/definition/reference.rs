use std::path::{Path, PathBuf};

use super::program::{self, Through};
use super::words::{Item, Simple, items};

/// Something that a command line runs and that is written down elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it is looked for, from the folder the command line runs in.
    pub directory: PathBuf,
    pub target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
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
    Entry(Entry),
    /// A file that is run.
    File { path: PathBuf, run: Run },
}

/// How a file is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
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
pub struct Entry {
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

/// What a command line refers to. Nothing is read for it.
pub fn references(command: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(command, Path::new(""), &mut found, 0);
    found
}

/// No command line is nested deeper than this in earnest.
const DEEPEST: usize = 8;

fn collect(command: &str, directory: &Path, found: &mut Vec<Reference>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let mut directory = directory.to_owned();
    let mut outside = Vec::new();
    for item in items(command) {
        match item {
            Item::Open => outside.push(directory.clone()),
            // A pattern of `case` closes what nobody opened.
            Item::Close => directory = outside.pop().unwrap_or(directory),
            Item::Command(simple) => {
                for inner in &simple.inner {
                    collect(inner, &directory, found, depth + 1);
                }
                one(&simple, &mut directory, found, depth);
            }
        }
    }
}

fn one(simple: &Simple, directory: &mut PathBuf, found: &mut Vec<Reference>, depth: usize) {
    let mut words: &[String] = &simple.words;
    while let Some(word) = words.first() {
        if is_assignment(word) {
            words = &words[1..];
            continue;
        }
        let arguments = &words[1..];
        match program::through(word, arguments) {
            Through::Not => break,
            Through::Rest(rest) => words = rest,
            Through::Text(texts) => {
                texts.iter().for_each(|text| collect(text, directory, found, depth + 1));
                return;
            }
        }
    }
    let Some((word, arguments)) = words.split_first() else { return };
    if matches!(word.as_str(), "cd" | "pushd") {
        // Where a variable leads is not known: then it is looked where we are.
        if let Some(to) = arguments.iter().find(|to| !to.starts_with('-') && !to.contains('$')) {
            directory.push(to);
        }
        return;
    }
    for (inside, target) in program::targets(word, arguments, simple.input.as_deref()) {
        found.push(Reference { directory: directory.join(inside), target });
    }
}

pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|first: char| first.is_ascii_digit())
}
