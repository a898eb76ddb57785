use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use steadfast_model::{Millis, fnv};

use super::{Item, TranscriptRecord};

/// Filters out repeated items. A resumed or forked session begins with a copy of the earlier rows, with new row ids;
/// calls keep their ids, and all items keep their times.
#[derive(Debug, Default)]
pub(super) struct SeenItems {
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
    /// A compaction was read, and its summary will follow.
    summary_follows: bool,
    /// The last prompt and its time.
    prompt: Option<(u64, Millis)>,
}

/// A human does not type the same text again so soon. In milliseconds.
const AGAIN_MS: u64 = 2_000;

impl SeenItems {
    /// Removes items from a record that were in earlier records.
    pub(super) fn remove_repeated(&mut self, record: &mut TranscriptRecord<'_>) {
        let at = record.at;
        record.items.retain(|item| match item {
            Item::Prompt { text, .. } => at.is_none_or(|at| self.is_new_prompt(text, at)),
            _ => !self.is_summary(item) && key(item, at).is_none_or(|key| self.seen.insert(key)),
        });
    }

    /// A message of the human may be one row with a picture and a text, and two rows in the copy. Codex may record one
    /// message in two ways.
    fn is_new_prompt(&mut self, text: &str, at: Millis) -> bool {
        let time = at.0.to_le_bytes();
        let (picture, words) = (fnv([b"picture", &time[..]]), fnv([b"prompt", text.as_bytes()]));
        if text == Item::PICTURE {
            return !self.seen.contains(&fnv([b"prompts", &time[..]])) && self.seen.insert(picture);
        }
        let again = self.prompt.is_some_and(|(last, then)| last == words && at.0.abs_diff(then.0) <= AGAIN_MS);
        self.prompt = Some((words, at));
        self.seen.insert(fnv([b"prompts", &time[..]]));
        let first = self.seen.insert(fnv([b"prompt", &time[..], text.as_bytes()]));
        first && !again && !self.seen.contains(&picture)
    }

    /// Returns true for the summary of a compaction that has a row of its own.
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
        Item::Prompt { .. } => None,
        Item::Command { name, .. } => timed(b"command", name.as_bytes()),
        Item::Said(words) | Item::Queued(words) => {
            let raw = words.0.get().as_bytes();
            timed(b"said", &[&raw.len().to_le_bytes(), &raw[..raw.len().min(64)]].concat())
        }
        Item::Interrupt => timed(b"interrupt", b""),
        Item::Compaction { .. } => timed(b"compaction", b""),
        Item::Stop { .. } => timed(b"stop", b""),
        Item::StopRefused { text, .. } => timed(b"stop refused", text.as_bytes()),
        Item::Failure { .. } => timed(b"failure", b""),
        Item::Continued { session } => Some(fnv([b"continued", session.as_bytes()])),
        // Counted by message.
        Item::Usage(_) => None,
    }
}

/// A hasher for keys that are hashes already.
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
        // The hash table uses the upper bits, but FNV mixes the lower bits better.
        self.0 = hash ^ hash.rotate_left(32);
    }
}
