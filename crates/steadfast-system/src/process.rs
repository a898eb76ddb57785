//! The process table in `/proc`. On systems without `/proc`, every process is unknown.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

/// The maximum number of ancestors to search.
const GENERATIONS: usize = 32;

/// A process. Its start time tells it from a later process with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    pub id: u32,
    pub name: String,
    pub parent: u32,
    pub group: u32,
    /// The id of the session leader.
    pub session: u32,
    pub has_terminal: bool,
    /// Clock ticks since the machine booted.
    pub started: u64,
    /// The process has ended, but its parent has not read its exit status (a zombie).
    pub ended: bool,
}

impl ProcessEntry {
    #[must_use]
    pub fn of(id: u32) -> Option<Self> {
        Self::parse(id, &read(id, "stat").ok()?)
    }

    /// Parses `pid (name) state parent group session terminal …`. The name may contain any character, also `)`.
    fn parse(id: u32, stat: &[u8]) -> Option<Self> {
        let stat = String::from_utf8_lossy(stat);
        let (before, after) = stat.rsplit_once(") ")?;
        let (_, name) = before.split_once('(')?;
        let mut fields = after.split_ascii_whitespace();
        let ended = matches!(fields.next()?, "Z" | "X" | "x");
        let mut number = || fields.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        let has_terminal = fields.next()? != "0";
        let started = fields.nth(14)?.parse().ok()?;
        Some(Self { id, name: name.to_owned(), parent, group, session, has_terminal, started, ended })
    }

    /// Lists all processes of this machine, without those that end meanwhile.
    pub fn all() -> impl Iterator<Item = Self> {
        process_ids().filter_map(Self::of)
    }

    /// Finds the nearest ancestor of this process that `is_wanted`.
    pub fn above(is_wanted: impl Fn(&Self) -> bool) -> Option<Self> {
        let parent = Self::of(std::os::unix::process::parent_id());
        let line = std::iter::successors(parent, |process| (process.parent > 1).then(|| Self::of(process.parent))?);
        line.take(GENERATIONS).take_while(|process| process.id > 1).find(is_wanted)
    }

    /// Returns the arguments of a process, each followed by a NUL. Empty for kernel processes and for ended ones.
    pub fn command_line(id: u32) -> io::Result<Vec<u8>> {
        read(id, "cmdline")
    }

    /// Returns the initial environment of a process: `NAME=value` entries, each followed by a NUL. Readable only for the
    /// user's own processes.
    pub fn environment(id: u32) -> io::Result<Vec<u8>> {
        read(id, "environ")
    }

    /// Checks for a `NAME=value` entry in the initial environment of a process.
    #[must_use]
    pub fn has_variable(id: u32, variable: &str) -> bool {
        Self::environment(id)
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()))
    }

    /// Reads a symbolic link of a process: `cwd`, `exe`, `fd/1`, `ns/pid`.
    pub fn link(id: u32, name: &str) -> io::Result<PathBuf> {
        fs::read_link(file(id, name))
    }

    /// Lists the open files of a process: paths, `socket:[inode]`, `pipe:[inode]`.
    pub fn open_files(id: u32) -> io::Result<impl Iterator<Item = OsString>> {
        let files = fs::read_dir(file(id, "fd"))?.flatten();
        Ok(files.filter_map(|found| fs::read_link(found.path()).ok()).map(PathBuf::into_os_string))
    }

    /// Reads a text file of a process: `status`, `net/tcp`. Empty if it is missing.
    #[must_use]
    pub fn text(id: u32, name: &str) -> String {
        read(id, name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

pub fn process_ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Reads with a buffer that fits most such files in one call. A process that calls `exec` between two reads would give half
/// of the old environment and half of the new one.
fn read(id: u32, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(8 << 10);
    File::open(file(id, name))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn file(id: u32, name: &str) -> PathBuf {
    format!("/proc/{id}/{name}").into()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"7 (a) (b) S 1 2 3 34816 7 4194304 1 0 0 0 0 0 0 0 20 0 1 0 9876 1 2\n";
        let process = ProcessEntry::parse(7, stat).unwrap();
        let wanted = ProcessEntry {
            id: 7,
            name: "a) (b".to_owned(),
            parent: 1,
            group: 2,
            session: 3,
            has_terminal: true,
            started: 9_876,
            ended: false,
        };
        assert_eq!(process, wanted);
        assert_eq!(ProcessEntry::parse(7, b"7 (a"), None);
    }

    #[test]
    fn the_ancestors_of_this_process_are_known() {
        let mut id = std::process::id();
        while id > 1 {
            let process = ProcessEntry::of(id).unwrap();
            assert!(!process.name.is_empty() && process_ids().any(|id| id == process.id));
            id = process.parent;
        }
        let parent = std::os::unix::process::parent_id();
        assert_eq!(ProcessEntry::above(|_| true).map(|above| above.id), (parent > 1).then_some(parent));
        assert_eq!(ProcessEntry::above(|process| process.name == "no such name"), None);
    }

    #[test]
    fn a_process_tells_how_it_was_started() {
        let id = std::process::id();
        let first = std::env::args().next().unwrap();
        assert!(ProcessEntry::command_line(id).unwrap().starts_with(first.as_bytes()));
        let (name, value) = std::env::vars().next().unwrap();
        assert!(ProcessEntry::has_variable(id, &format!("{name}={value}")));
        assert!(!ProcessEntry::has_variable(id, &name));
        assert_eq!(ProcessEntry::link(id, "cwd").unwrap(), std::env::current_dir().unwrap());
        assert!(ProcessEntry::text(id, "status").starts_with("Name:"));
        assert!(ProcessEntry::open_files(id).unwrap().count() > 0);
    }
}
