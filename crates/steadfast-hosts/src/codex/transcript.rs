//! Codex's rollouts. A row wraps an item of the model's service or an event of the host; the first versions wrote the
//! items as they are.

mod row;

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use steadfast_model::{Millis, PromptOrigin};
use steadfast_text::parse_time;

use crate::shape::text;
use crate::transcript::{
    CallEnd, CallInput, CallOutput, CallResult, Ended, Item, TextOr, Thread, TokenUsage, TranscriptCall,
    TranscriptRecord, Usage, Words,
};
use row::{Arguments, Counted, Payload, Row, spoken};

/// Whether it is a row, whatever it tells.
pub(crate) fn decodes(line: &[u8]) -> bool {
    serde_json::from_slice::<Row<'_>>(line).is_ok()
}

/// One row; nothing where it is no JSON.
pub(crate) fn record(line: &[u8]) -> Option<TranscriptRecord<'_>> {
    let row: Row<'_> = serde_json::from_slice(line).ok()?;
    let bare = row.payload.0.is_none() && row.kind.get() != Some("compacted");
    let payload = match row.payload.0 {
        Some(payload) => payload,
        None => serde_json::from_slice(line).ok()?,
    };
    let mut record = TranscriptRecord {
        at: row.timestamp.get().and_then(parse_time).map(Millis),
        session: None,
        cwd: payload.cwd.0.clone(),
        turn: payload.turn.0.clone(),
        planning: None,
        thread: Thread::Main,
        items: Vec::new(),
    };
    match row.kind.get().unwrap_or_default() {
        "session_meta" => {
            // A subagent's rollout is a file of its own, and says whose it is.
            let id = payload.id.0;
            if let (Some(id), true) = (&id, payload.source.is_subagent()) {
                record.thread = Thread::Agent { id: id.clone(), call: None };
            }
            record.session = payload.session.0.or(id);
        }
        "turn_context" => record.planning = payload.mode.0.map(|mode| mode.mode.is("plan")),
        "compacted" => record.items.push(Item::Compaction { trigger: Some(Cow::Borrowed("")) }),
        "event_msg" => record.items.extend(event(payload)),
        "response_item" => record.items.extend(item(payload)),
        "" if bare => record.session = payload.id.0,
        _ if bare => {
            // There is no event of the human's message beside it.
            let human = payload.role.is("user").then(|| spoken(&payload.content)).flatten();
            let human = human.filter(|words| !is_hosts(words));
            match human {
                Some(words) => record.items.push(Item::Prompt { text: words, origin: PromptOrigin::Human }),
                None => record.items.extend(item(payload)),
            }
        }
        _ => {}
    }
    Some(record)
}

/// What the host tells of itself.
fn event(payload: Payload<'_>) -> Option<Item<'_>> {
    Some(match payload.kind.get()? {
        "user_message" => Item::Prompt { text: payload.message.0?, origin: PromptOrigin::Human },
        "item_completed" => {
            let item = payload.item.0?;
            match item.kind.get()? {
                "UserMessage" => Item::Prompt { text: spoken(&item.content)?, origin: PromptOrigin::Human },
                // A hook keeps the agent going.
                "HookPrompt" => Item::Stop { last_message: None },
                _ => return None,
            }
        }
        "token_count" => Item::Usage(Usage::Total(payload.info.0?.total.0?.tokens())),
        "turn_aborted" => Item::Interrupt,
        "task_complete" | "turn_complete" => Item::Stop { last_message: payload.last_message.0 },
        "error" | "stream_error" => Item::Failure { error: payload.message.0? },
        _ => return None,
    })
}

/// What the model said, called for and got back. What the service does by itself (a search) asks no hook and is no call.
fn item(payload: Payload<'_>) -> Option<Item<'_>> {
    Some(match payload.kind.get()? {
        "message" if payload.role.is("assistant") => match payload.content {
            TextOr::List(parts) => Item::Said(Words(parts.into_iter().find_map(|part| part.text)?)),
            _ => return None,
        },
        "function_call" | "custom_tool_call" | "local_shell_call" => Item::Call(call(payload)?),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Item::Result(CallResult { call: payload.call.0, told: CallOutput::Codex { output: payload.output } })
        }
        _ => return None,
    })
}

/// A call as a hook is told of it: every shell is `Bash`, with a `command`.
fn call(payload: Payload<'_>) -> Option<TranscriptCall<'_>> {
    let id = payload.call.0;
    let name = match payload.name.0 {
        Some(name) => name,
        None if payload.kind.is("local_shell_call") => Cow::Borrowed("local_shell"),
        None => return None,
    };
    let input = payload.arguments.or(payload.input).or(payload.action);
    let hooked = name != "write_stdin";
    let (tool, input) = match name.as_ref() {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec" => {
            (Cow::Borrowed("Bash"), CallInput::Shell(input))
        }
        "apply_patch" => (name, CallInput::Patch(input)),
        _ => match payload.namespace.0 {
            Some(namespace) if namespace.starts_with("mcp__") => {
                (Cow::Owned(format!("{namespace}__{name}")), CallInput::Plain(input))
            }
            _ => (name, CallInput::Plain(input)),
        },
    };
    Some(TranscriptCall { id, tool, input, hooked })
}

/// A shell's input, as a hook is told of it.
pub(crate) fn shell(input: Option<&RawValue>) -> Option<Box<RawValue>> {
    command(Arguments::read(input).shell()?)
}

/// A patch, which is the whole of the input or a field of it.
pub(crate) fn patch(input: Option<&RawValue>) -> Option<Box<RawValue>> {
    command(text(Arguments::read(input).input.as_deref()).or_else(|| text(input))?)
}

fn command(line: String) -> Option<Box<RawValue>> {
    to_raw_value(&serde_json::json!({"command": line})).ok()
}

/// How a call ended, from what the model was told of it.
pub(crate) fn ended(output: Option<&RawValue>) -> Ended<'_> {
    Ended { end: end(output), millis: None, agent: None, shell: None }
}

fn end(output: Option<&RawValue>) -> CallEnd<'_> {
    const EXITS: [&str; 2] = ["Process exited with code ", "Exit code: "];
    let Some(output) = output else { return CallEnd::Ok };
    // The number stands in the first lines, and what follows may be long.
    let head = &output.get()[..output.get().floor_char_boundary(512)];
    let exit = EXITS.iter().find_map(|before| {
        let (_, after) = head.split_once(before)?;
        after[..after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())].parse().ok()
    });
    match exit {
        None | Some(0) => CallEnd::Ok,
        Some(code) => CallEnd::Exited(code),
    }
}

/// Texts that the host writes into the human's place.
fn is_hosts(words: &str) -> bool {
    const HOSTS: [&str; 6] = [
        "<environment_context>",
        "<user_instructions>",
        "<turn_aborted>",
        "<skill>",
        "<user_shell_command>",
        "# AGENTS.md instructions",
    ];
    let start = words.trim_start();
    HOSTS.iter().any(|text| start.starts_with(text))
}

impl Counted {
    /// Codex counts what went from and to the cache among the input as well.
    fn tokens(&self) -> TokenUsage {
        let [input, cache_read, cache_write, output] =
            [self.input, self.cached, self.written, self.output].map(|number| number.0.unwrap_or(0));
        let input = input.saturating_sub(cache_read).saturating_sub(cache_write);
        TokenUsage { input, cache_read, cache_write, output }
    }
}
