//! Checks of the hosts: installed, recent enough, and (Codex) allowed to run hooks.

use steadfast_hosts::install::HooksFile;
use steadfast_model::{Host, Via};

use crate::doctor::Diagnostic;
use crate::doctor::Installation;
use crate::doctor::program;
use crate::doctor::program::Version;

/// The first versions that support everything Steadfast uses.
const CLAUDE: Version = Version(2, 1, 143);
const CODEX: Version = Version(0, 120, 0);

/// From this version on, Claude Code finds a project's local settings from any folder in it.
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
            "Steadfast cannot check what this version supports; put the host on the PATH if it is installed",
        )
    };
    let Some(program) = here.resolve(name) else {
        return vec![unknown(format!("{} is wired, but `{name}` is not on the PATH", host.full_name()))];
    };
    let Some(version) = program::version(&program) else {
        let seconds = program::PATIENCE.as_secs();
        return vec![unknown(format!("`{} --version` printed no version within {seconds} s", program.display()))];
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
                "Claude Code {version} reads `.claude/settings.local.json` only in the folder in which it is \
                 started: in \
                 a subfolder it calls no hook"
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
            Some((CLAUDE, "the number of refusals to stop that it accepts in a row is unknown and cannot be raised"))
        }
        Host::Codex if version < CODEX => Some((CODEX, "it has no hooks, or they are off until you switch them on")),
        Host::Claude | Host::Codex | Host::Sim => None,
    }
}

/// The keys that Codex accepts at the top level of a hooks file. With any other key, 0.166.0 ignores the whole file.
const TOP: [&str; 2] = ["description", "hooks"];

pub(super) fn codex_hooks_file(here: &Installation) -> Vec<Diagnostic> {
    here.files_of(Host::Codex).filter(|file| !file.ours.is_empty()).filter_map(ignored).collect()
}

fn ignored(file: &HooksFile) -> Option<Diagnostic> {
    let keys = file.other_keys.iter().filter(|key| !TOP.contains(&key.as_str()));
    let keys: Vec<_> = keys.map(|key| format!("`{key}`")).collect();
    let message =
        format!("`{}` has {} at its top level: Codex ignores the whole file", file.path.display(), keys.join(", "));
    let hint = "move it elsewhere: only `hooks` and `description` are allowed there";
    (!keys.is_empty()).then(|| Diagnostic::error("codex-hooks-file", message, hint))
}

/// Checks as far as the configuration shows; only Codex knows whether the hooks changed since they were trusted.
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
            format!("the hooks in `{path}` are not trusted yet, so Codex does not run them")
        }
        some => format!(
            "{some} of {} hooks in `{path}` are not trusted yet, so Codex does not run them: {}",
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
