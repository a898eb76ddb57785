//! Claude Code's transcripts, from version 1.0 on. One message of the model is several rows, one for each block.

mod human;
mod row;

use std::borrow::Cow;

use serde_json::value::RawValue;
use steadfast_model::Millis;
use steadfast_text::parse_time;

use crate::shape::text;
use crate::transcript::{
    CallEnd, CallInput, CallOutput, CallResult, Delegated, Ended, Item, Text, TextOr, Thread, TokenUsage,
    TranscriptCall, TranscriptRecord, Usage, Words,
};
pub(crate) use human::is_host_text;
use human::{Speaker, Speech};
use row::{Attachment, Block, BlockingError, Message, Row, Started};

/// Returns true if the line is a row, of whatever type.
pub(crate) fn decodes(line: &[u8]) -> bool {
    serde_json::from_slice::<Row<'_>>(line).is_ok()
}

/// Reads one row; `None` if the line is not JSON.
pub(crate) fn record(line: &[u8]) -> Option<TranscriptRecord<'_>> {
    serde_json::from_slice(line).ok().map(convert)
}

fn convert(row: Row<'_>) -> TranscriptRecord<'_> {
    let Row { kind, subtype, session, timestamp, cwd, prompt, permission_mode, sidechain, meta, summary, .. } = &row;
    let mut record = TranscriptRecord {
        at: timestamp.get().and_then(parse_time).map(Millis),
        session: session.0.clone(),
        cwd: cwd.0.clone(),
        turn: prompt.0.clone(),
        planning: permission_mode.get().map(|mode| mode == "plan"),
        model: None,
        thread: thread(sidechain.0, &row.agent, None),
        items: Vec::new(),
    };
    if let Some(message) = &row.message.0 {
        record.model.clone_from(&message.model.0);
    }
    let started = row.tool_use_result;
    let speaker = match &record.thread {
        Thread::Main if !meta.0 => Speaker::Human {
            source: match row.origin.0.as_ref().and_then(|origin| origin.kind.get()) {
                Some(kind) if kind != "human" => Some("system"),
                _ => row.prompt_source.get(),
            },
        },
        _ => Speaker::Other,
    };
    match kind.get().unwrap_or_default() {
        "assistant" if row.api_error.0 => {
            let error = row.message.0.map(|message| words(message.content)).unwrap_or_default();
            record.items.push(Item::Failure { error });
        }
        "assistant" => record.items.extend(row.message.0.into_iter().flat_map(message_items)),
        "user" if summary.0 => record.items.push(Item::Compaction { trigger: None }),
        "user" => {
            record.items.extend(row.message.0.into_iter().flat_map(|message| user_items(message, speaker, started)));
        }
        "system" => match subtype.get().unwrap_or_default() {
            "compact_boundary" => {
                let trigger = row.compaction.0.and_then(|compaction| compaction.trigger.0);
                record.items.push(Item::Compaction { trigger: trigger.or(Some(Cow::Borrowed("auto"))) });
            }
            "stop_hook_summary" | "turn_duration" => record.items.push(Item::Stop { last_message: None }),
            _ => {}
        },
        // The work of a subagent, shown while it happens.
        "progress" => {
            let Some(echo) = row.data.0.filter(|data| data.kind.is("agent_progress")) else { return record };
            record.thread = thread(true, &echo.agent, row.parent_tool_use.0);
            let Some(inner) = echo.message.0 else { return record };
            record.at = inner.timestamp.get().and_then(parse_time).map(Millis).or(record.at);
            let message = inner.message.0.into_iter();
            match inner.kind.get() {
                // An intermediate state of its answer; the usage in it is incomplete.
                Some("assistant") => {
                    let items = message.flat_map(message_items).filter(|item| !matches!(item, Item::Usage(_)));
                    record.items.extend(items);
                }
                Some("user") => {
                    let result = inner.tool_use_result;
                    record.items.extend(message.flat_map(|message| user_items(message, Speaker::Other, result)));
                }
                _ => {}
            }
        }
        "attachment" => {
            let Some(Attachment { kind, hook_event, prompt, blocking_error, content }) = row.attachment.0 else {
                return record;
            };
            if kind.is("queued_command") {
                // Typed while the agent worked, and passed to it at this point.
                let mut speech = Speech::default();
                speech.add_text(words(prompt));
                record.items.extend(speech.items(speaker));
            } else if hook_event.is("Stop") {
                // A Stop hook that kept the agent working may be the only trace of its stop.
                record.items.push(Item::Stop { last_message: None });
                record.items.extend(stop_refused(&kind, blocking_error.0, content));
            }
        }
        // Versions without attachments record it only in the queue, which does not show whether the human took it back.
        "queue-operation" if row.operation.is("enqueue") => {
            let words = row.content.map(Words).filter(|words| human::is_typed(&words.text()));
            record.items.extend(words.map(Item::Queued));
        }
        "continued-in" => record.items.extend(row.continued_in.0.map(|session| Item::Continued { session })),
        _ => {}
    }
    record
}

/// Returns the words of a Stop hook that kept the agent working: an error, or feedback in newer versions.
fn stop_refused<'a>(
    kind: &Text<'a>,
    error: Option<BlockingError<'a>>,
    content: Option<&'a RawValue>,
) -> Option<Item<'a>> {
    match kind.get()? {
        "hook_blocking_error" => {
            let BlockingError { text, command } = error?;
            Some(Item::StopRefused { text: text.0?, hook: command.0 })
        }
        "hook_additional_context" => {
            let texts: Vec<Cow<'_, str>> = serde_json::from_str(content?.get()).ok()?;
            Some(Item::StopRefused { text: Cow::Owned(texts.join("\n")), hook: None })
        }
        _ => None,
    }
}

fn thread<'a>(sidechain: bool, agent: &Text<'a>, call: Option<Cow<'a, str>>) -> Thread<'a> {
    let id = agent.0.clone().or_else(|| sidechain.then_some(Cow::Borrowed(Thread::UNNAMED)));
    match id {
        Some(id) if sidechain => Thread::Agent { id, call },
        _ => Thread::Main,
    }
}

/// Returns the text and the calls of a message of the model.
fn message_items(message: Message<'_>) -> Vec<Item<'_>> {
    let Message { id, usage, content, .. } = message;
    let mut items = Vec::with_capacity(2);
    if let (Some(id), Some(usage)) = (id.0, usage.0) {
        let tokens = TokenUsage {
            input: usage.input.0.unwrap_or(0),
            cache_read: usage.cache_read.0.unwrap_or(0),
            cache_write: usage.cache_write.0.unwrap_or(0),
            output: usage.output.0.unwrap_or(0),
        };
        items.push(Item::Usage(Usage::Message { id, tokens }));
    }
    let TextOr::List(blocks) = content else { return items };
    for Block { kind, id, name, text, input, .. } in blocks {
        match (kind.get(), text, name.0) {
            (Some("text"), Some(text), _) => items.push(Item::Said(Words(text))),
            (Some("tool_use"), _, Some(tool)) => {
                items.push(Item::Call(TranscriptCall { id: id.0, tool, input: CallInput::Plain(input), hooked: true }));
            }
            _ => {}
        }
    }
    items
}

/// Returns the results of tool calls and the words of the human. Words typed while a tool ran are in the same row as
/// its result.
fn user_items<'a>(message: Message<'a>, speaker: Speaker<'_>, started: Option<&'a RawValue>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut speech = Speech::default();
    match message.content {
        TextOr::Nothing => {}
        TextOr::Text(text) => speech.add_text(text),
        TextOr::List(blocks) => {
            let results = blocks.iter().filter(|block| block.kind.is("tool_result")).count();
            for block in blocks {
                match block.kind.get() {
                    // The row's extra data belong to a single result only.
                    Some("tool_result") => items.push(Item::Result(result(block, started.filter(|_| results == 1)))),
                    Some("text") => speech.add_text(block.text.map(|text| Words(text).text()).unwrap_or_default()),
                    Some("image") => speech.add_picture(),
                    _ => {}
                }
            }
        }
    }
    items.extend(speech.items(speaker));
    items
}

fn result<'a>(block: Block<'a>, more: Option<&'a RawValue>) -> CallResult<'a> {
    let output = CallOutput::Claude { is_error: block.is_error.0, content: block.content, more };
    CallResult { call: block.tool_use.0, output }
}

/// Returns how a call ended, from its result and the host's own data about it.
pub(crate) fn ended<'a>(is_error: bool, content: Option<&'a RawValue>, more: Option<&'a RawValue>) -> Ended<'a> {
    let started = Started::read(more);
    let end = if started.interrupted.0 {
        CallEnd::Interrupted
    } else if is_error {
        human::refusal(content_text(content))
    } else {
        CallEnd::Ok
    };
    // A background agent reports its end in a notification.
    let is_background = started.status.is("async_launched");
    Ended {
        end,
        millis: started.millis.0.or(started.total_millis.0),
        agent: match started.agent.0 {
            Some(id) if is_background => Some(Delegated::Started(id)),
            id => id.map(Delegated::Ended),
        },
        shell: started.background.0,
    }
}

/// Returns the text of a result, or the joined texts of its blocks.
fn content_text(content: Option<&RawValue>) -> Cow<'_, str> {
    let Some(raw) = content else { return Cow::Borrowed("") };
    match serde_json::from_str::<TextOr<'_, Block<'_>>>(raw.get()) {
        Ok(TextOr::Text(text)) => text,
        Ok(content @ TextOr::List(_)) => words(content),
        _ => Cow::Borrowed(""),
    }
}

fn words<'a>(content: TextOr<'a, Block<'a>>) -> Cow<'a, str> {
    match content {
        TextOr::Nothing => Cow::Borrowed(""),
        TextOr::Text(text) => text,
        TextOr::List(blocks) => {
            let texts: Vec<String> = blocks.iter().filter_map(|block| text(block.text)).collect();
            Cow::Owned(texts.join("\n"))
        }
    }
}
