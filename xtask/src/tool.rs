//! Additional programs that chores require, besides Rust and git. They are installed by package name.

use std::process::{Command, Stdio};

use crate::{Result, skip};

/// Returns true if the program is on this machine.
pub fn is_here(program: &str) -> bool {
    // Not all programs support `--version`. It is enough that the program starts.
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Installs a program if it is missing, from one or more packages, separated by blanks. The error has the reason.
pub fn provide(program: &str, package: &str) -> std::result::Result<(), String> {
    if is_here(program) {
        return Ok(());
    }
    eprintln!("`{program}` is missing; installing the package {package}");
    // A new machine has no package lists.
    let _ = apt(&["update", "-qq"]);
    let packages = package.split_whitespace();
    let _ =
        apt(&["install", "-qq", "--yes", "--no-install-recommends"].into_iter().chain(packages).collect::<Vec<_>>());
    if is_here(program) {
        return Ok(());
    }
    Err(format!("`{program}` is missing, and the package {package} cannot be installed"))
}

/// Returns true if a chore can use a program, after an attempt to install it. In CI a missing program is a failure.
pub fn has(program: &str, package: &str) -> Result<bool> {
    match provide(program, package) {
        Ok(()) => Ok(true),
        Err(why) if skip::is_ci() => Err(why.into()),
        Err(why) => {
            eprintln!("SKIPPED: {why}");
            Ok(false)
        }
    }
}

fn apt(arguments: &[&str]) -> bool {
    Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
