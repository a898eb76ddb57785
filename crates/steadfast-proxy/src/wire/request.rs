//! Later requests, which bring the refused calls back.

use bytes::Bytes;
use memchr::memmem;

use super::{REFUSED_TOOL, Refusal, WireFormat, chat, messages, responses};
use crate::json::{Json, Splices};
use crate::memory::RefusalMemory;

/// Returns the request as the model knows it: its own calls, each with the reason as the result. `None`: it is the
/// same. Most requests have no refused call, and those are searched for its name and not parsed.
pub(crate) fn restore(format: WireFormat, document: &[u8], session: &str, memory: &RefusalMemory) -> Option<Bytes> {
    if !memory.knows(session) && memmem::find(document, REFUSED_TOOL.as_bytes()).is_none() {
        return None;
    }
    let body = Json::of(document)?;
    let mut splices = Splices::new(document);
    let known = |id: &str| -> Option<Refusal> { memory.get(session, id) };
    match format {
        WireFormat::Messages => messages::restore(body, known, &mut splices),
        WireFormat::Responses => responses::restore(body, known, &mut splices),
        WireFormat::Chat => chat::restore(body, known, &mut splices),
    }
    (!splices.is_empty()).then(|| splices.apply())
}
