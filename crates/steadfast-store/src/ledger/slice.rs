//! What a hook needs of a plan, as a small file beside the database: read when the database cannot be.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use steadfast_model::{PlanId, PlanView};
use thiserror::Error;

use super::error::Source;
use super::{Ledger, plan};
use crate::file::{create_private_dir, private_options, replace};

/// The ledger has it; the slice is older than it should be.
#[derive(Debug, Error)]
#[error("the slice `{}` could not be replaced", path.display())]
pub struct SliceError {
    pub path: PathBuf,
    pub source: Source,
}

/// The plans a transaction changed.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeSet<PlanId>);

impl Touched {
    pub(super) fn plan(&mut self, id: &PlanId) {
        if !self.0.contains(id) {
            self.0.insert(id.clone());
        }
    }
}

/// The slice of this worktree's plan: of those with open tasks the last written, else the last written of all.
pub fn read_slices(state_dir: &Path, worktree: &str) -> Option<PlanView> {
    let files = fs::read_dir(state_dir.join("plans")).ok()?;
    files
        .filter_map(|file| {
            let path = file.ok()?.path();
            path.extension().filter(|extension| *extension == "slice")?;
            let view: PlanView = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            let written = fs::metadata(&path).and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            (view.worktree == worktree).then_some((view.counts.open() > 0, written, view))
        })
        .max_by(|(left_open, left, _), (right_open, right, _)| (left_open, left).cmp(&(right_open, right)))
        .map(|(_, _, view)| view)
}

impl Ledger {
    pub(super) fn replace_slices(&mut self, touched: &Touched) {
        if touched.0.is_empty() {
            return;
        }
        let directory = self.state_dir.join("plans");
        let result =
            lock(&directory, self.busy).map_err(|source| SliceError { path: directory.clone(), source: source.into() });
        let result = result.and_then(|lock| {
            for plan in &touched.0 {
                let path = directory.join(file_name(plan));
                self.replace_slice(plan, &path).map_err(|source| SliceError { path, source })?;
            }
            drop(lock);
            Ok(())
        });
        self.slice_failure = result.err();
    }

    fn replace_slice(&self, id: &PlanId, path: &Path) -> Result<(), Source> {
        let Some(view) = self.read(|connection| plan::view(connection, id))? else {
            // A cleared plan has none: nobody is held by it.
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            };
        };
        Ok(replace(path, &serde_json::to_vec(&view)?)?)
    }
}

/// Held from reading the plan to the rename: of two who committed, the later holder reads both commits, so an older view
/// never replaces a newer one.
fn lock(directory: &Path, busy: Duration) -> io::Result<File> {
    let path = directory.join("lock");
    let open = || private_options().append(true).create(true).open(&path);
    let file = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_dir(directory)?;
            open()?
        }
        file => file?,
    };
    let until = Instant::now() + busy;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error.into()),
        }
    }
}

/// An id is anybody's text. Letters, digits and `-_.` stay; every other byte is spelled out, so two ids never meet.
pub(super) fn file_name(plan: &PlanId) -> String {
    let mut name = String::new();
    for (index, byte) in plan.as_str().bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if index > 0 => name.push('.'),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    name.push_str(".slice");
    name
}
