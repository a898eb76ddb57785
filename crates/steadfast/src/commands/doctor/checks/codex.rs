//! What Codex wants of hooks before it runs them.

use steadfast_hosts::install::HooksFile;
use steadfast_model::Host;

use super::super::finding::Finding;
use super::super::here::Here;

/// Seen on 0.166.0: a file with any other member is ignored as a whole.
pub(super) fn codex_hooks_file(here: &Here) -> Vec<Finding> {
    here.files_of(Host::Codex)
        .filter(|file| !file.ours.is_empty() && !file.other_keys.is_empty())
        .map(|file| {
            let keys: Vec<_> = file.other_keys.iter().map(|key| format!("`{key}`")).collect();
            Finding::error(
                "codex-hooks-file",
                format!(
                    "`{}` has {} besides `hooks`: Codex then ignores the whole file",
                    file.path.display(),
                    keys.join(", ")
                ),
                "move it elsewhere: nothing but `hooks` may stand at the top of this file",
            )
        })
        .collect()
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
