//! Events that waited too long for the session's lock. They were answered without the state, and are journalled later.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use steadfast_model::Event;

use super::SessionFiles;
use steadfast_redact::redact_json;
use steadfast_system::{Access, create_private_dir, replace};

/// The number of late events of this process. Together with process id and time it makes a unique file name.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// The folder with late events, inside the folder of their session.
pub(super) const FOLDER: &str = "late";

/// More events than a session can miss while another process holds its lock, unless that process hangs.
const BOUND: usize = 1_000;

/// An event that waits to be journalled.
#[derive(Debug)]
pub struct LateEvent {
    pub event: Event,
    path: PathBuf,
}

impl LateEvent {
    /// Removes the file, because the event is in the journal now.
    pub fn done(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

impl SessionFiles {
    /// Keeps an event for the next process that gets the lock.
    pub fn leave_late(&self, event: &Event) -> io::Result<()> {
        let folder = self.dir.join(FOLDER);
        create_private_dir(&folder)?;
        if fs::read_dir(&folder)?.count() >= BOUND {
            return Err(io::Error::other(format!("{BOUND} events are already waiting")));
        }
        let (process, count) = (std::process::id(), LEFT.fetch_add(1, Ordering::Relaxed));
        let name = format!("{:016x}-{process:08x}-{count:08x}.json", event.at.0);
        replace(&folder.join(name), redact_json(&serde_json::to_string(event)?).as_bytes(), Access::Private)
    }

    /// Returns the late events, ordered by time. Most sessions do not even have the folder.
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
