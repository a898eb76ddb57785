//! The runs of a command line, in the form in which constraints compare them.

use steadfast_shell::{Argument, Context, Invocation, Reading, effects};

use super::package;

/// A command: the base name of its program, and its arguments.
pub(super) type Run = Vec<String>;

/// Returns all commands of a line, with those that other commands run.
pub(super) fn runs(reading: &Reading) -> Vec<Run> {
    let mut runs = Vec::new();
    for invocation in reading.runs() {
        let mut words = words(invocation);
        while !words.is_empty() {
            if let Some(program) = words.first_mut() {
                *program = unversioned(program).to_owned();
            }
            words = package::plain(words);
            let launched = launched(&words).map(<[String]>::to_vec).unwrap_or_default();
            runs.push(std::mem::replace(&mut words, launched));
        }
    }
    runs
}

/// Returns all commands of a text that is read by itself.
pub(super) fn runs_of(line: &str) -> Vec<Run> {
    runs(&effects(line, &Context::default()))
}

fn words(invocation: &Invocation) -> Run {
    let mut words: Run = invocation.argv.iter().map(text).map(str::to_owned).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default().to_owned();
    }
    words
}

/// An argument that is not fully known counts as its text, since uncertainty is no reason to refuse.
fn text(argument: &Argument) -> &str {
    match argument {
        Argument::Known(text) | Argument::Pattern(text) => text,
    }
}

/// Returns the command that a package launcher runs. For the effects of a line it is an unknown program.
fn launched(words: &[String]) -> Option<&[String]> {
    let (program, arguments) = words.split_first()?;
    let first = arguments.first().map(String::as_str);
    let skipped = match program.as_str() {
        "npx" | "bunx" | "pnpx" | "direnv" | "corepack" => 0,
        "npm" if matches!(first, Some("exec" | "x")) => 1,
        "bundle" | "poetry" | "pnpm" | "yarn" if matches!(first, Some("exec" | "dlx")) => 1,
        "poetry" | "uv" | "pipenv" | "hatch" | "pdm" if first == Some("run") => 1,
        name if name.starts_with("python") && first == Some("-m") => 1,
        _ => return None,
    };
    let rest = &arguments[skipped..];
    rest.iter().position(|word| !word.starts_with('-')).map(|at| &rest[at..])
}

/// `pnpm@9` is `pnpm`.
fn unversioned(program: &str) -> &str {
    program.split_once('@').map_or(program, |(name, _)| if name.is_empty() { program } else { name })
}

#[cfg(test)]
mod tests;
