//! The hosts themselves: whether they are there, what their age costs, and what Codex requires before it runs hooks.

use steadfast_hosts::install::HooksFile;
use steadfast_model::{Host, Via};

use crate::doctor::Diagnostic;
use crate::doctor::Installation;
use crate::doctor::program;
use crate::doctor::program::Version;

/// What a host has to be for everything to work.
const CLAUDE: Version = Version(2, 1, 143);
const CODEX: Version = Version(0, 120, 0);

/// From here on Claude Code finds a project's local settings from any folder in it.
const CLAUDE_LOOKS_UP: Version = Version(2, 1, 200);

pub(super) fn host_versions(here: &Installation) -> Vec<Diagnostic> {
    here.wired_hosts().into_iter().flat_map(|host| look_at(here, host)).collect()
}

fn look_at(here: &Installation, host: Host) -> Vec<Diagnostic> {
    let name = host.as_str();
    let unknown = |message| {
        Diagnostic::note(
            "host-unknown",
            message,
            "without its version, what it can do is not checked; put it on the PATH if it is there",
        )
    };
    let Some(program) = here.resolve(name) else {
        return vec![unknown(format!("{} is wired, and there is no `{name}` on the PATH", host.full_name()))];
    };
    let Some(version) = program::version(&program) else {
        let seconds = program::PATIENCE.as_secs();
        return vec![unknown(format!("`{} --version` says no version within {seconds} s", program.display()))];
    };
    let mut findings = Vec::new();
    if let Some((needed, cost)) = too_old(host, version) {
        findings.push(Diagnostic::warning(
            "host-too-old",
            format!("{} {version} is older than {needed}: {cost}", host.full_name()),
            format!("update `{}`", program.display()),
        ));
    }
    let local = here.wired().iter().any(|wired| wired.file.host == host && wired.via == Via::Local);
    if host == Host::Claude && version < CLAUDE_LOOKS_UP && local {
        findings.push(Diagnostic::note(
            "host-subfolder",
            format!(
                "Claude Code {version} looks for `.claude/settings.local.json` only in the folder it is started in: in \
                 a folder below, it calls no hook"
            ),
            format!(
                "start it in `{}`, update it to {CLAUDE_LOOKS_UP} or newer, or wire it with `steadfast init --user`",
                here.place().root.display()
            ),
        ));
    }
    findings
}

fn too_old(host: Host, version: Version) -> Option<(Version, &'static str)> {
    match host {
        Host::Claude if version < CLAUDE => {
            Some((CLAUDE, "how many refusals to stop it grants in a row is not known, and cannot be raised"))
        }
        Host::Codex if version < CODEX => Some((CODEX, "its hooks are off unless they are switched on, or absent")),
        Host::Claude | Host::Codex | Host::Sim => None,
    }
}

/// What Codex takes at the top of a hooks file. Seen on 0.166.0: with anything else, the whole file is ignored.
const TOP: [&str; 2] = ["description", "hooks"];

pub(super) fn codex_hooks_file(here: &Installation) -> Vec<Diagnostic> {
    here.files_of(Host::Codex).filter(|file| !file.ours.is_empty()).filter_map(ignored).collect()
}

fn ignored(file: &HooksFile) -> Option<Diagnostic> {
    let keys = file.other_keys.iter().filter(|key| !TOP.contains(&key.as_str()));
    let keys: Vec<_> = keys.map(|key| format!("`{key}`")).collect();
    let message = format!("`{}` has {} at its top: Codex ignores the whole file", file.path.display(), keys.join(", "));
    let hint = "move it elsewhere: only `hooks` and `description` may stand there";
    (!keys.is_empty()).then(|| Diagnostic::error("codex-hooks-file", message, hint))
}

/// As far as its configuration tells: whether the hooks changed since, only Codex can say.
pub(super) fn codex_untrusted(here: &Installation) -> Vec<Diagnostic> {
    here.files_of(Host::Codex).filter(|file| !file.ours.is_empty()).filter_map(|file| untrusted(here, file)).collect()
}

fn untrusted(here: &Installation, file: &HooksFile) -> Option<Diagnostic> {
    let trusted = |hook| here.codex.iter().any(|config| config.trusts(file, hook));
    let missing: Vec<_> = file.ours.iter().filter(|hook| !trusted(hook)).map(|hook| hook.event.as_str()).collect();
    let path = file.path.display();
    let message = match missing.len() {
        0 => return None,
        all if all == file.ours.len() => {
            format!("Codex has not been told to trust the hooks in `{path}`, so it does not run them")
        }
        some => format!(
            "Codex has not been told to trust {some} of {} hooks in `{path}`, so it does not run them: {}",
            file.ours.len(),
            missing.join(", ")
        ),
    };
    Some(Diagnostic::warning(
        "codex-untrusted",
        message,
        "start `codex` here and trust them when it asks, or with `/hooks`; `codex exec` does not ask",
    ))
}
