//! The file system becomes read-only during a session, as after a disk error, and writable again.

use super::mount::Mount;
use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const SESSION: &str = "s-1";

pub(super) fn read_only(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let mount = Mount::tmpfs(&scene.state(), 4 << 10)?;
    scene.at_work(SESSION, 2)?;
    let refusals = rng.below(3);
    for _ in 0..refusals {
        scene.stop(SESSION)?.refused()?;
    }
    let files = scene.session(SESSION);
    let before = inspect::session(&files)?;
    // `inspect` removed the snapshot. It is created again so that the next event finds one.
    if rng.below(2) == 0 {
        scene.tool(SESSION, "call-before")?.silent()?;
    }
    let journal = std::fs::read(files.dir().join("journal"))?;

    mount.remount("ro")?;
    let mut events = 0;
    for n in 0..5 + rng.below(5) {
        scene.tool(SESSION, &format!("call-{n}"))?.silent()?;
        scene.stop(SESSION)?.silent()?;
        events += 2;
    }
    scene.run(&["status"])?.ok()?;
    scene.run(&["task", "list"])?.ok()?;
    for command in [["task", "add", "New"], ["task", "done", "1"]] {
        let said = scene.run(&command)?;
        if !said.fails()?.contains("read-only") {
            return Err(format!("the file system is read-only, and `{}` says: {}", command.join(" "), said.err).into());
        }
    }

    mount.remount("rw")?;
    if std::fs::read(files.dir().join("journal"))? != journal {
        return Err("a read-only journal changed".into());
    }
    scene.stop(SESSION)?.refused()?;
    scene.run(&["task", "add", "After"])?.ok()?;
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&files)?;
    if state.stop.refused != before.stop.refused + 1 {
        return Err(format!("{} refusals before, {} after one more", before.stop.refused, state.stop.refused).into());
    }
    inspect::no_refusal_is_off_the_account(&files, refusals + 1)?;
    inspect::ledger(scene, &["After".to_owned()])?;
    inspect::drained(scene, &state)?;
    drop(mount);
    Ok(vec![("events let through", events), ("refusals", refusals + 1)])
}
