//! The hosts themselves: whether they are there, and what their age costs.

use steadfast_model::{Host, Via};

use super::super::finding::Finding;
use super::super::here::Here;
use super::super::program;
use super::super::version::Version;
use crate::setup::full_name;

/// What a host has to be for everything to work.
const CLAUDE: Version = Version(2, 1, 143);
const CODEX: Version = Version(0, 120, 0);

/// From here on Claude Code finds a project's local settings from any folder in it.
const CLAUDE_LOOKS_UP: Version = Version(2, 1, 200);

pub(super) fn host_versions(here: &Here) -> Vec<Finding> {
    here.wired_hosts().into_iter().flat_map(|host| look_at(here, host)).collect()
}

fn look_at(here: &Here, host: Host) -> Vec<Finding> {
    let name = host.as_str();
    let unknown = |message| {
        Finding::note(
            "host-unknown",
            message,
            "without its version, what it can do is not checked; put it on the PATH if it is there",
        )
    };
    let Some(program) = here.resolve(name) else {
        return vec![unknown(format!("{} is wired, and there is no `{name}` on the PATH", full_name(host)))];
    };
    let Some(version) = program::version(&program) else {
        let seconds = program::PATIENCE.as_secs();
        return vec![unknown(format!("`{} --version` says no version within {seconds} s", program.display()))];
    };
    let mut findings = Vec::new();
    if let Some((needed, cost)) = too_old(host, version) {
        findings.push(Finding::warning(
            "host-too-old",
            format!("{} {version} is older than {needed}: {cost}", full_name(host)),
            format!("update `{}`", program.display()),
        ));
    }
    let local = here.wired().iter().any(|wired| wired.file.host == host && wired.via == Via::Local);
    if host == Host::Claude && version < CLAUDE_LOOKS_UP && local {
        findings.push(Finding::note(
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
