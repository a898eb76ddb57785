//! What tokens cost, where a host does not say so itself.

use std::collections::BTreeMap;

/// The day on which the built-in prices were looked up.
pub const PRICES_OF: &str = "2026-11-15";

/// Dollars per million tokens, which is the same as millionths of a dollar per token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    /// What is read from the model's cache.
    pub cached: f64,
    pub output: f64,
}

/// The price of each model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// The list that comes with this version; see [`PRICES_OF`].
    pub fn built_in() -> Self {
        Self::default()
    }

    /// With another price for a model, or for all whose names begin with this and a dash.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.models.insert(model.into(), price);
        self
    }
}
