use clap::Args;
use serde::Serialize;
use steadfast_hosts::transcript::{Stats as Numbers, TokenUsage};
use steadfast_text::count;

use super::{Which, sessions};
use crate::error::CommandError;
use crate::output::tell;

#[derive(Debug, Args)]
pub(in crate::commands) struct Stats {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object per session, with stable keys: `{file, host, records, prompts, tool_calls, by_tool,
    /// subagent_calls, compactions, interrupts, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
    /// damaged}`. `prompts` counts those of the human, `tool_calls` those of the main thread. Usage counts once per
    /// message, each token under one key. `records` counts all rows, unreadable ones (`damaged`) too.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    numbers: &'a Numbers,
}

impl Stats {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let sessions = sessions::find(&self.which.files)?;
        let mut unread = sessions::Unread::default();
        for file in &sessions {
            let Some(transcript) = unread.open(file) else { continue };
            let numbers = Numbers::of(transcript);
            let file = file.display().to_string();
            if self.json {
                let line = serde_json::to_string(&Line { file: &file, numbers: &numbers })
                    .map_err(|error| CommandError::failure(format!("cannot write the numbers of `{file}`: {error}")))?;
                tell!("{line}")?;
            } else {
                tell!("{}", text(&file, &numbers))?;
            }
        }
        unread.end(sessions.len())
    }
}

fn text(file: &str, numbers: &Numbers) -> String {
    let Numbers { records, damaged, prompts, tool_calls, subagent_calls, compactions, interrupts, .. } = numbers;
    let host = numbers.host.map_or("unknown", |host| host.as_str());
    let TokenUsage { input, cache_read, cache_write, output } = numbers.tokens;
    let mut tools: Vec<(&String, &u64)> = numbers.by_tool.iter().collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let tools: Vec<String> = tools.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
    let damage = if *damaged == 0 { String::new() } else { format!(", {damaged} damaged") };
    let mut lines = vec![
        file.to_owned(),
        format!("  host       {host}, {}{damage}", count(*records, "record")),
        format!(
            "  human      {}, {}, {}",
            count(*prompts, "prompt"),
            count(*interrupts, "interrupt"),
            count(*compactions, "compaction")
        ),
        format!("  calls      {tool_calls}, and {subagent_calls} by subagents"),
    ];
    if !tools.is_empty() {
        lines.push(format!("  tools      {}", tools.join(", ")));
    }
    lines.push(format!(
        "  tokens     {} in, {} from the cache, {} into it, {} out",
        short(input),
        short(cache_read),
        short(cache_write),
        short(output)
    ));
    lines.join("\n")
}

/// A rounded number: `12k`, `34M`.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..10_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}
