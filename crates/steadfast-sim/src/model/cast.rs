//! The assignment of scenarios: one for all sessions, or one for each of the parallel sessions.

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
    /// The first request of such a session contains this text.
    cue: String,
    scenarios: Vec<Scenario>,
    /// The number of sessions with this part.
    played: usize,
}

impl From<Scenario> for Cast {
    /// One scenario for all sessions together: the second session continues where the first ended.
    fn from(scenario: Scenario) -> Self {
        Self(Kind::One(Box::new(scenario)))
    }
}

impl Cast {
    /// Returns a cast with a separate part for each session.
    #[must_use]
    pub fn several() -> Self {
        Self(Kind::Several(Vec::new()))
    }

    /// Assigns scenarios to the sessions whose first request contains `cue`: the first scenario to the first session,
    /// and so on. The last one serves all later sessions.
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

    /// Returns true if sessions have separate parts.
    pub(super) fn is_several(&self) -> bool {
        matches!(self.0, Kind::Several(_))
    }

    /// Returns the scenario for a session with this first request. `None`: there is no part for it.
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
