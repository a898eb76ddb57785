//! The checks of `steadfast doctor`, one function per kind of finding. To add one, add its function to [`CHECKS`].

mod binary;
mod config;
mod gate;
mod hook;
mod host;
mod ledger;
mod permission;
mod session;
mod state;
mod wiring;

use super::{Diagnostic, Installation};

pub(super) use wiring::not_set_up;

pub(super) type Check = fn(&Installation) -> Vec<Diagnostic>;

/// In order of dependency: a check comes after the checks of what it relies on.
pub(super) const CHECKS: [Check; 37] = [
    wiring::settings_invalid,
    wiring::not_wired,
    wiring::hooks_disabled,
    wiring::wiring_changed,
    wiring::wiring_old,
    wiring::wired_twice,
    wiring::other_stop_hooks,
    permission::permissions_missing,
    binary::binary_moved,
    binary::binary_other,
    host::host_versions,
    host::codex_hooks_file,
    host::codex_untrusted,
    config::config_invalid,
    config::config_useless,
    config::config_ignored,
    config::constraint_unread,
    config::tracker_unread,
    state::state_on_network,
    state::state_permissions,
    ledger::ledger_damaged,
    ledger::slice_stale,
    session::journal_damaged,
    session::late_events,
    session::leftover_sessions,
    gate::gate_left,
    gate::gate_unmarked,
    gate::gate_unreadable,
    gate::gate_expired,
    gate::seal_broken,
    gate::seal_partial,
    gate::kept_intruders,
    gate::approval_keys,
    session::stale_claims,
    session::clock_jumped,
    hook::hook_log,
    hook::hook_cost,
];
