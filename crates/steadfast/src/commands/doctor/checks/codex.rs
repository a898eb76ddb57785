//! What Codex wants of hooks before it runs them.

use steadfast_hosts::install::HooksFile;
use steadfast_model::Host;

use super::super::finding::Finding;
use super::super::here::Here;

/// What Codex takes at the top of a hooks file. Seen on 0.166.0: with anything else, the whole file is ignored.
const TOP: [&str; 2] = ["description", "hooks"];

pub(super) fn codex_hooks_file(here: &Here) -> Vec<Finding> {
    here.files_of(Host::Codex).filter(|file| !file.ours.is_empty()).filter_map(ignored).collect()
}

fn ignored(file: &HooksFile) -> Option<Finding> {
    let keys = file.other_keys.iter().filter(|key| !TOP.contains(&key.as_str()));
    let keys: Vec<_> = keys.map(|key| format!("`{key}`")).collect();
    let message = format!("`{}` has {} at its top: Codex ignores the whole file", file.path.display(), keys.join(", "));
    let hint = "move it elsewhere: only `hooks` and `description` may stand there";
    (!keys.is_empty()).then(|| Finding::error("codex-hooks-file", message, hint))
}

/// As far as its configuration tells: whether the hooks changed since, only Codex can say.
pub(super) fn codex_untrusted(here: &Here) -> Vec<Finding> {
    here.files_of(Host::Codex).filter(|file| !file.ours.is_empty()).filter_map(|file| untrusted(here, file)).collect()
}

fn untrusted(here: &Here, file: &HooksFile) -> Option<Finding> {
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
    Some(Finding::warning(
        "codex-untrusted",
        message,
        "start `codex` here and trust them when it asks, or with `/hooks`; `codex exec` does not ask",
    ))
}
