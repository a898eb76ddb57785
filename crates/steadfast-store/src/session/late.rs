//! Events that found the session locked for too long. They were answered without its state; they are not lost.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use steadfast_model::Event;

use super::SessionFiles;
use steadfast_redact::redact_json;
use steadfast_system::{Access, create_private_dir, replace};

/// How many events this process left: with its id and the time, a name of its own for each.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Where they wait, in the folder of their session.
pub(super) const FOLDER: &str = "late";

/// More than a session can miss while one process holds its lock; what holds it longer hangs.
const BOUND: usize = 1_000;

/// An event that waits for its place in the journal.
#[derive(Debug)]
pub struct LateEvent {
    pub event: Event,
    path: PathBuf,
}

impl LateEvent {
    /// It is in the journal.
    pub fn done(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

impl SessionFiles {
    /// Keeps an event for whoever has the lock next.
    pub fn leave_late(&self, event: &Event) -> io::Result<()> {
        let folder = self.dir.join(FOLDER);
        create_private_dir(&folder)?;
        if fs::read_dir(&folder)?.count() >= BOUND {
            return Err(io::Error::other(format!("{BOUND} events wait already")));
        }
        let (process, count) = (std::process::id(), LEFT.fetch_add(1, Ordering::Relaxed));
        let name = format!("{:016x}-{process:08x}-{count:08x}.json", event.at.0);
        replace(&folder.join(name), redact_json(&serde_json::to_string(event)?).as_bytes(), Access::Private)
    }

    /// What was left, in the order of its time. In an ordinary session there is not even a folder.
    pub fn late(&self) -> Vec<LateEvent> {
        let Ok(folder) = fs::read_dir(self.dir.join(FOLDER)) else { return Vec::new() };
        let mut paths: Vec<_> = folder.flatten().map(|file| file.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
        paths.sort();
        let read = |path: PathBuf| {
            let event = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            Some(LateEvent { event, path })
        };
        paths.into_iter().filter_map(read).collect()
    }
}
