//! Later requests, which bring the refused calls back.

use bytes::Bytes;
use memchr::memmem;

use super::{REFUSED_TOOL, Refusal, WireFormat, chat, messages, responses};
use crate::memory::RefusalMemory;
use steadfast_splice::json::{JsonText, Splices};

/// Returns whether a request may have a refused call. Most have none, and those are searched and not parsed.
pub(crate) fn may_be_restored(document: &[u8], session: &str, memory: &RefusalMemory) -> bool {
    memory.knows(session) || memmem::find(document, REFUSED_TOOL.as_bytes()).is_some()
}

/// Returns the request as the model knows it: its own calls, each with the reason as the result. `None`: it is the
/// same.
pub(crate) fn restore(format: WireFormat, document: &[u8], session: &str, memory: &RefusalMemory) -> Option<Bytes> {
    if !may_be_restored(document, session, memory) {
        return None;
    }
    let body = JsonText::of(document)?;
    let mut splices = Splices::new(document);
    let known = |id: &str| -> Option<Refusal> { memory.get(session, id) };
    match format {
        WireFormat::Messages => messages::restore(body, known, &mut splices),
        WireFormat::Responses => responses::restore(body, known, &mut splices),
        WireFormat::Chat => chat::restore(body, known, &mut splices),
    }
    (!splices.is_empty()).then(|| splices.apply())
}
