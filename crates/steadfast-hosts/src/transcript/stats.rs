use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use serde::{Serialize, Serializer};
use steadfast_model::{Host, PromptOrigin, fnv};

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
}

impl Stats {
    pub fn of(mut transcript: Transcript) -> Self {
        let mut summing = Summing::default();
        while let Some(row) = transcript.next() {
            if let Ok(record) = row {
                summing.add(&record);
            }
        }
        summing.end(&transcript)
    }
}

/// Collects statistics row by row.
#[derive(Debug, Default)]
pub struct Summing {
    stats: Stats,
    messages: HashMap<u64, TokenUsage, BuildHasherDefault<Hashed>>,
    /// The last total that the host reported.
    total: TokenUsage,
}

impl Summing {
    pub fn add(&mut self, record: &TranscriptRecord<'_>) {
        let stats = &mut self.stats;
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
                    stats.tokens = stats.tokens.plus(more);
                }
                Item::Usage(Usage::Total(total)) => {
                    // A total below the previous one has started again.
                    let anew = total.output < self.total.output;
                    let more = if anew { *total } else { total.minus(self.total) };
                    stats.tokens = stats.tokens.plus(more);
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
                | Item::Failure { .. }
                | Item::Continued { .. } => {}
            }
        }
    }

    pub fn end(self, transcript: &Transcript) -> Stats {
        Stats {
            host: transcript.writer().and_then(super::Writer::host),
            records: transcript.rows(),
            damaged: transcript.damaged(),
            ..self.stats
        }
    }
}

/// The keys of `steadfast transcript stats --json`, except `file`.
impl Serialize for Stats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            host: Option<Host>,
            records: u64,
            prompts: u64,
            tool_calls: u64,
            by_tool: &'a BTreeMap<String, u64>,
            subagent_calls: u64,
            compactions: u64,
            interrupts: u64,
            input_tokens: u64,
            cache_read_tokens: u64,
            cache_write_tokens: u64,
            output_tokens: u64,
            damaged: u64,
        }
        let TokenUsage { input, cache_read, cache_write, output } = self.tokens;
        Line {
            host: self.host,
            records: self.records,
            prompts: self.prompts,
            tool_calls: self.tool_calls,
            by_tool: &self.by_tool,
            subagent_calls: self.subagent_calls,
            compactions: self.compactions,
            interrupts: self.interrupts,
            input_tokens: input,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            output_tokens: output,
            damaged: self.damaged,
        }
        .serialize(serializer)
    }
}
