//! What is installed into a host: which events, and by which command.

use steadfast_model::{EventName, Host, Via};

use super::json::{Node, Value};
use super::shell_word;

/// The name of our MCP server in every host.
pub const SERVER: &str = "steadfast";

/// One registered event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookLine {
    pub event: EventName,
    /// In seconds. Codex hashes it into its trust in a hook: a changed number asks every user again.
    pub timeout: u32,
}

const fn line(event: EventName) -> HookLine {
    HookLine { event, timeout: 10 }
}

/// All events of the design, also those that nothing answers yet: a later version must not change what is installed.
const CLAUDE: [HookLine; 17] = [
    line(EventName::SessionStart),
    line(EventName::SessionEnd),
    line(EventName::UserPromptSubmit),
    line(EventName::UserPromptExpansion),
    line(EventName::PreToolUse),
    line(EventName::PermissionRequest),
    line(EventName::PostToolUse),
    line(EventName::PostToolUseFailure),
    line(EventName::PostToolBatch),
    line(EventName::Stop),
    line(EventName::StopFailure),
    line(EventName::SubagentStart),
    line(EventName::SubagentStop),
    line(EventName::PreCompact),
    line(EventName::PostCompact),
    line(EventName::Notification),
    line(EventName::ConfigChange),
];

/// Codex grants no more when a session ends or is interrupted, and shows the user an error if it is asked for.
const CODEX_AT_THE_END: u32 = 3;

const CODEX: [HookLine; 12] = [
    line(EventName::SessionStart),
    HookLine { event: EventName::SessionEnd, timeout: CODEX_AT_THE_END },
    line(EventName::UserPromptSubmit),
    line(EventName::PreToolUse),
    line(EventName::PermissionRequest),
    line(EventName::PostToolUse),
    line(EventName::PreCompact),
    line(EventName::PostCompact),
    line(EventName::SubagentStart),
    line(EventName::SubagentStop),
    line(EventName::Stop),
    HookLine { event: EventName::Interrupt, timeout: CODEX_AT_THE_END },
];

/// Our hooks in one settings file of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    pub host: Host,
    pub via: Via,
    /// A path, or the bare name where the file is shared.
    pub program: String,
    /// Raises how many refusals to stop Claude Code grants; also those of other people's Stop hooks.
    pub stop_block_cap: Option<u32>,
}

pub fn lines(host: Host) -> &'static [HookLine] {
    match host {
        Host::Claude | Host::Sim => &CLAUDE,
        Host::Codex => &CODEX,
    }
}

impl Wiring {
    pub(super) fn group(&self, line: HookLine) -> Value {
        Value::object([("hooks", Value::List(vec![self.handler(line)]))])
    }

    pub(super) fn handler(&self, line: HookLine) -> Value {
        Value::object(self.handler_members(line))
    }

    /// Claude Code starts the program itself; Codex knows only a line for the shell.
    pub(super) fn handler_members(&self, line: HookLine) -> Vec<(&'static str, Value)> {
        let words = ["hook", "--host", self.host.as_str(), "--via", self.via.as_str(), line.event.as_str()];
        let mut members = vec![("type", Value::text("command"))];
        match self.host {
            Host::Claude | Host::Sim => {
                members.push(("command", Value::text(&*self.program)));
                members.push(("args", Value::texts(words)));
            }
            Host::Codex => {
                let command = format!("{} {}", shell_word::quote(&self.program), words.join(" "));
                members.push(("command", Value::text(command)));
            }
        }
        members.push(("timeout", Value::Number(line.timeout)));
        members
    }
}

/// Whether a handler in a settings file is one of ours, whichever version or path it was installed from.
pub(super) fn is_ours(handler: &Node, host: Host) -> bool {
    let Some(command) = handler.member("command").and_then(Node::as_str) else { return false };
    match handler.member("args") {
        Some(args) => {
            let words = args.elements().unwrap_or_default().iter().map(Node::as_str);
            let Some(words) = words.collect::<Option<Vec<_>>>() else { return false };
            is_our_program(command) && is_our_hook(&words, host)
        }
        None => {
            let mut words: Vec<_> = command.rsplitn(7, ' ').collect();
            let Some(program) = words.pop() else { return false };
            words.reverse();
            is_our_hook(&words, host) && shell_word::unquote(program).is_some_and(|program| is_our_program(&program))
        }
    }
}

fn is_our_hook(words: &[&str], host: Host) -> bool {
    match words {
        ["hook", "--host", named, "--via", via, _event] => *named == host.as_str() && via.parse::<Via>().is_ok(),
        _ => false,
    }
}

/// A settings file may come from another platform, so both separators count.
pub(super) fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "steadfast" | "steadfast.exe")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::json::Document;

    fn ours(handler: &str, host: Host) -> bool {
        is_ours(Document::parse(handler).unwrap().root(), host)
    }

    #[test]
    fn an_entry_of_another_path_is_ours() {
        let handler =
            r#"{"command":"C:\\tools\\steadfast.exe","args":["hook","--host","claude","--via","user","Stop"]}"#;
        assert!(ours(handler, Host::Claude));
    }

    #[test]
    fn a_command_line_with_a_quoted_path_is_ours() {
        assert!(ours(r#"{"command":"'/a b/steadfast' hook --host codex --via user Stop"}"#, Host::Codex));
    }

    #[test]
    fn an_entry_of_another_host_is_not_ours() {
        assert!(!ours(r#"{"command":"steadfast hook --host codex --via user Stop"}"#, Host::Claude));
    }

    #[test]
    fn another_program_with_our_arguments_is_not_ours() {
        assert!(!ours(r#"{"command":"/bin/not-steadfast hook --host codex --via user Stop"}"#, Host::Codex));
    }

    #[test]
    fn a_wrapper_the_user_wrote_is_not_ours() {
        assert!(!ours(r#"{"command":"nice steadfast hook --host codex --via user Stop"}"#, Host::Codex));
    }

    #[test]
    fn another_command_of_our_program_is_not_ours() {
        assert!(!ours(r#"{"command":"steadfast","args":["status"]}"#, Host::Claude));
    }

    #[test]
    fn codex_is_given_a_command_line_it_can_trust_for_long() {
        let wiring =
            Wiring { host: Host::Codex, via: Via::User, program: "/opt/steadfast".to_owned(), stop_block_cap: None };
        let command = wiring.handler_members(CODEX[10]).swap_remove(1);
        assert_eq!(command, ("command", Value::text("/opt/steadfast hook --host codex --via user Stop")));
    }
}
