//! Recognises Steadfast's own skills and commands. A human who calls one orders the work.

use super::list;

/// The beginning of the runner's prompt to the agent of a unit.
const UNIT: &str = "You do one unit of the plan ";

/// The command that a prompt calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// A skill of Steadfast that works on the plan.
    Own,
    /// Any other command.
    Other,
}

/// Returns the command at the beginning of a prompt.
pub(super) fn called(text: &str) -> Option<Called> {
    let text = text.trim_start();
    if text.starts_with(UNIT) {
        return Some(Called::Own);
    }
    // The form in a transcript of Claude Code.
    if let Some((_, rest)) = text.split_once("<command-name>").filter(|_| text.starts_with("<command-")) {
        let name = rest.split('<').next().unwrap_or_default();
        return Some(if is_own(name.trim()) { Called::Own } else { Called::Other });
    }
    let word = text.split_whitespace().next().unwrap_or_default();
    if is_own(word) && word.starts_with(['/', '$']) {
        return Some(Called::Own);
    }
    // `/home/me/x` is a path.
    let name = word.strip_prefix('/')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name.then_some(Called::Other)
}

/// Returns true for `/steadfast-run-tasks`, `/steadfast:run-tasks`, `$steadfast-run-tasks`, and for the bare name.
pub(crate) fn is_own(word: &str) -> bool {
    let word = word.trim_start_matches(['/', '$', '@', '`', '[']).trim_end_matches([',', '.', '!', ':', '`', ')']);
    let skill = word.strip_prefix("steadfast:").or_else(|| word.strip_prefix("steadfast-"));
    let skill = skill.map(|skill| skill.strip_prefix("steadfast-").unwrap_or(skill));
    skill.is_some_and(|skill| list("skills").has(skill))
}
