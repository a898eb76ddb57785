//! A hundred sessions of garbage beside a healthy one, and garbage in all other files that Steadfast reads.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const SESSION: &str = "s-1";
const SESSIONS: u64 = 100;
const MEASURED: u64 = 15;

/// Below this time, only the load of the machine is measured.
const FLOOR: Duration = Duration::from_millis(4);

pub(super) fn garbage(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work(SESSION, 2)?;
    let state = scene.state();
    let clean = median(scene, "clean")?;
    for n in 0..SESSIONS {
        let name = match rng.below(3) {
            0 => format!("{n}-{}", "x".repeat(240)),
            1 => format!("{n} \u{202e}\n\u{1f9ea}"),
            _ => format!("{n:08x}-0000-4000-8000-000000000000"),
        };
        session(&state.join("sessions").join(name), rng)?;
    }
    for folder in ["claims", "plans"] {
        fs::create_dir_all(state.join(folder))?;
        for n in 0..20 {
            let ending = ["", ".slice", ".new", ".json"][rng.below(4) as usize];
            rubbish(&state.join(folder).join(format!("garbage-{n}{ending}")), rng)?;
        }
    }

    // Three attempts, because other load can disturb one.
    let mut beside = median(scene, "beside-0")?;
    for again in 1..3 {
        if beside <= clean.max(FLOOR) * 2 {
            break;
        }
        beside = beside.min(median(scene, &format!("beside-{again}"))?);
    }
    if beside > clean.max(FLOOR) * 2 {
        return Err(format!("a hook took {clean:?}, beside {SESSIONS} sessions of garbage {beside:?}").into());
    }
    scene.start_hook("SessionStart", SESSION, serde_json::json!({"source": "resume"}))?.end()?.passes()?;
    scene.stop(SESSION)?.refused()?;
    scene.run(&["status"])?.ok()?;
    scene.run(&["task", "add", "Beside garbage"])?.ok()?;
    scene.as_agent(SESSION, &["task", "done", "1"])?.ok()?;

    // A hook whose own session is garbage answers nothing or recovers. It does not block its host.
    for folder in fs::read_dir(state.join("sessions"))?.flatten().take(10) {
        let name = folder.file_name().to_string_lossy().into_owned();
        if name != SESSION {
            scene.tool(&name, "call-1")?.silent()?;
            scene.stop(&name)?.silent()?;
        }
    }

    // With an unreadable marker, an unreadable tool call is refused. Other events pass.
    fs::create_dir_all(state.join("gates"))?;
    rubbish(&state.join("gates/garbage"), rng)?;
    let unread = |event: &str| {
        let mut hook = scene.open_hook(event)?;
        hook.feed(b"?");
        hook.end()
    };
    let said = unread("PreToolUse")?;
    if said.code != Some(0) || !said.denies() {
        return Err(format!("a gate with a garbage marker is open: {}", said.told()).into());
    }
    unread("PostToolUse")?.silent()?;
    unread("Stop")?.silent()?;
    let _ = fs::remove_dir_all(state.join("gates"));
    unread("PreToolUse")?.silent()?;

    scene.run(&["status"])?.ok()?;
    let healthy = inspect::session(&scene.session(SESSION))?;
    inspect::drained(scene, &healthy)?;
    inspect::ledger(scene, &["Beside garbage".to_owned()])?;
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    Ok(vec![("sessions of garbage", SESSIONS), ("µs of medians without", micros(clean)), ("µs with", micros(beside))])
}

fn median(scene: &Scene, name: &str) -> Result<Duration> {
    let mut took = Vec::new();
    for n in 0..MEASURED {
        let said = scene.tool(SESSION, &format!("{name}-{n}"))?;
        said.silent()?;
        took.push(said.took);
    }
    took.sort();
    Ok(took[took.len() / 2])
}

fn session(dir: &Path, rng: &mut SeededRng) -> io::Result<()> {
    if rng.below(10) == 0 {
        return rubbish(dir, rng);
    }
    fs::create_dir_all(dir)?;
    for name in ["state", "journal", "lock", "late", "state.new", "journal.damaged"] {
        if rng.below(4) > 0 {
            rubbish(&dir.join(name), rng)?;
        }
    }
    Ok(())
}

/// Writes random bytes, almost a line, nothing, a folder, or a dangling link.
fn rubbish(path: &Path, rng: &mut SeededRng) -> io::Result<()> {
    match rng.below(6) {
        0 => fs::write(path, ""),
        1 => fs::create_dir(path),
        2 => symlink("/nowhere/at/all", path),
        3 => fs::write(path, "ffffffff ffffffffffffffff ffffffff {\"record\":{}}\n"),
        4 => fs::write(path, "{\"journal_offset\":18446744073709551615,\"state\":{\"version\":1}}"),
        _ => {
            let length = rng.below(20_000);
            fs::write(path, rng.bytes(length))
        }
    }
}
