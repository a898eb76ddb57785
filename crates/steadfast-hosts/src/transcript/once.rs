use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use steadfast_model::{Millis, fnv};

use super::{Item, Record};

/// Tells what was already told. A session that is resumed or forked begins with a copy of the rows before it, under
/// other ids of the rows; the calls keep their ids, and everything its time.
#[derive(Debug, Default)]
pub(super) struct Once {
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
    /// A compaction was told, and its summary is still to come.
    summary_follows: bool,
}

impl Once {
    /// Leaves out of a record what was told before.
    pub(super) fn keep(&mut self, record: &mut Record<'_>) {
        let at = record.at;
        record.items.retain(|item| !self.is_summary(item) && key(item, at).is_none_or(|key| self.seen.insert(key)));
    }
}

impl Once {
    /// Whether it is the summary of a compaction that has a row of its own.
    fn is_summary(&mut self, item: &Item<'_>) -> bool {
        match item {
            Item::Compaction { trigger: Some(_) } => {
                self.summary_follows = true;
                false
            }
            Item::Compaction { trigger: None } => std::mem::take(&mut self.summary_follows),
            _ => false,
        }
    }
}

fn key(item: &Item<'_>, at: Option<Millis>) -> Option<u64> {
    let timed = |kind: &[u8], more: &[u8]| at.map(|at| fnv([kind, &at.0.to_le_bytes(), more]));
    match item {
        Item::Call(call) => call.id.as_deref().map(|id| fnv([b"call", id.as_bytes()])),
        Item::Result(result) => result.call.as_deref().map(|id| fnv([b"result", id.as_bytes()])),
        // One message of the human may be one row with three blocks, and three rows in the copy.
        Item::Prompt { .. } => timed(b"prompt", b""),
        Item::Command { name, .. } => timed(b"command", name.as_bytes()),
        Item::Said(words) | Item::Queued(words) => {
            let raw = words.0.get().as_bytes();
            timed(b"said", &[&raw.len().to_le_bytes(), &raw[..raw.len().min(64)]].concat())
        }
        Item::Interrupt => timed(b"interrupt", b""),
        Item::Compaction { .. } => timed(b"compaction", b""),
        Item::Stop { .. } => timed(b"stop", b""),
        Item::Failure { .. } => timed(b"failure", b""),
        Item::Continued { session } => Some(fnv([b"continued", session.as_bytes()])),
        // Counted by the message.
        Item::Usage(_) => None,
    }
}

/// What is already a hash.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = fnv([bytes]);
    }

    fn write_u64(&mut self, hash: u64) {
        // The table looks at the upper bits, and the lower ones of FNV are the better mixed.
        self.0 = hash ^ hash.rotate_left(32);
    }
}
