//! OpenAI Chat Completions. The fragments of several calls may alternate, and only the end of the choice completes them.

use bytes::Bytes;

use super::answer::{AnswerError, ModelAnswer};
use super::refusal::{CallKind, REFUSED_TOOL, Reasons, Refusal, WireCall};
use super::results::Met;
use super::{CallKey, CallStep, INPUT_LIMIT, RefusedCall, StreamRefuser};
use steadfast_splice::json::{JsonMembers, JsonText, JsonUnits, Splices, quoted};
use steadfast_splice::sse::SseRecord;

#[derive(Debug, Default)]
pub(crate) struct ChatReader {
    pub(super) answer: ModelAnswer,
    open: Vec<OpenCall>,
    /// The number of calls so far, for their keys.
    count: u64,
}

#[derive(Debug)]
struct OpenCall {
    key: CallKey,
    /// The upstream's own number of the call. Some upstreams give every call the same one, with different ids.
    index: Option<u64>,
    id: String,
    tool: String,
    input: JsonUnits,
    kind: CallKind,
}

impl ChatReader {
    pub(super) fn read(&mut self, data: &[u8]) -> CallStep {
        let mut step = CallStep::default();
        if data.trim_ascii() == b"[DONE]" {
            return self.end();
        }
        let Some(chunk) = JsonText::of(data).map(JsonText::members) else { return step };
        self.answer.model_from(&chunk);
        self.answer.openai_usage(chunk.get("usage"));
        self.answer.error = chunk.get("error").map(AnswerError::of).or(self.answer.error.take());
        for choice in chunk.get("choices").map(JsonText::elements).unwrap_or_default() {
            let choice = choice.members();
            let number = choice.number("index").unwrap_or_default();
            if let Some(delta) = choice.get("delta").map(JsonText::members) {
                delta.get("content").into_iter().for_each(|text| self.answer.say(text));
                thinking(&delta, &mut self.answer);
                for fragment in delta.get("tool_calls").map(JsonText::elements).unwrap_or_default() {
                    self.fragment(number, &fragment.members(), &mut step);
                }
            }
            if let Some(stop) = choice.string("finish_reason") {
                self.answer.stop = Some(stop.into_owned());
                self.complete(|open| open.key.0 == number, &mut step);
            }
        }
        step
    }

    pub(super) fn end(&mut self) -> CallStep {
        let mut step = CallStep::default();
        self.complete(|_| true, &mut step);
        step
    }

    fn fragment(&mut self, choice: u64, fragment: &JsonMembers<'_>, step: &mut CallStep) {
        let index = fragment.number("index");
        let id = fragment.string("id").filter(|id| !id.is_empty());
        let is_same = |open: &OpenCall| {
            let same_id = id.as_deref().is_none_or(|id| open.id.is_empty() || open.id == id);
            open.key.0 == choice && open.index == index && same_id
        };
        let (kind, function) = part(fragment);
        let name = function.string("name").filter(|name| !name.is_empty());
        let at = self.open.iter().rposition(is_same).unwrap_or_else(|| {
            let key = CallKey(choice, self.count);
            self.count += 1;
            let (id, input) = (String::new(), JsonUnits::default());
            self.open.push(OpenCall { key, index, id, tool: String::new(), input, kind });
            step.opened.push((key, name.clone().unwrap_or_default().into_owned()));
            self.open.len() - 1
        });
        let open = &mut self.open[at];
        step.fragments.push(open.key);
        if let Some(id) = id {
            open.id = id.into_owned();
        }
        if let Some(name) = name {
            open.tool = name.into_owned();
        }
        if let Some(input) = function.get(input_key(kind)).filter(|_| open.input.len() < INPUT_LIMIT) {
            open.input.push(input);
        }
    }

    fn complete(&mut self, is_complete: impl Fn(&OpenCall) -> bool, step: &mut CallStep) {
        let calls = self.open.extract_if(.., |open| is_complete(open)).map(|open| {
            let OpenCall { key, id, tool, input, kind, .. } = open;
            let is_cut = input.len() >= INPUT_LIMIT;
            (
                key,
                WireCall {
                    id,
                    tool,
                    namespace: None,
                    input: input.into_string(),
                    is_cut,
                    kind,
                    thinking: String::new(),
                },
            )
        });
        step.completed.extend(calls);
    }
}

/// Returns the part of a call that has its name and input.
fn part<'a>(call: &JsonMembers<'a>) -> (CallKind, JsonMembers<'a>) {
    match call.get("custom") {
        Some(custom) => (CallKind::Custom, custom.members()),
        None => (CallKind::Function, call.get("function").map(JsonText::members).unwrap_or_default()),
    }
}

fn input_key(kind: CallKind) -> &'static str {
    if kind == CallKind::Custom { "input" } else { "arguments" }
}

/// Several services report the model's thinking, under two names.
fn thinking(message: &JsonMembers<'_>, answer: &mut ModelAnswer) {
    let found = ["reasoning_content", "reasoning"].into_iter().find_map(|key| message.get(key));
    found.into_iter().for_each(|text| answer.think(text));
}

impl StreamRefuser {
    pub(super) fn write_chat(&mut self, record: &SseRecord, fragments: &[CallKey]) -> Bytes {
        let Some(data) = record.fields().data else { return record.bytes.clone() };
        let Some(chunk) = JsonText::of(&data) else { return record.bytes.clone() };
        let choices = chunk.get("choices").map(JsonText::elements).unwrap_or_default();
        let deltas = choices.into_iter().filter_map(|choice| choice.get("delta"));
        let calls = deltas.flat_map(|delta| delta.get("tool_calls").map(JsonText::elements).unwrap_or_default());
        let mut splices = Splices::new(&data);
        for (call, key) in calls.zip(fragments) {
            let Some(refusal) = self.refusal(*key).cloned() else { continue };
            let is_first = self.begin(*key);
            let (kind, function) = part(&call.members());
            if let Some(name) = function.get("name").filter(|name| name.is_string()) {
                splices.replace(name, quoted(REFUSED_TOOL));
            }
            let input = if is_first { quoted(&refusal.wrapper()) } else { "\"\"".to_owned() };
            match function.get(input_key(kind)) {
                Some(text) => splices.replace(text, input),
                None if is_first => {
                    let part = ["custom", "function"].into_iter().find_map(|key| call.get(key));
                    part.into_iter().for_each(|part| splices.set(part, &function, input_key(kind), &input));
                }
                None => {}
            }
        }
        if splices.is_empty() { record.bytes.clone() } else { record.with_data(&splices.apply()) }
    }
}

/// Returns the calls of an answer that is not streamed.
fn calls<'a>(body: JsonText<'a>) -> Vec<(CallKey, JsonText<'a>)> {
    let choices = body.get("choices").map(JsonText::elements).unwrap_or_default();
    let in_choice = |(number, choice): (u64, JsonText<'a>)| {
        let calls = choice.get("message").and_then(|message| message.get("tool_calls"));
        (0..).map(move |index| CallKey(number, index)).zip(calls.map(JsonText::elements).unwrap_or_default())
    };
    (0..).zip(choices).flat_map(in_choice).collect()
}

/// Reads an answer that is not streamed.
pub(super) fn read_body(body: JsonText<'_>, answer: &mut ModelAnswer) -> Vec<(CallKey, WireCall)> {
    let members = body.members();
    answer.model_from(&members);
    answer.openai_usage(members.get("usage"));
    answer.error = members.get("error").filter(|error| !error.is_null()).map(AnswerError::of);
    for choice in members.get("choices").map(JsonText::elements).unwrap_or_default() {
        answer.stop = choice.get("finish_reason").and_then(JsonText::string).map(Into::into).or(answer.stop.take());
        if let Some(message) = choice.get("message").map(JsonText::members) {
            message.get("content").into_iter().for_each(|text| answer.say(text));
            thinking(&message, answer);
        }
    }
    calls(body).into_iter().map(|(key, call)| (key, whole_call(&call.members()))).collect()
}

fn whole_call(call: &JsonMembers<'_>) -> WireCall {
    let (kind, function) = part(call);
    let text = |key| function.string(key).unwrap_or_default().into_owned();
    let id = call.string("id").unwrap_or_default().into_owned();
    WireCall {
        id,
        tool: text("name"),
        namespace: None,
        input: text(input_key(kind)),
        is_cut: false,
        kind,
        thinking: String::new(),
    }
}

pub(super) fn refuse_in_body(body: JsonText<'_>, refused: &[RefusedCall], splices: &mut Splices<'_>) {
    for (key, call) in calls(body) {
        if let Some(refusal) = RefusedCall::find(refused, key) {
            rename(call, REFUSED_TOOL, &refusal.wrapper(), splices);
        }
    }
}

fn rename(call: JsonText<'_>, tool: &str, input: &str, splices: &mut Splices<'_>) {
    let (kind, function) = part(&call.members());
    if let Some(part) = ["custom", "function"].into_iter().find_map(|key| call.get(key)) {
        splices.set(part, &function, "name", &quoted(tool));
        splices.set(part, &function, input_key(kind), &quoted(input));
    }
}

/// Walks through the wanted calls of a conversation and their results.
pub(super) fn walk<'a>(body: JsonText<'a>, wants: impl Fn(&str) -> bool, mut meet: impl FnMut(Met<'a>)) {
    for message in body.get("messages").map(JsonText::elements).unwrap_or_default() {
        let members = message.members();
        for call in members.get("tool_calls").map(JsonText::elements).unwrap_or_default() {
            let call = call.members();
            let id = call.string("id").filter(|id| wants(id));
            id.into_iter().for_each(|id| meet(Met::Call(id, whole_call(&call))));
        }
        let id = members.string("tool_call_id").filter(|id| members.is("role", "tool") && wants(id));
        id.into_iter().for_each(|id| meet(Met::Result(id, message)));
    }
}

/// Puts the model's own calls back into a conversation, and the reasons into their results.
pub(super) fn restore(body: JsonText<'_>, known: impl Fn(&str) -> Option<Refusal>, splices: &mut Splices<'_>) {
    let mut reasons = Reasons::default();
    for message in body.get("messages").map(JsonText::elements).unwrap_or_default() {
        let members = message.members();
        for call in members.get("tool_calls").map(JsonText::elements).unwrap_or_default() {
            let (kind, function) = part(&call.members());
            let Some(id) = call.get("id").and_then(JsonText::string) else { continue };
            let is_ours = function.is("name", REFUSED_TOOL);
            let wrapper = is_ours.then(|| Refusal::of_quoted_wrapper(&function, input_key(kind))).flatten();
            let refusal = wrapper.or_else(|| known(&id));
            reasons.call(&id, refusal.as_ref());
            let Some(refusal) = refusal else { continue };
            rename(call, &refusal.tool, &refusal.input, splices);
        }
        if members.is("role", "tool") {
            let id = members.string("tool_call_id").unwrap_or_default();
            if let Some(why) = reasons.of(&id).flatten() {
                splices.set(message, &members, "content", &quoted(&why));
            }
        }
    }
}
