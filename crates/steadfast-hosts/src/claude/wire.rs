use std::ops::RangeInclusive;

use steadfast_model::{Action, EventName, ListCall, PromptOrigin};

use crate::shape::{Capabilities, Input, ToolInput};

/// Claude Code truncates a hook's text at 10,000 characters.
pub(crate) const TEXT_LIMIT: usize = 9_500;

/// Longest question kept, in bytes.
const QUESTION_LIMIT: usize = 1_024;

/// Longest plan kept when the agent leaves plan mode, in bytes. A longer plan cannot be approved there.
const PLAN_LIMIT: usize = 256 << 10;

/// The oldest and the newest version with which the tests run. An answer that an untested version ignores would let a
/// session stop, so a version outside of them gets the form that every version knows.
const TESTED: RangeInclusive<ClaudeVersion> = ClaudeVersion([2, 1, 197])..=ClaudeVersion([2, 1, 325]);

/// A version of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaudeVersion([u32; 3]);

impl ClaudeVersion {
    /// Parses the name that Claude Code gives to its hooks in the variable `AI_AGENT`: `claude-code_2-1-325_harness`. It
    /// sets the variable anew at each start. The commands of its agent get `claude-code_2-1-325_agent`, so a version
    /// without this variable that such a command starts does not pass on another's name.
    pub fn of_agent(name: &str) -> Option<Self> {
        let version = name.strip_prefix("claude-code_")?.strip_suffix("_harness")?;
        let mut parts = version.split('-').map(|part| part.parse().ok());
        let version = [parts.next()??, parts.next()??, parts.next()??];
        // `2-1-325-beta` is another program.
        parts.next().is_none().then_some(Self(version))
    }
}

pub(crate) fn can(event: EventName, version: Option<ClaudeVersion>) -> Capabilities {
    let is_tested = version.is_some_and(|version| TESTED.contains(&version));
    match event {
        EventName::SessionStart
        | EventName::SubagentStart
        | EventName::PostToolUse
        | EventName::PostToolUseFailure
        | EventName::PostToolBatch => Capabilities::CONTEXT,
        EventName::UserPromptSubmit | EventName::UserPromptExpansion => Capabilities::CONTEXT.and_deny(),
        EventName::PreToolUse => Capabilities::CONTEXT.and_deny().and_ask().and_exchange().with_preview(is_tested),
        EventName::PermissionRequest => Capabilities::DENY.and_ask(),
        EventName::PreCompact | EventName::ConfigChange | EventName::TaskCompleted => Capabilities::DENY,
        EventName::Stop | EventName::SubagentStop => Capabilities::GO_ON.with_feedback(is_tested),
        EventName::PostCompact | EventName::Notification | EventName::TaskCreated => Capabilities::NOTE,
        EventName::SessionEnd | EventName::StopFailure | EventName::Interrupt => Capabilities::NOTHING,
    }
}

pub(crate) fn action(tool: &str, input: &ToolInput<'_>) -> Action {
    match tool {
        "Bash" | "PowerShell" => shell(input),
        "Write" | "Edit" | "MultiEdit" => Action::Write { paths: paths([input.file_path]) },
        "NotebookEdit" => Action::Write { paths: paths([input.notebook_path]) },
        "Read" => Action::Read { paths: paths([input.file_path]) },
        "Glob" | "Grep" | "LS" => Action::Read { paths: paths([input.path]) },
        "Agent" | "Task" => Action::Delegate { agent_type: ToolInput::text(input.subagent_type).unwrap_or_default() },
        "Skill" => Action::Skill { name: ToolInput::text(input.skill).unwrap_or_default() },
        "AskUserQuestion" => Action::Ask,
        "ExitPlanMode" => Action::LeavePlan,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" => Action::List(ListCall::Look),
        _ => mcp(tool).unwrap_or(Action::Other),
    }
}

/// Returns the texts that a call shows to the human.
pub(crate) fn words(action: &Action, input: &ToolInput<'_>) -> Vec<String> {
    match action {
        Action::Ask => input.questions(QUESTION_LIMIT),
        Action::LeavePlan => ToolInput::text(input.plan).into_iter().filter(|plan| plan.len() <= PLAN_LIMIT).collect(),
        _ => Vec::new(),
    }
}

/// Beginnings of prompts that Claude Code makes from other sources: background tasks, subagents, team members, other
/// sessions, channels. The names are from Claude Code 2.1.325.
const OF_OTHERS: [&str; 10] = [
    "<task-notification>",
    "<agent-message",
    "<teammate-message",
    "<cross-session-message",
    "<coordinator-relay",
    "<slack-ping",
    "<slack-tag-message",
    "<remote-review",
    "<channel source=",
    "[SYSTEM NOTIFICATION",
];

/// Returns the speaker of a prompt. The notification of a background task contains text of a subagent, not of the
/// human.
pub(crate) fn origin(text: &str, source: Option<&str>) -> PromptOrigin {
    let start = text.trim_start();
    if source != Some("user") && OF_OTHERS.iter().any(|tag| start.starts_with(tag)) {
        return PromptOrigin::Notification;
    }
    match source {
        Some("system" | "loop_wakeup" | "schedule_wakeup" | "poll_event") => PromptOrigin::Machine,
        _ => PromptOrigin::Human,
    }
}

pub(crate) fn shell(input: &ToolInput<'_>) -> Action {
    Action::Shell {
        command: ToolInput::text(input.command).unwrap_or_default(),
        background: Input::flag(input.run_in_background),
    }
}

pub(crate) fn mcp(tool: &str) -> Option<Action> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    // Strip the prefix that the plugin adds to our server's name.
    let server = server.strip_prefix("plugin_steadfast_").unwrap_or(server);
    Some(Action::Mcp { server: server.to_owned(), tool: tool.to_owned(), paths: Vec::new() })
}

fn paths<const N: usize>(fields: [Option<&serde_json::value::RawValue>; N]) -> Vec<String> {
    fields.into_iter().filter_map(ToolInput::text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_not_the_humans_word() {
        for text in [
            "<task-notification>\n<task-id>1</task-id>",
            "  <teammate-message teammate_id=\"lead\">approve plan cc27854e</teammate-message>",
            "<cross-session-message from=\"b\">\nok, commit it\n</cross-session-message>",
            "<agent-message>commit it</agent-message>",
            "<channel source=\"x\">commit it</channel>",
            "[SYSTEM NOTIFICATION - NOT USER INPUT] commit it",
        ] {
            assert_eq!(origin(text, None), PromptOrigin::Notification, "{text}");
        }
        for source in ["system", "loop_wakeup", "schedule_wakeup", "poll_event"] {
            assert_eq!(origin("commit it", Some(source)), PromptOrigin::Machine, "{source}");
        }
        for (text, source) in [("commit it", None), ("<channel><title>A feed</title>", None), ("<b>", Some("user"))] {
            assert_eq!(origin(text, source), PromptOrigin::Human, "{text}");
        }
    }

    #[test]
    fn a_version_is_known_only_by_the_name_that_a_hook_gets() {
        let of = ClaudeVersion::of_agent;
        assert_eq!(of("claude-code_2-1-325_harness"), Some(ClaudeVersion([2, 1, 325])));
        for name in [
            "",
            "claude-code",
            "claude-code_2-1-325",
            "claude-code_2-1-325_agent",
            "claude-code_2-1_harness",
            "claude-code_2-1-325-beta_harness",
            "claude-code_2-1-325-1_harness",
            "claude-code_2-1-x_harness",
            "codex_2-1-325_harness",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn only_tested_versions_get_a_refusal_as_feedback() {
        let feedback = |name| can(EventName::Stop, ClaudeVersion::of_agent(name)).feedback;
        for (name, is_tested) in [
            ("claude-code_2-1-196_harness", false),
            ("claude-code_2-1-197_harness", true),
            ("claude-code_2-1-325_harness", true),
            ("claude-code_2-1-326_harness", false),
            ("claude-code_3-0-0_harness", false),
            ("claude-code_2-1-325_agent", false),
            ("", false),
        ] {
            assert_eq!(feedback(name), is_tested, "{name}");
        }
    }

    #[test]
    fn our_server_is_ours_also_as_the_plugin_brings_it() {
        for name in ["mcp__steadfast__task_done", "mcp__plugin_steadfast_steadfast__task_done"] {
            let ours = Action::Mcp { server: "steadfast".to_owned(), tool: "task_done".to_owned(), paths: Vec::new() };
            assert_eq!(mcp(name), Some(ours), "{name}");
        }
        let other = Action::Mcp { server: "plugin_x_steadfast".to_owned(), tool: "y".to_owned(), paths: Vec::new() };
        assert_eq!(mcp("mcp__plugin_x_steadfast__y"), Some(other));
    }
}
