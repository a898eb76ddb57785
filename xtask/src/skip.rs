//! What a machine lacks is installed by package name; where that cannot be, the check is skipped, loudly.

use std::process::{Command, Stdio};

use crate::Result;

/// Whether a program is there, after trying to install it. In CI a skip is a failure.
pub(crate) fn has(program: &str, packages: &[&str]) -> Result<bool> {
    if found(program) {
        return Ok(true);
    }
    eprintln!("`{program}` is not here; installing {}", packages.join(" "));
    let quiet = |arguments: &[&str]| {
        Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    // The lists of a fresh machine are empty.
    let _ = quiet(&["update", "-qq"]);
    let _ = quiet(&[&["install", "-qq", "--yes", "--no-install-recommends"], packages].concat());
    if found(program) {
        return Ok(true);
    }
    if std::env::var_os("CI").is_some() {
        return Err(format!("`{program}` is missing and cannot be installed: in CI nothing is skipped").into());
    }
    eprintln!("SKIPPED: `{program}` is missing and cannot be installed (package {})", packages.join(" "));
    Ok(false)
}

fn found(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
