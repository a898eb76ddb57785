//! Specs on disk: reads and compiles them.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use steadfast_hook::spec_change;
use steadfast_hosts::install::Homes;
use steadfast_hosts::is_skill_installed;
use steadfast_model::Host;
use steadfast_plan::{CompileOptions, Compiled, MAX_BYTES, render};
use steadfast_redact::{contains_secret, redact};
use steadfast_store::ledger::PlanRow;
use steadfast_store::without_marker;

use crate::Environment;
use crate::error::{Cause, WorkError};
use crate::repository::Repository;

/// The reason why a file gives no plan.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    #[error("cannot read `{file}`: {why}")]
    Unreadable { file: String, why: String },
    /// `problems` are the rendered problems, several lines each.
    #[error("`{file}` does not compile\n{problems}")]
    Broken { file: String, problems: String },
}

impl SpecError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::Unreadable { .. } => Cause::NotFound,
            Self::Broken { .. } => Cause::State,
        }
    }
}

/// The text of a spec; `-` is standard input.
pub fn read(file: &Path) -> Result<String, SpecError> {
    let failed =
        |why: &dyn std::fmt::Display| SpecError::Unreadable { file: file.display().to_string(), why: why.to_string() };
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    if file == Path::new("-") {
        stdin().take(limit).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    } else {
        // A pipe or a folder is not a spec, and a device never ends.
        let is_file = file.metadata().map_err(|error| failed(&error))?.is_file();
        if !is_file {
            return Err(failed(&"it is not a file"));
        }
        let opened = File::open(file).map_err(|error| failed(&error))?;
        opened.take(limit).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    }
    if bytes.len() > MAX_BYTES {
        return Err(failed(&format!("it is longer than {} MB; split it", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| failed(&format!("it is not UTF-8 text: {}", error.utf8_error())))
}

/// The name of a spec in its plan: relative to the root of the checkout, so that a file has one plan from any folder.
pub fn source(file: &Path, root: &Path) -> String {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    real.strip_prefix(root).unwrap_or(&real).to_string_lossy().into_owned()
}

/// The change of a plan's spec since it was loaded, with the next step. `None` if it did not change, or if that is
/// unknown.
pub fn changed(root: &Path, plan: &PlanRow) -> Option<String> {
    spec_change(root, plan).map(|change| change.describe(plan.source.as_deref().unwrap_or_default(), &plan.id))
}

/// The compile options from the configuration, or the defaults outside a repository that is set up.
pub fn options(environment: &Environment) -> Result<CompileOptions, WorkError> {
    match Repository::find(environment.clone()) {
        Ok(repository) => {
            let skills = repository.config.load()?.ledger.ui_skills.value;
            Ok(with_skills(skills, &repository.place.root, environment.homes.as_ref()))
        }
        Err(_) => Ok(with_skills(CompileOptions::default().ui_skills, &environment.cwd, environment.homes.as_ref())),
    }
}

/// Leaves out skills that no host has here, because a task that requires them could never be closed.
pub(crate) fn with_skills(names: Vec<String>, root: &Path, homes: Option<&Homes>) -> CompileOptions {
    let is_installed = |name: &String| {
        let has = |host| homes.is_some_and(|homes| is_skill_installed(host, name, root, homes));
        Host::ALL.into_iter().any(has)
    };
    let (ui_skills, missing_skills) = names.into_iter().partition(is_installed);
    CompileOptions { ui_skills, missing_skills, holds_secret: contains_secret }
}

/// Compiles a spec. The error has all its problems.
pub fn compile(environment: &Environment, file: &Path) -> Result<Compiled, WorkError> {
    compile_text(environment, &read(file)?, file)
}

pub fn compile_text(environment: &Environment, text: &str, file: &Path) -> Result<Compiled, WorkError> {
    compile_as(environment, text, file, file)
}

/// Compiles a text as if it were in `target`, whose name replaces a missing title. Ignores the line with the time of
/// approval.
pub fn compile_as(environment: &Environment, text: &str, file: &Path, target: &Path) -> Result<Compiled, WorkError> {
    let name = file.to_string_lossy();
    let text = &authored(text);
    steadfast_plan::compile(text, &known_as(environment, target), &options(environment)?).map_err(|report| {
        let problems = render(&report.problems, text, &name, redact).trim_end().to_owned();
        SpecError::Broken { file: name.into_owned(), problems }.into()
    })
}

/// The path of a file from the root of the checkout, as a draft names it; its folders may tell the format.
pub fn known_as(environment: &Environment, file: &Path) -> String {
    match Repository::find(environment.clone()) {
        Ok(repository) => source(file, &repository.place.root),
        Err(_) => file.to_string_lossy().into_owned(),
    }
}

/// The text without the marker of its approval. Line numbers stay the same.
fn authored(text: &str) -> String {
    let bare = without_marker(text);
    let mut kept = bare.split_inclusive('\n').peekable();
    let mut lines = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match kept.next_if_eq(&line) {
            Some(line) => lines.push_str(line),
            None => lines.push('\n'),
        }
    }
    // Inside a line of JSON, the removed marker leaves no empty line.
    if kept.peek().is_none() { lines } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_an_approval_moves_no_line() {
        let marked = "# F\n**Approved:** 2026-01-01T00:00:00Z\n\n## Phase 1\n";
        assert_eq!(authored(marked), "# F\n\n\n## Phase 1\n");
        for plain in ["# F\n\ntext", "", "{\"feature\": \"F\"}"] {
            assert_eq!(authored(plain), plain);
        }
        let json = "{\n  \"approved\": \"2026-01-01T00:00:00Z\",\n  \"feature\": \"F\"\n}\n";
        assert!(
            !authored(json).contains("approved") && authored(json).contains("\"feature\": \"F\""),
            "{}",
            authored(json)
        );
    }
}
