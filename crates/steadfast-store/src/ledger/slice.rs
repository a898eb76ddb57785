//! What a hook needs of a plan, as a small file beside the database: read when the database cannot be.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use steadfast_model::{Counts, HostList, PlanId, PlanView, SessionId};
use thiserror::Error;

use super::error::Source;
use super::{Ledger, LedgerError, plan};
use crate::hook_log::log_now;
use steadfast_redact::{redact, redact_json};
use steadfast_system::{Access, FileLock, replace};

/// The ledger has it; the slice is older than it should be.
#[derive(Debug, Error)]
#[error("the slice `{}` could not be replaced", path.display())]
pub struct SliceError {
    pub path: PathBuf,
    pub source: Source,
}

/// What of a slice holds a session. The rest is how it is told, which another version may tell otherwise: a slice that
/// was written before an upgrade is not behind for that.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    worktree: String,
    owner: Option<SessionId>,
    owner_is_gone: bool,
    counts: Counts,
}

impl From<PlanView> for Held {
    fn from(view: PlanView) -> Self {
        let PlanView { worktree, owner, owner_ended, counts, .. } = view;
        Self { worktree, owner, owner_is_gone: owner_ended.is_some(), counts }
    }
}

/// A plan that changes all the time, whose slice is written now and then.
#[derive(Debug)]
pub(super) struct HeldBack {
    plan: PlanId,
    /// Its slice is older than the plan.
    behind: bool,
}

impl HeldBack {
    pub(super) fn take_from(&mut self, touched: &mut BTreeSet<PlanId>) {
        self.behind |= touched.remove(&self.plan);
    }
}

/// The slice of this worktree's plan as a session sees it: of those with open tasks the last written that no run works
/// off, else the last written of them, else of all. The list of another session's host is none of its business.
pub fn read_slices_of(state_dir: &Path, worktree: &str, session: &SessionId) -> Option<PlanView> {
    let worktree = redact(worktree);
    let is_meant =
        |view: &PlanView| view.worktree == worktree && (view.owner.as_ref() == Some(session) || !is_hosts(view));
    slices(&state_dir.join("plans"))
        .filter_map(|path| {
            let view: PlanView = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            let written = fs::metadata(&path).and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            let rank = (view.counts.open() > 0, view.run.is_none(), written);
            is_meant(&view).then_some((rank, view))
        })
        .max_by(|(left, _), (right, _)| left.cmp(right))
        .map(|(_, view)| view)
}

/// It is the list of some session's host.
fn is_hosts(view: &PlanView) -> bool {
    view.brief.spec.is_none() && view.id.as_str().starts_with(HostList::PLAN)
}

impl Ledger {
    /// From now on the slice of this plan is written by [`Self::catch_up`], which whoever asks for this calls every second:
    /// a run changes its plan many times in one, and a new file is the dearest part of that.
    pub fn hold_back(&mut self, plan: &PlanId) {
        self.held_back = Some(HeldBack { plan: plan.clone(), behind: false });
    }

    /// Writes the slice that is held back, if it is behind.
    pub fn catch_up(&mut self) {
        if let Some(held) = self.held_back.as_mut().filter(|held| held.behind) {
            held.behind = false;
            let touched = BTreeSet::from([held.plan.clone()]);
            self.replace_slices(&touched);
        }
    }

    pub(super) fn replace_slices(&self, touched: &BTreeSet<PlanId>) {
        let result = if touched.is_empty() { Ok(()) } else { self.try_replace_slices(touched) };
        // The commit stands, and a hook that cannot open the ledger reads the plan as it was before.
        if let Err(error) = result {
            log_now(&self.state_dir, &format!("{error}: {}", error.source));
        }
    }

    /// The slices that are behind the ledger: of a plan whose slice could not be written, or of one that the ledger does
    /// not have. A writer commits first: what it is about to replace is not meant.
    pub fn stale_slices(&self) -> Result<Vec<PathBuf>, LedgerError> {
        let stale = self.stale_just_now()?;
        if stale.is_empty() {
            return Ok(stale);
        }
        std::thread::sleep(self.busy);
        let still = self.stale_just_now()?;
        Ok(stale.into_iter().filter(|path| still.contains(path)).collect())
    }

    /// Writes the slice of every plan, and removes those of plans that are not there.
    pub fn renew_slices(&self) -> Result<(), SliceError> {
        let directory = self.state_dir.join("plans");
        let failed = |source: Source| SliceError { path: directory.clone(), source };
        let plans: BTreeSet<PlanId> = self.read(plan::ids).map_err(|error| failed(error.into()))?;
        self.try_replace_slices(&plans)?;
        let names: BTreeSet<_> = plans.iter().map(file_name).collect();
        for path in slices(&directory).filter(|path| !names.contains(&name_of(path))) {
            fs::remove_file(&path).map_err(|source| SliceError { path, source: source.into() })?;
        }
        Ok(())
    }

    fn stale_just_now(&self) -> Result<Vec<PathBuf>, LedgerError> {
        let directory = self.state_dir.join("plans");
        let told = |path: &Path| {
            let bytes = fs::read(path).ok()?;
            Some(serde_json::from_slice::<PlanView>(&bytes).ok().map(Held::from))
        };
        let mut ours = BTreeSet::new();
        let mut stale = Vec::new();
        for id in self.read(plan::ids)? {
            let (name, view) = (file_name(&id), self.read(|connection| plan::view(connection, &id))?);
            let path = directory.join(&name);
            ours.insert(name);
            // A file that is there and says nothing is no slice either.
            if told(&path) != view.map(|view| Some(view.into())) {
                stale.push(path);
            }
        }
        stale.extend(slices(&directory).filter(|path| !ours.contains(&name_of(path))));
        Ok(stale)
    }

    fn try_replace_slices(&self, touched: &BTreeSet<PlanId>) -> Result<(), SliceError> {
        let directory = self.state_dir.join("plans");
        let _lock = lock(&directory, self.busy)
            .map_err(|source| SliceError { path: directory.clone(), source: source.into() })?;
        for plan in touched {
            let path = directory.join(file_name(plan));
            self.replace_slice(plan, &path).map_err(|source| SliceError { path, source })?;
        }
        Ok(())
    }

    fn replace_slice(&self, id: &PlanId, path: &Path) -> Result<(), Source> {
        let Some(view) = self.read(|connection| plan::view(connection, id))? else {
            // A cleared plan has none: nobody is held by it.
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            };
        };
        Ok(replace(path, redact_json(&serde_json::to_string(&view)?).as_bytes(), Access::Private)?)
    }
}

fn slices(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "slice"))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Held from reading the plan to the rename: of two who committed, the later holder reads both commits, so an older view
/// never replaces a newer one.
fn lock(directory: &Path, busy: Duration) -> io::Result<FileLock> {
    FileLock::with_folder(&directory.join("lock"), busy)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
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
