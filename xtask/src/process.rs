//! Running other programs with visible output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Runs a command to its end and fails with its name.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{command:?} failed: {status}").into());
    }
    Ok(())
}

pub fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Builds the binary in a profile and returns its path.
pub fn build(profile: &str) -> Result<PathBuf> {
    run(&mut cargo(["build", "--quiet", "--package", "steadfast", "--profile", profile]))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target().join(triple()?).join(folder).join("steadfast"))
}

/// Returns cargo's target folder.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns the target's name. Cargo adds a folder of this name, because the workspace names its target.
pub fn triple() -> Result<String> {
    let said = String::from_utf8(Command::new("rustc").arg("-vV").output()?.stdout)?;
    let triple = said.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
    Ok(triple.to_owned())
}

/// Ends a leftover process of a test.
pub fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
}

/// Ends a process and its group.
pub fn kill_group(leader: u32) {
    let _ = Command::new("kill").args(["-9", "--", &format!("-{leader}")]).status();
}
