//! All state is deleted while hooks run, and `init` starts again.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const LOOPS: u64 = 2;

pub(super) fn deleted(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work("s-1", 2)?;
    let done = AtomicBool::new(false);
    let events = thread::scope(|scope| {
        let hooks: Vec<_> = (0..LOOPS)
            .map(|own| {
                let done = &done;
                scope.spawn(move || hooks(scene, own, done).map_err(|error| error.to_string()))
            })
            .collect();
        let begun_anew = begin_anew(scene, rng).map_err(|error| error.to_string());
        done.store(true, Ordering::Relaxed);
        let mut events = 0;
        for hooks in hooks {
            events += hooks.join().map_err(|_| "a thread panicked")??;
        }
        begun_anew?;
        Ok::<u64, Box<dyn std::error::Error>>(events)
    })?;

    scene.run(&["status"])?.ok()?;
    scene.tool("s-1", "call-after")?.silent()?;
    scene.as_agent("s-1", &["task", "start", "1"])?.ok()?;
    scene.stop("s-1")?.refused()?;
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&scene.session("s-1"))?;
    inspect::drained(scene, &state)?;
    inspect::ledger(scene, &["Task 1".to_owned()])?;
    Ok(vec![("events meanwhile", events), ("events survived", state.sequence)])
}

fn begin_anew(scene: &Scene, rng: &mut SeededRng) -> Result<()> {
    thread::sleep(rng.micros(20_000));
    // A running hook may write a file into a folder while it is being emptied.
    for _ in 0..100 {
        if fs::remove_dir_all(scene.state()).is_ok() {
            break;
        }
    }
    thread::sleep(rng.micros(5_000));
    scene.init(1)?;
    thread::sleep(rng.micros(10_000));
    Ok(())
}

/// Sends events to hooks. None may fail, whatever state exists: the plan that refused a stop may be gone a moment
/// later.
fn hooks(scene: &Scene, own: u64, done: &AtomicBool) -> Result<u64> {
    let mut events = 0;
    while !done.load(Ordering::Relaxed) {
        scene.tool("s-1", &format!("call-{own}-{events}"))?.silent()?;
        let said = scene.stop("s-1")?;
        if said.code != Some(0) {
            return Err(format!("a hook failed: {}", said.told()).into());
        }
        events += 2;
    }
    Ok(events)
}
