//! Checks that Claude Code lets an agent call Steadfast without a dialog.

use steadfast_hosts::install::{InstallScope, PermissionChoice, is_allowed, permission_choice};
use steadfast_model::Host;

use crate::doctor::{Diagnostic, Installation};

/// The mode in which Claude Code asks nothing.
const UNASKED: &str = "bypassPermissions";

pub(super) fn permissions_missing(here: &Installation) -> Vec<Diagnostic> {
    if !here.wired_hosts().contains(&Host::Claude) {
        return Vec::new();
    }
    // The mode of the strongest file that has the key is in effect.
    let mode = here.files_of(Host::Claude).find_map(|file| file.default_mode.as_deref());
    let allowed: Vec<String> = here.files_of(Host::Claude).flat_map(|file| file.allow.clone()).collect();
    let offered = here.given.offered.rules();
    let missing = offered.iter().filter(|rule| !is_allowed(rule, &allowed)).count();
    if missing == 0 || mode == Some(UNASKED) {
        return Vec::new();
    }
    let asks = format!(
        "Claude Code asks you before {} calls of Steadfast that `init` offers to allow",
        if missing == offered.len() { format!("all {missing}") } else { format!("{missing} of {}", offered.len()) }
    );
    // An unreadable record says nothing about the choice.
    let choice = permission_choice(InstallScope::Local, &here.setup.install).ok().flatten();
    vec![match choice {
        Some(PermissionChoice::Declined) => Diagnostic::note(
            "permissions-declined",
            format!("{asks}, because you declined the permissions: without you, a session waits at the first of them"),
            "`steadfast init --permissions` allows them by name",
        ),
        Some(PermissionChoice::Allowed) | None => Diagnostic::note(
            "permissions-missing",
            format!("{asks}: without you, a session waits at the first of them"),
            "`steadfast init` lists them and offers to allow them, `steadfast init --no-permissions` declines for good",
        ),
    }]
}
