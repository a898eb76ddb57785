//! The state of a task's files, by their git object ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Fact, Millis, SeenFile};
use steadfast_observe::Checkout;

/// Time limit for the files of one task.
pub const ONE_TASK: Duration = Duration::from_secs(10);
/// Time limit for the files of all tasks in a list.
pub(super) const A_LISTING: Duration = Duration::from_secs(1);

/// Time limit for the tree of the whole checkout, which takes long in a very large repository.
const TREE: Duration = Duration::from_secs(60);

pub type Ids = BTreeMap<String, Option<String>>;

/// The object ids of these files. A pattern means the folder before its first wildcard.
pub fn ids(root: &Path, files: &[String], budget: Duration) -> Fact<Ids> {
    if files.is_empty() {
        return Fact::Known(Ids::new());
    }
    let paths: Vec<PathBuf> = files.iter().map(|file| plain(file)).collect();
    match Checkout::find(root).object_ids(&paths, budget) {
        Fact::Known(ids) => {
            let name = |path: PathBuf| path.to_string_lossy().into_owned();
            Fact::Known(ids.into_iter().map(|(path, id)| (name(path), id.map(|id| id.to_string()))).collect())
        }
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// The files as the stop hook compares them, with the folders that the task names, so that new files are noticed. Empty
/// if they cannot be read; the stop reports that.
pub(super) fn seen(root: &Path, named: &[String], ids: &Ids, now: Millis) -> Vec<SeenFile> {
    if ids.is_empty() {
        return Vec::new();
    }
    let checkout = Checkout::find(root);
    let folders: BTreeSet<PathBuf> = named.iter().map(|file| plain(file)).collect();
    let is_folder = |path: &&PathBuf| fs::symlink_metadata(checkout.root.join(path)).is_ok_and(|found| found.is_dir());
    let folders: Vec<String> =
        folders.iter().filter(is_folder).map(|path| format!("{}/", path.to_string_lossy())).collect();
    match checkout.see(ids.keys().chain(&folders).map(String::as_str), now, ONE_TASK) {
        Fact::Known(seen) => seen,
        Fact::Unknown(_) | Fact::NotAsked => Vec::new(),
    }
}

/// Returns true if the files that a task names differ from its evidence. A folder means all files in it.
pub(super) fn differ(named: &[String], before: &Ids, now: &Ids) -> bool {
    let is_new = |file: &String| {
        let folder = plain(file);
        let within = |path: &str| folder == Path::new(".") || Path::new(path).starts_with(&folder);
        now.iter().any(|(path, id)| id.is_some() && !before.contains_key(path) && within(path))
    };
    before.iter().any(|(path, id)| now.get(path).cloned().flatten() != *id) || named.iter().any(is_new)
}

/// The whole checkout as one id.
pub fn tree(root: &Path, state: &Path) -> Fact<String> {
    tree_within(root, state, TREE)
}

/// The same, within a time limit.
pub(super) fn tree_within(root: &Path, state: &Path, budget: Duration) -> Fact<String> {
    let checkout = Checkout::find(root);
    match checkout.tree_id(&kept_for(&checkout, state), budget) {
        Fact::Known(id) => Fact::Known(id.to_string()),
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// The folder with the objects of that tree that are not in the repository.
pub fn objects(root: &Path, state: &Path) -> PathBuf {
    kept_for(&Checkout::find(root), state).join("objects")
}

/// Removes the data that was kept to compute the tree of a checkout, before the checkout is removed.
pub fn forget_tree(root: &Path, state: &Path) {
    let checkout = Checkout::find(root);
    // For a checkout that is gone already, git finds the one around it.
    if fs::canonicalize(root).is_ok_and(|root| root == checkout.root) {
        // A leftover folder does no harm.
        let _ = fs::remove_dir_all(kept_for(&checkout, state));
    }
}

/// The folder for a checkout's index. Worktrees share the state, but each has its own index.
fn kept_for(checkout: &Checkout, state: &Path) -> PathBuf {
    let name = checkout.git_dir().map_or(0, |dir| steadfast_model::fnv([dir.as_os_str().as_encoded_bytes()]));
    state.join("trees").join(format!("{name:016x}"))
}

/// The files that differ.
pub fn changed<'a>(before: &'a Ids, now: &'a Ids) -> Vec<&'a str> {
    let mut names: Vec<&str> = before.keys().chain(now.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| before.get(*name).cloned().flatten() != now.get(*name).cloned().flatten());
    names
}

fn plain(file: &str) -> PathBuf {
    let fixed: PathBuf = Path::new(file)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']))
        .collect();
    if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_the_folder_before_it() {
        let plain = |file| plain(file).to_string_lossy().into_owned();
        assert_eq!(["src/a.rs", "src/**/*.ts", "*.md", "a/b?/c"].map(plain), ["src/a.rs", "src", ".", "a"]);
    }

    #[test]
    fn a_file_that_came_went_or_changed_is_named_once() {
        let ids = |pairs: &[(&str, Option<&str>)]| -> Ids {
            pairs.iter().map(|(name, id)| ((*name).to_owned(), id.map(str::to_owned))).collect()
        };
        let before = ids(&[("same", Some("1")), ("other", Some("1")), ("gone", Some("1")), ("never", None)]);
        let now = ids(&[("same", Some("1")), ("other", Some("2")), ("gone", None), ("new", Some("3"))]);
        assert_eq!(changed(&before, &now), ["gone", "new", "other"]);
    }
}
