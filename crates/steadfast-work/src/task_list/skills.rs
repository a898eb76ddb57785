//! Checks in the journal of a session that skills were used.

use steadfast_model::{Action, Entry, EventKind, Host, Millis, SessionId};
use steadfast_store::{Place, SessionFiles, read_lines};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    All,
    Without(Vec<String>),
    CannotTell(String),
}

/// Checks that each of these skills was called since then, by the agent or by its human.
pub(super) fn used(place: &Place, session: Option<&SessionId>, names: &[String], since: Millis) -> Seen {
    let Some(session) = session else {
        return Seen::CannotTell("the session is unknown, so the skills it used are unknown".into());
    };
    let files = SessionFiles::of(place, session);
    let host = files.peek().map(|state| state.host);
    if host == Some(Host::Codex) {
        return Seen::CannotTell("Codex does not report which skills it used".into());
    }
    // A journal that cannot be read counts as a missing one.
    let (_, lines) = read_lines(files.dir(), 0).unwrap_or_default();
    let mut missing: Vec<String> = names.to_vec();
    let mut complete = false;
    for line in &lines {
        match &line.entry {
            // Events before the snapshot are gone.
            Entry::Snapshot(state) => complete = complete || state.last_at <= since,
            Entry::Record(record) => {
                complete = complete || record.event.at <= since || line.sequence == 1;
                if record.event.at < since {
                    continue;
                }
                let called = match &record.event.kind {
                    EventKind::PreTool(call) => match &call.action {
                        Action::Skill { name } => Some(name),
                        _ => None,
                    },
                    EventKind::Command { name } => Some(name),
                    _ => None,
                };
                if let Some(called) = called {
                    missing.retain(|name| !is_same(called, name));
                }
            }
        }
    }
    match (missing.is_empty(), complete) {
        (true, _) => Seen::All,
        (false, true) => Seen::Without(missing),
        (false, false) => Seen::CannotTell("the journal of the session does not reach back far enough".into()),
    }
}

/// A plugin's skill is called `plugin:skill`, and a typed name starts with a slash.
fn is_same(called: &str, name: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('/').to_lowercase();
    let (called, name) = (bare(called), bare(name));
    called == name || called.rsplit(':').next() == Some(name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_known_with_its_plugin_and_with_its_slash() {
        assert!(
            ["frontend-design", "/frontend-design", "ui:frontend-design"].iter().all(|n| is_same(n, "frontend-design"))
        );
        assert!(!is_same("frontend", "frontend-design") && !is_same("frontend-design:other", "frontend-design"));
    }
}
