//! Estimates the cost of tokens if the host does not report it. These are list prices: an account may pay less, and a
//! long context or a faster mode costs more.

use std::collections::BTreeMap;

/// Prices in dollars per million tokens, which is the same as millionths of a dollar per token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenPrice {
    pub input: f64,
    /// Tokens read from the model's cache.
    pub cached: f64,
    pub output: f64,
}

/// Token counts of a session or a message; each token counts in one field only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub cached: u64,
    /// Tokens written to the cache.
    pub written: u64,
    pub output: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, TokenPrice>,
}

/// Model and the prices of input, cached and output tokens.
const BUILT_IN: [(&str, f64, f64, f64); 37] = [
    ("claude-fable-5", 10.0, 1.0, 50.0),
    ("claude-fable-5-1", 10.0, 0.25, 50.0),
    ("claude-fable-5-2", 8.0, 0.2, 40.0),
    ("claude-haiku-4-5", 1.0, 0.1, 5.0),
    ("claude-haiku-5-5", 0.1, 0.01, 0.5),
    ("claude-mythos-5", 10.0, 1.0, 50.0),
    ("claude-mythos-5-1", 10.0, 0.25, 50.0),
    ("claude-mythos-5-2", 8.0, 0.2, 40.0),
    ("claude-opus-4", 15.0, 1.5, 75.0),
    ("claude-opus-4-1", 15.0, 1.5, 75.0),
    ("claude-opus-4-5", 5.0, 0.5, 25.0),
    ("claude-opus-4-6", 5.0, 0.5, 25.0),
    ("claude-opus-4-7", 5.0, 0.5, 25.0),
    ("claude-opus-4-8", 5.0, 0.5, 25.0),
    ("claude-opus-5", 5.0, 0.5, 25.0),
    ("claude-opus-5-5", 4.0, 0.2, 20.0),
    ("claude-sonnet-4", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-6", 3.0, 0.3, 15.0),
    ("claude-sonnet-5", 2.0, 0.2, 10.0),
    ("claude-sonnet-5-5", 2.0, 0.1, 10.0),
    ("gpt-5", 1.25, 0.125, 10.0),
    ("gpt-5-codex", 1.25, 0.125, 10.0),
    ("gpt-5-mini", 0.25, 0.025, 2.0),
    ("gpt-5.1", 1.25, 0.125, 10.0),
    ("gpt-5.1-codex", 1.25, 0.125, 10.0),
    ("gpt-5.1-codex-max", 1.25, 0.125, 10.0),
    ("gpt-5.2", 1.75, 0.175, 14.0),
    ("gpt-5.2-codex", 1.75, 0.175, 14.0),
    ("gpt-5.3-codex", 1.75, 0.175, 14.0),
    ("gpt-5.4", 2.5, 0.25, 15.0),
    ("gpt-5.4-mini", 0.75, 0.075, 4.5),
    ("gpt-5.4-nano", 0.2, 0.02, 1.25),
    ("gpt-5.5", 5.0, 0.5, 30.0),
    ("gpt-5.6-luna", 0.2, 0.02, 1.2),
    ("gpt-5.6-sol", 5.0, 0.5, 30.0),
    ("gpt-5.6-terra", 2.0, 0.2, 12.0),
];

impl Prices {
    /// Returns the price list of this version. The prices are of 2026-11-15.
    pub fn built_in() -> Self {
        let models =
            BUILT_IN.map(|(model, input, cached, output)| (model.to_owned(), TokenPrice { input, cached, output }));
        Self { models: models.into() }
    }

    /// The built-in list, with the prices from the settings added.
    pub fn of_settings(prices: &BTreeMap<String, steadfast_model::Price>) -> Self {
        let dollars = |usd: steadfast_model::Usd| usd.micro as f64 / 1_000_000.0;
        prices.iter().fold(Self::built_in(), |all, (model, price)| {
            let price = TokenPrice {
                input: dollars(price.input),
                cached: dollars(price.cached()),
                output: dollars(price.output),
            };
            all.with(model.clone(), price)
        })
    }

    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: TokenPrice) -> Self {
        self.models.insert(model.into(), price);
        self
    }

    /// Finds a price by the model's name, or by the name without its date. A shared prefix is not enough: a `-pro`
    /// model costs twelve times as much.
    pub fn of(&self, model: &str) -> Option<TokenPrice> {
        // `claude-opus-5-5[1m]` is the same model with a longer context.
        let model = model.split('[').next().unwrap_or(model);
        self.models.get(model).or_else(|| self.models.get(without_date(model))).copied()
    }
}

impl TokenPrice {
    pub fn micro_usd(self, usage: Usage) -> u64 {
        // The price of both services for a token that stays in the cache for a few minutes.
        let written = self.input * 1.25;
        let parts = [(usage.input, self.input), (usage.cached, self.cached), (usage.written, written)];
        let parts = parts.into_iter().chain([(usage.output, self.output)]);
        let micro: f64 = parts.map(|(tokens, price)| tokens as f64 * price).sum();
        // The cast turns negative values into 0 and infinite ones into the maximum.
        micro.round() as u64
    }
}

/// `claude-haiku-4-5-20251001`, `gpt-5.4-2026-03-05`.
fn without_date(model: &str) -> &str {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((name, _)) = model.rsplit_once('-').filter(|(_, date)| digits(date, 8)) {
        return name;
    }
    match model.rsplitn(4, '-').collect::<Vec<_>>().as_slice() {
        [day, month, year, name] if digits(day, 2) && digits(month, 2) && digits(year, 4) => name,
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name_and_by_its_name_with_a_date() {
        let prices = Prices::built_in();
        let known = |model| prices.of(model).map(|price| price.input);
        assert_eq!(known("claude-opus-5-5"), Some(4.0));
        assert_eq!(known("claude-opus-5-5[1m]"), Some(4.0));
        assert_eq!(known("claude-haiku-4-5-20251001"), Some(1.0));
        assert_eq!(known("gpt-5.4-2026-03-05"), Some(2.5));
    }

    #[test]
    fn a_model_that_is_not_listed_has_no_price() {
        let prices = Prices::built_in();
        for model in ["gpt-5-pro", "gpt-5.5-pro", "claude-opus-9", "", "-", "20251001", "-20251001"] {
            assert_eq!(prices.of(model), None, "{model}");
        }
    }

    #[test]
    fn the_users_price_wins() {
        let price = TokenPrice { input: 1.0, cached: 0.5, output: 2.0 };
        let prices = Prices::built_in().with("gpt-5.5", price).with("mine", price);
        assert_eq!((prices.of("gpt-5.5"), prices.of("mine")), (Some(price), Some(price)));
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = TokenPrice { input: 4.0, cached: 0.2, output: 20.0 };
        let usage = Usage { input: 100, cached: 1_000, written: 10, output: 5 };
        assert_eq!(price.micro_usd(usage), 400 + 200 + 50 + 100);
    }

    #[test]
    fn no_model_is_listed_twice() {
        assert_eq!(Prices::built_in().models.len(), BUILT_IN.len());
    }
}
