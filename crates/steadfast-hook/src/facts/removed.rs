//! The settings in the checkout that call our hooks: whether git tracks them, and whether a call removed them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use steadfast_hosts::install::Homes;
use steadfast_model::{Action, Event, EventKind, Millis, Needs, RemovedFile, State, ToolCall, WiredFile};
use steadfast_store::{FileStamp, Place, WatchedFile, WiringTable, keep_wiring, log_line, read_wiring};

/// The most bytes of settings that are remembered.
const LONGEST: u64 = 256 << 10;

/// Clocks of files are coarser than those of events.
const SLACK_MS: u64 = 50;

/// Remembers the content of a file, so that it can be restored.
pub(super) fn remember(place: &Place, file: &mut WatchedFile) {
    let is_file = fs::symlink_metadata(&file.path).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let within = file.path.strip_prefix(&place.root).ok().and_then(Path::to_str);
    file.text = within.filter(|_| is_file).and_then(|_| fs::read_to_string(&file.path).ok());
    file.tracked = within.zip(Index::of(place)).is_some_and(|(within, index)| index.has(within));
}

/// Returns the settings in the checkout that call us, and whether git tracks them.
pub(super) fn wired(place: &Place, homes: fn() -> Option<Homes>, needs: Needs, event: &Event) -> Vec<WiredFile> {
    let Some(table) = needs.wired.then(|| read_wiring(place)).flatten() else { return Vec::new() };
    let ours = table.files.iter().filter(|file| !file.ways.is_empty() && file.path.exists());
    let within = |file: &WatchedFile| Some(file.path.strip_prefix(&place.root).ok()?.to_str()?.to_owned());
    let ours: Vec<String> = ours.filter_map(within).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    // An index may be large, so it is only read before git runs.
    let is_gits = match &event.kind {
        EventKind::PreTool(ToolCall { action: Action::Shell { command, .. }, .. }) => command.contains("git"),
        _ => true,
    };
    let (index, ignored) = match is_gits.then(|| Index::of(place)).flatten() {
        Some(index) => (index, Ignored::read(place, homes)),
        None => (Index(Vec::new()), Ignored(Vec::new())),
    };
    let root = as_session_spells(&place.root, Path::new(&event.cwd));
    let wired = |within: String| WiredFile {
        path: root.join(&within).to_string_lossy().into_owned(),
        tracked: index.has(&within),
        folder_tracked: within.split_once('/').is_some_and(|(folder, _)| index.has_folder(folder)),
        ignored: ignored.has(&within),
        within,
    };
    ours.into_iter().map(wired).collect()
}

/// Returns the root as the session spells it, possibly through a link.
fn as_session_spells(root: &Path, cwd: &Path) -> PathBuf {
    let within = fs::canonicalize(cwd).ok().and_then(|real| Some(real.strip_prefix(root).ok()?.to_owned()));
    let Some(within) = within.filter(|within| !cwd.starts_with(root) && cwd.ends_with(within)) else {
        return root.to_owned();
    };
    cwd.ancestors().nth(within.components().count()).unwrap_or(root).to_owned()
}

/// Restores settings that the call of an event removed, and returns them. Files that disappeared before, or between
/// calls, are not touched: the next prompt or stop reports them.
pub(super) fn removed(place: &Place, needs: Needs, state: &State, event: &Event) -> Vec<RemovedFile> {
    if !needs.removed {
        return Vec::new();
    }
    let took = match &event.kind {
        EventKind::PostTool(result) => result.millis,
        _ => None,
    };
    let began = took.map_or(state.last_at, |took| event.at.before(took)).before(SLACK_MS);
    // Most calls remove no settings, and checking three folders is cheaper than reading the table.
    let folders = ["", ".claude", ".codex"].map(|folder| place.root.join(folder));
    if !folders.iter().any(|folder| was_changed_after(folder, began)) {
        return Vec::new();
    }
    let Some(mut table) = read_wiring(place) else { return Vec::new() };
    let mut removed = Vec::new();
    for file in &mut table.files {
        let Some(text) = file.text.as_deref().filter(|_| is_gone(&file.path) && was_removed_after(&file.path, began))
        else {
            continue;
        };
        let within = file.path.strip_prefix(&place.root).ok().and_then(Path::to_str).unwrap_or_default();
        // Git switched to a commit without the file.
        if file.tracked && !Index::of(place).is_some_and(|index| index.has(within)) {
            continue;
        }
        let failed = put_back(&file.path, text).err().map(|error| error.to_string());
        file.stamp = FileStamp::of(&file.path);
        removed.push(RemovedFile { path: file.path.to_string_lossy().into_owned(), failed });
    }
    if !removed.is_empty() {
        save(place, &table, event.at);
    }
    removed
}

fn save(place: &Place, table: &WiringTable, now: Millis) {
    if let Err(error) = keep_wiring(place, table) {
        log_line(place, now, &format!("cannot save the wiring of the hosts: {error}"));
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// Returns whether the nearest existing folder of its path changed since.
fn was_removed_after(path: &Path, began: Millis) -> bool {
    let left = path.ancestors().skip(1).find(|folder| folder.is_dir());
    left.is_some_and(|folder| was_changed_after(folder, began))
}

/// Returns whether entries of a folder were added or removed since. A missing folder did not change.
fn was_changed_after(folder: &Path, began: Millis) -> bool {
    let changed = fs::metadata(folder).and_then(|folder| folder.modified()).ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    changed.is_some_and(|at| i64::try_from(at.as_millis()).unwrap_or(i64::MAX) >= began.0)
}

/// Restores a file completely or not at all, and never over a new file. Reads it back to verify.
fn put_back(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.steadfast-{}", std::process::id()));
    let put = fs::write(&draft, text).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    put?;
    if fs::read_to_string(path)? == text { Ok(()) } else { Err(io::Error::other("another program changed it")) }
}

/// Git's index file, the list of tracked files.
struct Index(Vec<u8>);

impl Index {
    /// `None` outside of git.
    fn of(place: &Place) -> Option<Self> {
        let git = git_dir(&place.root)?;
        Some(Self(fs::read(git.join("index")).unwrap_or_default()))
    }

    /// Version 4 shortens paths. Then files for a single user count as untracked, and shared ones as tracked.
    fn is_shortened(&self) -> bool {
        self.0.get(4..8) == Some(&[0, 0, 0, 4])
    }

    fn has(&self, path: &str) -> bool {
        if self.is_shortened() {
            return !path.ends_with(".local.json");
        }
        self.entries(path.as_bytes()).any(|rest| rest.first() == Some(&0))
    }

    fn has_folder(&self, folder: &str) -> bool {
        self.is_shortened() || self.entries(format!("{folder}/").as_bytes()).next().is_some()
    }

    /// Returns what follows each path that starts so. The byte before a path is its length, which distinguishes a
    /// start from a middle.
    fn entries<'a>(&'a self, beginning: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let all = &self.0;
        let at = |start: &usize| {
            let rest = &all[*start..];
            let length = rest.iter().position(|byte| *byte == 0)?;
            (*start > 0 && usize::from(all[start - 1]) == length & 0xff).then_some(&rest[beginning.len()..])
        };
        let starts = (0..all.len().saturating_sub(beginning.len())).filter(move |at| all[*at..].starts_with(beginning));
        starts.filter_map(move |start| at(&start))
    }
}

/// Returns git's folder of this checkout alone.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The lines of git's ignore files, as far as their form is common.
struct Ignored(Vec<String>);

impl Ignored {
    fn read(place: &Place, homes: fn() -> Option<Homes>) -> Self {
        let common = place.state.parent().map(|git| git.join("info/exclude"));
        let global = homes().map(|homes| homes.home.join(".config/git/ignore"));
        let own = [place.root.join(".gitignore"), place.root.join(".claude/.gitignore")];
        let files = common.into_iter().chain(global).chain(own);
        let lines = files.filter_map(|file| fs::read_to_string(file).ok()).flat_map(|text| {
            let plain = |line: &str| line.trim().trim_start_matches("**/").trim_matches('/').to_owned();
            text.lines().map(plain).collect::<Vec<_>>()
        });
        Self(lines.collect())
    }

    fn has(&self, within: &str) -> bool {
        let (folder, name) = within.rsplit_once('/').unwrap_or(("", within));
        let ending = name.split_once('.').map_or(String::new(), |(_, ending)| format!("*.{ending}"));
        let lines = [within, folder, name, &ending, "*.json", &format!("{folder}/*"), &format!("{folder}/**"), "*"]
            .map(str::to_owned);
        self.0.iter().any(|line| lines.contains(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_as_git_writes_it() {
        let entry = |path: &str| [&[0, u8::try_from(path.len()).unwrap()][..], path.as_bytes(), &[0, 0]].concat();
        let head = b"DIRC\0\0\0\x02\0\0\0\x02".to_vec();
        let index = Index([head, entry("docs/.claude/settings.json"), entry(".claude/agents/a.md")].concat());
        assert!(index.has(".claude/agents/a.md") && index.has("docs/.claude/settings.json"));
        assert!(!index.has(".claude/settings.json") && !index.has(".claude/agents"));
        assert!(index.has_folder(".claude") && !index.has_folder("agents"));
    }
}
