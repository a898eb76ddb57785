//! Holds the records of a call until the call is judged. All other records pass.
//!
//! Both Claude Code and Codex start a tool as soon as its own record is complete, seconds before the answer ends. So a
//! call cannot be judged at the end of the answer, and holding its records until its input is complete costs nothing.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::judge::CallRuling;
use crate::wire::{CallKey, CallKind, CallStep, ModelAnswer, REFUSED_TOOL, Refusal, RefusedCall, StreamReader};
use crate::wire::{StreamRefuser, WireCall, WireFormat};
use steadfast_splice::sse::{SsePart, SseSplitter};

/// The longest call that is held. A longer one passes: it could not be put back.
const HELD_LIMIT: usize = 64 << 20;

/// The next thing to do with a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HoldStep {
    Forward(Bytes),
    /// Get a ruling on this call and pass it to [`CallHold::rule`].
    Judge(WireCall),
    /// A call that was not held.
    Seen(WireCall),
}

#[derive(Debug)]
pub(crate) struct CallHold {
    splitter: SseSplitter,
    reader: StreamReader,
    refuser: StreamRefuser,
    /// `None`: nothing can be refused, so chunks pass as they are.
    held: Option<Vec<HeldPart>>,
    held_bytes: usize,
    /// Calls that need a ruling before the held records may pass.
    waiting: Vec<(CallKey, String)>,
    completed: VecDeque<(CallKey, WireCall)>,
    judging: Option<(CallKey, WireCall)>,
    out: VecDeque<Bytes>,
    chunk: Bytes,
}

#[derive(Debug)]
struct HeldPart {
    part: SsePart,
    fragments: Vec<CallKey>,
}

impl CallHold {
    /// `refuses`: calls can be refused.
    pub(crate) fn new(format: WireFormat, refuses: bool) -> Self {
        Self {
            splitter: SseSplitter::default(),
            reader: StreamReader::new(format),
            refuser: StreamRefuser::new(format),
            held: refuses.then(Vec::new),
            held_bytes: 0,
            waiting: Vec::new(),
            completed: VecDeque::new(),
            judging: None,
            out: VecDeque::new(),
            chunk: Bytes::new(),
        }
    }

    /// Returns whether a call needs a ruling. A model that learnt our own name from a summary gets its call back in the
    /// same wrapping as any other refused call, so it needs one, too.
    pub(crate) fn is_held(tool: &str, holds: impl Fn(&str) -> bool) -> bool {
        tool.is_empty() || tool == REFUSED_TOOL || holds(tool)
    }

    /// Adds a chunk of the stream. Call [`Self::next_step`] until it returns `None` before the next one.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        if self.held.is_none() {
            self.chunk = chunk.clone();
        }
        self.splitter.push(chunk);
    }

    /// Returns what to do next. `holds`: calls of this tool need a ruling. `None`: it needs more of the stream.
    pub(crate) fn next_step(&mut self, holds: impl Fn(&str) -> bool) -> Option<HoldStep> {
        loop {
            if let Some(bytes) = self.out.pop_front() {
                if !bytes.is_empty() {
                    return Some(HoldStep::Forward(bytes));
                }
            } else if let Some((key, call)) = self.completed.pop_front() {
                let is_waiting = self.waiting.iter().any(|(waiting, _)| *waiting == key);
                if is_waiting && !call.can_be_refused() {
                    self.waiting.retain(|(waiting, _)| *waiting != key);
                } else if is_waiting {
                    self.judging = Some((key, call.clone()));
                    return Some(HoldStep::Judge(call));
                }
                return Some(HoldStep::Seen(call));
            } else if self.waiting.is_empty() && self.is_holding() {
                self.release();
            } else if let Some(part) = self.splitter.next_part() {
                self.take(part, &holds);
            } else if !self.chunk.is_empty() {
                return Some(HoldStep::Forward(std::mem::take(&mut self.chunk)));
            } else {
                return None;
            }
        }
    }

    /// Takes the ruling on the call that [`HoldStep::Judge`] named.
    pub(crate) fn rule(&mut self, ruling: CallRuling) -> Option<RefusedCall> {
        let (key, call) = self.judging.take()?;
        self.waiting.retain(|(waiting, _)| *waiting != key);
        let CallRuling::Refuse { why } = ruling else { return None };
        let refused = RefusedCall { key, id: call.id.clone(), refusal: Refusal::of(&call, why) };
        self.refuser.add(refused.clone());
        Some(refused)
    }

    /// Ends a stream that ended as it should.
    pub(crate) fn finish(&mut self, holds: impl Fn(&str) -> bool) {
        if let Some(part) = self.splitter.finish() {
            self.take(part, &holds);
        }
        let end = self.reader.end();
        self.complete(end.completed);
        // A call without an end is not executed. It passes as it is.
        let completed = &self.completed;
        self.waiting.retain(|(key, _)| completed.iter().any(|(done, _)| done == key));
    }

    /// Ends a stream that broke: the client sees every byte that arrived.
    pub(crate) fn break_off(&mut self) {
        self.completed.clear();
        self.waiting.clear();
        self.release();
        let rest = self.splitter.take_rest();
        if self.held.is_some() {
            self.out.push_back(rest);
        }
    }

    pub(crate) fn is_holding(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_empty())
    }

    pub(crate) fn answer(&mut self) -> &mut ModelAnswer {
        self.reader.answer()
    }

    fn complete(&mut self, calls: Vec<(CallKey, WireCall)>) {
        let thinking = if calls.is_empty() { String::new() } else { self.reader.answer().last_thinking() };
        self.completed
            .extend(calls.into_iter().map(|(key, call)| (key, WireCall { thinking: thinking.clone(), ..call })));
    }

    fn take(&mut self, part: SsePart, holds: &impl Fn(&str) -> bool) {
        let step = match &part {
            SsePart::Record(record) => self.reader.read(record),
            SsePart::Fragment(_) => CallStep::default(),
        };
        self.complete(step.completed);
        let Some(held) = &mut self.held else { return };
        self.waiting.extend(step.opened.into_iter().filter(|(_, tool)| Self::is_held(tool, holds)));
        if self.waiting.is_empty() && held.is_empty() {
            let bytes = match &part {
                SsePart::Record(record) => self.refuser.write(record, &step.fragments),
                SsePart::Fragment(bytes) => bytes.clone(),
            };
            self.out.push_back(bytes);
            return;
        }
        self.held_bytes += part.bytes().len();
        held.push(HeldPart { part, fragments: step.fragments });
        if self.held_bytes > HELD_LIMIT {
            self.give_up_waiting();
        }
    }

    /// Lets the calls pass whose input is too long to be held.
    fn give_up_waiting(&mut self) {
        for (key, tool) in &self.waiting {
            if !self.completed.iter().any(|(done, _)| done == key) {
                let (tool, input) = (tool.clone(), String::new());
                let kind = CallKind::Function;
                let call = WireCall {
                    id: String::new(),
                    tool,
                    namespace: None,
                    input,
                    is_cut: true,
                    kind,
                    thinking: String::new(),
                };
                self.completed.push_back((*key, call));
            }
        }
    }

    fn release(&mut self) {
        self.held_bytes = 0;
        for HeldPart { part, fragments } in self.held.as_mut().map(std::mem::take).unwrap_or_default() {
            let bytes = match &part {
                SsePart::Record(record) => self.refuser.write(record, &fragments),
                SsePart::Fragment(bytes) => bytes.clone(),
            };
            self.out.push_back(bytes);
        }
    }
}

#[cfg(test)]
mod tests;
