//! No space left, except for zero to a few pages. It depends on the remaining space which process fails.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::mount::Mount;
use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const SESSION: &str = "s-1";

/// The size of the ledger, with a margin.
const KIB: u32 = 768;

/// Enough events to pass the end of a page.
const EVENTS: u64 = 15;

const PAGE: u64 = 4 << 10;

pub(super) fn full_disk(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let mount = Mount::tmpfs(&scene.state(), KIB)?;
    scene.at_work(SESSION, 2)?;
    scene.tool(SESSION, "call-before")?.silent()?;
    let files = scene.session(SESSION);
    let before = inspect::session(&files)?;

    let ballast = scene.state().join("ballast");
    fill(&ballast, rng.below(30) * PAGE)?;
    let (mut given, mut failed, mut acknowledged) = (0, 0, Vec::new());
    let mut sent = 0;
    for n in 0..60 {
        sent += 1;
        scene.tool(SESSION, &format!("call-{n}"))?.silent()?;
        if n % 5 == rng.below(5) {
            let said = scene.stop(SESSION)?;
            sent += 1;
            given += u64::from(said.refuses_stop());
            if said.code != Some(0) || said.denies() {
                return Err(format!("a full disk blocks the host: {}", said.told()).into());
            }
        }
        let title = format!("Task {n}: {}", "long ".repeat(90));
        let said = scene.run(&["task", "add", &title])?;
        if said.code == Some(0) {
            acknowledged.push(title.trim().to_owned());
        } else {
            failed += 1;
            names_the_cause(said.fails()?)?;
        }
        if failed > 3 && n > EVENTS {
            break;
        }
    }
    if failed == 0 {
        return Err("60 long tasks went onto a full disk".into());
    }
    let said = scene.run(&["status"])?;
    if said.code != Some(0) {
        names_the_cause(said.fails()?)?;
    }

    fs::remove_file(&ballast)?;
    let events = inspect::session(&files)?;
    if events.stop.refused < before.stop.refused {
        return Err("the full disk gave refusals back".into());
    }
    scene.tool(SESSION, "call-after")?.silent()?;
    scene.stop(SESSION)?.refused()?;
    scene.run(&["task", "add", "after"])?.ok()?;
    acknowledged.push("after".to_owned());
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&files)?;
    if state.sequence != events.sequence + 2 {
        return Err(
            format!("two events after the full disk, but {} came after {}", state.sequence, events.sequence).into()
        );
    }
    inspect::no_refusal_is_off_the_account(&files, given + 1)?;
    inspect::ledger(scene, &acknowledged)?;
    inspect::drained(scene, &state)?;
    drop(mount);
    Ok(vec![
        ("events sent while full", sent),
        ("of them kept", events.sequence - before.sequence),
        ("refusals while full", given),
        ("tasks acknowledged", acknowledged.len() as u64),
        ("commands failed", failed),
    ])
}

/// Fills the disk except for about `left` bytes.
fn fill(path: &Path, left: u64) -> Result<()> {
    let mut file = File::create(path)?;
    let page = vec![0; PAGE as usize];
    loop {
        match file.write_all(&page) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => break,
            Err(error) => return Err(error.into()),
        }
    }
    let length = file.metadata()?.len();
    Ok(file.set_len(length.saturating_sub(left))?)
}

fn names_the_cause(said: &str) -> Result<()> {
    let said = said.to_lowercase();
    if said.contains("disk is full") || said.contains("no space left") {
        return Ok(());
    }
    Err(format!("the disk is full, and a command says: {said}").into())
}
