//! The host process behind a session. A killed host sends no end event, but its process is gone.

use std::path::Path;

use steadfast_store::SessionFiles;
use steadfast_system::ProcessEntry;

use crate::sender::{Noted, noted};

/// The process names of the hosts.
const HOSTS: [&str; 2] = ["claude", "codex"];

pub(crate) fn is_host(process: &ProcessEntry) -> bool {
    HOSTS.contains(&process.name.as_str())
}

/// Returns the nearest ancestor of this process that is a host.
pub fn host_above() -> Option<ProcessEntry> {
    ProcessEntry::above(is_host)
}

/// Returns whether a host works in this folder or below it.
pub(crate) fn any_host_in(folder: &Path) -> bool {
    let works_there = |host: ProcessEntry| ProcessEntry::link(host.id, "cwd").is_ok_and(|cwd| cwd.starts_with(folder));
    ProcessEntry::all().filter(is_host).any(works_there)
}

/// Returns the namespace of process numbers: a container has its own.
pub(crate) fn numbering() -> String {
    let name = ProcessEntry::link(std::process::id(), "ns/pid").unwrap_or_default();
    name.to_string_lossy().replace(char::is_whitespace, "")
}

/// Returns whether a human operates the host above this process, as far as visible: it has a terminal, and was not
/// started to answer once and exit.
pub(crate) fn is_attended() -> Option<bool> {
    let host = host_above()?;
    let line = ProcessEntry::command_line(host.id).ok()?;
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let once = words.iter().any(|word| matches!(word.as_ref(), "-p" | "--print" | "exec"));
    Some(!once && host.has_terminal)
}

/// What is known of the processes of a session, one for each of its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostProcess {
    NotNoted,
    Alive,
    /// All of them are gone.
    Gone,
    /// None is visible: another machine or container has them, or the process table cannot be read.
    Elsewhere,
}

pub fn host_process(files: &SessionFiles) -> HostProcess {
    let alive: Vec<Option<bool>> = noted(files).iter().map(Noted::is_alive).collect();
    match &alive[..] {
        [] => HostProcess::NotNoted,
        alive if alive.contains(&Some(true)) => HostProcess::Alive,
        alive if alive.iter().all(|alive| *alive == Some(false)) => HostProcess::Gone,
        _ => HostProcess::Elsewhere,
    }
}

/// Returns whether the process of a session is known and gone. With several windows, all of them must be gone.
pub fn is_gone(files: &SessionFiles) -> bool {
    host_process(files) == HostProcess::Gone
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::PathBuf;

    use steadfast_model::SessionId;
    use steadfast_store::Place;

    use super::*;

    #[test]
    fn a_session_is_gone_with_its_process_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: PathBuf::from("/repo") };
        let files = SessionFiles::of(&place, &SessionId::new("s"));
        assert!(!is_gone(&files), "nothing is known of it");
        let here = ProcessEntry::of(std::process::id()).unwrap();
        for (noted, gone) in [
            (format!("{} {} {}", here.id, here.started, numbering()), false),
            // Another process has the number now.
            (format!("{} {} {}", here.id, here.started + 1, numbering()), true),
            (format!("4194304000 1 {}", numbering()), true),
            // Another namespace has its own numbers.
            ("4194304000 1 pid:[1]".to_owned(), false),
            ("4194304000 1".to_owned(), false),
            ("rubbish".to_owned(), false),
        ] {
            files.note_process(&noted).unwrap();
            assert_eq!(is_gone(&files), gone, "{noted}");
        }
        for (noted, known) in [
            (format!("{} {} {}", here.id, here.started, numbering()), HostProcess::Alive),
            (format!("{} {} {}", here.id, here.started + 1, numbering()), HostProcess::Gone),
            ("4194304000 1 pid:[1]".to_owned(), HostProcess::Elsewhere),
        ] {
            files.note_process(&noted).unwrap();
            assert_eq!(host_process(&files), known, "{noted}");
        }
    }
}
