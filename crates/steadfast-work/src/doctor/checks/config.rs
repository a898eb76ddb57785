//! Checks of `steadfast.toml`, and of the task list that it names.

use steadfast_engine::goal::understood;
use steadfast_hosts::install::STOP_BLOCK_CAP;
use steadfast_model::Host;

use crate::doctor::Diagnostic;
use crate::doctor::Installation;
use crate::tracker::{self, HOOK, TimeBudget};

pub(super) fn config_invalid(here: &Installation) -> Vec<Diagnostic> {
    let Err(error) = here.repository.config.load() else { return Vec::new() };
    vec![Diagnostic::error(
        "config-invalid",
        error,
        "fix the file; `steadfast config schema` lists every key with its values. Until then sessions keep their \
         old settings",
    )]
}

/// Claude Code lets an agent stop after this many refusals in a row, unless its cap is raised.
const CLAUDES_OWN: u64 = 8;

pub(super) fn config_useless(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let max_idle = u64::from(settings.stop.max_idle.value);
    if max_idle < CLAUDES_OWN || !here.wired_hosts().contains(&Host::Claude) {
        return Vec::new();
    }
    let cap = here.files_of(Host::Claude).find_map(|file| file.stop_block_cap).or(here.given.stop_block_cap);
    // Zero means no limit.
    if cap.is_some_and(|cap| cap == 0 || cap > max_idle) {
        return Vec::new();
    }
    vec![Diagnostic::warning(
        "config-useless",
        format!(
            "`stop.max_idle` is {max_idle}, but Claude Code accepts only {} refusals to stop in a row; higher \
             values have no effect",
            cap.unwrap_or(CLAUDES_OWN)
        ),
        format!(
            "`steadfast init` raises `{STOP_BLOCK_CAP}` in the settings; a `stop.max_idle` below 8 needs no change"
        ),
    )]
}

/// A project file may not name commands to run, because the user who cloned the project did not read it.
pub(super) fn config_ignored(here: &Installation) -> Vec<Diagnostic> {
    let config = &here.repository.config;
    let Ok(settings) = config.load() else { return Vec::new() };
    let ignored = settings.ignored.iter().filter_map(|(key, source)| Some((key, config.path(*source)?)));
    ignored
        .map(|(key, path)| {
            Diagnostic::note(
                "config-ignored",
                format!(
                    "`{}` sets `{key}`, which is ignored there: a project file may not choose which commands are run",
                    path.display()
                ),
                format!("if you want it, `steadfast config set {key} …` sets it for you in this repository"),
            )
        })
        .collect()
}

/// A sentence that Steadfast does not understand forbids nothing, although its author expects that it does.
pub(super) fn constraint_unread(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let unread = settings.drift.constraints.value.iter().filter(|sentence| understood(sentence).is_empty());
    unread
        .map(|sentence| {
            Diagnostic::warning(
                "constraint-unread",
                format!(
                    "`drift.constraints` has \"{sentence}\", which Steadfast does not understand; it forbids nothing"
                ),
                "write it plainly, such as \"don't commit\" or \"don't touch the schema\"; `drift.never` takes paths",
            )
        })
        .collect()
}

/// Reads within the time that the stop hook has: a list that takes longer blocks no stop.
pub(super) fn tracker_unread(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let Some(tracker) = tracker::of(&settings, here.place(), here.now) else { return Vec::new() };
    let Err(error) = tracker.read(TimeBudget::of(HOOK)) else { return Vec::new() };
    vec![Diagnostic::warning(
        "tracker-unread",
        tracker::unread(tracker.as_ref(), &error),
        "until it can be read, its tasks block no stop; `ledger.source` names the tracker, and `native` keeps tasks \
         here",
    )]
}
