//! `kill -9` at any instant, of hooks and commands that run in parallel.

use std::thread;

use serde_json::json;

use super::rng::SeededRng;
use super::scene::{Running, Said, Scene};
use super::{Figures, inspect};
use crate::Result;

const SESSION: &str = "s-1";
const BATCHES: u64 = 10;
const AT_ONCE: u64 = 6;

/// The work of a process whose answer counts.
enum Doing {
    Stop,
    Add(String),
    Other,
}

pub(super) fn kills(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work(SESSION, 3)?;
    let (mut kills, mut given, mut acknowledged) = (0, 0, Vec::new());
    for batch in 0..BATCHES {
        let ends = thread::scope(|scope| {
            let running: Vec<_> = (0..AT_ONCE)
                .map(|n| {
                    let mut own = rng.fork();
                    scope
                        .spawn(move || one(scene, &mut own, &format!("{batch}-{n}")).map_err(|error| error.to_string()))
                })
                .collect();
            running.into_iter().map(|one| one.join().unwrap_or_else(|_| Err("a thread panicked".to_owned()))).collect()
        });
        let ends: Vec<std::result::Result<(Doing, Said), String>> = ends;
        for end in ends {
            let (doing, said) = end?;
            kills += u64::from(said.code.is_none());
            match doing {
                Doing::Stop => given += u64::from(said.refuses_stop()),
                Doing::Add(title) if said.code == Some(0) => acknowledged.push(title),
                Doing::Add(_) | Doing::Other => {}
            }
        }
    }
    scene.run(&["status"])?.ok()?;
    let files = scene.session(SESSION);
    let state = inspect::session(&files)?;
    inspect::no_refusal_is_off_the_account(&files, given)?;
    inspect::ledger(scene, &acknowledged)?;
    inspect::drained(scene, &state)?;
    Ok(vec![
        ("kills", kills),
        ("events survived", state.sequence),
        ("refusals given", given),
        ("refusals on the account", inspect::refusals_on_the_account(&files)?),
        ("tasks acknowledged", acknowledged.len() as u64),
    ])
}

/// Runs one process from start to end. A quarter of them is not killed.
fn one(scene: &Scene, rng: &mut SeededRng, name: &str) -> Result<(Doing, Said)> {
    let (doing, mut process) = start(scene, rng, name)?;
    if rng.below(4) > 0 {
        // From before the first instruction to after the last one. A command takes longer than a hook.
        let longest = if rng.below(2) == 0 { 3_000 } else { 10_000 };
        thread::sleep(rng.micros(longest));
        process.kill();
    }
    Ok((doing, process.end()?))
}

fn start(scene: &Scene, rng: &mut SeededRng, name: &str) -> Result<(Doing, Running)> {
    let call = format!("call-{name}");
    Ok(match rng.below(10) {
        0 | 1 => (Doing::Other, scene.start_tool("PreToolUse", SESSION, &call)?),
        2 => (Doing::Other, scene.start_tool("PostToolUse", SESSION, &call)?),
        3 | 4 => (Doing::Stop, scene.start_stop(SESSION)?),
        5 => (Doing::Other, scene.start_hook("UserPromptSubmit", SESSION, json!({"prompt": "go on with the tasks"}))?),
        6 => {
            let title = format!("Added {name}");
            let process = scene.start(None, &["task", "add", &title])?;
            (Doing::Add(title), process)
        }
        7 => (Doing::Other, scene.start(Some(SESSION), &["task", "done", "2"])?),
        8 => (Doing::Other, scene.start_hook("SessionStart", SESSION, json!({"source": "resume"}))?),
        _ => (Doing::Other, scene.start(None, &["status"])?),
    })
}
