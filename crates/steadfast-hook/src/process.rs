//! The host behind a session, as a process: one that was killed says no farewell, but it is gone.

use std::fs;
use std::path::Path;

use steadfast_store::SessionFiles;

use crate::sender::noted;

/// How far up to look for a host.
const GENERATIONS: usize = 32;

/// A process, told from a later one of the same number by when it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: u32,
    pub name: String,
    pub parent: u32,
    /// In ticks since the machine was started.
    pub started: u64,
    /// The process that began its session.
    pub session: u32,
    /// It has a terminal.
    pub terminal: bool,
}

impl Process {
    /// As the system tells: `pid (name) state parent …`, where the name may hold anything.
    #[cfg(target_os = "linux")]
    pub fn look(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (name, rest) = (stat.get(stat.find('(')? + 1..stat.rfind(')')?)?, stat.get(stat.rfind(')')? + 1..)?);
        let mut fields = rest.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let terminal = fields.next()? != "0";
        let started = fields.nth(14)?.parse().ok()?;
        Some(Self { id, name: name.to_owned(), parent, started, session, terminal })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn look(_id: u32) -> Option<Self> {
        None
    }

    /// Whether a process that is called so works in that folder or beneath it.
    pub(crate) fn any_in(names: &[&str], folder: &Path) -> bool {
        let is_one = |id: u32| {
            let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
            names.contains(&name.trim_end())
                && fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
        };
        let Ok(entries) = fs::read_dir("/proc") else { return false };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).any(is_one)
    }

    /// The nearest above this one that is called so.
    #[cfg(unix)]
    pub fn above(names: &[&str]) -> Option<Self> {
        let mut id = std::os::unix::process::parent_id();
        for _ in 0..GENERATIONS {
            if id <= 1 {
                return None;
            }
            let process = Self::look(id)?;
            if names.contains(&process.name.as_str()) {
                return Some(process);
            }
            id = process.parent;
        }
        None
    }

    #[cfg(not(unix))]
    pub fn above(_names: &[&str]) -> Option<Self> {
        let _ = GENERATIONS;
        None
    }
}

/// The hosts as processes are called.
pub const HOSTS: [&str; 2] = ["claude", "codex"];

/// By whom processes are numbered here: a container has numbers of its own.
pub(crate) fn numbering() -> String {
    let name = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    name.to_string_lossy().replace(char::is_whitespace, "")
}

/// Whether a human sits before the host above this process, as far as it can be seen: it has a terminal, and was not
/// started to answer once and end.
pub(crate) fn is_attended() -> Option<bool> {
    let host = Process::above(&HOSTS)?;
    let line = fs::read(format!("/proc/{}/cmdline", host.id)).ok()?;
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let once = words.iter().any(|word| matches!(word.as_ref(), "-p" | "--print" | "exec"));
    Some(!once && host.terminal)
}

/// Whether the process of a session is known, and gone; of several windows, each.
pub fn is_gone(files: &SessionFiles) -> bool {
    let noted = noted(files);
    !noted.is_empty() && noted.iter().all(|noted| noted.is_alive() == Some(false))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::PathBuf;

    use steadfast_model::SessionId;
    use steadfast_store::Place;

    use super::*;

    #[test]
    fn the_line_up_to_the_first_process_can_be_read() {
        let mut id = std::process::id();
        while id > 1 {
            let process = Process::look(id).unwrap();
            assert!(!process.name.is_empty());
            id = process.parent;
        }
    }

    #[test]
    fn a_session_is_gone_with_its_process_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: PathBuf::from("/repo") };
        let files = SessionFiles::of(&place, &SessionId::new("s"));
        assert!(!is_gone(&files), "nothing is known of it");
        let here = Process::look(std::process::id()).unwrap();
        for (noted, gone) in [
            (format!("{} {} {}", here.id, here.started, numbering()), false),
            // The number was given to another since.
            (format!("{} {} {}", here.id, here.started + 1, numbering()), true),
            (format!("4194304000 1 {}", numbering()), true),
            // Somebody else numbers there.
            ("4194304000 1 pid:[1]".to_owned(), false),
            ("4194304000 1".to_owned(), false),
            ("rubbish".to_owned(), false),
        ] {
            files.note_process(&noted).unwrap();
            assert_eq!(is_gone(&files), gone, "{noted}");
        }
    }
}
