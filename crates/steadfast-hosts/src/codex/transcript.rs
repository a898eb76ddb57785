//! Codex's rollouts. A row wraps an item of the model's API or an event of the host; the first versions wrote bare
//! items.

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
use row::{Arguments, Counted, Payload, Row, text_of};

/// Returns true if the line is a row, of whatever type.
pub(crate) fn decodes(line: &[u8]) -> bool {
    serde_json::from_slice::<Row<'_>>(line).is_ok()
}

/// Reads one row; `None` if the line is not JSON.
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
        model: payload.model.0.clone(),
        thread: Thread::Main,
        items: Vec::new(),
    };
    match row.kind.get().unwrap_or_default() {
        "session_meta" => {
            // The rollout of a subagent is a separate file that names its session.
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
            // Such rollouts have no separate event for the human's message.
            let human = payload.role.is("user").then(|| text_of(&payload.content)).flatten();
            let human = human.filter(|words| !is_host_text(words));
            match human {
                Some(words) => record.items.push(Item::Prompt { text: words, origin: PromptOrigin::Human }),
                None => record.items.extend(item(payload)),
            }
        }
        _ => {}
    }
    Some(record)
}

fn event(payload: Payload<'_>) -> Option<Item<'_>> {
    Some(match payload.kind.get()? {
        "user_message" => Item::Prompt { text: payload.message.0?, origin: PromptOrigin::Human },
        "item_completed" => {
            let item = payload.item.0?;
            match item.kind.get()? {
                "UserMessage" => Item::Prompt { text: text_of(&item.content)?, origin: PromptOrigin::Human },
                // A Stop hook kept the agent working.
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

/// Reads an item of the model's API. Calls that the API runs by itself (a search) trigger no hook, so they are not
/// calls here.
fn item(payload: Payload<'_>) -> Option<Item<'_>> {
    Some(match payload.kind.get()? {
        "message" if payload.role.is("assistant") => match payload.content {
            TextOr::List(parts) => Item::Said(Words(parts.into_iter().find_map(|part| part.text)?)),
            _ => return None,
        },
        "function_call" | "custom_tool_call" | "local_shell_call" => Item::Call(call(payload)?),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Item::Result(CallResult { call: payload.call.0, output: CallOutput::Codex { output: payload.output } })
        }
        _ => return None,
    })
}

/// Returns a call as a hook would receive it: every shell is `Bash`, with a `command`.
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

/// Returns a shell's input as a hook would receive it.
pub(crate) fn shell(input: Option<&RawValue>) -> Option<Box<RawValue>> {
    command(Arguments::read(input).shell()?)
}

/// Returns a patch, which is the whole input or one field of it.
pub(crate) fn patch(input: Option<&RawValue>) -> Option<Box<RawValue>> {
    command(text(Arguments::read(input).input.as_deref()).or_else(|| text(input))?)
}

fn command(line: String) -> Option<Box<RawValue>> {
    to_raw_value(&serde_json::json!({"command": line})).ok()
}

/// Returns how a call ended, from the output that the model received.
pub(crate) fn ended(output: Option<&RawValue>) -> Ended<'_> {
    Ended { end: end(output), millis: None, agent: None, shell: None }
}

fn end(output: Option<&RawValue>) -> CallEnd<'_> {
    const EXITS: [&str; 2] = ["Process exited with code ", "Exit code: "];
    let Some(output) = output else { return CallEnd::Ok };
    // The exit code is in the first lines, and the rest may be long.
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

/// Returns true for texts that the host writes in place of the human.
pub(crate) fn is_host_text(words: &str) -> bool {
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
    /// Codex includes cache reads and writes in the input count; this subtracts them.
    fn tokens(&self) -> TokenUsage {
        let [input, cache_read, cache_write, output] =
            [self.input, self.cached, self.written, self.output].map(|number| number.0.unwrap_or(0));
        let input = input.saturating_sub(cache_read).saturating_sub(cache_write);
        TokenUsage { input, cache_read, cache_write, output }
    }
}
