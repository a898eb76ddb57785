use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use steadfast_model::{Host, Millis, PromptOrigin, fnv};

use super::seen_items::Hashed;
use super::{Item, Thread, TokenUsage, Transcript, TranscriptRecord, Usage};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// `None` if no row identifies the writer.
    pub host: Option<Host>,
    /// All rows, including damaged ones.
    pub records: u64,
    pub damaged: u64,
    /// Prompts of the human.
    pub prompts: u64,
    /// Calls of the main thread.
    pub tool_calls: u64,
    pub by_tool: BTreeMap<String, u64>,
    /// Calls of subagents, as far as this file contains them.
    pub subagent_calls: u64,
    pub compactions: u64,
    pub interrupts: u64,
    /// Each message counts once.
    pub tokens: TokenUsage,
    /// The same tokens by model. The name is empty where no row names the model.
    pub models: BTreeMap<String, TokenUsage>,
    /// The first and the last time in the rows.
    pub began: Option<Millis>,
    pub ended: Option<Millis>,
}

impl Stats {
    pub fn of(transcript: Transcript) -> Self {
        Summing::default().session(transcript)
    }
}

/// The tokens of each message, by a hash of its id.
type Messages = HashMap<u64, TokenUsage, BuildHasherDefault<Hashed>>;

/// Collects statistics row by row, of one session after another.
///
/// A resumed or forked session begins with a copy of the earlier one. Its messages keep their ids, so a total over several
/// sessions counts each message once.
#[derive(Debug, Default)]
pub struct Summing {
    stats: Stats,
    messages: Messages,
    /// The tokens that no earlier session contains, by model.
    fresh: BTreeMap<String, TokenUsage>,
    known: Messages,
    /// The last total that the host reported.
    total: TokenUsage,
    /// The model that works at this row.
    model: String,
}

impl Summing {
    /// Adds a whole session, and returns its numbers.
    pub fn session(&mut self, mut transcript: Transcript) -> Stats {
        while let Some(row) = transcript.next() {
            if let Ok(record) = row {
                self.add(&record);
            }
        }
        self.end(&transcript)
    }

    pub fn add(&mut self, record: &TranscriptRecord<'_>) {
        if let Some(model) = record.model.as_deref().filter(|model| *model != self.model) {
            model.clone_into(&mut self.model);
        }
        let stats = &mut self.stats;
        stats.began = [stats.began, record.at].into_iter().flatten().min();
        stats.ended = stats.ended.max(record.at);
        for item in &record.items {
            match item {
                Item::Prompt { origin: PromptOrigin::Human, .. } => stats.prompts += 1,
                Item::Call(call) if record.thread == Thread::Main => {
                    stats.tool_calls += 1;
                    match stats.by_tool.get_mut(call.tool.as_ref()) {
                        Some(count) => *count += 1,
                        None => drop(stats.by_tool.insert(call.tool.clone().into_owned(), 1)),
                    }
                }
                Item::Call(_) => stats.subagent_calls += 1,
                Item::Usage(Usage::Message { id, tokens }) => {
                    let known = self.messages.entry(fnv([id.as_bytes()])).or_default();
                    // An early row of a message has a lower count than its last row, and a copy may lack the last row.
                    let more = tokens.max(*known).minus(*known);
                    *known = known.plus(more);
                    count(&mut stats.models, &self.model, more);
                    let elsewhere = self.known.entry(fnv([id.as_bytes()])).or_default();
                    let fresh = tokens.max(*elsewhere).minus(*elsewhere);
                    *elsewhere = elsewhere.plus(fresh);
                    count(&mut self.fresh, &self.model, fresh);
                }
                Item::Usage(Usage::Total(total)) => {
                    // A total below the previous one has started again.
                    let anew = total.output < self.total.output;
                    let more = if anew { *total } else { total.minus(self.total) };
                    count(&mut stats.models, &self.model, more);
                    count(&mut self.fresh, &self.model, more);
                    self.total = *total;
                }
                Item::Compaction { .. } => stats.compactions += 1,
                Item::Interrupt => stats.interrupts += 1,
                Item::Prompt { .. }
                | Item::Queued(_)
                | Item::Command { .. }
                | Item::Said(_)
                | Item::Result(_)
                | Item::Stop { .. }
                | Item::StopRefused { .. }
                | Item::Failure { .. }
                | Item::Continued { .. } => {}
            }
        }
    }

    /// Returns the numbers of this session. The next row begins another one.
    pub fn end(&mut self, transcript: &Transcript) -> Stats {
        (self.messages, self.total, self.model) = Default::default();
        let stats = std::mem::take(&mut self.stats);
        Stats {
            host: transcript.writer().and_then(super::Writer::host),
            records: transcript.rows(),
            damaged: transcript.damaged(),
            tokens: stats.models.values().fold(TokenUsage::default(), |sum, tokens| sum.plus(*tokens)),
            ..stats
        }
    }

    /// Returns the tokens of all sessions by model, each message once.
    pub fn in_total(&self) -> &BTreeMap<String, TokenUsage> {
        &self.fresh
    }
}

fn count(models: &mut BTreeMap<String, TokenUsage>, model: &str, more: TokenUsage) {
    if more == TokenUsage::default() {
        return;
    }
    match models.get_mut(model) {
        Some(tokens) => *tokens = tokens.plus(more),
        None => drop(models.insert(model.to_owned(), more)),
    }
}
