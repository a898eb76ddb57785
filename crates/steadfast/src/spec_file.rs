//! A spec on disk.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use steadfast_plan::{Compiled, MAX_BYTES, Options, render};

use crate::error::CommandError;
use crate::repository::Repository;

/// The text of a spec; `-` is standard input.
pub(crate) fn read(file: &Path) -> Result<String, CommandError> {
    let failed = |why: &dyn std::fmt::Display| {
        CommandError::failure(format!("cannot read `{}`: {why}", file.display()))
            .hint("a spec is a file of Markdown or JSON in UTF-8; `-` is standard input")
    };
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    if file == Path::new("-") {
        stdin().take(limit).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    } else {
        // A pipe or a folder is no spec, and a device never ends.
        let is_file = file.metadata().map_err(|error| failed(&error))?.is_file();
        if !is_file {
            return Err(failed(&"it is no file"));
        }
        let opened = File::open(file).map_err(|error| failed(&error))?;
        opened.take(limit).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    }
    if bytes.len() > MAX_BYTES {
        return Err(failed(&format!("it is longer than {} MB, split it", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| failed(&format!("it is no UTF-8 text: {}", error.utf8_error())))
}

/// What a plan calls its spec: from the root of the checkout, so that one file is one plan from wherever it is named.
pub(crate) fn source(file: &Path, root: &Path) -> String {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    real.strip_prefix(root).unwrap_or(&real).to_string_lossy().into_owned()
}

/// What the configuration says of expansion; outside of a repository that is set up, the default.
pub(crate) fn options() -> Result<Options, CommandError> {
    match Repository::here() {
        Ok(repository) => Ok(Options { ui_skills: repository.config.load()?.ledger_ui_skills.value }),
        Err(_) => Ok(Options::default()),
    }
}

/// Its plan; a spec with errors is refused with all of them.
pub(crate) fn compile(file: &Path) -> Result<Compiled, CommandError> {
    compile_text(&read(file)?, file)
}

pub(crate) fn compile_text(text: &str, file: &Path) -> Result<Compiled, CommandError> {
    let name = file.to_string_lossy();
    steadfast_plan::compile(text, &name, &options()?).map_err(|report| {
        let problems = render(&report.problems, text, &name);
        CommandError::failure(format!("`{name}` does not compile\n{}", problems.trim_end()))
            .hint("each says above what to do")
    })
}
