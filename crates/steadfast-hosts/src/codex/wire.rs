use steadfast_model::{Action, EventName, ListCall};

use crate::claude;
use crate::shape::{Capabilities, ToolInput};

/// Codex truncates a hook's text at 2,500 tokens. Four characters per token is usual; three is safe.
pub(crate) const TEXT_LIMIT: usize = 7_500;

/// Codex drops an answer with a field that it does not expect at that event, so answers contain only what this table
/// allows.
pub(crate) fn can(event: EventName) -> Capabilities {
    match event {
        EventName::SessionStart | EventName::SubagentStart | EventName::PostToolUse => Capabilities::CONTEXT,
        EventName::UserPromptSubmit | EventName::PreToolUse => Capabilities::CONTEXT.and_deny(),
        EventName::PermissionRequest => Capabilities::DENY.and_ask(),
        EventName::Stop | EventName::SubagentStop => Capabilities::GO_ON,
        EventName::PreCompact | EventName::PostCompact | EventName::Interrupt => Capabilities::NOTE,
        EventName::SessionEnd
        | EventName::UserPromptExpansion
        | EventName::PostToolUseFailure
        | EventName::PostToolBatch
        | EventName::StopFailure
        | EventName::Notification
        | EventName::TaskCreated
        | EventName::TaskCompleted
        | EventName::ConfigChange => Capabilities::NOTHING,
    }
}

pub(crate) fn action(tool: &str, input: &ToolInput<'_>) -> Action {
    match tool {
        "Bash" => claude::shell(input),
        "apply_patch" => Action::Write { paths: patched(&ToolInput::text(input.command).unwrap_or_default()) },
        "view_image" => Action::Read { paths: ToolInput::text(input.path).into_iter().collect() },
        "spawn_agent" => Action::Delegate { agent_type: ToolInput::text(input.agent_type).unwrap_or_default() },
        "request_user_input" => Action::Ask,
        "update_plan" => Action::List(ListCall::Look),
        _ => claude::mcp(tool).unwrap_or(Action::Other),
    }
}

/// Returns the files that a patch touches, at most 1,000.
fn patched(patch: &str) -> Vec<String> {
    const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut paths: Vec<String> = Vec::new();
    for line in patch.lines() {
        let path = HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head));
        if let Some(path) = path.map(str::trim)
            && !paths.iter().any(|known| known == path)
        {
            paths.push(path.to_owned());
        }
        if paths.len() == 1_000 {
            break;
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_every_file_it_touches_once() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+*** not a head\n\
                     *** Add File: c.txt\n+hi\n*** Delete File: d.txt\n*** Update File: c.txt\n*** End Patch\n";
        assert_eq!(patched(patch), ["src/a.rs", "src/b.rs", "c.txt", "d.txt"]);
    }
}
