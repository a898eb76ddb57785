//! Claims: which session and agent started a running call of `steadfast`. The hook leaves one before the call.

use std::fs;
use std::io;
use std::path::PathBuf;

use steadfast_model::{Claim, Millis, SessionId, ToolUseId};

use crate::file::{file_name, written_at};
use crate::place::Place;
use steadfast_redact::redact_json;
use steadfast_system::{Access, create_private_dir, replace};

/// The lifetime of a claim. A rejected or killed call leaves its claim behind, and clocks may be set back.
const LIFE_MS: u64 = 15 * 60 * 1_000;

pub fn leave_claim(place: &Place, claim: &Claim) -> io::Result<()> {
    let path = path(place, &claim.call);
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    replace(&path, redact_json(&serde_json::to_string(claim)?).as_bytes(), Access::Private)
}

pub fn drop_claim(place: &Place, call: &ToolUseId) -> io::Result<()> {
    match fs::remove_file(path(place, call)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Drops the claims of a session whose calls have ended, and the expired claims of all sessions.
pub fn drop_claims_of(place: &Place, session: &SessionId, now: Millis) {
    let Ok(folder) = fs::read_dir(place.state.join("claims")) else { return };
    for file in folder.flatten() {
        let claim = fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice::<Claim>(&bytes).ok());
        let is_its = |claim: &Claim| claim.session == *session && claim.agent.is_none();
        if claim.is_some_and(|claim| is_its(&claim) || is_stale(claim.at, now)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Returns the claim of the call that runs this command: the newest valid claim of this checkout whose command contains
/// `words`. If the environment names the session, only its claims count.
pub fn find_claim(place: &Place, session: Option<&SessionId>, words: &str, now: Millis) -> Option<Claim> {
    let folder = fs::read_dir(place.state.join("claims")).ok()?;
    let mut found: Option<Claim> = None;
    for file in folder.flatten() {
        let Some(claim) = fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice::<Claim>(&bytes).ok())
        else {
            continue;
        };
        // `clean` and `doctor --fix` count the expired claims, so looking up a caller must not remove them.
        if is_stale(claim.at, now) {
            continue;
        }
        // In the shell of a subagent, Codex sets the id of the subagent instead of the session.
        let is_its = |named: &SessionId| {
            *named == claim.session || claim.agent.as_ref().is_some_and(|agent| agent.as_str() == named.as_str())
        };
        let fits = without_flags(&claim.command).contains(words) && session.is_none_or(is_its);
        if fits && found.as_ref().is_none_or(|newest| claim.at > newest.at) {
            found = Some(claim);
        }
    }
    found
}

/// The words of a command line without the flags that may come between those of a command: `task --json done 1`.
fn without_flags(command: &str) -> String {
    let (mut words, mut is_value) = (Vec::new(), false);
    for word in command.split_whitespace() {
        let is_flag = matches!(word, "--utc" | "--json" | "--color") || word.starts_with("--color=");
        if !is_flag && !is_value {
            words.push(word);
        }
        is_value = word == "--color";
    }
    words.join(" ")
}

/// Lists expired claims, and unfinished claim files of killed processes.
pub fn stale_claims(place: &Place, now: Millis) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(place.state.join("claims")) else { return Vec::new() };
    let left_at = |file: &fs::DirEntry| {
        let claim = fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice::<Claim>(&bytes).ok());
        claim.map(|claim| claim.at).or_else(|| written_at(&file.metadata().ok()?))
    };
    let stale = |file: &fs::DirEntry| left_at(file).is_some_and(|at| is_stale(at, now));
    folder.flatten().filter(stale).map(|file| file.path()).collect()
}

/// Returns the claim of the call with this id.
pub fn claim_of_call(place: &Place, call: &ToolUseId) -> Option<Claim> {
    let bytes = fs::read(path(place, call)).ok()?;
    serde_json::from_slice::<Claim>(&bytes).ok().filter(|claim| claim.call == *call)
}

fn is_stale(left_at: Millis, now: Millis) -> bool {
    now.0.abs_diff(left_at.0) > LIFE_MS
}

fn path(place: &Place, call: &ToolUseId) -> PathBuf {
    place.state.join("claims").join(file_name(call.as_str()))
}

#[cfg(test)]
mod tests {
    use steadfast_model::Host;

    use super::*;

    #[test]
    fn a_stale_claim_is_not_taken_and_goes_with_the_next_end_of_a_turn() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let now = Millis(1_000_000_000);
        let at = |call: &str, at: Millis| Claim {
            call: ToolUseId::new(call),
            session: SessionId::new("s-1"),
            agent: None,
            host: Host::Claude,
            cwd: "/repo".into(),
            command: "steadfast task list".into(),
            at,
        };
        for claim in [at("stale", Millis(0)), at("living", now)] {
            leave_claim(&place, &claim).unwrap();
        }
        let found = find_claim(&place, None, "task list", now).map(|claim| claim.call);
        assert_eq!(found, Some(ToolUseId::new("living")));
        assert_eq!(stale_claims(&place, now).len(), 1, "looking removes nothing");
        drop_claims_of(&place, &SessionId::new("s-2"), now);
        let left: Vec<_> =
            fs::read_dir(place.state.join("claims")).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["living"]);
    }

    #[test]
    fn flags_between_the_words_of_a_command_do_not_hide_it() {
        for line in [
            "steadfast task done 1",
            "steadfast --color never task --json done 1",
            "steadfast  task --utc done --color=auto 1",
        ] {
            assert_eq!(without_flags(line), "steadfast task done 1", "{line}");
        }
    }
}
