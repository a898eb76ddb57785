//! Answers that are not streamed.

use bytes::Bytes;

use super::{CallKey, ModelAnswer, RefusedCall, StreamReader, WireCall, WireFormat, chat, messages, responses};
use steadfast_splice::json::{JsonText, Splices};
use steadfast_splice::sse::{SsePart, SseSplitter};

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

/// Reads an answer that has arrived. `is_stream`: it is a stream of events.
pub fn read_answer(format: WireFormat, is_stream: bool, body: Bytes) -> (ModelAnswer, Vec<WireCall>) {
    if !is_stream {
        let (answer, calls) = answer_of_body(format, &body);
        return (answer, calls.into_iter().map(|(_, call)| call).collect());
    }
    let (mut reader, mut splitter, mut calls) = (StreamReader::new(format), SseSplitter::default(), Vec::new());
    splitter.push(body);
    let last = |splitter: &mut SseSplitter| splitter.next_part().or_else(|| splitter.finish());
    while let Some(part) = last(&mut splitter) {
        if let SsePart::Record(record) = part {
            calls.extend(reader.read(&record).completed);
        }
    }
    calls.extend(reader.end().completed);
    (std::mem::take(reader.answer()), calls.into_iter().map(|(_, call)| call).collect())
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
