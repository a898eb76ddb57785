//! The hooks that are installed in a host: the events, and the command for each.

use steadfast_model::{EventName, Host, Via};
use steadfast_text::quote;

use super::json::{Node, Value};
use super::links;

/// The name of our MCP server in every host.
pub const SERVER: &str = "steadfast";

/// The program in a shared file, where a path would be valid on one machine only.
pub(super) const SHARED_PROGRAM: &str = "steadfast";

/// The command prefix in a shared file and in the plugin. It makes the hook silent if `steadfast` is missing: a host
/// shows a missing program at every event, three lines for each tool call of a colleague without Steadfast. The shell
/// costs 0.7 ms, so only these two use it.
const IF_THERE: &str = "command -v steadfast >/dev/null || exit 0; exec ";

/// The prefix for the plugin's hook at the start of a session: if `steadfast` is missing, a script says once how to install
/// it. If the script fails, the session continues.
const IF_THERE_OR_SAY: &str =
    "command -v steadfast >/dev/null || { sh \"${CLAUDE_PLUGIN_ROOT}/hooks/missing.sh\"; exit 0; }; exec ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookLine {
    pub event: EventName,
    /// In seconds. Codex includes it in the hash of a trusted hook, so a changed number asks every user again.
    pub timeout: u32,
}

const fn line(event: EventName) -> HookLine {
    HookLine { event, timeout: 10 }
}

/// All events of the design, also those without a rule yet: a later version must not change the installed hooks.
const CLAUDE: [HookLine; 19] = [
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
    line(EventName::TaskCreated),
    line(EventName::TaskCompleted),
];

/// The limit of Codex at the end or interruption of a session, in seconds. It shows the user an error for a higher
/// value.
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
    /// A path, or the bare name in a shared file. If it is a base link, each event uses the link next to it.
    pub program: String,
    /// Raises Claude Code's limit of refused stops; it applies to all Stop hooks, also those of other programs.
    pub stop_block_cap: Option<u32>,
    /// Permission rules for Claude Code's settings. Empty: none of ours are written, and earlier ones are removed.
    pub allow: Vec<String>,
}

pub fn lines(host: Host) -> &'static [HookLine] {
    match host {
        Host::Claude | Host::Sim => &CLAUDE,
        Host::Codex => &CODEX,
    }
}

impl Wiring {
    /// Returns the `hooks` object of both hosts, for callers that pass it on without a settings file.
    pub fn hooks(&self) -> serde_json::Value {
        let events = lines(self.host).iter().map(|line| {
            let group = Value::List(vec![self.group(*line)]);
            (line.event.as_str().to_owned(), serde_json::Value::from(&group))
        });
        events.collect::<serde_json::Map<_, _>>().into()
    }

    pub(super) fn group(&self, line: HookLine) -> Value {
        Value::object([("hooks", Value::List(vec![self.handler(line)]))])
    }

    pub(super) fn handler(&self, line: HookLine) -> Value {
        Value::object(self.handler_members(line))
    }

    /// Returns a handler whose command needs no `args`, because some hosts ignore them: a link, or a line for the
    /// shell.
    pub(super) fn handler_members(&self, line: HookLine) -> Vec<(&'static str, Value)> {
        let words = ["hook", "--host", self.host.as_str(), "--via", self.via.as_str(), line.event.as_str()];
        let mut members = vec![("type", Value::text("command"))];
        if self.via == Via::Run && self.host != Host::Codex {
            // Passed to one session of Claude Code; no other host reads it.
            members.push(("command", Value::text(&*self.program)));
            members.push(("args", Value::texts(words)));
        } else if links::is_base(&self.program) {
            let link = links::for_event(&self.program, line.event.as_str());
            let command = quote(&link);
            let is_plain = command == link;
            members.push(("command", Value::text(command)));
            if is_plain {
                // With `args`, even if empty, Claude Code starts the link without a shell.
                members.push(("args", Value::texts([])));
            }
        } else {
            let before = match (self.via, line.event) {
                _ if self.program != SHARED_PROGRAM => "",
                (Via::Plugin, EventName::SessionStart) => IF_THERE_OR_SAY,
                (Via::Project | Via::Plugin, _) => IF_THERE,
                _ => "",
            };
            let command = format!("{before}{} {}", quote(&self.program), words.join(" "));
            members.push(("command", Value::text(command)));
        }
        members.push(("timeout", Value::Number(line.timeout)));
        members
    }
}

/// The script in shared files until 0.1: `sh` with `args`. A host that ignores `args` would run the payload as a
/// script.
fn old_if_there_script() -> String {
    format!("{IF_THERE}{SHARED_PROGRAM} \"$@\"")
}

/// Returns the content of the plugin's hooks file. If `init` wired the same events, each event arrives twice and counts
/// once.
pub fn plugin_hooks() -> serde_json::Value {
    let program = SHARED_PROGRAM.to_owned();
    let wiring = Wiring { host: Host::Claude, via: Via::Plugin, program, stop_block_cap: None, allow: Vec::new() };
    serde_json::json!({
        "description": "Sends every event to `steadfast hook`, which exits at once if `steadfast init` was never run here.",
        "hooks": wiring.hooks(),
    })
}

/// Returns true if a handler in a settings file is ours, from whatever version or path it was installed.
pub(super) fn is_ours(handler: &Node, host: Host) -> bool {
    read_ours(handler, host).is_some()
}

/// A handler of ours in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ours {
    pub(super) via: Via,
    /// The program, or the base link of the wiring.
    pub(super) program: String,
    /// It depends on `args`, so a host that ignores them does something else.
    pub(super) needs_args: bool,
}

pub(super) fn read_ours(handler: &Node, host: Host) -> Option<Ours> {
    let command = handler.member("command")?.as_str()?;
    let args: Vec<&str> = match handler.member("args") {
        Some(args) => args.elements()?.iter().map(Node::as_str).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    if args.is_empty() {
        return read_line(command, host).map(|(via, program)| Ours { via, program, needs_args: false });
    }
    let (program, words) = match args.as_slice() {
        ["-c", script, program, words @ ..] if command == "sh" && *script == old_if_there_script() => (*program, words),
        words => (command, words),
    };
    let via = read_words(words, host).filter(|_| is_our_program(program))?;
    Some(Ours { via, program: program.to_owned(), needs_args: true })
}

/// Reads a line for the shell, or a link.
fn read_line(command: &str, host: Host) -> Option<(Via, String)> {
    if let Some(word) = unquote(command) {
        let (base, named, via, _event) = links::read(&word)?;
        return (named == host).then(|| (via, base.to_owned()));
    }
    let plain = [IF_THERE, IF_THERE_OR_SAY].iter().find_map(|before| command.strip_prefix(before)).unwrap_or(command);
    let mut words: Vec<&str> = plain.rsplitn(7, ' ').collect();
    let program = unquote(words.pop()?).filter(|program| is_our_program(program))?;
    words.reverse();
    Some((read_words(&words, host)?, program))
}

fn read_words(words: &[&str], host: Host) -> Option<Via> {
    match words {
        ["hook", "--host", named, "--via", via, _event] if *named == host.as_str() => via.parse().ok(),
        _ => None,
    }
}

/// Accepts both path separators, because a settings file may come from another platform.
pub(super) fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "steadfast" | "steadfast.exe")
}

/// Returns the value of a single word; `None` if the text has several words or needs expansion.
pub(super) fn unquote(text: &str) -> Option<String> {
    let [word] = <[String; 1]>::try_from(shlex::split(text)?).ok()?;
    let is_literal = !word.is_empty()
        && !word.contains(['$', '`', ';', '&', '|', '<', '>', '(', ')', '*', '?', '[', ']', '{', '}', '!', '#']);
    (is_literal || quote(&word) == text).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::install::json::{Document, Step};

    fn ours(handler: &str, host: Host) -> bool {
        is_ours(Document::parse(handler).unwrap().root(), host)
    }

    #[test]
    fn the_plugin_has_the_hooks_of_this_version_and_they_are_ours() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/hooks/hooks.json");
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text, serde_json::to_string_pretty(&plugin_hooks()).unwrap() + "\n");
        let document = Document::parse(&text).unwrap();
        for event in ["Stop", "SessionStart"] {
            let path = [Step::Key("hooks"), Step::Key(event), Step::Index(0), Step::Key("hooks"), Step::Index(0)];
            let handler = document.get(&path).unwrap().unwrap();
            let ours = Ours { via: Via::Plugin, program: SHARED_PROGRAM.to_owned(), needs_args: false };
            assert_eq!(read_ours(handler, Host::Claude), Some(ours), "{event}");
        }
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
    fn what_a_shared_file_says_is_ours_in_its_old_form_and_in_its_new_one() {
        for host in [Host::Claude, Host::Codex] {
            let program = SHARED_PROGRAM.to_owned();
            let wiring = Wiring { host, via: Via::Project, program, stop_block_cap: None, allow: Vec::new() };
            let text = crate::install::merge_claude_settings("{}", &wiring).unwrap();
            assert!(text.contains("command -v steadfast >/dev/null || exit 0; exec steadfast"), "{text}");
            let document = Document::parse(&text).unwrap();
            let stop = document.root().member("hooks").and_then(|hooks| hooks.member("Stop")).unwrap();
            let group = &stop.elements().unwrap()[0];
            let handler = &group.member("hooks").and_then(Node::elements).unwrap()[0];
            let ours = Ours { via: Via::Project, program: "steadfast".to_owned(), needs_args: false };
            assert_eq!(read_ours(handler, host), Some(ours));
        }
        let old = r#"{"command":"steadfast","args":["hook","--host","claude","--via","project","Stop"]}"#;
        assert!(ours(old, Host::Claude));
        let shell = r#"{"command":"sh","args":["-c","command -v steadfast >/dev/null || exit 0; exec steadfast \"$@\"","steadfast","hook","--host","claude","--via","project","Stop"]}"#;
        assert!(read_ours(Document::parse(shell).unwrap().root(), Host::Claude).unwrap().needs_args);
        assert!(ours(r#"{"command":"steadfast hook --host codex --via project Stop"}"#, Host::Codex));
        let others = r#"{"command":"sh","args":["-c","nice steadfast","steadfast","hook","--host","claude","--via","project","Stop"]}"#;
        assert!(!ours(others, Host::Claude));
    }

    #[test]
    fn an_old_shared_file_gets_the_new_form_and_nothing_twice() {
        let wiring = |via, program: &str| Wiring {
            host: Host::Claude,
            via,
            program: program.into(),
            stop_block_cap: None,
            allow: Vec::new(),
        };
        let new = crate::install::merge_claude_settings("{}", &wiring(Via::Project, SHARED_PROGRAM)).unwrap();
        let plain = crate::install::merge_claude_settings("{}", &wiring(Via::Local, SHARED_PROGRAM)).unwrap();
        let old = plain.replace("\"local\"", "\"project\"");
        assert_eq!(crate::install::merge_claude_settings(&old, &wiring(Via::Project, SHARED_PROGRAM)).unwrap(), new);
    }

    #[test]
    fn codex_is_given_a_command_line_it_can_trust_for_long() {
        let wiring = Wiring {
            host: Host::Codex,
            via: Via::User,
            program: "/opt/steadfast".to_owned(),
            stop_block_cap: None,
            allow: Vec::new(),
        };
        let command = wiring.handler_members(CODEX[10]).swap_remove(1);
        assert_eq!(command, ("command", Value::text("/opt/steadfast hook --host codex --via user Stop")));
    }

    #[test]
    fn a_path_without_special_characters_is_not_quoted() {
        assert_eq!(quote("/usr/local/bin/steadfast"), "/usr/local/bin/steadfast");
    }

    #[test]
    fn a_path_with_a_space_is_quoted() {
        assert_eq!(quote("/home/a b/steadfast"), "'/home/a b/steadfast'");
    }

    #[test]
    fn two_words_are_not_one() {
        assert_eq!(unquote("env /usr/bin/steadfast"), None);
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(word in "[^\0\n]+") {
            prop_assert_eq!(unquote(&quote(&word)), Some(word));
        }
    }
}
