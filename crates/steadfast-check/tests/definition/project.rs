use std::fs;
use std::path::Path;

use steadfast_check::definition::{Definition, PartState, define};
use tempfile::TempDir;

/// A checkout with some files.
pub(crate) struct Project(TempDir);

impl Project {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let project = Self(TempDir::new().unwrap());
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn define(&self, command: &str) -> Definition {
        define(self.root(), self.root(), command).unwrap()
    }

    /// The parts, each as one line.
    pub(crate) fn parts(&self, command: &str) -> Vec<String> {
        let line = |state: &PartState| match state {
            PartState::Text(text) => format!(" = {text}"),
            PartState::Content(_) => " = script".to_owned(),
            PartState::Program => " = program".to_owned(),
            PartState::Missing => " is missing".to_owned(),
        };
        self.define(command).parts.iter().map(|part| format!("{part}{}", line(&part.state))).collect()
    }

    /// What a change makes of a command, in words.
    pub(crate) fn difference(&self, command: &str, path: &str, text: &str) -> Vec<String> {
        let was = self.define(command);
        self.write(path, text);
        was.difference(&self.define(command))
    }
}
