//! OpenAI Responses. One call stands in several events, and every copy of a refused call is replaced.

use bytes::Bytes;

use super::answer::{AnswerError, ModelAnswer};
use super::refusal::{CallKind, REFUSED_TOOL, Reasons, Refusal, WireCall};
use super::results::Met;
use super::{CallKey, CallStep, RefusedCall, StreamRefuser};
use steadfast_splice::json::{JsonMembers, JsonText, Splices, quoted};
use steadfast_splice::sse::SseRecord;

#[derive(Debug, Default)]
pub(crate) struct ResponsesReader {
    pub(super) answer: ModelAnswer,
    opened: Vec<CallKey>,
    completed: Vec<CallKey>,
}

impl ResponsesReader {
    pub(super) fn read(&mut self, data: &[u8]) -> CallStep {
        let mut step = CallStep::default();
        let Some(event) = JsonText::of(data).map(JsonText::members) else { return step };
        let Some(kind) = event.string("type") else { return step };
        match &*kind {
            "response.output_item.added" => {
                if let (Some(key), Some(call)) = (key(&event), event.get("item").and_then(call)) {
                    self.open(key, &call, &mut step);
                }
            }
            "response.output_item.done" => {
                let (Some(key), Some(item)) = (key(&event), event.get("item")) else { return step };
                self.item(key, item, &mut step);
            }
            "response.created" | "response.in_progress" => {
                let response = event.get("response").map(JsonText::members);
                response.iter().for_each(|response| self.answer.model_from(response));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                if let Some(response) = event.get("response") {
                    self.end(response, &mut step);
                }
            }
            // The error stands in the event itself, or in a member.
            "error" => self.answer.error = event.get("error").or_else(|| JsonText::of(data)).map(AnswerError::of),
            _ => {}
        }
        step
    }

    fn open(&mut self, key: CallKey, call: &WireCall, step: &mut CallStep) {
        if !self.opened.contains(&key) {
            self.opened.push(key);
            step.opened.push((key, call.tool.clone()));
        }
    }

    /// Takes a complete item of the output.
    fn item(&mut self, key: CallKey, item: JsonText<'_>, step: &mut CallStep) {
        if let Some(call) = call(item) {
            self.open(key, &call, step);
            if !self.completed.contains(&key) {
                self.completed.push(key);
                step.completed.push((key, call));
            }
        } else {
            words(item, &mut self.answer);
        }
    }

    /// Takes the whole response at the end of the stream. Some upstreams send their calls only there.
    fn end(&mut self, response: JsonText<'_>, step: &mut CallStep) {
        let calls = totals(response, &mut self.answer);
        for (key, call) in calls {
            self.open(key, &call, step);
            if !self.completed.contains(&key) {
                self.completed.push(key);
                step.completed.push((key, call));
            }
        }
    }
}

fn key(event: &JsonMembers<'_>) -> Option<CallKey> {
    event.number("output_index").map(|index| CallKey(0, index))
}

/// Reads an item of the output that the client has to execute.
fn call(item: JsonText<'_>) -> Option<WireCall> {
    let members = item.members();
    let kind = members.string("type")?;
    let text = |key| members.string(key).unwrap_or_default().into_owned();
    let namespace = members.string("namespace").map(Into::into);
    let (tool, input, kind) = match &*kind {
        "function_call" => (text("name"), text("arguments"), CallKind::Function),
        "custom_tool_call" => (text("name"), text("input"), CallKind::Custom),
        "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" => {
            let input = ["action", "operation"].into_iter().find_map(|key| members.get(key));
            (kind.clone().into_owned(), input.map_or("{}", JsonText::text).to_owned(), CallKind::Other)
        }
        _ => return None,
    };
    Some(WireCall { id: text("call_id"), tool, namespace, input, is_cut: false, kind, thinking: String::new() })
}

/// Reads text and visible thinking of an item.
fn words(item: JsonText<'_>, answer: &mut ModelAnswer) {
    let members = item.members();
    let is_reasoning = members.is("type", "reasoning");
    for part in ["content", "summary"].into_iter().filter_map(|key| members.get(key)).flat_map(JsonText::elements) {
        let Some(text) = part.get("text") else { continue };
        if is_reasoning { answer.think(text) } else { answer.say(text) }
    }
}

/// Reads model, usage and end of a whole response, and returns its calls.
fn totals(response: JsonText<'_>, answer: &mut ModelAnswer) -> Vec<(CallKey, WireCall)> {
    let members = response.members();
    answer.model_from(&members);
    answer.openai_usage(members.get("usage"));
    answer.stop = members.string("status").map(Into::into);
    answer.error = members.get("error").filter(|error| !error.is_null()).map(AnswerError::of).or(answer.error.take());
    items(&members).filter_map(|(key, item)| Some((key, call(item)?))).collect()
}

fn items<'a>(response: &JsonMembers<'a>) -> impl Iterator<Item = (CallKey, JsonText<'a>)> {
    let items = response.get("output").map(JsonText::elements).unwrap_or_default();
    (0..).map(|index| CallKey(0, index)).zip(items)
}

impl StreamRefuser {
    pub(super) fn write_responses(&mut self, record: &SseRecord) -> Bytes {
        let Some(data) = record.fields().data else { return record.bytes.clone() };
        let Some(event) = JsonText::of(&data) else { return record.bytes.clone() };
        let members = event.members();
        let mut splices = Splices::new(&data);
        if let Some(response) = members.get("response") {
            self.refuse_items(response, &mut splices);
        } else if let Some((key, refusal)) = key(&members).and_then(|key| Some((key, self.refusal(key)?.clone()))) {
            if let Some(item) = members.get("item") {
                let is_start = members.is("type", "response.output_item.added");
                refuse_item(item, &refusal, is_start, &mut splices);
            }
            let wrapper = quoted(&refusal.wrapper());
            for (key, text) in [("arguments", &*wrapper), ("input", &*wrapper), ("name", &*quoted(REFUSED_TOOL))] {
                if let Some(value) = members.get(key) {
                    splices.replace(value, text);
                }
            }
            if let Some(delta) = members.get("delta").filter(|delta| delta.is_string()) {
                splices.replace(delta, if self.begin(key) { &*wrapper } else { "\"\"" });
            }
        }
        if splices.is_empty() { record.bytes.clone() } else { record.with_data(&splices.apply()) }
    }

    fn refuse_items(&self, response: JsonText<'_>, splices: &mut Splices<'_>) {
        for (key, item) in items(&response.members()) {
            // Positions in the final list are those of the events, but only the id says so for certain.
            let by_id = |id: &str| self.refused.iter().find(|refused| refused.id == id).map(|refused| &refused.refusal);
            let refusal = item.get("call_id").and_then(JsonText::string).and_then(|id| by_id(&id));
            if let Some(refusal) = refusal.or_else(|| self.refusal(key).filter(|_| call(item).is_some())) {
                refuse_item(item, refusal, false, splices);
            }
        }
    }
}

/// Replaces a call by one of the tool that does not exist. `is_start`: its input may still follow in fragments.
fn refuse_item(item: JsonText<'_>, refusal: &Refusal, is_start: bool, splices: &mut Splices<'_>) {
    let members = item.members();
    let key = if members.is("type", "custom_tool_call") { "input" } else { "arguments" };
    splices.set(item, &members, "name", &quoted(REFUSED_TOOL));
    splices.remove(&members, "namespace");
    let has_input = members.get(key).is_some_and(|input| !input.is(""));
    if has_input || !is_start {
        splices.set(item, &members, key, &quoted(&refusal.wrapper()));
    }
}

/// Reads an answer that is not streamed.
pub(super) fn read_body(body: JsonText<'_>, answer: &mut ModelAnswer) -> Vec<(CallKey, WireCall)> {
    items(&body.members()).for_each(|(_, item)| words(item, answer));
    totals(body, answer)
}

pub(super) fn refuse_in_body(body: JsonText<'_>, refused: &[RefusedCall], splices: &mut Splices<'_>) {
    for (key, item) in items(&body.members()) {
        if let Some(refusal) = RefusedCall::find(refused, key) {
            refuse_item(item, refusal, false, splices);
        }
    }
}

/// Walks through the wanted calls of a conversation and their results.
pub(super) fn walk<'a>(body: JsonText<'a>, wants: impl Fn(&str) -> bool, mut meet: impl FnMut(Met<'a>)) {
    for item in body.get("input").map(JsonText::elements).unwrap_or_default() {
        let members = item.members();
        let Some(id) = members.string("call_id").filter(|id| wants(id)) else { continue };
        if members.string("type").is_some_and(|kind| kind.ends_with("_call_output")) {
            meet(Met::Result(id, item));
        } else if let Some(call) = call(item) {
            meet(Met::Call(id, call));
        }
    }
}

/// Puts the model's own calls back into a conversation, and the reasons into their results.
pub(super) fn restore(body: JsonText<'_>, known: impl Fn(&str) -> Option<Refusal>, splices: &mut Splices<'_>) {
    let mut reasons = Reasons::default();
    for item in body.get("input").map(JsonText::elements).unwrap_or_default() {
        let members = item.members();
        let (Some(kind), Some(id)) = (members.string("type"), members.string("call_id")) else { continue };
        match &*kind {
            "function_call" | "custom_tool_call" => {
                let key = if kind == "function_call" { "arguments" } else { "input" };
                let is_ours = members.is("name", REFUSED_TOOL);
                let wrapper = is_ours.then(|| Refusal::of_quoted_wrapper(&members, key)).flatten();
                let refusal = wrapper.or_else(|| known(&id));
                reasons.call(&id, refusal.as_ref());
                let Some(refusal) = refusal else { continue };
                splices.set(item, &members, "name", &quoted(&refusal.tool));
                splices.set(item, &members, key, &quoted(&refusal.input));
                if let Some(namespace) = &refusal.namespace {
                    splices.set(item, &members, "namespace", &quoted(namespace));
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                // Clients that name the response before send the result without its call.
                let why = reasons.of(&id).unwrap_or_else(|| known(&id).map(|refusal| refusal.why));
                if let Some(why) = why {
                    splices.set(item, &members, "output", &quoted(&why));
                }
            }
            _ => {}
        }
    }
}
