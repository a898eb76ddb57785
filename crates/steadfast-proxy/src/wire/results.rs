//! The results of calls in a request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;

use super::{WireCall, WireFormat, chat, messages, responses};
use steadfast_splice::json::{JsonMembers, JsonText, Splices, quoted};

/// The longest output that is kept.
const OUTPUT_LIMIT: usize = 1 << 20;

/// The result of a call, as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireResult {
    /// The id of the call.
    pub id: String,
    /// The tool and the input of that call. Empty if the request does not have the call.
    pub tool: String,
    pub input: String,
    /// The host reports that the call failed. Not every format has this.
    pub is_error: bool,
    /// The output as JSON: a text or a list of parts. Empty if it is longer than the proxy keeps.
    pub output: String,
    /// The place of the result in the request.
    place: Range<usize>,
}

/// A find of the walk through a conversation.
pub(super) enum Met<'a> {
    Call(Cow<'a, str>, WireCall),
    Result(Cow<'a, str>, JsonText<'a>),
}

/// The member of a result that has the output.
fn output_key(format: WireFormat) -> &'static str {
    if format == WireFormat::Responses { "output" } else { "content" }
}

/// Returns the results of wanted calls, the oldest first.
pub fn results(format: WireFormat, document: &[u8], wants: impl Fn(&str) -> bool) -> Vec<WireResult> {
    let Some(body) = JsonText::of(document) else { return Vec::new() };
    let (mut calls, mut found) = (BTreeMap::new(), Vec::new());
    let meet = |met: Met<'_>| match met {
        Met::Call(id, call) => drop(calls.insert(id.into_owned(), call)),
        Met::Result(id, item) => {
            let members = item.members();
            // Some models number their calls anew in each answer, so the newest call with this id counts.
            let call = calls.get(&*id);
            let output = members.get(output_key(format)).map(JsonText::text);
            found.push(WireResult {
                tool: call.map(|call| call.tool.clone()).unwrap_or_default(),
                input: call.map(|call| call.input.clone()).unwrap_or_default(),
                id: id.into_owned(),
                is_error: members.get("is_error").is_some_and(|value| value.text() == "true"),
                output: output.filter(|output| output.len() <= OUTPUT_LIMIT).unwrap_or_default().to_owned(),
                place: item.range(document),
            });
        }
    };
    match format {
        WireFormat::Messages => messages::walk(body, wants, meet),
        WireFormat::Responses => responses::walk(body, wants, meet),
        WireFormat::Chat => chat::walk(body, wants, meet),
    }
    found
}

/// Returns the request with a text at the end of some results. `None`: nothing was added.
pub(crate) fn correct<'a>(
    format: WireFormat,
    document: &[u8],
    corrections: impl IntoIterator<Item = (&'a WireResult, &'a str)>,
) -> Option<Bytes> {
    let mut splices = Splices::new(document);
    for (result, text) in corrections {
        let Some(item) = document.get(result.place.clone()).and_then(JsonText::of) else { continue };
        add(format, item, &item.members(), text, &mut splices);
    }
    (!splices.is_empty()).then(|| splices.apply())
}

/// Adds a text to the end of a result. A host sends the same output as a string, or as a list with one text where it
/// marks the end of its cache, so both get the same words.
fn add(format: WireFormat, item: JsonText<'_>, members: &JsonMembers<'_>, text: &str, splices: &mut Splices<'_>) {
    let key = output_key(format);
    let extend = |string: JsonText<'_>, splices: &mut Splices<'_>| {
        let gap = if string.is("") { "" } else { "\n\n" };
        splices.extend_string(string, &format!("{gap}{text}"));
    };
    match members.get(key) {
        None => splices.set(item, members, key, &quoted(text)),
        Some(output) if output.is_null() => splices.set(item, members, key, &quoted(text)),
        Some(output) if output.is_string() => extend(output, splices),
        Some(output) if output.is_array() => {
            let last = output.elements().last().and_then(|last| last.get("text")).filter(|text| text.is_string());
            let kind = if format == WireFormat::Responses { "input_text" } else { "text" };
            match last {
                Some(last) => extend(last, splices),
                None => splices.push(output, &format!(r#"{{"type":"{kind}","text":{}}}"#, quoted(text))),
            }
        }
        // A form that is not known stays as it is.
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests;
