//! The binary is replaced while hooks run.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const UPGRADES: u64 = 6;
const LOOPS: u64 = 2;
/// The least number of events in each loop, however fast the upgrades are.
const EVENTS: u64 = 15;

pub(super) fn upgrade(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work("s-1", 2)?;
    let before = inspect::session(&scene.session("s-1"))?.tool_calls;
    // Written before any process starts: a thread cannot start a binary that another one has open for writing.
    for n in 0..UPGRADES {
        let next = scene.path(&format!("bin/next-{n}"));
        fs::copy(scene.binary(), &next)?;
        fs::File::options().append(true).open(next)?.write_all(&rng.bytes(64))?;
    }
    let done = AtomicBool::new(false);
    let events = thread::scope(|scope| {
        let hooks: Vec<_> = (0..LOOPS)
            .map(|own| {
                let done = &done;
                scope.spawn(move || hooks(scene, own, done).map_err(|error| error.to_string()))
            })
            .collect();
        let replaced = (0..UPGRADES).try_for_each(|n| {
            thread::sleep(rng.micros(20_000));
            fs::rename(scene.path(&format!("bin/next-{n}")), scene.binary())
        });
        done.store(true, Ordering::Relaxed);
        let mut events = 0;
        for hooks in hooks {
            events += hooks.join().map_err(|_| "a thread panicked")??;
        }
        replaced?;
        Ok::<u64, Box<dyn std::error::Error>>(events)
    })?;
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&scene.session("s-1"))?;
    if state.tool_calls != before + events {
        return Err(format!("{events} calls were made, {} are in the journal", state.tool_calls - before).into());
    }
    inspect::drained(scene, &state)?;
    scene.stop("s-1")?.refused()?;
    Ok(vec![("upgrades", UPGRADES), ("events survived", events)])
}

fn hooks(scene: &Scene, own: u64, done: &AtomicBool) -> Result<u64> {
    let mut events = 0;
    while events < EVENTS || !done.load(Ordering::Relaxed) {
        scene.tool("s-1", &format!("call-{own}-{events}"))?.silent()?;
        events += 1;
    }
    Ok(events)
}
