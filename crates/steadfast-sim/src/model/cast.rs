//! Who plays what: one scenario for whoever asks, or one for each of the sessions that run side by side.

use crate::scenario::{Scenario, ScenarioError};

#[derive(Debug, Clone)]
pub struct Cast(Kind);

#[derive(Debug, Clone)]
enum Kind {
    One(Box<Scenario>),
    Several(Vec<Part>),
}

#[derive(Debug, Clone)]
struct Part {
    /// The session is known by these words in its first request.
    cue: String,
    scenarios: Vec<Scenario>,
    /// How many sessions had this part.
    played: usize,
}

impl From<Scenario> for Cast {
    /// For all sessions together: the second goes on where the first ended.
    fn from(scenario: Scenario) -> Self {
        Self(Kind::One(Box::new(scenario)))
    }
}

impl Cast {
    /// Each session by itself.
    #[must_use]
    pub fn several() -> Self {
        Self(Kind::Several(Vec::new()))
    }

    /// The first session whose first request has `cue` in it plays the first of these, and so on; the last one is for all
    /// that follow.
    #[must_use]
    pub fn part(mut self, cue: impl Into<String>, scenarios: impl IntoIterator<Item = Scenario>) -> Self {
        let part = Part { cue: cue.into(), scenarios: scenarios.into_iter().collect(), played: 0 };
        match &mut self.0 {
            Kind::One(_) => self.0 = Kind::Several(vec![part]),
            Kind::Several(parts) => parts.push(part),
        }
        self
    }

    pub fn check(&self) -> Result<(), ScenarioError> {
        match &self.0 {
            Kind::One(scenario) => scenario.check(),
            Kind::Several(parts) => parts.iter().flat_map(|part| &part.scenarios).try_for_each(Scenario::check),
        }
    }

    /// Whether sessions are told apart.
    pub(super) fn is_several(&self) -> bool {
        matches!(self.0, Kind::Several(_))
    }

    /// What a session plays that was asked this first; `None` where it has no part.
    pub(super) fn next(&mut self, text: &str) -> Option<Scenario> {
        match &mut self.0 {
            Kind::One(scenario) => Some((**scenario).clone()),
            Kind::Several(parts) => {
                let part = parts.iter_mut().find(|part| text.contains(&part.cue))?;
                let scenario = part.scenarios.get(part.played).or(part.scenarios.last()).cloned();
                part.played += 1;
                scenario
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Scenario {
        Scenario::new(name).say(name)
    }

    fn played(cast: &mut Cast, texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| cast.next(text).map(|scenario| scenario.name)).collect()
    }

    #[test]
    fn a_session_plays_the_part_whose_cue_it_was_given() {
        let mut cast = Cast::several().part("task 1.", [named("a"), named("b")]).part("task 2.", [named("c")]);
        let texts = ["Do task 2.", "Do task 1.", "Do task 1.", "Do task 1.", "Do task 3."];
        let expected = ["c", "a", "b", "b"].map(|name| Some(name.to_owned()));
        assert_eq!(played(&mut cast, &texts), [&expected[..], &[None]].concat());
    }

    #[test]
    fn one_scenario_is_for_whoever_asks() {
        let mut cast = Cast::from(named("a"));
        assert_eq!(played(&mut cast, &["x", "y"]), [Some("a".to_owned()), Some("a".to_owned())]);
        assert!(!cast.is_several());
    }
}
