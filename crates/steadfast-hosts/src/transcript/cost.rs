//! Estimates the cost of a session since a given time, from the usage that its host recorded. Each reading continues
//! where the previous one ended.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_model::{Millis, fnv};
use steadfast_text::parse_time;

use super::subagent_files;
use crate::price::{Prices, Usage};

/// The part of a file that one reading covers. A stop event waits for it: 16 MB take about 20 ms.
const LOOK: u64 = 16 << 20;

/// The cost of a session so far. Stored between readings, which may happen in different processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    since: i64,
    /// By file name: the session's own file and those of its subagents.
    files: BTreeMap<String, Seen>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    offset: u64,
    micro_usd: u64,
    /// Hash of the last message's id, and its cost. The rows of a message repeat its usage, and an early row may have
    /// less.
    message: u64,
    of_message: u64,
    /// The model of the turn, and the session's usage so far: Codex writes sums.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(default, skip_serializing_if = "Sums::is_empty")]
    sums: Sums,
}

/// Usage in Codex's format. Cached tokens and tokens written to the cache are part of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Sums {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
}

impl Sums {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the difference to an earlier sum. A thread that starts again has smaller sums.
    fn since(self, before: Self) -> Usage {
        let of = |sum: Self| {
            let (cached, written) = (sum.cached_input_tokens, sum.cache_write_input_tokens);
            [sum.input_tokens.saturating_sub(cached.saturating_add(written)), cached, written, sum.output_tokens]
        };
        let (now, before) = (of(self), of(before));
        let [input, cached, written, output] = [0, 1, 2, 3].map(|at| now[at].saturating_sub(before[at]));
        Usage { input, cached, written, output }
    }
}

/// The fields of a row in Codex's rollout that concern cost.
#[derive(Deserialize)]
struct RolloutRow<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Payload<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    info: Option<Info>,
    thread_token_usage: Option<Sums>,
}

#[derive(Deserialize)]
struct Info {
    total_token_usage: Option<Sums>,
}

/// The fields of a row of Claude Code that concern cost.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    model: Cow<'a, str>,
    usage: Tokens,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    output_tokens: u64,
}

impl Cost {
    /// Reads a stored state. An unreadable one counts as empty.
    pub fn kept(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Serializes the state for storage.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds the new rows of the transcript and of its subagents' files. Unreadable rows and models without a price cost
    /// nothing.
    #[must_use]
    pub fn look(mut self, transcript: &Path, since: Millis, prices: &Prices) -> Self {
        if self.since != since.0 {
            self = Self { since: since.0, files: BTreeMap::new() };
        }
        for file in std::iter::once(transcript.to_owned()).chain(subagent_files(transcript)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let seen = self.files.entry(name).or_default();
            if let Ok(more) = seen.read(&file, since, prices) {
                *seen = more;
            }
        }
        self
    }

    /// Returns the cost in millionths of a US dollar.
    pub fn micro_usd(&self) -> u64 {
        self.files.values().fold(0, |sum, seen| sum.saturating_add(seen.micro_usd))
    }
}

impl Seen {
    fn read(&self, file: &Path, since: Millis, prices: &Prices) -> io::Result<Self> {
        let mut file = File::open(file)?;
        // A file that became shorter is a different one.
        let mut seen = if file.metadata()?.len() < self.offset { Self::default() } else { self.clone() };
        file.seek(SeekFrom::Start(seen.offset))?;
        let mut bytes = Vec::new();
        file.take(LOOK).read_to_end(&mut bytes)?;
        // An incomplete last line is still being written; the next reading takes it.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split(|byte| *byte == b'\n') {
            seen.add(line, since, prices);
        }
        seen.offset += whole as u64;
        Ok(seen)
    }

    fn add(&mut self, line: &[u8], since: Millis, prices: &Prices) {
        let Ok(Row { timestamp, message }) = serde_json::from_slice::<Row<'_>>(line) else {
            return self.add_rollout(line, since, prices);
        };
        if is_before(timestamp, since) {
            return;
        }
        let Some(price) = prices.of(&message.model) else { return };
        let Tokens { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } =
            message.usage;
        let cost = price.micro_usd(Usage {
            input: input_tokens,
            cached: cache_read_input_tokens,
            written: cache_creation_input_tokens,
            output: output_tokens,
        });
        let id = fnv([message.id.as_bytes()]);
        let counted = if self.message == id { self.of_message } else { 0 };
        self.micro_usd = self.micro_usd.saturating_add(cost.saturating_sub(counted));
        (self.message, self.of_message) = (id, cost.max(counted));
    }

    fn add_rollout(&mut self, line: &[u8], since: Millis, prices: &Prices) {
        let Ok(RolloutRow { timestamp, payload }) = serde_json::from_slice::<RolloutRow<'_>>(line) else { return };
        if let Some(model) = payload.model {
            self.model = model.into_owned();
        }
        let sums = payload.info.and_then(|info| info.total_token_usage).or(payload.thread_token_usage);
        let Some(sums) = sums else { return };
        let before = std::mem::replace(&mut self.sums, sums);
        if is_before(timestamp, since) {
            return;
        }
        let cost = prices.of(&self.model).map_or(0, |price| price.micro_usd(sums.since(before)));
        self.micro_usd = self.micro_usd.saturating_add(cost);
    }
}

fn is_before(timestamp: Option<Cow<'_, str>>, since: Millis) -> bool {
    timestamp.and_then(|text| parse_time(&text)).is_some_and(|at| at < since.0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(text: &str) -> Millis {
        Millis(parse_time(text).unwrap())
    }

    fn row(at: &str, id: &str, model: &str, output: u64) -> String {
        format!(
            "{{\"type\":\"assistant\",\"timestamp\":\"2026-11-16T{at}:00.000Z\",\"message\":{{\"id\":\"{id}\",\"model\":\
             \"{model}\",\"content\":[],\"usage\":{{\"input_tokens\":0,\"output_tokens\":{output}}}}}}}\n"
        )
    }

    #[test]
    fn a_message_counts_once_from_the_moment_on_and_a_later_look_reads_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        let (opus, since) = ("claude-opus-5", at("2026-11-16T12:00:00.000Z"));
        let user = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
        let rows = [
            row("11:59", "before", opus, 1_000_000),
            user.to_owned(),
            row("12:01", "a", opus, 10),
            row("12:01", "a", opus, 100_000),
            row("12:02", "b", "nobodys-model", 1_000_000),
        ];
        fs::write(&file, rows.concat()).unwrap();
        let look = |cost: Cost| cost.look(&file, since, &Prices::built_in());
        let first = look(Cost::default());
        assert_eq!(first.micro_usd(), 2_500_000);
        assert_eq!(look(Cost::kept(&first.to_text())), first, "nothing was added");
        fs::write(&file, rows.concat() + &row("12:03", "c", opus, 100_000) + "{\"half").unwrap();
        let second = look(first);
        assert_eq!(second.micro_usd(), 5_000_000);
        // What its subagents did is in files of their own.
        fs::create_dir_all(folder.path().join("s/subagents")).unwrap();
        fs::write(folder.path().join("s/subagents/agent-1.jsonl"), row("12:04", "d", opus, 40_000)).unwrap();
        assert_eq!(look(second.clone()).micro_usd(), 6_000_000);
        let later = second.look(&file, at("2026-11-16T12:03:00.000Z"), &Prices::built_in());
        assert_eq!(later.micro_usd(), 3_500_000, "another moment is counted anew");
    }

    /// Rows as Codex 0.166.0 writes them: sums of the session, told twice, and the model of each turn.
    #[test]
    fn a_rollout_of_codex_costs_what_its_sums_grew_by() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rollout.jsonl");
        let since = at("2026-11-16T12:00:00.000Z");
        let turn = |at: &str, model: &str| {
            format!(
                "{{\"timestamp\":\"2026-11-16T{at}:00.000Z\",\"type\":\"turn_context\",\"payload\":{{\"model\":\"{model}\"}}}}\n"
            )
        };
        let count = |at: &str, input: u64, cached: u64, output: u64| {
            format!(
                "{{\"timestamp\":\"2026-11-16T{at}:00.000Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\
                 \"info\":{{\"total_token_usage\":{{\"input_tokens\":{input},\"cached_input_tokens\":{cached},\
                 \"cache_write_input_tokens\":0,\"output_tokens\":{output},\"total_tokens\":0}}}},\"rate_limits\":null}}}}\n"
            )
        };
        let limits = "{\"timestamp\":\"2026-11-16T12:02:00.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":null}}\n";
        let rows = [
            turn("11:58", "gpt-5.5"),
            count("11:59", 1_000_000, 0, 1_000_000),
            count("12:01", 1_200_000, 100_000, 1_010_000),
            count("12:01", 1_200_000, 100_000, 1_010_000),
            limits.to_owned(),
        ];
        fs::write(&file, rows.concat()).unwrap();
        let look = |cost: Cost| cost.look(&file, since, &Prices::built_in());
        let first = look(Cost::default());
        // 100,000 of input at 5 dollars, as many from the cache at 0.5, 10,000 of output at 30.
        assert_eq!(first.micro_usd(), 500_000 + 50_000 + 300_000);
        let more = turn("12:03", "nobodys-model") + &count("12:03", 9_200_000, 100_000, 1_010_000);
        let last = turn("12:04", "gpt-5.5") + &count("12:04", 9_200_000, 100_000, 1_020_000);
        fs::write(&file, rows.concat() + &more + &last).unwrap();
        let second = look(Cost::kept(&first.to_text()));
        assert_eq!(second.micro_usd(), 850_000 + 300_000, "a model without a price costs nothing");
    }

    #[test]
    fn a_transcript_that_is_not_there_costs_nothing() {
        let none = Cost::default().look(Path::new("/nowhere/s.jsonl"), Millis(0), &Prices::built_in());
        assert_eq!(none.micro_usd(), 0);
    }
}
