//! Links to the binary whose names encode the arguments of a hook.
//!
//! Some hosts run the hooks of another host's settings and ignore their `args`. A command that is a single path means
//! the same with and without them. The name contains the event too: the answer of a hook that cannot read its payload
//! depends on it.

use std::path::{Path, PathBuf};

use steadfast_model::{EventName, Host, Via};

use super::scope::{InstallPaths, InstallScope};
use super::wiring::lines;

/// The beginning of every link's name.
const PREFIX: &str = "steadfast-hook-";

/// The links of one wiring: a base link, which `doctor` asks for its version, and one link for each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) base: PathBuf,
    host: Host,
}

impl Links {
    /// Returns the links if this wiring uses them: Claude Code only, because Codex runs a shell line, and no shared
    /// file, because a path is valid on one machine only.
    pub(super) fn of(host: Host, scope: InstallScope, place: &InstallPaths) -> Option<Self> {
        let has_links = host == Host::Claude && matches!(scope, InstallScope::Local | InstallScope::User);
        let folder = has_links.then(|| place.user_records.join("hooks"))?;
        Some(Self { base: folder.join(format!("{PREFIX}{host}-{}", scope.via(host))), host })
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let name = |event: EventName| PathBuf::from(for_event(&self.base.to_string_lossy(), event.as_str()));
        std::iter::once(self.base.clone()).chain(lines(self.host).iter().map(|line| name(line.event))).collect()
    }
}

pub(super) fn for_event(base: &str, event: &str) -> String {
    format!("{base}-{event}")
}

/// Returns true if a program is the base link of a wiring.
pub(super) fn is_base(program: &str) -> bool {
    file_name(program).strip_prefix(PREFIX).is_some_and(|way| read_way(way).is_some())
}

/// Splits the path of an event's link into base link, host, wiring and event.
pub(super) fn read(path: &str) -> Option<(&str, Host, Via, &str)> {
    let (host, via, event) = link_call(file_name(path))?;
    Some((&path[..path.len() - event.len() - 1], host, via, event))
}

/// Returns the arguments encoded in the name by which a hook was started.
pub fn link_call(name: &str) -> Option<(Host, Via, &str)> {
    let (way, event) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let (host, via) = read_way(way)?;
    let is_event = !event.is_empty() && event.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_event.then_some((host, via, event))
}

fn read_way(way: &str) -> Option<(Host, Via)> {
    let (host, via) = way.split_once('-')?;
    Some((host.parse().ok()?, via.parse().ok()?))
}

fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_host_way_and_event() {
        assert_eq!(link_call("steadfast-hook-claude-local-Stop"), Some((Host::Claude, Via::Local, "Stop")));
        let read = read("/a b/steadfast-hook-claude-user-PreToolUse");
        assert_eq!(read, Some(("/a b/steadfast-hook-claude-user", Host::Claude, Via::User, "PreToolUse")));
        for name in ["steadfast", "steadfast-hook-claude-local", "steadfast-hook-emacs-local-Stop", "steadfast-hook-"] {
            assert_eq!(link_call(name), None, "{name}");
        }
        assert!(is_base("/x/steadfast-hook-claude-local") && !is_base("/x/steadfast-hook-claude-local-Stop"));
    }
}
