//! Faulty behaviour on request: a marker in a task's title makes some sessions work badly on it. Their number is stored
//! in the repository's git folder, so that sessions in all worktrees share it.
//!
//! `[sim:hang]` hangs after the task is started. `[sim:crash]` exits when it should write the task's files.
//! `[sim:stop-early]` stops before it has written them. `[sim:lie]` also stops early, but claims that all is done.
//! `[sim:fail-twice]` skips the work and closes the task. A number limits the sessions that do so: `[sim:hang 2]`. Two
//! markers are not faulty behaviour: with `[sim:also PATH]` the agent also writes a file that the task does not name,
//! and with `[sim:takes 1.5]` the task takes that many seconds.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conduct {
    Good,
    Hang,
    Crash,
    StopEarly,
    Lie,
    Fail,
}

/// Returns the behaviour that a title requests, and the number of sessions.
fn asked(title: &str) -> (Conduct, usize) {
    for marker in markers(title) {
        let (name, count) = marker.split_once(' ').unwrap_or((marker, ""));
        let (conduct, count) = match name {
            "hang" => (Conduct::Hang, count.parse().unwrap_or(1)),
            "crash" => (Conduct::Crash, count.parse().unwrap_or(1)),
            "stop-early" => (Conduct::StopEarly, count.parse().unwrap_or(1)),
            "lie" => (Conduct::Lie, count.parse().unwrap_or(1)),
            "fail" => (Conduct::Fail, count.parse().unwrap_or(1)),
            "fail-twice" => (Conduct::Fail, 2),
            _ => continue,
        };
        return (conduct, count);
    }
    (Conduct::Good, 0)
}

/// Returns additional files to write.
pub(super) fn also(title: &str) -> Vec<String> {
    markers(title).filter_map(|marker| marker.strip_prefix("also ")).map(|path| path.trim().to_owned()).collect()
}

/// Returns the duration that the title requests.
pub(super) fn takes(title: &str) -> Option<Duration> {
    let seconds = markers(title).find_map(|marker| marker.strip_prefix("takes "))?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn markers(title: &str) -> impl Iterator<Item = &str> {
    title.split("[sim:").skip(1).filter_map(|rest| rest.split_once(']')).map(|(marker, _)| marker)
}

/// Returns the behaviour of this session for a task, and records it for later sessions.
pub(super) fn conduct(task: &str, title: &str, session: &str, cwd: &Path) -> Conduct {
    let (conduct, count) = asked(title);
    if conduct == Conduct::Good {
        return conduct;
    }
    // If nothing can be stored, each time counts as the first.
    let before = remember(task, session, cwd).unwrap_or_default();
    if before < count { conduct } else { Conduct::Good }
}

/// Returns the number of other sessions that took the task before this one.
fn remember(task: &str, session: &str, cwd: &Path) -> std::io::Result<usize> {
    let folder = common(cwd)?.join("steadfast-sim");
    fs::create_dir_all(&folder)?;
    let name: String = task.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(folder.join(name))?;
    let mut sessions = String::new();
    file.read_to_string(&mut sessions)?;
    match sessions.lines().position(|line| line == session) {
        Some(position) => Ok(position),
        None => {
            writeln!(file, "{session}")?;
            Ok(sessions.lines().count())
        }
    }
}

/// Returns the git folder that all worktrees of a repository share.
fn common(cwd: &Path) -> std::io::Result<PathBuf> {
    let own = cwd.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists());
    let own = own.ok_or(std::io::ErrorKind::NotFound)?;
    if own.is_dir() {
        return Ok(own);
    }
    let text = fs::read_to_string(&own)?;
    let folder = own.with_file_name(text.trim().trim_start_matches("gitdir: "));
    let common = fs::read_to_string(folder.join("commondir"))?;
    Ok(folder.join(common.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_is_asked_for() {
        for (title, expected) in [
            ("add login", (Conduct::Good, 0)),
            ("add login [sim:hang]", (Conduct::Hang, 1)),
            ("[sim:crash 3] add", (Conduct::Crash, 3)),
            ("a [sim:also x.txt] b [sim:fail-twice]", (Conduct::Fail, 2)),
            ("[sim:unheard-of] [sim:lie", (Conduct::Good, 0)),
        ] {
            assert_eq!(asked(title), expected, "{title}");
        }
        assert_eq!(takes("a [sim:takes 1.5] b"), Some(Duration::from_millis(1_500)));
        assert_eq!((takes("a [sim:takes long]"), takes("a [sim:takes -1]"), takes("a")), (None, None, None));
        assert_eq!(also("a [sim:also x y.txt] [sim:lie] [sim:also z]"), ["x y.txt", "z"]);
    }

    #[test]
    fn so_many_sessions_behave_badly_then_well_in_whichever_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let (main, other) = (folder.path().join("main"), folder.path().join("other/deep"));
        let inside = main.join(".git/worktrees/other");
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(inside.join("commondir"), "../..\n").unwrap();
        fs::write(folder.path().join("other/.git"), format!("gitdir: {}\n", inside.display())).unwrap();
        let title = "x [sim:fail-twice]";
        let seen = [("s1", &main), ("s1", &main), ("s2", &other), ("s3", &main), ("s2", &main)]
            .map(|(session, cwd)| conduct("2.1", title, session, cwd));
        assert_eq!(seen, [Conduct::Fail, Conduct::Fail, Conduct::Fail, Conduct::Good, Conduct::Fail]);
        assert_eq!(conduct("2.2", title, "s3", &main), Conduct::Fail);
    }
}
