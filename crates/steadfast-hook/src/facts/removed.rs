//! The settings in the checkout that our hooks stand in: what git knows of them, and what a call removed of them.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use steadfast_hosts::install::Homes;
use steadfast_model::{Action, Event, EventKind, Millis, Needs, RemovedFile, State, ToolCall, WiredFile};
use steadfast_store::{FileStamp, Place, WatchedFile, WiringTable, keep_wiring, log_line, read_wiring};

/// Longer settings are not remembered.
const LONGEST: u64 = 256 << 10;

/// Clocks of files are coarser than those of events.
const SLACK_MS: u64 = 50;

/// Keeps what a file says, so that it can be put back.
pub(super) fn remember(place: &Place, file: &mut WatchedFile) {
    let is_file = fs::symlink_metadata(&file.path).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let within = file.path.strip_prefix(&place.root).ok().and_then(Path::to_str);
    file.text = within.filter(|_| is_file).and_then(|_| fs::read_to_string(&file.path).ok());
    file.tracked = within.zip(Index::of(place)).is_some_and(|(within, index)| index.has(within));
}

/// The settings in the checkout that call us, and what git knows of them.
pub(super) fn wired(place: &Place, homes: fn() -> Option<Homes>, needs: Needs, event: &Event) -> Vec<WiredFile> {
    let Some(table) = needs.wired.then(|| read_wiring(place)).flatten() else { return Vec::new() };
    let ours = table.files.iter().filter(|file| !file.ways.is_empty() && file.path.exists());
    let within = |file: &WatchedFile| Some(file.path.strip_prefix(&place.root).ok()?.to_str()?.to_owned());
    let ours: Vec<String> = ours.filter_map(within).collect();
    if ours.is_empty() {
        return Vec::new();
    }
    // An index may be large: it is read where git is to be run, and nowhere else.
    let is_gits = match &event.kind {
        EventKind::PreTool(ToolCall { action: Action::Shell { command, .. }, .. }) => command.contains("git"),
        _ => true,
    };
    let (index, ignored) = match is_gits.then(|| Index::of(place)).flatten() {
        Some(index) => (index, Ignored::read(place, homes)),
        None => (Index(Vec::new()), Ignored(Vec::new())),
    };
    let root = as_said(&place.root, Path::new(&event.cwd));
    let wired = |within: String| WiredFile {
        path: root.join(&within).to_string_lossy().into_owned(),
        tracked: index.has(&within),
        folder_tracked: within.split_once('/').is_some_and(|(folder, _)| index.has_folder(folder)),
        ignored: ignored.has(&within),
        within,
    };
    ours.into_iter().map(wired).collect()
}

/// The root as the session spells it, which may have come through a link.
fn as_said(root: &Path, cwd: &Path) -> PathBuf {
    let within = fs::canonicalize(cwd).ok().and_then(|real| Some(real.strip_prefix(root).ok()?.to_owned()));
    let Some(within) = within.filter(|within| !cwd.starts_with(root) && cwd.ends_with(within)) else {
        return root.to_owned();
    };
    cwd.ancestors().nth(within.components().count()).unwrap_or(root).to_owned()
}

/// What the call of an event removed, put back. What was removed before it, or by somebody else between calls, is not
/// touched: the next prompt or stop tells of it.
pub(super) fn removed(place: &Place, needs: Needs, state: &State, event: &Event) -> Vec<RemovedFile> {
    if !needs.removed {
        return Vec::new();
    }
    let took = match &event.kind {
        EventKind::PostTool(result) => result.millis,
        _ => None,
    };
    let began = took.map_or(state.last_at, |took| event.at.before(took)).before(SLACK_MS);
    // Most calls remove nothing there: three looks at folders are cheaper than the table.
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
        // Git moved to a commit that does not have it.
        if file.tracked && !Index::of(place).is_some_and(|index| index.has(within)) {
            continue;
        }
        let failed = put_back(&file.path, text).err().map(|error| error.to_string());
        file.stamp = FileStamp::of(&file.path);
        removed.push(RemovedFile { path: file.path.to_string_lossy().into_owned(), failed });
    }
    if !removed.is_empty() {
        keep(place, &table, event.at);
    }
    removed
}

fn keep(place: &Place, table: &WiringTable, now: Millis) {
    if let Err(error) = keep_wiring(place, table) {
        log_line(place, now, &format!("cannot save the wiring of the hosts: {error}"));
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// Whether the folder that is left of its path changed since.
fn was_removed_after(path: &Path, began: Millis) -> bool {
    let left = path.ancestors().skip(1).find(|folder| folder.is_dir());
    left.is_some_and(|folder| was_changed_after(folder, began))
}

/// Whether something came into a folder or went out of it since. One that is not there did not change.
fn was_changed_after(folder: &Path, began: Millis) -> bool {
    let changed = fs::metadata(folder).and_then(|folder| folder.modified()).ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    changed.is_some_and(|at| i64::try_from(at.as_millis()).unwrap_or(i64::MAX) >= began.0)
}

/// All of it or nothing, and never over what came there meanwhile. That it is there is read, not assumed.
fn put_back(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.steadfast-{}", std::process::id()));
    let put = fs::write(&draft, text).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    put?;
    if fs::read_to_string(path)? == text { Ok(()) } else { Err(io::Error::other("another program changed it immediately")) }
}

/// The list of what git tracks, as its file has it.
struct Index(Vec<u8>);

impl Index {
    /// None outside git.
    fn of(place: &Place) -> Option<Self> {
        let git = git_dir(&place.root)?;
        Some(Self(fs::read(git.join("index")).unwrap_or_default()))
    }

    /// Version 4 shortens the paths. What is meant for one user alone is not in there, what is shared is.
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

    /// What follows the beginning of each path. Before a path stands its length: that tells a beginning from a middle.
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

/// Where git keeps what is this checkout's own.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// The lines by which git passes files over, as far as they are of the usual kind.
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
