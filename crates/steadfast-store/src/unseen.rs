//! Requests that a proxy passed on without reading them: formats that it does not know. A file for each proxy, which
//! exists only while the proxy runs.

use std::fs;
use std::io;
use std::path::PathBuf;

use steadfast_system::{Access, ProcessEntry, replace};

use crate::place::Place;

/// The most proxies that are read, and the most paths of each.
const PROXIES: usize = 64;
const PATHS: usize = 16;

/// The requests that one running proxy could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnseenRequests {
    /// The process of the proxy.
    pub pid: u32,
    /// Path and number of requests.
    pub paths: Vec<(String, u64)>,
}

/// The file of a proxy that runs in this process.
#[derive(Debug)]
pub struct UnseenFile(PathBuf);

impl UnseenFile {
    /// `number` tells apart the proxies of one process.
    pub fn of(place: &Place, number: u64) -> Self {
        let pid = std::process::id();
        let started = ProcessEntry::of(pid).map_or(0, |process| process.started);
        Self(folder(place).join(format!("{pid}-{started}-{number}")))
    }

    pub fn write(&self, paths: impl IntoIterator<Item = (String, u64)>) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            fs::create_dir_all(folder)?;
        }
        let lines: Vec<String> = paths.into_iter().take(PATHS).map(|(path, count)| format!("{count} {path}")).collect();
        replace(&self.0, lines.join("\n").as_bytes(), Access::Private)
    }
}

impl Drop for UnseenFile {
    fn drop(&mut self) {
        // Most proxies read everything and have no file.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns what the proxies that run now could not read. Files of proxies that were killed are removed.
pub fn unseen_requests(place: &Place) -> Vec<UnseenRequests> {
    let entries = fs::read_dir(folder(place)).into_iter().flatten().flatten().take(PROXIES);
    let mut found: Vec<UnseenRequests> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let mut parts = name.split('-').map(str::parse::<u64>);
            let (pid, started) = (u32::try_from(parts.next()?.ok()?).ok()?, parts.next()?.ok()?);
            if !ProcessEntry::of(pid).is_some_and(|process| process.started == started && !process.ended) {
                let _ = fs::remove_file(entry.path());
                return None;
            }
            let text = fs::read_to_string(entry.path()).ok()?;
            let line = |line: &str| {
                let (count, path) = line.split_once(' ')?;
                Some((path.to_owned(), count.parse().ok()?))
            };
            Some(UnseenRequests { pid, paths: text.lines().filter_map(line).collect() })
        })
        .collect();
    found.sort_by_key(|unseen| unseen.pid);
    found
}

fn folder(place: &Place) -> PathBuf {
    place.state.join("proxies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_did_not_read_is_known_while_it_runs() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        assert_eq!(unseen_requests(&place), []);
        let [one, other] = [1, 2].map(|number| UnseenFile::of(&place, number));
        one.write([("/v1beta/models/x:generateContent".to_owned(), 3), ("/a b".to_owned(), 1)]).unwrap();
        let pid = std::process::id();
        let paths = vec![("/v1beta/models/x:generateContent".to_owned(), 3), ("/a b".to_owned(), 1)];
        assert_eq!(unseen_requests(&place), [UnseenRequests { pid, paths }]);
        drop(other);
        assert_eq!(unseen_requests(&place).len(), 1);
        drop(one);
        assert_eq!(unseen_requests(&place), []);
        // Killed, with a process of the same number later.
        let killed = folder(&place).join(format!("{pid}-1-1"));
        fs::write(&killed, "1 /v1/other").unwrap();
        assert_eq!(unseen_requests(&place), []);
        assert!(!killed.exists());
    }
}
