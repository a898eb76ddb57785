use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use steadfast_model::{Fact, Millis};

use crate::change::{ChangeKind, Point};
use crate::checkout::Checkout;

impl Checkout {
    /// Returns at most `most` files that differ from `HEAD` and were written or moved into place at or after `since`.
    ///
    /// Deleted files have no time, so they are not included.
    pub fn changed_after(&self, since: Millis, most: usize, budget: Duration) -> Fact<Vec<PathBuf>> {
        match self.changed_since(&Point::Head, budget) {
            Fact::Known(changes) => {
                let there = changes.into_iter().filter(|change| change.kind != ChangeKind::Deleted);
                let is_recent = |path: &PathBuf| last_touched(&self.root.join(path)).is_some_and(|at| at >= since);
                Fact::Known(there.map(|change| change.path).filter(is_recent).take(most).collect())
            }
            Fact::Unknown(why) => Fact::Unknown(why),
            Fact::NotAsked => Fact::NotAsked,
        }
    }
}

/// Returns the time at which a file was written or moved to its place. A copy may keep the time of its original, so
/// `ctime` counts too.
pub(crate) fn last_touched(path: &Path) -> Option<Millis> {
    let found = fs::symlink_metadata(path).ok()?;
    let written = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let written = i64::try_from(written.as_millis()).ok()?;
    Some(Millis(written.max(moved(&found))))
}

fn moved(found: &Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    found.ctime().saturating_mul(1_000).saturating_add(found.ctime_nsec() / 1_000_000)
}
