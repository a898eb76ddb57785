//! Anthropic Messages.

use bytes::{Bytes, BytesMut};

use super::answer::{AnswerError, ModelAnswer};
use super::refusal::{CallKind, REFUSED_TOOL, Reasons, Refusal, WireCall};
use super::results::Met;
use super::{CallKey, CallStep, INPUT_LIMIT, RefusedCall, StreamRefuser};
use steadfast_splice::json::{JsonMembers, JsonText, JsonUnits, Splices, quoted};
use steadfast_splice::sse::SseRecord;

#[derive(Debug, Default)]
pub(crate) struct MessagesReader {
    pub(super) answer: ModelAnswer,
    open: Vec<OpenBlock>,
}

/// A call whose input is arriving.
#[derive(Debug)]
struct OpenBlock {
    key: CallKey,
    id: String,
    tool: String,
    /// The input in the start of the block. It counts if no other input follows.
    first: String,
    input: JsonUnits,
}

impl MessagesReader {
    pub(super) fn read(&mut self, data: &[u8]) -> CallStep {
        let mut step = CallStep::default();
        let Some(event) = JsonText::of(data).map(JsonText::members) else { return step };
        let Some(kind) = event.string("type") else { return step };
        match &*kind {
            "message_start" => {
                let message = event.get("message").map(JsonText::members);
                if let Some(message) = message {
                    self.answer.model_from(&message);
                    self.answer.messages_usage(message.get("usage"));
                }
            }
            "content_block_start" => self.start(&event, &mut step),
            "content_block_delta" => self.delta(&event, &mut step),
            "content_block_stop" => self.stop(&event, &mut step),
            "message_delta" => {
                let stop = event.get("delta").and_then(|delta| delta.members().string("stop_reason"));
                self.answer.stop = stop.map(Into::into).or(self.answer.stop.take());
                self.answer.messages_usage(event.get("usage"));
            }
            "error" => self.answer.error = event.get("error").map(AnswerError::of),
            _ => {}
        }
        step
    }

    fn start(&mut self, event: &JsonMembers<'_>, step: &mut CallStep) {
        let (Some(key), Some(block)) = (key(event), event.get("content_block").map(JsonText::members)) else { return };
        if let Some(text) = block.get("text") {
            self.answer.say(text);
        }
        if !block.is("type", "tool_use") {
            return;
        }
        let call = call(&block);
        step.opened.push((key, call.tool.clone()));
        step.fragments.push(key);
        self.open.push(OpenBlock { key, id: call.id, tool: call.tool, first: call.input, input: JsonUnits::default() });
    }

    fn delta(&mut self, event: &JsonMembers<'_>, step: &mut CallStep) {
        let Some(delta) = event.get("delta").map(JsonText::members) else { return };
        if let Some(text) = delta.get("text") {
            self.answer.say(text);
        }
        if let Some(text) = delta.get("thinking") {
            self.answer.think(text);
        }
        let Some(key) = key(event) else { return };
        if let Some(open) = self.open.iter_mut().find(|open| open.key == key) {
            step.fragments.push(key);
            if let Some(part) = delta.get("partial_json").filter(|_| open.input.len() < INPUT_LIMIT) {
                open.input.push(part);
            }
        }
    }

    fn stop(&mut self, event: &JsonMembers<'_>, step: &mut CallStep) {
        let Some(key) = key(event) else { return };
        let Some(at) = self.open.iter().position(|open| open.key == key) else { return };
        let OpenBlock { id, tool, first, input, .. } = self.open.remove(at);
        let is_cut = input.len() >= INPUT_LIMIT;
        let input = if input.is_empty() { first } else { input.into_string() };
        let call =
            WireCall { id, tool, namespace: None, input, is_cut, kind: CallKind::Function, thinking: String::new() };
        step.fragments.push(key);
        step.completed.push((key, call));
    }
}

fn key(event: &JsonMembers<'_>) -> Option<CallKey> {
    event.number("index").map(|index| CallKey(0, index))
}

/// Reads a block with a call.
fn call(block: &JsonMembers<'_>) -> WireCall {
    let text = |key| block.string(key).unwrap_or_default().into_owned();
    let input = block.get("input").map_or("{}", JsonText::text).to_owned();
    WireCall {
        id: text("id"),
        tool: text("name"),
        namespace: None,
        input,
        is_cut: false,
        kind: CallKind::Function,
        thinking: String::new(),
    }
}

impl StreamRefuser {
    /// A refused block keeps its start and its end. Between them, one fragment takes the place of all others.
    pub(super) fn write_messages(&mut self, record: &SseRecord, fragments: &[CallKey]) -> Bytes {
        let Some((key, refusal)) = fragments.iter().find_map(|key| Some((*key, self.refusal(*key)?))) else {
            return record.bytes.clone();
        };
        let Some(data) = record.fields().data else { return record.bytes.clone() };
        let Some(event) = JsonText::of(&data) else { return record.bytes.clone() };
        let members = event.members();
        match members.string("type").as_deref() {
            Some("content_block_start") => {
                let mut splices = Splices::new(&data);
                if let Some(block) = members.get("content_block") {
                    let members = block.members();
                    splices.set(block, &members, "name", &quoted(REFUSED_TOOL));
                    splices.set(block, &members, "input", "{}");
                }
                let mut bytes = BytesMut::from(&record.with_data(&splices.apply())[..]);
                bytes.extend_from_slice(fragment(key, refusal).as_bytes());
                bytes.freeze()
            }
            Some("content_block_delta") => Bytes::new(),
            _ => record.bytes.clone(),
        }
    }
}

fn fragment(CallKey(_, index): CallKey, refusal: &Refusal) -> String {
    let input = quoted(&refusal.wrapper());
    let delta = format!(r#"{{"type":"input_json_delta","partial_json":{input}}}"#);
    let data = format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#);
    format!("event: content_block_delta\ndata: {data}\n\n")
}

/// Reads an answer that is not streamed.
pub(super) fn read_body(body: JsonText<'_>, answer: &mut ModelAnswer) -> Vec<(CallKey, WireCall)> {
    let members = body.members();
    if members.is("type", "error") {
        answer.error = members.get("error").map(AnswerError::of);
        return Vec::new();
    }
    answer.model_from(&members);
    answer.messages_usage(members.get("usage"));
    answer.stop = members.string("stop_reason").map(Into::into);
    let mut calls = Vec::new();
    for (index, block) in blocks(&members, "content") {
        match block.members() {
            block if block.is("type", "tool_use") => calls.push((CallKey(0, index), call(&block))),
            block => {
                block.get("text").into_iter().for_each(|text| answer.say(text));
                block.get("thinking").into_iter().for_each(|text| answer.think(text));
            }
        }
    }
    calls
}

fn blocks<'a>(message: &JsonMembers<'a>, key: &str) -> impl Iterator<Item = (u64, JsonText<'a>)> {
    (0..).zip(message.get(key).map(JsonText::elements).unwrap_or_default())
}

pub(super) fn refuse_in_body(body: JsonText<'_>, refused: &[RefusedCall], splices: &mut Splices<'_>) {
    for (index, block) in blocks(&body.members(), "content") {
        if let Some(refusal) = RefusedCall::find(refused, CallKey(0, index)) {
            let members = block.members();
            splices.set(block, &members, "name", &quoted(REFUSED_TOOL));
            splices.set(block, &members, "input", &refusal.wrapper());
        }
    }
}

/// Walks through the wanted calls of a conversation and their results.
pub(super) fn walk<'a>(body: JsonText<'a>, wants: impl Fn(&str) -> bool, mut meet: impl FnMut(Met<'a>)) {
    for message in body.get("messages").map(JsonText::elements).unwrap_or_default() {
        for (_, block) in blocks(&message.members(), "content") {
            let members = block.members();
            let id = |key: &str| members.string(key).filter(|id| wants(id));
            match members.string("type").as_deref() {
                Some("tool_use") => id("id").into_iter().for_each(|id| meet(Met::Call(id, call(&members)))),
                Some("tool_result") => id("tool_use_id").into_iter().for_each(|id| meet(Met::Result(id, block))),
                _ => {}
            }
        }
    }
}

/// Puts the model's own calls back into a conversation, and the reasons into their results.
pub(super) fn restore(body: JsonText<'_>, known: impl Fn(&str) -> Option<Refusal>, splices: &mut Splices<'_>) {
    let mut reasons = Reasons::default();
    for message in body.get("messages").map(JsonText::elements).unwrap_or_default() {
        for (_, block) in blocks(&message.members(), "content") {
            let members = block.members();
            match members.string("type").as_deref() {
                Some("tool_use") => {
                    let Some(id) = members.string("id") else { continue };
                    let wrapper = members.get("input").filter(|_| members.is("name", REFUSED_TOOL));
                    let refusal = wrapper.and_then(Refusal::of_wrapper).or_else(|| known(&id));
                    reasons.call(&id, refusal.as_ref());
                    let Some(refusal) = refusal else { continue };
                    splices.set(block, &members, "name", &quoted(&refusal.tool));
                    splices.set(block, &members, "input", refusal.input_json());
                }
                Some("tool_result") => {
                    let id = members.string("tool_use_id").unwrap_or_default();
                    let Some(why) = reasons.of(&id).flatten() else { continue };
                    splices.set(block, &members, "content", &quoted(&why));
                    splices.set(block, &members, "is_error", "true");
                }
                _ => {}
            }
        }
    }
}
