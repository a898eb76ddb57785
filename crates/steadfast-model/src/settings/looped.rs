use serde::{Deserialize, Serialize};

use super::{Period, Source, Sourced, quoted};

/// How a loop goes: a run with a look at the request before it, reviews in it, and a gate after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LoopOptions {
    /// Whether `steadfast run SPEC` is a loop without `--loop`, too. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether experts look at a check that failed for the first time, and the next attempt is told what they say.
    /// Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<bool>,
    /// Whether experts look at each wave, for information. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub light_reviews: Option<bool>,
    /// How long an expert may take. Default: `10m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_time: Option<Period>,
}

/// What holds for a loop: every option resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopSettings {
    pub enabled: Sourced<bool>,
    pub panel: Sourced<bool>,
    pub light_reviews: Sourced<bool>,
    pub expert_time: Sourced<Period>,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self {
            enabled: Sourced::default(false),
            panel: Sourced::default(true),
            light_reviews: Sourced::default(true),
            expert_time: Sourced::default(Period::seconds(600)),
        }
    }
}

impl LoopSettings {
    pub(super) fn combine(&mut self, options: &LoopOptions, source: Source) {
        let LoopOptions { enabled, panel, light_reviews, expert_time } = options;
        self.enabled.take(*enabled, source);
        self.panel.take(*panel, source);
        self.light_reviews.take(*light_reviews, source);
        self.expert_time.take(*expert_time, source);
    }

    pub(super) fn lines(&self) -> [(&'static str, String, Source); 4] {
        let flag = |name, flag: &Sourced<bool>| (name, flag.value.to_string(), flag.source);
        [
            flag("loop.enabled", &self.enabled),
            flag("loop.panel", &self.panel),
            flag("loop.light_reviews", &self.light_reviews),
            ("loop.expert_time", quoted(&self.expert_time.value.to_string()), self.expert_time.source),
        ]
    }
}
