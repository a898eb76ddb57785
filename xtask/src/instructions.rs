//! Counts the instructions of one hook call. Unlike milliseconds, the count does not depend on other load. It is in the
//! repository, so that an increase is noticed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{build, root, run};
use crate::{Result, tool};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Compare,
    Keep,
}

/// The file of the counts: one line per profile, with its name and its count.
const KEPT: &str = "xtask/instructions.txt";

/// The difference that another C library or compiler may cause.
const TOLERANCE: f64 = 0.05;

/// `cargo xtask instructions`: counts for the release profile. `cargo xtask test` compares the test profile.
pub(crate) fn instructions(doing: Doing) -> Result<()> {
    if !tool::has("valgrind", "valgrind")? {
        return Ok(());
    }
    if doing == Doing::Compare {
        return compare("dist", &build("dist")?);
    }
    let mut counts = String::new();
    for profile in ["dev", "dist"] {
        let count = count(&build(profile)?)?;
        println!("kept {count} instructions for one PreToolUse of Edit ({profile})");
        counts += &format!("{profile} {count}\n");
    }
    fs::write(root().join(KEPT), counts)?;
    Ok(())
}

/// Fails if a hook call takes more instructions than the stored count of its profile.
pub(crate) fn compare(profile: &str, binary: &Path) -> Result<()> {
    let counts = fs::read_to_string(root().join(KEPT))?;
    let kept: u64 = counts
        .lines()
        .find_map(|line| line.strip_prefix(profile)?.strip_prefix(' '))
        .ok_or_else(|| format!("{KEPT} has no count for `{profile}`"))?
        .parse()?;
    let count = count(binary)?;
    let share = count as f64 / kept as f64 - 1.0;
    println!(
        "one PreToolUse of Edit takes {count} instructions ({profile}), {kept} are kept ({:+.1} %)",
        share * 100.0
    );
    if share > TOLERANCE {
        return Err("it grew; if that is right, `cargo xtask instructions --set` keeps the new count".into());
    }
    Ok(())
}

/// Returns valgrind's count for a call in the middle of a session: the lowest of three.
fn count(binary: &Path) -> Result<u64> {
    // Longer paths cost instructions, so the length is always the same.
    let folder = tempfile::Builder::new().prefix("steadfast-count-").rand_bytes(6).tempdir_in("/tmp")?;
    run(Command::new("git").args(["init", "--quiet"]).arg(folder.path()))?;
    fs::create_dir(folder.path().join(".git/steadfast"))?;
    for call in 0..12 {
        hook(&mut Command::new(binary), folder.path(), call)?;
    }
    let mut least = u64::MAX;
    for call in 12..15 {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary);
        let said = hook(&mut valgrind, folder.path(), call)?;
        let collected =
            said.lines().find_map(|line| line.split_once("Collected : ")).ok_or("valgrind counted nothing")?;
        least = least.min(collected.1.trim().parse()?);
    }
    Ok(least)
}

/// Calls the hook and returns its standard error.
fn hook(command: &mut Command, cwd: &Path, call: u32) -> Result<String> {
    let payload = serde_json::json!({
        "session_id": "4b7b445b-fd4d-46f8-bafa-bd91699a39bb",
        "cwd": cwd,
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Edit",
        "tool_use_id": format!("toolu_{call:04}"),
        "tool_input": {"file_path": cwd.join("src/lib.rs"), "old_string": "a".repeat(800), "new_string": "b".repeat(800)},
    });
    let mut child = command
        .args(["hook", "--host", "claude", "--via", "local", "PreToolUse"])
        .current_dir(cwd)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no pipe")?.write_all(payload.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
