//! Claude Code's transcripts, from 1.0 on. One message of the model is several rows, one for each block.

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
use human::{Speaker, Speech};
use row::{Attachment, Block, Message, Row, Started};

/// Whether it is a row, whatever it tells.
pub(crate) fn decodes(line: &[u8]) -> bool {
    serde_json::from_slice::<Row<'_>>(line).is_ok()
}

/// One row; nothing where it is no JSON.
pub(crate) fn record(line: &[u8]) -> Option<TranscriptRecord<'_>> {
    serde_json::from_slice(line).ok().map(tell)
}

fn tell(row: Row<'_>) -> TranscriptRecord<'_> {
    let Row { kind, subtype, session, timestamp, cwd, prompt, permission_mode, sidechain, meta, summary, .. } = &row;
    let mut record = TranscriptRecord {
        at: timestamp.get().and_then(parse_time).map(Millis),
        session: session.0.clone(),
        cwd: cwd.0.clone(),
        turn: prompt.0.clone(),
        planning: permission_mode.get().map(|mode| mode == "plan"),
        thread: thread(sidechain.0, &row.agent, None),
        items: Vec::new(),
    };
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
            let said = row.message.0.map(|message| words(message.content)).unwrap_or_default();
            record.items.push(Item::Failure { error: said });
        }
        "assistant" => record.items.extend(row.message.0.into_iter().flat_map(said)),
        "user" if summary.0 => record.items.push(Item::Compaction { trigger: None }),
        "user" => {
            record.items.extend(row.message.0.into_iter().flat_map(|message| heard(message, speaker, started)));
        }
        "system" => match subtype.get().unwrap_or_default() {
            "compact_boundary" => {
                let trigger = row.compaction.0.and_then(|compaction| compaction.trigger.0);
                record.items.push(Item::Compaction { trigger: trigger.or(Some(Cow::Borrowed("auto"))) });
            }
            "stop_hook_summary" | "turn_duration" => record.items.push(Item::Stop { last_message: None }),
            _ => {}
        },
        // What a subagent does, shown while it does it.
        "progress" => {
            let Some(echo) = row.data.0.filter(|data| data.kind.is("agent_progress")) else { return record };
            record.thread = thread(true, &echo.agent, row.parent_tool_use.0);
            let Some(inner) = echo.message.0 else { return record };
            record.at = inner.timestamp.get().and_then(parse_time).map(Millis).or(record.at);
            let message = inner.message.0.into_iter();
            match inner.kind.get() {
                // How far its answer had come; the usage in it is a beginning.
                Some("assistant") => {
                    let items = message.flat_map(said).filter(|item| !matches!(item, Item::Usage(_)));
                    record.items.extend(items);
                }
                Some("user") => {
                    let result = inner.tool_use_result;
                    record.items.extend(message.flat_map(|message| heard(message, Speaker::Other, result)));
                }
                _ => {}
            }
        }
        "attachment" => {
            let Some(Attachment { kind, hook_event, prompt }) = row.attachment.0 else { return record };
            if kind.is("queued_command") {
                // Typed while the agent worked, and given to it then.
                let mut speech = Speech::default();
                speech.hear(words(prompt));
                record.items.extend(speech.items(speaker));
            } else if hook_event.is("Stop") {
                // A hook that kept the agent going may be the only trace of its stop.
                record.items.push(Item::Stop { last_message: None });
            }
        }
        // Versions that keep no attachments show it only in the queue, which does not say whether it was taken back.
        "queue-operation" if row.operation.is("enqueue") => {
            let words = row.content.map(Words).filter(|words| human::is_typed(&words.text()));
            record.items.extend(words.map(Item::Queued));
        }
        "continued-in" => record.items.extend(row.continued_in.0.map(|session| Item::Continued { session })),
        _ => {}
    }
    record
}

fn thread<'a>(sidechain: bool, agent: &Text<'a>, call: Option<Cow<'a, str>>) -> Thread<'a> {
    let id = agent.0.clone().or_else(|| sidechain.then_some(Cow::Borrowed(Thread::UNNAMED)));
    match id {
        Some(id) if sidechain => Thread::Agent { id, call },
        _ => Thread::Main,
    }
}

/// What the model said and called for.
fn said(message: Message<'_>) -> Vec<Item<'_>> {
    let Message { id, usage, content } = message;
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

/// What came back to the model: results, and what the human said. Words that were typed while a tool ran stand beside
/// its result.
fn heard<'a>(message: Message<'a>, speaker: Speaker<'_>, started: Option<&'a RawValue>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut speech = Speech::default();
    match message.content {
        TextOr::Nothing => {}
        TextOr::Text(text) => speech.hear(text),
        TextOr::List(blocks) => {
            let results = blocks.iter().filter(|block| block.kind.is("tool_result")).count();
            for block in blocks {
                match block.kind.get() {
                    // Only a row with one result says more about it.
                    Some("tool_result") => items.push(Item::Result(result(block, started.filter(|_| results == 1)))),
                    Some("text") => speech.hear(block.text.map(|text| Words(text).text()).unwrap_or_default()),
                    Some("image") => speech.see(),
                    _ => {}
                }
            }
        }
    }
    items.extend(speech.items(speaker));
    items
}

fn result<'a>(block: Block<'a>, more: Option<&'a RawValue>) -> CallResult<'a> {
    let told = CallOutput::Claude { is_error: block.is_error.0, content: block.content, more };
    CallResult { call: block.tool_use.0, told }
}

/// How a call ended, from its result and what the host keeps of it for itself.
pub(crate) fn ended<'a>(is_error: bool, content: Option<&'a RawValue>, more: Option<&'a RawValue>) -> Ended<'a> {
    let started = Started::read(more);
    let end = if started.interrupted.0 {
        CallEnd::Interrupted
    } else if is_error {
        human::refusal(content_text(content))
    } else {
        CallEnd::Ok
    };
    // What goes on in the background tells of its end in a notification.
    let goes_on = started.status.is("async_launched");
    Ended {
        end,
        millis: started.millis.0.or(started.total_millis.0),
        agent: match started.agent.0 {
            Some(id) if goes_on => Some(Delegated::Started(id)),
            id => id.map(Delegated::Ended),
        },
        shell: started.background.0,
    }
}

/// The text of a result: itself, or that of its blocks.
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
