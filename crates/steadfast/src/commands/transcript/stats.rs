use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};
use steadfast_hosts::price::Prices;
use steadfast_hosts::transcript::{Stats as Numbers, Summing, TokenUsage, subagent_files};
use steadfast_model::{Host, Millis};
use steadfast_text::{cost, count, duration, grouped};

use super::{Which, sessions};
use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::terminal::moment;

#[derive(Debug, Args)]
pub(in crate::commands) struct Stats {
    #[command(flatten)]
    which: Which,
    /// Print only the total over all sessions.
    #[arg(long)]
    total: bool,
    /// Print one JSON object per session, with stable keys: `{file, host, records, prompts, tool_calls, by_tool,
    /// subagent_calls, compactions, interrupts, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
    /// damaged, began_at, ended_at, cost_usd, unpriced: [model], models: [{model, input_tokens, cache_read_tokens,
    /// cache_write_tokens, output_tokens, cost_usd}]}`. `prompts` counts those of the human, `tool_calls` those of the
    /// main thread. Usage counts once per message, each token under one key. `records` counts all rows, unreadable ones
    /// (`damaged`) too. `cost_usd` is an estimate from list prices; it leaves out the models in `unpriced`, whose
    /// `cost_usd` is null. With `--total`, prints one object with these keys and `{sessions, subagent_files}` instead of
    /// `{file, host}`. It counts a message once if several sessions contain it, and includes the files of subagents.
    #[arg(long)]
    json: bool,
}

impl Stats {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let files = sessions::find(&self.which.files)?;
        let prices = prices();
        let mut unread = sessions::Unread::default();
        let (mut summing, mut total) = (Summing::default(), Total::default());
        for file in &files {
            let Some(transcript) = unread.open(file) else { continue };
            let numbers = summing.session(transcript);
            total.add(&numbers);
            if self.total {
                continue;
            }
            let file = file.display().to_string();
            if self.json {
                let mut line =
                    Map::from_iter([("file".to_owned(), file.into()), ("host".to_owned(), json!(numbers.host))]);
                line.extend(keys(&numbers, &prices));
                tell!("{}", Value::Object(line))?;
            } else {
                tell!("{}", text(&file, &numbers, &prices))?;
            }
        }
        // Newer versions of Claude Code write the work of a subagent into a file of its own.
        for file in subagents_of(&files) {
            if let Some(transcript) = unread.open_extra(&file) {
                total.add_subagent(&summing.session(transcript));
            }
        }
        total.numbers.models.clone_from(summing.in_total());
        total.numbers.tokens = sum(summing.in_total());
        if self.total && self.json {
            let mut line = Map::from_iter([
                ("sessions".to_owned(), total.sessions().into()),
                ("subagent_files".to_owned(), total.subagent_files.into()),
            ]);
            line.extend(keys(&total.numbers, &prices));
            tell!("{}", Value::Object(line))?;
        } else if !self.json && (self.total || total.sessions() > 1 || total.subagent_files > 0) {
            tell!("{}", total.text(&prices))?;
        }
        unread.end(files.len())
    }
}

/// The files of subagents, except those that are in the list of sessions.
fn subagents_of(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files.iter().flat_map(|file| subagent_files(file)).collect();
    found.retain(|file| !files.contains(file));
    found
}

/// The list prices, with those of the user's settings.
fn prices() -> Prices {
    let settings = here::repository().ok().and_then(|repository| repository.config.load().ok());
    settings.map_or_else(Prices::built_in, |settings| Prices::of_settings(&settings.run.prices.value))
}

/// The sum over all sessions. Its tokens and models come from the reader, which counts a copied message once.
#[derive(Default)]
struct Total {
    by_host: BTreeMap<&'static str, u64>,
    subagent_files: u64,
    numbers: Numbers,
}

impl Total {
    fn sessions(&self) -> u64 {
        self.by_host.values().sum()
    }

    fn add(&mut self, session: &Numbers) {
        *self.by_host.entry(session.host.map_or("unknown", Host::as_str)).or_default() += 1;
        let numbers = &mut self.numbers;
        numbers.records += session.records;
        numbers.damaged += session.damaged;
        numbers.prompts += session.prompts;
        numbers.tool_calls += session.tool_calls;
        numbers.subagent_calls += session.subagent_calls;
        numbers.compactions += session.compactions;
        numbers.interrupts += session.interrupts;
        for (tool, calls) in &session.by_tool {
            *numbers.by_tool.entry(tool.clone()).or_default() += calls;
        }
        numbers.began = [numbers.began, session.began].into_iter().flatten().min();
        numbers.ended = numbers.ended.max(session.ended);
    }

    fn add_subagent(&mut self, file: &Numbers) {
        self.subagent_files += 1;
        self.numbers.damaged += file.damaged;
        self.numbers.subagent_calls += file.tool_calls + file.subagent_calls;
        self.numbers.ended = self.numbers.ended.max(file.ended);
    }

    fn text(&self, prices: &Prices) -> String {
        let hosts: Vec<String> =
            self.by_host.iter().map(|(host, sessions)| format!("{host} {}", grouped(*sessions))).collect();
        let aside = match self.subagent_files {
            0 => String::new(),
            files => format!(", and {} of subagents", count(files, "file")),
        };
        let head = format!("total of {}{aside}", count(self.sessions(), "session"));
        let mut lines = vec![head, row("hosts", &hosts.join(", "))];
        lines.extend(rows(&self.numbers, prices));
        lines.join("\n")
    }
}

fn text(file: &str, numbers: &Numbers, prices: &Prices) -> String {
    let host = numbers.host.map_or("unknown", Host::as_str);
    let mut lines = vec![file.to_owned(), row("host", host)];
    lines.extend(rows(numbers, prices));
    lines.join("\n")
}

fn row(name: &str, text: &str) -> String {
    format!("  {name:<10} {text}")
}

fn rows(numbers: &Numbers, prices: &Prices) -> Vec<String> {
    let Numbers { records, damaged, prompts, tool_calls, subagent_calls, compactions, interrupts, .. } = numbers;
    let damage = if *damaged == 0 { String::new() } else { format!(", {} damaged", grouped(*damaged)) };
    let mut lines = vec![
        row("records", &format!("{}{damage}", grouped(*records))),
        row(
            "human",
            &[plural(*prompts, "prompt"), plural(*interrupts, "interrupt"), plural(*compactions, "compaction")]
                .join(", "),
        ),
        row("calls", &format!("{}, and {} by subagents", grouped(*tool_calls), grouped(*subagent_calls))),
    ];
    if let (Some(began), Some(ended)) = (numbers.began, numbers.ended) {
        lines.insert(1, row("time", &period(began, ended)));
    }
    let mut tools: Vec<(&String, &u64)> = numbers.by_tool.iter().collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let tools: Vec<String> = tools.iter().map(|(tool, count)| format!("{tool} {}", grouped(**count))).collect();
    if !tools.is_empty() {
        lines.push(row("tools", &tools.join(", ")));
    }
    lines.push(row("tokens", &tokens(numbers.tokens)));
    if let Some(cost) = priced(&numbers.models, prices) {
        lines.push(row("cost", &cost));
    }
    if numbers.models.len() > 1 {
        for (model, used) in by_cost(&numbers.models, prices) {
            let price = price_of(model, *used, prices).map_or_else(|| "no price".to_owned(), cost);
            lines.push(row("", &format!("{}: {}, {price}", name(model), tokens(*used))));
        }
    }
    lines
}

/// Both ends of a time, and its length. The agent did not work all of it.
fn period(began: Millis, ended: Millis) -> String {
    let millis = u64::try_from(ended.since(began)).unwrap_or(0);
    format!("{} to {} ({})", moment(began), moment(ended), duration(millis))
}

fn plural(number: u64, noun: &str) -> String {
    format!("{} {}", grouped(number), steadfast_text::noun(number, noun))
}

fn tokens(TokenUsage { input, cache_read, cache_write, output }: TokenUsage) -> String {
    format!(
        "{} in, {} from the cache, {} into it, {} out",
        grouped(input),
        grouped(cache_read),
        grouped(cache_write),
        grouped(output)
    )
}

/// The name of a model; no row of some transcripts names it.
fn name(model: &str) -> &str {
    if model.is_empty() { "unknown model" } else { model }
}

fn price_of(model: &str, used: TokenUsage, prices: &Prices) -> Option<u64> {
    prices.of(model).map(|price| used.micro_usd(price))
}

/// The models, the most expensive first.
fn by_cost<'a>(models: &'a BTreeMap<String, TokenUsage>, prices: &Prices) -> Vec<(&'a String, &'a TokenUsage)> {
    let mut sorted: Vec<_> = models.iter().collect();
    sorted.sort_by_key(|(model, used)| std::cmp::Reverse(price_of(model, **used, prices)));
    sorted
}

/// The cost of the models with a price, and the names of the others. `None` without tokens.
fn priced(models: &BTreeMap<String, TokenUsage>, prices: &Prices) -> Option<String> {
    let known: Vec<u64> = models.iter().filter_map(|(model, used)| price_of(model, *used, prices)).collect();
    let unknown = unpriced(models, prices);
    let without = match &unknown[..] {
        [] => String::new(),
        names => format!("no price for {}", names.join(", ")),
    };
    match (known.is_empty(), unknown.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("unknown: {without}")),
        (false, true) => Some(format!("{} at list prices", cost(known.iter().sum()))),
        (false, false) => Some(format!("{} at list prices; {without}", cost(known.iter().sum()))),
    }
}

fn unpriced<'a>(models: &'a BTreeMap<String, TokenUsage>, prices: &Prices) -> Vec<&'a str> {
    models.keys().filter(|model| prices.of(model).is_none()).map(|model| name(model)).collect()
}

fn sum(models: &BTreeMap<String, TokenUsage>) -> TokenUsage {
    models.values().fold(TokenUsage::default(), |sum, used| sum.plus(*used))
}

/// The keys of a session and of the total.
fn keys(numbers: &Numbers, prices: &Prices) -> Map<String, Value> {
    let usd = |micro: u64| micro as f64 / 1e6;
    let counted = |used: TokenUsage| {
        let TokenUsage { input, cache_read, cache_write, output } = used;
        [
            ("input_tokens", json!(input)),
            ("cache_read_tokens", json!(cache_read)),
            ("cache_write_tokens", json!(cache_write)),
            ("output_tokens", json!(output)),
        ]
    };
    let model = |(model, used): (&String, &TokenUsage)| {
        let mut keys = Map::from_iter(counted(*used).map(|(key, value)| (key.to_owned(), value)));
        keys.insert("model".to_owned(), name(model).into());
        keys.insert("cost_usd".to_owned(), json!(price_of(model, *used, prices).map(usd)));
        Value::Object(keys)
    };
    let models: Vec<Value> = by_cost(&numbers.models, prices).into_iter().map(model).collect();
    let known: u64 = numbers.models.iter().filter_map(|(model, used)| price_of(model, *used, prices)).sum();
    let pairs = [
        ("records", json!(numbers.records)),
        ("prompts", json!(numbers.prompts)),
        ("tool_calls", json!(numbers.tool_calls)),
        ("by_tool", json!(numbers.by_tool)),
        ("subagent_calls", json!(numbers.subagent_calls)),
        ("compactions", json!(numbers.compactions)),
        ("interrupts", json!(numbers.interrupts)),
        ("damaged", json!(numbers.damaged)),
        ("began_at", json!(numbers.began)),
        ("ended_at", json!(numbers.ended)),
        ("cost_usd", json!(usd(known))),
        ("unpriced", json!(unpriced(&numbers.models, prices))),
        ("models", json!(models)),
    ];
    pairs.into_iter().chain(counted(numbers.tokens)).map(|(key, value)| (key.to_owned(), value)).collect()
}
