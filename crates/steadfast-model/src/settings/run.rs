use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Period, Source, Sourced, Usd, limit, list, quoted};
use crate::{Host, Limits};

/// How `steadfast run` works a spec off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// Which agent works: `claude` or `codex`. Default: the one that is installed, `claude` where both are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// How many agents work at once. Default: `3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<NonZeroU32>,
    /// How often an agent may be sent to a unit, all units together; `"none"`: as often as it takes. Default: `25`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "limit::iterations")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "limit::iterations_schema"))]
    pub iterations: Option<NonZeroU32>,
    /// How many US dollars a run may cost; `"none"` or `0`: as many as it takes. Default: `25`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "Usd::limit")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "limit::budget_schema"))]
    pub budget_usd: Option<Usd>,
    /// How many tokens a run may take, those from the cache among them; `"none"` or `0`: as many as it takes. For agents
    /// whose price nobody knows. Default: `0`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "limit::tokens")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "limit::tokens_schema"))]
    pub tokens: Option<u64>,
    /// How long a run may take, like `8h`; `none` or `0s`: as long as it takes. Default: `0s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_time: Option<Period>,
    /// How long an agent may work on a unit before it is ended; `none` or `0s`: as long as it takes. Default: `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_time: Option<Period>,
    /// How long an agent may say nothing before it is ended; `none` or `0s`: as long as it likes. Default: `10m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence: Option<Period>,
    /// A command that is run when a human is needed or all is done, with one line about it as its last argument.
    /// Taken from your own settings alone. Default: none; the terminal's own notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<String>,
    /// What agents may do without being asked: `edit` files and run commands that the host lets pass, or everything
    /// (`free`; in a container or a virtual machine of its own). Taken from your own settings alone. Default: `edit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// Further arguments for the agent's program, each as it is passed. Taken from your own settings alone. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<String>>,
    /// The folder that the worktrees of runs are made in. Default: `worktrees` in your own state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktrees: Option<String>,
    /// What models cost, by name, where the built-in table is out of date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<BTreeMap<String, Price>>,
}

/// What an agent may do without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Permissions {
    #[default]
    Edit,
    Free,
}

impl Permissions {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Free => "free",
        }
    }
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What it reads.
    pub input: Usd,
    /// What it reads from its cache. Default: a tenth of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Usd>,
    /// What it writes.
    pub output: Usd,
}

impl Price {
    pub fn cached(self) -> Usd {
        self.cached.unwrap_or(Usd { micro: self.input.micro / 10 })
    }
}

/// What holds for a run: every option resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// `None`: the one that is installed.
    pub host: Sourced<Option<Host>>,
    pub parallel: Sourced<NonZeroU32>,
    pub iterations: Sourced<NonZeroU32>,
    pub budget_usd: Sourced<Usd>,
    pub tokens: Sourced<u64>,
    pub wall_time: Sourced<Period>,
    pub unit_time: Sourced<Period>,
    pub silence: Sourced<Period>,
    /// Empty: none.
    pub notify: Sourced<String>,
    pub permissions: Sourced<Permissions>,
    pub arguments: Sourced<Vec<String>>,
    /// Empty: in the user's own state.
    pub worktrees: Sourced<String>,
    pub prices: Sourced<BTreeMap<String, Price>>,
}

const PARALLEL: NonZeroU32 = NonZeroU32::MIN.saturating_add(2);
const ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(24);

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            host: Sourced::default(None),
            parallel: Sourced::default(PARALLEL),
            iterations: Sourced::default(ITERATIONS),
            budget_usd: Sourced::default(Usd::dollars(25)),
            tokens: Sourced::default(0),
            wall_time: Sourced::default(Period::default()),
            unit_time: Sourced::default(Period::seconds(3_600)),
            silence: Sourced::default(Period::seconds(600)),
            notify: Sourced::default(String::new()),
            permissions: Sourced::default(Permissions::Edit),
            arguments: Sourced::default(Vec::new()),
            worktrees: Sourced::default(String::new()),
            prices: Sourced::default(BTreeMap::new()),
        }
    }
}

impl RunSettings {
    pub(super) fn combine(&mut self, options: &RunOptions, source: Source) {
        let RunOptions {
            host,
            parallel,
            iterations,
            budget_usd,
            tokens,
            wall_time,
            unit_time,
            silence,
            notify,
            permissions,
            arguments,
            worktrees,
            prices,
        } = options;
        self.host.take(host.map(Some), source);
        self.parallel.take(*parallel, source);
        self.iterations.take(*iterations, source);
        self.budget_usd.take(*budget_usd, source);
        self.tokens.take(*tokens, source);
        self.wall_time.take(*wall_time, source);
        self.unit_time.take(*unit_time, source);
        self.silence.take(*silence, source);
        self.notify.take(notify.clone(), source);
        self.permissions.take(*permissions, source);
        self.arguments.take(arguments.clone(), source);
        self.worktrees.take(worktrees.clone(), source);
        self.prices.take(prices.clone(), source);
    }

    pub(super) fn lines(&self) -> Vec<(&'static str, String, Source)> {
        let text = |text: &str| quoted(text);
        let period = |period: &Sourced<Period>| (quoted(&period.value.to_string()), period.source);
        let lines = [
            ("run.host", (text(self.host.value.map_or("", Host::as_str)), self.host.source)),
            ("run.parallel", (self.parallel.value.to_string(), self.parallel.source)),
            ("run.iterations", (iterations(self.iterations.value), self.iterations.source)),
            ("run.budget_usd", (self.budget_usd.value.to_string(), self.budget_usd.source)),
            ("run.tokens", (self.tokens.value.to_string(), self.tokens.source)),
            ("run.wall_time", period(&self.wall_time)),
            ("run.unit_time", period(&self.unit_time)),
            ("run.silence", period(&self.silence)),
            ("run.notify", (text(&self.notify.value), self.notify.source)),
            ("run.permissions", (text(self.permissions.value.as_str()), self.permissions.source)),
            ("run.arguments", (list(self.arguments.value.iter().map(String::as_str)), self.arguments.source)),
            ("run.worktrees", (text(&self.worktrees.value), self.worktrees.source)),
            ("run.prices", (prices(&self.prices.value), self.prices.source)),
        ];
        lines.into_iter().map(|(key, (value, source))| (key, value, source)).collect()
    }

    pub fn limits(&self) -> Limits {
        Limits {
            parallel: self.parallel.value.get(),
            iterations: self.iterations.value.get(),
            micro_usd: Some(self.budget_usd.value.micro).filter(|micro| *micro > 0),
            tokens: Some(self.tokens.value).filter(|tokens| *tokens > 0),
            wall_ms: self.wall_time.value.limit(),
            unit_ms: self.unit_time.value.limit(),
            silence_ms: self.silence.value.limit(),
        }
    }
}

fn iterations(count: NonZeroU32) -> String {
    if count.get() == Limits::NO_LIMIT { quoted(limit::NONE) } else { count.to_string() }
}

/// A table is spelled otherwise in TOML than in JSON; a list of texts is not.
fn prices(prices: &BTreeMap<String, Price>) -> String {
    let said: Vec<String> = prices
        .iter()
        .map(|(model, price)| format!("{model}: {} in, {} cached, {} out", price.input, price.cached(), price.output))
        .collect();
    list(said.iter().map(String::as_str))
}
