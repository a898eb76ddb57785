//! The program that the hosts start.

use std::fs;
use std::path::{Path, PathBuf};

use crate::doctor::Diagnostic;
use crate::doctor::Installation;
use crate::doctor::program;
use crate::doctor::program::Version;

pub(super) fn binary_moved(here: &Installation) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for wired in here.wired() {
        let mut started = wired.started().into_iter();
        if let Some((program, what)) = started.find_map(|program| wrong(here, &program).map(|what| (program, what))) {
            findings.push(Diagnostic::error(
                "binary-moved",
                format!("`{program}`, which `{}` starts, {what}", wired.file.path.display()),
                "`steadfast init` writes its current path; or put the program back where it was",
            ));
        }
    }
    findings
}

/// The reason why a host cannot start the program, or `None` if it can.
fn wrong(here: &Installation, program: &str) -> Option<String> {
    let Some(path) = here.resolve(program) else { return Some("is not on the PATH".to_owned()) };
    match (path.exists(), fs::read_link(&path)) {
        (false, Ok(target)) => Some(format!("leads to `{}`, which does not exist", target.display())),
        (false, Err(_)) => Some("does not exist".to_owned()),
        (true, _) if !is_executable(&path) => Some("cannot be executed".to_owned()),
        (true, _) => None,
    }
}

pub(super) fn binary_other(here: &Installation) -> Vec<Diagnostic> {
    let Ok(this) = std::env::current_exe() else { return Vec::new() };
    let mut programs: Vec<PathBuf> = here.wired().iter().filter_map(|wired| here.resolve(wired.program)).collect();
    programs.sort();
    programs.dedup();
    programs.retain(|program| program.is_file() && is_executable(program) && !is_same_file(program, &this));
    programs.iter().filter_map(|program| other(program, &this)).collect()
}

fn other(program: &Path, this: &Path) -> Option<Diagnostic> {
    let own = env!("CARGO_PKG_VERSION");
    let hint = format!("`{} init` wires this program instead", this.display());
    match program::version(program) {
        Some(version) if Some(version) == Version::find(own) => Some(Diagnostic::note(
            "binary-other",
            format!(
                "the hosts start `{}`, but this is `{}`; both are version {own}",
                program.display(),
                this.display()
            ),
            hint,
        )),
        Some(version) => Some(Diagnostic::warning(
            "binary-other",
            format!(
                "the hosts start `{}`, version {version}, but this is `{}`, version {own}",
                program.display(),
                this.display()
            ),
            hint,
        )),
        None => Some(Diagnostic::warning(
            "binary-other",
            format!(
                "the hosts start `{}`, which printed no version within {} s; this is `{}`, version {own}",
                program.display(),
                program::PATIENCE.as_secs(),
                this.display()
            ),
            hint,
        )),
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
