//! Checks of the hooks in the settings of the hosts: ours, and the Stop hooks of others.

use steadfast_hosts::install::{HooksFile, InstallError, Wired};
use steadfast_model::{Entry, Host, Via};
use steadfast_store::{Place, read_lines};
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::Installation;

pub(in super::super) fn not_set_up(place: &Place) -> Diagnostic {
    Diagnostic::error(
        "not-set-up",
        format!("Steadfast is not set up for `{}`", place.root.display()),
        "`steadfast init` sets it up; it shows what it changes first",
    )
}

pub(super) fn settings_invalid(here: &Installation) -> Vec<Diagnostic> {
    let finding = |error: &InstallError| {
        Diagnostic::error(
            "settings-invalid",
            error,
            "the host cannot read this file either; fix it, then run `steadfast init` if it had hooks of Steadfast",
        )
    };
    here.unread.iter().map(finding).collect()
}

/// Reports if no host is wired, and each wired host of which no session is known.
pub(super) fn not_wired(here: &Installation) -> Vec<Diagnostic> {
    let wired = here.wired_hosts();
    if wired.is_empty() {
        return if last_came_by_plugin(here) { Vec::new() } else { vec![no_host_wired(here)] };
    }
    let known: Vec<Host> = here.sessions().iter().map(|(_, state)| state.host).collect();
    let silent: Vec<Host> = wired.iter().copied().filter(|host| !known.contains(host)).collect();
    let all_silent = silent.len() == wired.len();
    silent.into_iter().map(|host| never_fired(host, all_silent)).collect()
}

fn no_host_wired(here: &Installation) -> Diagnostic {
    Diagnostic::error(
        "not-wired",
        format!("`{}` is set up, but no host has hooks of Steadfast in its settings", here.place().root.display()),
        "`steadfast init` wires the hosts in use; it shows what it changes first",
    )
}

/// A plugin brings its own wiring, which is in no file that `init` writes.
fn last_came_by_plugin(here: &Installation) -> bool {
    let last = here.sessions().into_iter().max_by_key(|(_, state)| state.last_at);
    let lines = last.and_then(|(files, _)| read_lines(files.dir(), 0).ok());
    lines.and_then(|(_, lines)| lines.into_iter().next_back()).is_some_and(|line| match line.entry {
        Entry::Record(record) => record.event.via == Via::Plugin,
        Entry::Snapshot(_) => false,
    })
}

fn never_fired(host: Host, all_silent: bool) -> Diagnostic {
    let name = host.full_name();
    let message = format!("{name} is wired, but no session of it was seen here");
    let hint = match host {
        Host::Codex => {
            "start `codex` here and trust the hooks when it asks, or with `/hooks`; `codex exec` does not ask and \
             skips \
             them"
        }
        Host::Claude | Host::Sim => "start `claude` here and send a message; restart a session that is already running",
    };
    if all_silent {
        Diagnostic::warning("hook-never-fired", message, hint)
    } else {
        Diagnostic::note("hook-never-fired", message, hint)
    }
}

pub(super) fn hooks_disabled(here: &Installation) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let wired = here.wired_hosts();
    if wired.contains(&Host::Claude) {
        // The setting of the strongest file that has the key is in effect.
        let decides = here.files_of(Host::Claude).find(|file| file.disable_all.is_some());
        if let Some(file) = decides.filter(|file| file.disable_all == Some(true)) {
            findings.push(disabled(
                format!("`disableAllHooks` is true in `{}`: Claude Code runs no hook", file.path.display()),
                if file.managed { BY_ADMINISTRATOR } else { "remove it or set it to false" },
            ));
        }
        if let Some(file) = here.files_of(Host::Claude).find(|file| file.managed && file.managed_only) {
            findings.push(disabled(
                format!(
                    "`allowManagedHooksOnly` is true in `{}`: Claude Code runs no hooks of users and projects",
                    file.path.display()
                ),
                BY_ADMINISTRATOR,
            ));
        }
    }
    if wired.contains(&Host::Codex) {
        let decides = here.codex.iter().find(|config| config.hooks.is_some());
        if let Some(config) = decides.filter(|config| config.hooks == Some(false)) {
            findings.push(disabled(
                format!("`hooks` is false under `[features]` in `{}`: Codex runs no hook", config.path.display()),
                "remove it or set it to true",
            ));
        }
        findings.extend(switched_off(here));
    }
    findings
}

const BY_ADMINISTRATOR: &str = "only the administrator of this machine can change it, or add the hooks there";

fn disabled(message: String, hint: &str) -> Diagnostic {
    Diagnostic::error("hooks-disabled", message, hint)
}

/// Codex can switch off single hooks.
fn switched_off(here: &Installation) -> Option<Diagnostic> {
    let is_off = |file: &HooksFile, hook| here.codex.iter().any(|config| config.switches_off(file, hook));
    let off: Vec<_> = here
        .files_of(Host::Codex)
        .flat_map(|file| file.ours.iter().filter(|hook| is_off(file, hook)).map(|hook| hook.event.as_str()))
        .collect();
    let message = format!("{} of Steadfast switched off in Codex: {}", count(off.len(), "hook"), off.join(", "));
    (!off.is_empty()).then(|| disabled(message, "`/hooks` in Codex switches them on again"))
}

/// Finds hooks of ours that differ from what `init` writes: removed, or limited to some tools.
pub(super) fn wiring_changed(here: &Installation) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for wired in here.wired() {
        let (file, missing, narrowed) = (wired.file, wired.missing(), wired.narrowed());
        let path = file.path.display();
        let changed = |message: String, hint: &str| Diagnostic::warning("wiring-changed", message, hint);
        if !missing.is_empty() {
            findings.push(changed(
                format!(
                    "`{path}` does not call Steadfast for {}: the hooks were removed, or an older version wrote the \
                     file",
                    missing.join(", ")
                ),
                "`steadfast init` writes them again; check that file for other changes",
            ));
        }
        if !narrowed.is_empty() {
            findings.push(changed(
                format!("in `{path}` the hooks of Steadfast were limited: {}", narrowed.join(", ")),
                "Steadfast cannot refuse calls that it does not see; remove the limit, or run `steadfast uninstall` \
                 and `steadfast init`",
            ));
        }
    }
    findings
}

/// Finds hooks of an older version, which other hosts misread.
pub(super) fn wiring_old(here: &Installation) -> Vec<Diagnostic> {
    let old = here.wired().into_iter().filter(Wired::needs_args);
    old.map(|wired| {
        Diagnostic::error(
            "wiring-old",
            format!(
                "`{}` has hooks of an older version. Another host that reads this file (such as Copilot CLI) drops \
                 their \
                 `args`: it may run the payload as a script, or deny every call",
                wired.file.path.display()
            ),
            match wired.via {
                Via::Project => "`steadfast init --shared` writes them again; then commit the file",
                Via::User if wired.file.host == Host::Claude => "`steadfast init --user` writes them again",
                _ => "`steadfast init` writes them again",
            },
        )
    })
    .collect()
}

pub(super) fn wired_twice(here: &Installation) -> Vec<Diagnostic> {
    let wired = here.wired();
    let mut findings = Vec::new();
    for host in here.wired_hosts() {
        let of_host: Vec<_> = wired.iter().filter(|wired| wired.file.host == host).collect();
        if of_host.len() > 1 {
            let ways: Vec<_> =
                of_host.iter().map(|wired| format!("{} (`{}`)", wired.via, wired.file.path.display())).collect();
            findings.push(Diagnostic::note(
                "wired-twice",
                format!("{} is wired more than once: {}", host.full_name(), ways.join(", ")),
                "harmless: Steadfast counts an event once. `steadfast uninstall`, then one `steadfast init`, leaves \
                 one",
            ));
        }
    }
    findings
}

pub(super) fn other_stop_hooks(here: &Installation) -> Vec<Diagnostic> {
    let wired = here.wired_hosts();
    let in_settings = here.files.iter().map(|file| (file.host, file.other_stop_hooks, &file.path));
    let in_config = here.codex.iter().map(|config| (Host::Codex, config.stop_hooks, &config.path));
    in_settings
        .chain(in_config)
        .filter(|(host, count, _)| *count > 0 && wired.contains(host))
        .map(|(host, count, path)| {
            Diagnostic::note(
                "other-stop-hooks",
                format!(
                    "{} has {} of other programs in `{}`, which may refuse a stop too",
                    host.full_name(),
                    steadfast_text::count(count, "Stop hook"),
                    path.display()
                ),
                "if an agent continues although Steadfast let it stop, look there",
            )
        })
        .collect()
}
