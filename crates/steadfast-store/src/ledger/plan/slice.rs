//! Slices: one small file per plan with the facts that a hook needs, for when the database cannot be read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use steadfast_model::{Counts, HostList, PlanId, PlanView, SessionId};
use thiserror::Error;

use crate::hook_log::log_now;
use crate::ledger::error::Source;
use crate::ledger::{Ledger, LedgerError, plan};
use steadfast_redact::{redact, redact_json};
use steadfast_system::{Access, FileLock, replace};

/// The ledger has the change, but the slice is outdated.
#[derive(Debug, Error)]
#[error("cannot replace the slice `{}`", path.display())]
pub struct SliceError {
    pub path: PathBuf,
    pub source: Source,
}

/// The part of a slice that decides if the stop gate blocks. The other fields are for messages, and another version may
/// write them differently: a slice from before an upgrade is not stale because of them.
#[derive(Debug, PartialEq, Eq)]
struct GateFacts {
    worktree: String,
    owner: Option<SessionId>,
    owner_is_gone: bool,
    counts: Counts,
}

impl From<PlanView> for GateFacts {
    fn from(view: PlanView) -> Self {
        let PlanView { worktree, owner, owner_ended, counts, .. } = view;
        Self { worktree, owner, owner_is_gone: owner_ended.is_some(), counts }
    }
}

/// A plan that changes often, whose slice is written only now and then.
#[derive(Debug)]
pub(crate) struct HeldBack {
    plan: PlanId,
    /// The slice is older than the plan.
    behind: bool,
}

impl HeldBack {
    pub(crate) fn take_from(&mut self, touched: &mut BTreeSet<PlanId>) {
        self.behind |= touched.remove(&self.plan);
    }
}

/// Returns the current plan of this worktree for a session, from the slices: plans with open tasks come first, then plans
/// without a run, then the last written. The host lists of other sessions are left out.
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

/// Recognises the task list of a host.
fn is_hosts(view: &PlanView) -> bool {
    view.brief.spec.is_none() && view.id.as_str().starts_with(HostList::PLAN)
}

impl Ledger {
    /// Leaves the slice of this plan to [`Self::catch_up`], which the caller then calls every second. A run changes its plan
    /// many times per second, and writing a new file is the most expensive part of a change.
    pub fn hold_back(&mut self, plan: &PlanId) {
        self.held_back = Some(HeldBack { plan: plan.clone(), behind: false });
    }

    /// Writes the held-back slice, if it is outdated.
    pub fn catch_up(&mut self) {
        if let Some(held) = self.held_back.as_mut().filter(|held| held.behind) {
            held.behind = false;
            let touched = BTreeSet::from([held.plan.clone()]);
            self.replace_slices(&touched);
        }
    }

    pub(crate) fn replace_slices(&self, touched: &BTreeSet<PlanId>) {
        let result = if touched.is_empty() { Ok(()) } else { self.try_replace_slices(touched) };
        // The commit is valid. A hook that cannot open the ledger reads the older slice meanwhile.
        if let Err(error) = result {
            log_now(&self.state_dir, &format!("{error}: {}", error.source));
        }
    }

    /// Lists slices that are older than the ledger, because they could not be written, and slices of unknown plans. A writer
    /// commits before it replaces a slice, so a slice that is just being replaced is not listed.
    pub fn stale_slices(&self) -> Result<Vec<PathBuf>, LedgerError> {
        let stale = self.stale_just_now()?;
        if stale.is_empty() {
            return Ok(stale);
        }
        std::thread::sleep(self.busy);
        let still = self.stale_just_now()?;
        Ok(stale.into_iter().filter(|path| still.contains(path)).collect())
    }

    /// Writes the slice of every plan, and removes those of unknown plans.
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
        let on_disk = |path: &Path| {
            let bytes = fs::read(path).ok()?;
            Some(serde_json::from_slice::<PlanView>(&bytes).ok().map(GateFacts::from))
        };
        let mut ours = BTreeSet::new();
        let mut stale = Vec::new();
        for id in self.read(plan::ids)? {
            let (name, view) = (file_name(&id), self.read(|connection| plan::view(connection, &id))?);
            let path = directory.join(&name);
            ours.insert(name);
            // An unreadable file counts as stale, too.
            if on_disk(&path) != view.map(|view| Some(view.into())) {
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
            // A cleared plan blocks no stop, so it has no slice.
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

/// Takes the lock for reading the plan and replacing its slice. After two commits, the second holder reads both, so an older
/// view never replaces a newer one.
fn lock(directory: &Path, busy: Duration) -> io::Result<FileLock> {
    let held = || io::Error::new(io::ErrorKind::WouldBlock, "another process holds its lock");
    FileLock::with_folder(&directory.join("lock"), busy)?.ok_or_else(held)
}

/// Makes a file name from a plan id, which may be any text. Letters, digits and `-_.` stay; every other byte is encoded, so
/// two ids never get the same name.
pub(crate) fn file_name(plan: &PlanId) -> String {
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
