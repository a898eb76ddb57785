use std::fmt;

use serde::{Deserialize, Serialize};

/// The definition of a command at one time. Two are equal if the command still means the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Sorted by file, then by `what`.
    pub parts: Vec<DefinitionPart>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionPart {
    /// Relative to the root of the checkout, with `/`; absolute if it is outside.
    pub file: String,
    /// For example ``script `test` ``; empty for a whole file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    pub state: PartState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// The command needs it, but it does not exist.
    Missing,
    Text(String),
    /// The id of the content of a file, in git's SHA-256 format.
    Content(String),
    /// A binary. Every build changes it, so its content does not count.
    Program,
}

impl Definition {
    /// Returns missing parts. When one appears later, a human decides whether it is intended.
    pub fn missing(&self) -> impl Iterator<Item = &DefinitionPart> {
        self.parts.iter().filter(|part| part.state == PartState::Missing)
    }

    /// Describes each difference in one line. Empty if they are equal.
    pub fn difference(&self, now: &Self) -> Vec<String> {
        let same = |a: &&DefinitionPart, b: &DefinitionPart| (&a.file, &a.what) == (&b.file, &b.what);
        let mut lines = Vec::new();
        for was in &self.parts {
            match now.parts.iter().find(|part| same(part, was)) {
                Some(is) if is.state == was.state => {}
                Some(is) => lines.push(changed(was, is)),
                None => lines.push(format!("{was} {}, is no longer used", describe("was", &was.state))),
            }
        }
        let new = now.parts.iter().filter(|part| !self.parts.iter().any(|was| same(&was, part)));
        lines.extend(new.map(|part| match part.state {
            PartState::Missing => format!("{part} is used now, and is missing"),
            _ => format!("{part} was missing, {}", describe("is", &part.state)),
        }));
        lines
    }
}

fn changed(was: &DefinitionPart, is: &DefinitionPart) -> String {
    match (&was.state, &is.state) {
        (PartState::Text(old), PartState::Text(new)) => {
            let (old, new) = (shown(old, new), shown(new, old));
            format!("{was} was `{old}`, is `{new}`")
        }
        (PartState::Content(_), PartState::Content(_)) => format!("{was} has different content"),
        (old, PartState::Missing) => format!("{was} {}, is gone", describe("was", old)),
        (old, new) => format!("{was} {}, {}", describe("was", old), describe("is", new)),
    }
}

fn describe(verb: &str, state: &PartState) -> String {
    match state {
        PartState::Missing => format!("{verb} missing"),
        PartState::Text(text) => format!("{verb} `{}`", shown(text, "")),
        PartState::Content(_) => format!("{verb} a file"),
        PartState::Program => format!("{verb} not a script"),
    }
}

const SHOWN: usize = 80;

/// Returns an excerpt on one line, starting shortly before the first difference from `other`.
fn shown(text: &str, other: &str) -> String {
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let length = text.chars().count();
    let from = if length <= SHOWN { 0 } else { same.saturating_sub(SHOWN / 4).min(length - SHOWN) };
    let part: String = text.chars().skip(from).take(SHOWN).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if from + SHOWN < length { "…" } else { "" };
    format!("{before}{}{after}", part.replace('\n', "; "))
}

impl fmt::Display for DefinitionPart {
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
        let text = "[ab]{0,3}".prop_map(PartState::Text);
        let content = "[ab]".prop_map(PartState::Content);
        let state = prop_oneof![Just(PartState::Missing), Just(PartState::Program), text, content];
        prop::collection::btree_map(("[ab]", "[xy]?"), state, 0..4).prop_map(|parts: BTreeMap<_, _>| Definition {
            parts: parts.into_iter().map(|((file, what), state)| DefinitionPart { file, what, state }).collect(),
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
