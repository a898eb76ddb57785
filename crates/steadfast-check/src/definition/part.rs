use std::fmt;

use serde::{Deserialize, Serialize};

/// What a command stood for when it was looked at. Two are equal when the command still means the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// By file, then by what it is in the file.
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Beneath the root of the checkout, with `/`; absolute when it lies elsewhere.
    pub file: String,
    /// ``script `test` ``; nothing when it is the whole file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The command needs it, and it is not there.
    Missing,
    Text(String),
    /// The id of the content of a file, as a SHA-256 repository names it.
    Content(String),
    /// There, and no text: a program that something builds. It is another one after every change, so its content says
    /// nothing.
    Program,
}

impl Definition {
    /// What was not there: once it is, a human says whether it is meant.
    pub fn missing(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.state == State::Missing)
    }

    /// What is different now, one line each. Nothing when they are equal.
    pub fn difference(&self, now: &Self) -> Vec<String> {
        let same = |a: &&Part, b: &Part| (&a.file, &a.what) == (&b.file, &b.what);
        let mut lines = Vec::new();
        for was in &self.parts {
            match now.parts.iter().find(|part| same(part, was)) {
                Some(is) if is.state == was.state => {}
                Some(is) => lines.push(changed(was, is)),
                None => lines.push(format!("{was} {}, is no longer there", told("was", &was.state))),
            }
        }
        let new = now.parts.iter().filter(|part| !self.parts.iter().any(|was| same(&was, part)));
        lines.extend(new.map(|part| match part.state {
            State::Missing => format!("{part} is run now, and is not there"),
            _ => format!("{part} was not there, {}", told("is", &part.state)),
        }));
        lines
    }
}

fn changed(was: &Part, is: &Part) -> String {
    match (&was.state, &is.state) {
        (State::Text(old), State::Text(new)) => {
            let (old, new) = (shown(old, new), shown(new, old));
            format!("{was} was `{old}`, is `{new}`")
        }
        (State::Content(_), State::Content(_)) => format!("{was} has other content"),
        (old, State::Missing) => format!("{was} {}, is gone", told("was", old)),
        (old, new) => format!("{was} {}, {}", told("was", old), told("is", new)),
    }
}

fn told(verb: &str, state: &State) -> String {
    match state {
        State::Missing => format!("{verb} not there"),
        State::Text(text) => format!("{verb} `{}`", shown(text, "")),
        State::Content(_) => format!("{verb} a file"),
        State::Program => format!("{verb} no script"),
    }
}

const SHOWN: usize = 80;

/// One line of a text, from a little before the place where it leaves the other.
fn shown(text: &str, other: &str) -> String {
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let length = text.chars().count();
    let from = if length <= SHOWN { 0 } else { same.saturating_sub(SHOWN / 4).min(length - SHOWN) };
    let part: String = text.chars().skip(from).take(SHOWN).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if from + SHOWN < length { "…" } else { "" };
    format!("{before}{}{after}", part.replace('\n', "; "))
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what.as_str() {
            "" => write!(f, "`{}`", self.file),
            what => write!(f, "{} {what}", self.file),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn definitions() -> impl Strategy<Value = Definition> {
        let text = "[ab]{0,3}".prop_map(State::Text);
        let content = "[ab]".prop_map(State::Content);
        let state = prop_oneof![Just(State::Missing), Just(State::Program), text, content];
        prop::collection::btree_map(("[ab]", "[xy]?"), state, 0..4).prop_map(|parts: BTreeMap<_, _>| Definition {
            parts: parts.into_iter().map(|((file, what), state)| Part { file, what, state }).collect(),
        })
    }

    proptest! {
        #[test]
        fn there_is_a_difference_exactly_when_they_are_not_equal(was in definitions(), is in definitions()) {
            prop_assert_eq!(was.difference(&is).is_empty(), was == is);
            prop_assert_eq!(was.difference(&was), Vec::<String>::new());
        }
    }
}
