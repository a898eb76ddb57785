//! Counts what an agent used.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use steadfast_hosts::price::{Prices, Usage};
use steadfast_model::Spent;
use steadfast_proxy::wire::{ModelAnswer, WireCall};
use steadfast_proxy::{CallJudge, CallRuling, ModelExchange};
use steadfast_store::{Place, UnseenFile};
use steadfast_text::{and_more, cost, count, grouped};

use crate::account::RunAccount;

/// The most names of models without a price that are remembered. A name comes from the other side of the network.
const UNPRICED: usize = 16;

/// The most paths of requests that were not read. A path comes from the agent.
const UNSEEN: usize = 16;

/// Sees every answer, and refuses nothing.
#[derive(Debug)]
pub struct Meter {
    prices: Prices,
    limit: MeterLimit,
    used: Mutex<Used>,
    /// The file in which `status` finds the requests that were not read.
    unseen: OnceLock<UnseenFile>,
}

/// The limit that ends the agent.
#[derive(Debug)]
enum MeterLimit {
    None,
    /// In millionths of a dollar.
    Session(u64),
    /// The budget that it shares with the other agents of its run.
    Run(Arc<RunAccount>),
}

#[derive(Debug, Default)]
struct Used {
    answers: u64,
    calls: u64,
    tokens: Usage,
    micro_usd: u64,
    /// Models without a known price, and the number of their answers.
    unpriced: BTreeMap<String, u64>,
    /// Answers that did not say what they used.
    without_usage: u64,
    /// Requests that did not go to the model, because the budget was spent.
    refused: u64,
    /// The headers of the newest answer about rate limits.
    limits: Vec<(String, String)>,
    /// Requests in formats that the proxy does not read, by their paths.
    unseen: BTreeMap<String, u64>,
}

impl Meter {
    pub fn new(prices: Prices, budget: Option<u64>) -> Self {
        Self {
            prices,
            limit: budget.map_or(MeterLimit::None, MeterLimit::Session),
            used: Mutex::default(),
            unseen: OnceLock::new(),
        }
    }

    /// The meter of an agent that spends from the account of a run.
    pub fn of_run(prices: Prices, account: Arc<RunAccount>) -> Self {
        Self { prices, limit: MeterLimit::Run(account), used: Mutex::default(), unseen: OnceLock::new() }
    }

    /// Returns what the agent used so far. The cost is unknown if one of its models has no known price.
    pub fn spent(&self) -> Spent {
        let used = self.used();
        let Usage { input, cached, written, output } = used.tokens;
        Spent {
            micro_usd: used.unpriced.is_empty().then_some(used.micro_usd),
            input_tokens: input + written,
            cached_tokens: cached,
            output_tokens: output,
        }
    }

    /// Returns whether a request of the agent was refused because the budget was spent.
    pub fn has_refused(&self) -> bool {
        self.used().refused > 0
    }

    /// One line about the whole session.
    pub fn summary(&self) -> String {
        let used = self.used();
        let unseen = if used.unseen.is_empty() {
            String::new()
        } else {
            let requests = count(used.unseen.values().sum::<u64>(), "request");
            format!("; not read, in an unknown format: {requests} to {}", and_more(used.unseen.keys(), 3))
        };
        if used.answers == 0 {
            return format!("warning: no answer of a model came through the proxy, so nothing was seen{unseen}");
        }
        let Usage { input, cached, written, output } = used.tokens;
        let mut line = format!(
            "proxy: {}, {}, {} tokens in ({} from the cache), {} out, {}",
            count(used.answers, "answer"),
            count(used.calls, "call"),
            grouped(input + cached + written),
            grouped(cached),
            grouped(output),
            cost(used.micro_usd),
        );
        if !used.unpriced.is_empty() {
            let names = and_more(used.unpriced.keys(), 3);
            line.push_str(&format!("; without a known price: {names}"));
        }
        if used.without_usage > 0 {
            line.push_str(&format!("; {} without token counts", count(used.without_usage, "answer")));
        }
        if used.refused > 0 {
            line.push_str(&format!("; {} refused for the budget", count(used.refused, "request")));
        }
        let limits = limits_left(&used.limits);
        if !limits.is_empty() {
            line.push_str(&format!("; left of rate limits: {}", and_more(&limits, 3)));
        }
        line + &unseen
    }

    /// Tells `status` in this repository about requests that were not read.
    pub(crate) fn report_unseen_in(&self, place: &Place) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        self.unseen.get_or_init(|| UnseenFile::of(place, COUNT.fetch_add(1, Ordering::Relaxed)));
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallJudge for Meter {
    fn is_spent(&self, _: &ModelExchange) -> Option<String> {
        let mut used = self.used();
        let why = match (&self.limit, used.unpriced.keys().next()) {
            (MeterLimit::None, _) => return None,
            // A run counts a model without a known price in tokens.
            (MeterLimit::Run(account), _) => account.is_spent()?,
            (MeterLimit::Session(budget), _) if used.micro_usd >= *budget => {
                let (spent, budget) = (cost(used.micro_usd), cost(*budget));
                format!(
                    "The budget of this session is spent: {spent} of {budget}. `--budget` of `steadfast proxy` sets it."
                )
            }
            (MeterLimit::Session(_), Some(model)) => format!(
                "The price of {model} is unknown, so the budget of this session cannot hold. Set `[run.prices.\"{model}\"]`."
            ),
            (MeterLimit::Session(_), None) => return None,
        };
        used.refused += 1;
        Some(why)
    }

    fn refuses(&self, _: &ModelExchange) -> bool {
        false
    }

    fn holds(&self, _: &ModelExchange, _: &str) -> bool {
        false
    }

    fn judge(&self, _: &ModelExchange, _: &WireCall) -> CallRuling {
        CallRuling::Allow
    }

    fn without_judgement(&self, _: &ModelExchange, _: &WireCall) -> CallRuling {
        CallRuling::Allow
    }

    fn saw_call(&self, _: &ModelExchange, _: &WireCall) {
        self.used().calls += 1;
    }

    fn passed_unseen(&self, path: &str) {
        let mut used = self.used();
        if used.unseen.len() < UNSEEN || used.unseen.contains_key(path) {
            *used.unseen.entry(path.to_owned()).or_default() += 1;
        }
        if let Some(file) = self.unseen.get() {
            // The summary at the end has them, too.
            let _ = file.write(used.unseen.clone());
        }
    }

    fn saw_answer(&self, _: &ModelExchange, answer: &ModelAnswer) {
        let price = self.prices.of(&answer.model);
        let mut used = self.used();
        used.answers += 1;
        if !answer.limits.is_empty() {
            used.limits.clone_from(&answer.limits);
        }
        let Some(usage) = answer.usage else {
            used.without_usage += 1;
            return;
        };
        let usage = Usage { input: usage.input, cached: usage.cached, written: usage.written, output: usage.output };
        used.tokens.input += usage.input;
        used.tokens.cached += usage.cached;
        used.tokens.written += usage.written;
        used.tokens.output += usage.output;
        match price {
            Some(price) => {
                let micro_usd = price.micro_usd(usage);
                used.micro_usd += micro_usd;
                if let MeterLimit::Run(account) = &self.limit {
                    account.spend(micro_usd);
                }
            }
            None if used.unpriced.len() < UNPRICED || used.unpriced.contains_key(&answer.model) => {
                *used.unpriced.entry(answer.model.clone()).or_default() += 1;
            }
            None => {}
        }
    }
}

/// Returns what is left of each limit: `tokens 38,000 of 40,000`, or `5h 63 %`. Services report it in headers of three
/// forms.
fn limits_left(headers: &[(String, String)]) -> Vec<String> {
    let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let percent = |used: f64| format!("{:.0} %", (100.0 - used).clamp(0.0, 100.0));
    let left = |name: &str, text: &str| -> Option<String> {
        if let Some(base) = name.strip_suffix("-remaining") {
            let what = base.rsplit_once("ratelimit-")?.1;
            let limit: u64 = value(&format!("{base}-limit"))?.parse().ok()?;
            return Some(format!("{what} {} of {}", grouped(text.parse().ok()?), grouped(limit)));
        }
        if let Some(base) = name.strip_suffix("-utilization") {
            return Some(format!("{} {}", base.rsplit('-').next()?, percent(100.0 * text.parse::<f64>().ok()?)));
        }
        let what = name.strip_prefix("x-codex-")?.strip_suffix("-used-percent")?;
        Some(format!("{what} {}", percent(text.parse().ok()?)))
    };
    // OpenAI puts the kind at the end: `x-ratelimit-remaining-tokens`.
    let openai = |name: &str, text: &str| {
        let what = name.strip_prefix("x-ratelimit-remaining-")?;
        let limit: u64 = value(&format!("x-ratelimit-limit-{what}"))?.parse().ok()?;
        Some(format!("{what} {} of {}", grouped(text.parse().ok()?), grouped(limit)))
    };
    headers.iter().filter_map(|(name, text)| openai(name, text).or_else(|| left(name, text))).collect()
}

#[cfg(test)]
mod tests {
    use steadfast_proxy::wire::{WireFormat, WireUsage};

    use super::*;

    fn exchange() -> ModelExchange {
        ModelExchange { format: WireFormat::Messages, session: None, agent: None, turn: None }
    }

    fn answer(model: &str, usage: Option<WireUsage>) -> ModelAnswer {
        ModelAnswer { model: model.to_owned(), usage, ..ModelAnswer::default() }
    }

    #[test]
    fn the_cost_is_of_known_prices_and_the_other_models_are_named() {
        let meter = Meter::new(Prices::built_in(), None);
        assert!(meter.summary().starts_with("warning: no answer"));
        let usage = WireUsage { input: 1000, cached: 9000, written: 0, output: 2000 };
        meter.saw_answer(&exchange(), &answer("claude-opus-5-5", Some(usage)));
        meter.saw_answer(&exchange(), &answer("home-made", Some(usage)));
        meter.saw_answer(&exchange(), &answer("home-made", None));
        let expected = "proxy: 3 answers, 0 calls, 20,000 tokens in (18,000 from the cache), 4,000 out, $0.05; without a \
                        known price: home-made; 1 answer without token counts";
        assert_eq!(meter.summary(), expected);
        assert_eq!(meter.is_spent(&exchange()), None);
    }

    #[test]
    fn a_spent_budget_and_an_unknown_price_end_the_session() {
        let usage = Some(WireUsage { input: 0, cached: 0, written: 0, output: 2000 });
        let meter = Meter::new(Prices::built_in(), Some(50_000));
        meter.saw_answer(&exchange(), &answer("claude-opus-5-5", usage));
        assert_eq!(meter.is_spent(&exchange()), None);
        meter.saw_answer(&exchange(), &answer("claude-opus-5-5", usage));
        let why = meter.is_spent(&exchange()).unwrap();
        assert_eq!(
            why,
            "The budget of this session is spent: $0.08 of $0.05. `--budget` of `steadfast proxy` sets it."
        );
        assert!(meter.summary().ends_with("$0.08; 1 request refused for the budget"), "{}", meter.summary());
        let meter = Meter::new(Prices::built_in(), Some(50_000));
        meter.saw_answer(&exchange(), &answer("home-made", usage));
        assert!(meter.is_spent(&exchange()).unwrap().starts_with("The price of home-made is unknown"));
    }

    #[test]
    fn the_agents_of_a_run_spend_from_one_account() {
        let account = Arc::new(RunAccount::default());
        account.begin(Some(100_000), 30_000);
        let agents = [(); 2].map(|()| Meter::of_run(Prices::built_in(), Arc::clone(&account)));
        let usage = Some(WireUsage { input: 1_000, cached: 500, written: 0, output: 2_000 });
        agents[0].saw_answer(&exchange(), &answer("claude-opus-5-5", usage));
        assert_eq!((agents[0].is_spent(&exchange()), agents[1].is_spent(&exchange())), (None, None));
        agents[1].saw_answer(&exchange(), &answer("claude-opus-5-5", usage));
        for agent in &agents {
            assert!(!agent.has_refused());
            let why = agent.is_spent(&exchange()).unwrap();
            assert_eq!(
                why,
                "The budget of this run is spent: $0.12 of $0.10. `--budget` of `steadfast run`, or `run.budget_usd`, sets it."
            );
            assert!(agent.has_refused());
            let spent =
                Spent { micro_usd: Some(44_100), input_tokens: 1_000, cached_tokens: 500, output_tokens: 2_000 };
            assert_eq!(agent.spent(), spent);
        }
    }

    #[test]
    fn what_is_left_of_the_rate_limits_is_known_from_headers_of_every_service() {
        let left = |headers: &[(&str, &str)]| {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            limits_left(&headers.collect::<Vec<_>>())
        };
        let anthropic =
            [("anthropic-ratelimit-tokens-limit", "40000"), ("anthropic-ratelimit-tokens-remaining", "38000")];
        assert_eq!(left(&anthropic), ["tokens 38,000 of 40,000"]);
        let subscription =
            [("anthropic-ratelimit-unified-5h-utilization", "0.37"), ("anthropic-ratelimit-unified-5h-reset", "1")];
        assert_eq!(left(&subscription), ["5h 63 %"]);
        let openai = [("x-ratelimit-limit-requests", "500"), ("x-ratelimit-remaining-requests", "499")];
        assert_eq!(left(&openai), ["requests 499 of 500"]);
        assert_eq!(
            left(&[("x-codex-primary-used-percent", "104.5"), ("x-codex-primary-window", "300")]),
            ["primary 0 %"]
        );
        assert_eq!(left(&[("anthropic-ratelimit-tokens-remaining", "many"), ("retry-after", "3")]), [""; 0]);
        let meter = Meter::new(Prices::built_in(), None);
        let limits = subscription.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        meter.saw_answer(&exchange(), &ModelAnswer { limits, ..answer("home-made", None) });
        assert!(meter.summary().ends_with("; left of rate limits: 5h 63 %"), "{}", meter.summary());
    }

    #[test]
    fn a_model_without_a_known_price_does_not_end_a_run_and_its_cost_is_unknown() {
        let account = Arc::new(RunAccount::default());
        account.begin(Some(100_000), 0);
        let agent = Meter::of_run(Prices::built_in(), Arc::clone(&account));
        agent.saw_answer(&exchange(), &answer("home-made", Some(WireUsage { output: 5_000, ..WireUsage::default() })));
        assert_eq!((agent.is_spent(&exchange()), account.left()), (None, Some(100_000)));
        assert_eq!(agent.spent(), Spent { output_tokens: 5_000, ..Spent::default() });
    }
}
