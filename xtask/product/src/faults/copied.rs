//! State is copied, work continues, and the old copy is restored: all of it, only the sessions, or only the ledger, and
//! also a copy from before the journal was rotated.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;
use std::process::Command;

use steadfast_store::ledger::Ledger;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;
use crate::process::run;

const SESSION: &str = "s-1";

/// The restored part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Back {
    All,
    Sessions,
    Ledger,
    LedgerOfBefore,
}

pub(super) fn copied(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let (state, copy) = (scene.state(), scene.path("copy"));
    scene.at_work(SESSION, 2)?;
    events(scene, "before", 1 + rng.below(10))?;
    if rng.below(2) == 0 {
        scene.run(&["status"])?.ok()?;
    }
    copy_all(&state, &copy)?;

    events(scene, "lost", 1 + rng.below(20))?;
    scene.run(&["task", "add", "Added later"])?.ok()?;
    if rng.below(2) == 0 {
        scene.run(&["status"])?.ok()?;
    }

    let back = [Back::All, Back::Sessions, Back::Ledger, Back::LedgerOfBefore][rng.below(4) as usize];
    match back {
        Back::All => put_back(&copy, &state)?,
        Back::Sessions => put_back(&copy.join("sessions"), &state.join("sessions"))?,
        Back::Ledger | Back::LedgerOfBefore => {
            if back == Back::LedgerOfBefore {
                begin_anew(scene)?;
            }
            for name in ["state.db", "state.db-wal", "state.db-shm"] {
                let _ = fs::remove_file(state.join(name));
                if copy.join(name).exists() {
                    fs::copy(copy.join(name), state.join(name))?;
                }
            }
        }
    }

    let files = scene.session(SESSION);
    let restored = inspect::session(&files)?;
    // Fewer or more lines than were lost: the ledger may have read further than the journal's new end.
    let more = 1 + rng.below(40);
    for n in 0..more {
        scene.tool(SESSION, &format!("after-{n}"))?.silent()?;
    }
    scene.run(&["status"])?.ok()?;
    scene.run(&["task", "list"])?.ok()?;
    scene.run(&["task", "add", "After the restore"])?.ok()?;
    let now = inspect::session(&files)?;
    if now.sequence != restored.sequence + more {
        return Err(
            format!("{more} events after {}, and the journal ends at {}", restored.sequence, now.sequence).into()
        );
    }
    inspect::ledger(scene, &["After the restore".to_owned()])?;
    scene.stop(SESSION)?.refused()?;
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&files)?;
    match back {
        Back::All | Back::Ledger => inspect::drained(scene, &state)?,
        Back::Sessions => catch_up(scene)?,
        // The ledger never read these lines, and they are gone. It logs that once and continues.
        Back::LedgerOfBefore => {
            let log = fs::read_to_string(scene.state().join("hook.log"))?;
            if log.matches("are not in this ledger").count() != 1 || log.contains("has a gap") {
                return Err(format!("a ledger that lacks lines does not report that exactly once: {log}").into());
            }
            inspect::drained(scene, &state)?;
        }
    }
    let name = match back {
        Back::All => "whole",
        Back::Sessions => "sessions alone",
        Back::Ledger => "ledger alone",
        Back::LedgerOfBefore => "ledger of before a rotation",
    };
    Ok(vec![("events after it", more), (name, 1)])
}

/// A restored journal is behind its ledger. The ledger continues once the journal has passed that point.
fn catch_up(scene: &Scene) -> Result<()> {
    let files = scene.session(SESSION);
    for n in 0..60 {
        scene.tool(SESSION, &format!("catch-up-{n}"))?.silent()?;
        scene.run(&["status"])?.ok()?;
        let ledger = Ledger::open_read_only(&scene.state())?.ok_or("the ledger is gone")?;
        let drained = ledger.drained(files.session())?.ok_or("nothing was drained")?.sequence;
        let journalled = inspect::session(&files)?.sequence;
        match drained.cmp(&journalled) {
            Ordering::Equal if n > 0 => return Ok(()),
            Ordering::Equal | Ordering::Greater => {}
            Ordering::Less => {
                return Err(format!("line {journalled} is not in the ledger, which ends at {drained}").into());
            }
        }
    }
    Err("60 events did not take the journal past its ledger".into())
}

/// Sends long prompts until the journal exceeds the size at which a command rotates it.
fn begin_anew(scene: &Scene) -> Result<()> {
    let files = scene.session(SESSION);
    let text = "on and on ".repeat(3_000);
    while files.journal_bytes() <= 1 << 20 {
        scene.prompt(SESSION, &text)?.passes()?;
    }
    scene.run(&["status"])?.ok()?;
    if files.journal_bytes() > 1 << 20 {
        return Err("a long journal was not rotated".into());
    }
    Ok(())
}

fn events(scene: &Scene, name: &str, count: u64) -> Result<()> {
    for n in 0..count {
        scene.tool(SESSION, &format!("{name}-{n}"))?.silent()?;
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    run(Command::new("cp").arg("-a").arg(from).arg(to))
}

fn put_back(from: &Path, to: &Path) -> Result<()> {
    fs::remove_dir_all(to)?;
    copy_all(from, to)
}
