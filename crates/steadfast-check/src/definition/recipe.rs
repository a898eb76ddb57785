//! Reads recipes and tasks, with their prerequisites.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::file::{DefineError, text_of};
use super::justfile::Justfile;
use super::makefile::{Makefile, plain_command};
use super::part::PartState;
use super::reader::Reader;
use super::taskfile;

impl Reader<'_> {
    pub(crate) fn make(
        &mut self,
        directory: &Path,
        file: Option<&Path>,
        name: Option<&str>,
    ) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let named = file.map(|file| vec![directory.join(file)]);
        let usual = || ["GNUmakefile", "makefile", "Makefile"].map(|name| directory.join(name)).to_vec();
        let candidates = named.unwrap_or_else(usual);
        let mut makefile = Makefile::default();
        let mut path = candidates.last().cloned().unwrap_or_default();
        for candidate in candidates {
            if let Some(text) = text_of(&candidate)? {
                makefile.read(&text);
                path = candidate;
                break;
            }
        }
        let mut included = BTreeSet::new();
        while let Some(file) = makefile.includes.pop() {
            if included.insert(file.clone())
                && let Some(text) = text_of(&directory.join(&file))?
            {
                makefile.read(&text);
            }
        }
        let Some(first) = name.or_else(|| makefile.first()).map(str::to_owned) else {
            self.note(&path, "recipe".to_owned(), PartState::Missing);
            return Ok(Vec::new());
        };
        for (what, text) in makefile.manner() {
            self.note(&path, what, PartState::Text(text));
        }
        if makefile.is_generated() {
            self.whole(&path)?;
        }
        // If a file of that name exists, make has nothing to do.
        let file = directory.join(&first);
        if makefile.is_treated_as_file(&first) && file.exists() {
            self.note(&file, format!("in the place of target `{first}`"), PartState::Program);
        }
        let mut commands = Vec::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![first.clone()];
        while let Some(target) = waiting.pop() {
            if !seen.insert(target.clone()) {
                continue;
            }
            let Some((recipe, before)) = makefile.target(&target) else {
                if target == first {
                    self.note(&path, format!("recipe `{target}`"), PartState::Missing);
                }
                continue;
            };
            waiting.extend(before);
            for line in recipe.lines() {
                if let Some((variable, text)) = makefile.program(line) {
                    self.note(&path, format!("variable `{variable}`"), PartState::Text(text.to_owned()));
                }
                commands.push((directory.to_owned(), makefile.filled(plain_command(line))));
            }
            if !recipe.is_empty() || target == first {
                self.note(&path, format!("recipe `{target}`"), PartState::Text(recipe));
            }
        }
        Ok(commands)
    }

    pub(crate) fn just(
        &mut self,
        directory: &Path,
        file: Option<&Path>,
        name: Option<&str>,
        or_argument: bool,
    ) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let found = match file {
            Some(file) => text_of(&directory.join(file))?.map(|text| (directory.join(file), text)),
            None => self.above(directory, &["justfile", "Justfile", ".justfile"])?,
        };
        let mut justfile = Justfile::default();
        let (path, text) = found.unwrap_or_else(|| (directory.join("justfile"), String::new()));
        justfile.read(&text);
        let folder = path.parent().unwrap_or(directory).to_owned();
        let mut imported = BTreeSet::new();
        while let Some(file) = justfile.imports.pop() {
            if imported.insert(file.clone())
                && let Some(text) = text_of(&folder.join(&file))?
            {
                justfile.read(&text);
            }
        }
        if let Some(shell) = &justfile.shell {
            self.note(&path, "setting `shell`".to_owned(), PartState::Text(shell.clone()));
        }
        let first = name.or_else(|| justfile.first()).unwrap_or("default").to_owned();
        let mut commands = Vec::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![first.clone()];
        while let Some(recipe) = waiting.pop() {
            if !seen.insert(recipe.clone()) {
                continue;
            }
            match justfile.recipe(&recipe) {
                Some((body, before)) => {
                    waiting.extend(before.iter().cloned());
                    commands.extend(body.lines().map(|line| (folder.clone(), plain_command(line).to_owned())));
                    self.note(&path, format!("recipe `{recipe}`"), PartState::Text(body));
                }
                None if recipe == first && !or_argument => {
                    self.note(&path, format!("recipe `{recipe}`"), PartState::Missing);
                }
                None => {}
            }
        }
        Ok(commands)
    }

    pub(crate) fn task(&mut self, directory: &Path, name: &str) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let names = ["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"];
        let found = self.above(directory, &names)?;
        let (path, text) = found.unwrap_or_else(|| (directory.join(names[0]), String::new()));
        let folder = path.parent().unwrap_or(directory).to_owned();
        let mut commands = Vec::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![name.to_owned()];
        while let Some(task) = waiting.pop() {
            if !seen.insert(task.clone()) {
                continue;
            }
            match taskfile::task(&text, &task) {
                Some((block, calls)) => {
                    commands.extend(taskfile::commands(&block).map(|line| (folder.clone(), line.to_owned())));
                    waiting.extend(calls);
                    self.note(&path, format!("task `{task}`"), PartState::Text(block));
                }
                None if task == name => self.note(&path, format!("task `{task}`"), PartState::Missing),
                None => {}
            }
        }
        Ok(commands)
    }
}
