//! Checks of gates, seals and the approval key.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ssh::public_key;
use crate::task_list::{ClosedGate, Looked, approval_key as ssh_key};
use steadfast_model::{ApprovalRules, GateScope, Profile, SealBreak};
use steadfast_store::{Restored, approval_key, gates, kept_aside, open_and_unseal, restore, sealed};
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::{FixError, Installation, is_open};

/// Limit of paths that a finding names.
const SHOWN: usize = 3;

/// Limit of repair rounds: comparing a tree finds only some of the changed files at a time.
const LOOKS: usize = 1_000;

pub(super) fn gate_left(here: &Installation) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for standing in ClosedGate::all(here.place(), &here.repository.environment) {
        let GateScope::Session(session) = &standing.gate.scope else { continue };
        if standing.is_left(here.place()) {
            let at = here.repository.environment.moment(standing.gate.closed_at);
            findings.push(Diagnostic::warning(
                "gate-left",
                format!("the gate of session {session} is closed since {at}, but the session has ended"),
                "if the session will not be resumed, `steadfast plan unlock` opens the gate; `steadfast plan \
                 approve` approves a waiting plan",
            ));
        }
    }
    findings
}

/// A damaged marker closes the gate for every session, and no session that could open it is known.
pub(super) fn gate_unreadable(here: &Installation) -> Vec<Diagnostic> {
    let nobodys = GateScope::Worktree(String::new());
    let unreadable = gates(here.place()).into_iter().filter(|gate| gate.scope == nobodys).count();
    if unreadable == 0 {
        return Vec::new();
    }
    let message =
        format!("{} cannot be read, so the plan gate is closed for every session", count(unreadable, "marker"));
    let hint = format!(
        "another program wrote to `{}`; `steadfast plan unlock` removes the damaged marker",
        here.place().state.join("gates").display()
    );
    vec![Diagnostic::warning("gate-unreadable", message, hint)]
}

pub(super) fn gate_unmarked(here: &Installation) -> Vec<Diagnostic> {
    let unmarked = ClosedGate::all(here.place(), &here.repository.environment)
        .into_iter()
        .filter(|standing| standing.unmarked)
        .count();
    if unmarked == 0 {
        return Vec::new();
    }
    let message =
        format!("the marker of {} was removed; a session remembers the gate, so it stays closed", a_gate(unmarked));
    let hint = "the next event of that session writes the marker again; `steadfast plan unlock` opens the gate";
    vec![Diagnostic::warning("gate-unmarked", message, hint)]
}

fn a_gate(count: usize) -> String {
    if count == 1 { "a closed gate".to_owned() } else { format!("{count} closed gates") }
}

pub(super) fn gate_expired(here: &Installation) -> Vec<Diagnostic> {
    let expired = gates(here.place()).into_iter().filter(|gate| gate.has_expired(here.now)).count();
    if expired == 0 {
        return Vec::new();
    }
    let message = format!("{} expired and is open, but the marker is still there", count(expired, "gate"));
    vec![
        Diagnostic::note("gate-expired", message, "it blocks nothing; `steadfast doctor --fix` removes the marker")
            .with_fix(drop_expired),
    ]
}

fn drop_expired(here: &Installation) -> Result<String, FixError> {
    let place = here.place();
    let expired: Vec<_> = gates(place).into_iter().filter(|gate| gate.has_expired(here.now)).collect();
    for gate in &expired {
        open_and_unseal(place, &gate.scope)?;
    }
    Ok(format!("{} removed", count(expired.len(), "marker")))
}

/// Every closed gate with the sealed files that changed.
fn looked(here: &Installation) -> impl Iterator<Item = (ClosedGate, Looked)> {
    ClosedGate::all(here.place(), &here.repository.environment).into_iter().map(|standing| {
        let looked = standing.seal(here.place());
        (standing, looked)
    })
}

pub(super) fn seal_broken(here: &Installation) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (standing, looked) in looked(here) {
        if let Some(message) = looked.line() {
            findings.push(if standing.agent_may_write() {
                let hint = "a program that an agent started may have changed it; `steadfast doctor --fix` restores \
                            it and keeps \
                            a copy of the current content";
                Diagnostic::warning("seal-broken", message, hint).with_fix(put_back)
            } else {
                let hint = "no agent was running, so a person probably changed it and Steadfast leaves it; the gate \
                            stays closed";
                Diagnostic::note("seal-broken", message, hint)
            });
        }
        if let Some(why) = looked.not_seen {
            let message = format!("the files that the plan gate seals as a git tree cannot be compared: {why}");
            let hint = "changes there are not restored; `git status` shows what is wrong with the repository";
            findings.push(Diagnostic::warning("seal-not-seen", message, hint));
        }
    }
    findings
}

fn put_back(here: &Installation) -> Result<String, FixError> {
    let (mut restored, mut kept, mut failed) = (0, Vec::new(), Vec::new());
    for _ in 0..LOOKS {
        let agents = looked(here).filter(|(standing, looked)| standing.agent_may_write() && !looked.breaks.is_empty());
        let agents: Vec<_> = agents.collect();
        if agents.is_empty() || !failed.is_empty() {
            break;
        }
        for (standing, SealBreak { path, .. }) in
            agents.iter().flat_map(|(standing, looked)| looked.breaks.iter().map(move |broken| (standing, broken)))
        {
            let root = standing.root(here.place());
            match restore(here.place(), &standing.gate.scope, root, path, here.now) {
                Ok(Restored::PutBack { kept: aside }) => {
                    restored += 1;
                    kept.extend(aside);
                }
                Ok(Restored::MovedAside { kept: aside }) => {
                    restored += 1;
                    kept.push(aside);
                }
                Ok(Restored::AsSealed) => {}
                Ok(Restored::NoCopy | Restored::NotSealed) => failed.push(format!("there is no copy of `{path}`")),
                Err(error) => failed.push(format!("`{path}`: {error}")),
            }
        }
    }
    if !failed.is_empty() {
        return Err(FixError::NotRestored(failed));
    }
    let aside = kept.last().map(|path: &PathBuf| format!("; the previous content is in `{}`", folder(path)));
    Ok(format!("{} restored{}", count(restored, "file"), aside.unwrap_or_default()))
}

fn folder(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}

/// Finds closed gates that cannot show a change, or cannot restore it.
pub(super) fn seal_partial(here: &Installation) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for ClosedGate { gate, .. } in ClosedGate::all(here.place(), &here.repository.environment) {
        let Some(sealed) = sealed(here.place(), &gate.scope) else {
            findings.push(Diagnostic::warning(
                "seal-missing",
                "a plan gate is closed, but the content of its protected paths was not recorded",
                "Steadfast does not notice changes there; `steadfast plan unlock` and `steadfast plan lock` record \
                 it again",
            ));
            continue;
        };
        let partly = sealed.not_sealed.iter().chain(&sealed.without_copy).map(|path| format!("`{path}`"));
        let partly: Vec<_> = partly.take(SHOWN).collect();
        if !partly.is_empty() {
            findings.push(Diagnostic::note(
                "seal-partial",
                format!("some files that the plan gate protects cannot be restored: {}", partly.join(", ")),
                "the seal covers 64 files, and in git all files that are not ignored, of at most 4 MiB each and in \
                 this checkout; \
                 writes are refused all the same",
            ));
        }
    }
    findings
}

pub(super) fn kept_intruders(here: &Installation) -> Vec<Diagnostic> {
    let kept = kept_aside(here.place());
    let [.., newest] = &kept[..] else { return Vec::new() };
    let message = format!("{} moved aside to `{}`", count(kept.len(), "file"), folder(newest));
    let hint = "they were where Steadfast restored a sealed file or wrote a plan; look at them, then delete them";
    vec![Diagnostic::note("kept-aside", message, hint)]
}

pub(super) fn approval_keys(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let rules = settings.rules().approval;
    match rules.profile {
        Profile::Hardened => hardened(&rules, here.repository.environment.home.as_deref()).into_iter().collect(),
        Profile::Default => {
            let Some(path) = own_key(here) else { return Vec::new() };
            let given = fs::read_dir(here.place().state.join("approvals")).into_iter().flatten().flatten().count();
            by_default(&path, given).into_iter().collect()
        }
    }
}

fn by_default(path: &Path, given: usize) -> Option<Diagnostic> {
    match fs::metadata(path) {
        Err(_) if given == 0 => None,
        Err(error) => Some(Diagnostic::warning(
            "approval-key",
            format!("{} cannot be verified: `{}`: {error}", count(given, "approval"), path.display()),
            "plans that it approved count as not approved; approve them again, which creates a new key",
        )),
        Ok(_) if is_open(path) => Some(
            Diagnostic::warning(
                "approval-key",
                format!("other users may read `{}`, the key that signs approvals", path.display()),
                "`steadfast doctor --fix` makes it readable only by you",
            )
            .with_fix(close_key),
        ),
        Ok(_) => None,
    }
}

fn hardened(rules: &ApprovalRules, home: Option<&Path>) -> Option<Diagnostic> {
    let wrong = |message: String, hint: &str| Some(Diagnostic::error("approval-key", message, hint));
    let Some(key) = ssh_key(rules, home) else {
        return wrong(
            "`approval.profile` is `hardened`, but `approval.key` names no key".into(),
            "`steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`",
        );
    };
    let public = public_key(&key);
    if public.is_file() {
        return None;
    }
    wrong(
        format!(
            "`approval.profile` is `hardened`, but `{}`, which verifies approvals, does not exist",
            public.display()
        ),
        "no plan counts as approved until it exists; `ssh-keygen -y -f KEY` prints it",
    )
}

/// The path of the approval key in the user's state.
fn own_key(here: &Installation) -> Option<PathBuf> {
    here.repository.environment.user_state.as_deref().map(approval_key)
}

fn close_key(here: &Installation) -> Result<String, FixError> {
    let path = own_key(here).ok_or(FixError::NoHome)?;
    let alone = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    match fs::set_permissions(&path, alone) {
        Ok(()) => Ok(format!("only you can read `{}` now", path.display())),
        Err(source) => Err(FixError::Key { path, source }),
    }
}
