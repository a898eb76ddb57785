//! Answers that are not streamed.

use bytes::Bytes;

use super::{CallKey, ModelAnswer, RefusedCall, WireCall, WireFormat, chat, messages, responses};
use steadfast_splice::json::{JsonText, Splices};

/// Reads a whole answer. One that is not JSON holds nothing.
pub(crate) fn answer_of_body(format: WireFormat, body: &[u8]) -> (ModelAnswer, Vec<(CallKey, WireCall)>) {
    let mut answer = ModelAnswer::default();
    let Some(body) = JsonText::of(body) else { return (answer, Vec::new()) };
    let calls = match format {
        WireFormat::Messages => messages::read_body(body, &mut answer),
        WireFormat::Responses => responses::read_body(body, &mut answer),
        WireFormat::Chat => chat::read_body(body, &mut answer),
    };
    (answer, calls)
}

/// Returns the answer with calls of the tool that does not exist in place of the refused ones.
pub(crate) fn refuse_in_body(format: WireFormat, document: &[u8], refused: &[RefusedCall]) -> Bytes {
    let mut splices = Splices::new(document);
    if let Some(body) = JsonText::of(document) {
        match format {
            WireFormat::Messages => messages::refuse_in_body(body, refused, &mut splices),
            WireFormat::Responses => responses::refuse_in_body(body, refused, &mut splices),
            WireFormat::Chat => chat::refuse_in_body(body, refused, &mut splices),
        }
    }
    splices.apply()
}
