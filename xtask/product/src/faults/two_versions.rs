//! Two builds use one state at once: an older one beside this one, then this one beside a newer one. All of them let
//! the host work, and no event and no task is lost. A build that cannot read the other's data reports that and leaves
//! the data alone.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::Value;

use super::rng::SeededRng;
use super::scene::{Said, Scene};
use super::versions::versions;
use super::{Figures, inspect};
use crate::Result;

const EVENTS: u64 = 12;
const TASKS: u64 = 4;

/// The work of one version.
#[derive(Default)]
struct Done {
    /// The titles of tasks that a command reported as added.
    tasks: Vec<String>,
    refused: u64,
}

pub(super) fn two_versions(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let versions = versions()?;
    let newer = scene.beside("newer", &versions.newer)?;
    let mut done = Done::default();
    let mut events = 0;
    match &versions.older {
        Some(older) => {
            let older = scene.beside("older", older)?;
            older.at_work("s-1", 2)?;
            done.add(at_once(&older, scene, ["s-1", "s-1"], rng)?);
            events += 2 * EVENTS;
            of_older(&older, scene, 2 * EVENTS, &done)?;
        }
        None => scene.at_work("s-1", 2)?,
    }
    newer.prompt("s-2", "look around")?.passes()?;
    done.add(at_once(scene, &newer, ["s-1", "s-2"], rng)?);
    of_newer(scene, &newer, events + EVENTS, &done)?;
    Ok(vec![
        ("events of two versions", events + 2 * EVENTS),
        ("tasks", done.tasks.len() as u64),
        ("commands that want an update", done.refused),
    ])
}

/// Both versions send events of their session and add tasks, each at its own pace.
fn at_once(one: &Scene, other: &Scene, sessions: [&str; 2], rng: &mut SeededRng) -> Result<Done> {
    let works = |scene: &Scene, session: &str, mut rng: SeededRng| -> Result<Done> {
        let version = version_of(scene);
        let mut done = Done::default();
        for n in 0..EVENTS {
            thread::sleep(rng.micros(3_000));
            scene.tool(session, &format!("{version}-{:x}", rng.number()))?.silent()?;
            if n % (EVENTS / TASKS) == 0 {
                let title = format!("{version} {:x}", rng.number());
                done.took(scene.run(&["task", "add", &title])?, title)?;
            }
        }
        Ok(done)
    };
    let lucks = [rng.fork(), rng.fork()];
    thread::scope(|scope| {
        let works = &works;
        let pairs = [one, other].into_iter().zip(sessions).zip(lucks);
        let threads: Vec<_> = pairs
            .map(|((scene, session), rng)| {
                scope.spawn(move || works(scene, session, rng).map_err(|error| error.to_string()))
            })
            .collect();
        let mut done = Done::default();
        for thread in threads {
            done.add(thread.join().map_err(|_| "a thread panicked")??);
        }
        Ok(done)
    })
}

impl Done {
    fn add(&mut self, other: Self) {
        self.tasks.extend(other.tasks);
        self.refused += other.refused;
    }

    /// Records an added task, or accepts the message that another version is needed for it.
    fn took(&mut self, said: Said, title: String) -> Result<()> {
        match said.code {
            Some(0) => self.tasks.push(title),
            _ if said.fails()?.contains("update steadfast") => self.refused += 1,
            _ => return Err(format!("a task was not added beside another version: {}", said.told()).into()),
        }
        Ok(())
    }
}

/// The version's folder has its name.
fn version_of(scene: &Scene) -> String {
    let binary = scene.binary();
    let folder = binary.parent().and_then(Path::file_name).unwrap_or_default();
    folder.to_string_lossy().replace("bin", "this")
}

/// Checks that this version can read the older one's setup and all data, and that the older one still lets its host
/// work.
fn of_older(older: &Scene, scene: &Scene, events: u64, done: &Done) -> Result<()> {
    scene.run(&["status"])?.ok()?;
    let state = inspect::session_of_two(&scene.session("s-1"))?;
    if state.tool_calls != events {
        return Err(format!("two versions made {events} calls, {} are in the journal", state.tool_calls).into());
    }
    inspect::drained(scene, &state)?;
    inspect::ledger(scene, &done.tasks)?;
    scene.stop("s-1")?.refused()?;
    let said = older.stop("s-1")?;
    if said.code != Some(0) {
        return Err(format!("this version blocks the host of an older one: {}", said.told()).into());
    }
    behind_a_gate(older, scene)
}

/// Checks that an older version without gates denies every call behind a closed gate.
fn behind_a_gate(older: &Scene, scene: &Scene) -> Result<()> {
    scene.as_agent("s-1", &["plan", "lock"])?.ok()?;
    let said = older.tool("s-1", "behind-a-gate")?;
    if !said.denies() {
        return Err(format!("behind a closed gate an older version lets through: {}", said.told()).into());
    }
    scene.run(&["plan", "unlock"])?.ok()?;
    Ok(())
}

/// Checks that the newer version can read this one's data. The ledger and the session now have the newer format.
fn of_newer(scene: &Scene, newer: &Scene, events: u64, done: &Done) -> Result<()> {
    for command in [&["status"][..], &["task", "list"], &["task", "done", "1"]] {
        let said = scene.run(command)?;
        if !said.fails()?.contains("update steadfast") {
            return Err(format!("`{}` does not say what to do: {}", command.join(" "), said.err).into());
        }
    }
    let files = scene.session("s-2");
    let both = || ["journal", "state"].map(|name| fs::read(files.dir().join(name)).ok());
    let before = both();
    scene.tool("s-2", "stranger")?.silent()?;
    scene.stop("s-2")?.silent()?;
    if both() != before {
        return Err("the files of a newer version's session were written".into());
    }
    // From the slice that the newer version wrote.
    scene.stop("s-1")?.refused()?;
    let state = inspect::session(&scene.session("s-1"))?;
    let told: Value = serde_json::from_str(newer.run(&["status", "--json"])?.ok()?)?;
    let calls = |session: &str| {
        let sessions = told["sessions"].as_array().into_iter().flatten();
        sessions.filter(|row| row["id"] == session).find_map(|row| row["tool_calls"].as_u64())
    };
    let found = (state.tool_calls, calls("s-1"), calls("s-2"));
    if found != (events, Some(events), Some(EVENTS)) {
        return Err(format!("{events} and {EVENTS} calls were made, found are {found:?}").into());
    }
    let listed: Value = serde_json::from_str(newer.run(&["task", "list", "--json"])?.ok()?)?;
    let titles: Vec<_> =
        listed["tasks"].as_array().into_iter().flatten().filter_map(|task| task["title"].as_str()).collect();
    match done.tasks.iter().find(|title| titles.iter().filter(|found| *found == title).count() != 1) {
        Some(lost) => Err(format!("task `{lost}` was acknowledged and is not once in {titles:?}").into()),
        None => Ok(()),
    }
}
