//! `steadfast.toml`, and the list of tasks that it names.

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
        "mend it; `steadfast config schema` lists every key with what it may be; until then sessions keep what they knew before",
    )]
}

/// Claude Code lets an agent go by itself after so many refusals in a row.
const CLAUDES_OWN: u64 = 8;

pub(super) fn config_useless(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let max_idle = u64::from(settings.stop.max_idle.value);
    if max_idle < CLAUDES_OWN || !here.wired_hosts().contains(&Host::Claude) {
        return Vec::new();
    }
    let cap = here.files_of(Host::Claude).find_map(|file| file.stop_block_cap).or(here.stop_block_cap);
    // Zero is no limit.
    if cap.is_some_and(|cap| cap == 0 || cap > max_idle) {
        return Vec::new();
    }
    vec![Diagnostic::warning(
        "config-useless",
        format!(
            "`max_idle` is {max_idle}, but Claude Code grants {} refusals to stop in a row: the rest has no effect",
            cap.unwrap_or(CLAUDES_OWN)
        ),
        format!("`steadfast init` raises `{STOP_BLOCK_CAP}` in the settings; a `max_idle` below 8 needs nothing"),
    )]
}

/// What comes with a project may not say which commands are run: whoever cloned it did not read it.
pub(super) fn config_ignored(here: &Installation) -> Vec<Diagnostic> {
    let config = &here.repository.config;
    let Ok(settings) = config.load() else { return Vec::new() };
    let ignored = settings.ignored.iter().filter_map(|(key, source)| Some((key, config.path(*source)?)));
    ignored
        .map(|(key, path)| {
            Diagnostic::note(
                "config-ignored",
                format!(
                    "`{}` says `{key}`, which is ignored there: a project does not say what is run",
                    path.display()
                ),
                format!("if you want it, `steadfast config set {key} …` sets it for you in this repository"),
            )
        })
        .collect()
}

/// A sentence that is not understood forbids nothing, and whoever wrote it thinks it does.
pub(super) fn constraint_unread(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let unread = settings.drift.constraints.value.iter().filter(|sentence| understood(sentence).is_empty());
    unread
        .map(|sentence| {
            Diagnostic::warning(
                "constraint-unread",
                format!("`drift.constraints` says \"{sentence}\", which is not understood and forbids nothing"),
                "say it plainly, like \"don't commit\" or \"don't touch the schema\"; `drift.never` takes paths",
            )
        })
        .collect()
}

/// In the time that a stop has for it: a list that takes longer holds nobody.
pub(super) fn tracker_unread(here: &Installation) -> Vec<Diagnostic> {
    let Ok(settings) = here.repository.config.load() else { return Vec::new() };
    let Some(tracker) = tracker::of(&settings, here.place(), here.now) else { return Vec::new() };
    let Err(error) = tracker.read(TimeBudget::of(HOOK)) else { return Vec::new() };
    vec![Diagnostic::warning(
        "tracker-unread",
        tracker::unread(tracker.as_ref(), &error),
        "until it can be, no session is held by its tasks; `ledger.source` names it, and `native` keeps tasks here",
    )]
}
