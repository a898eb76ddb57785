//! What is counted over a whole change: tests that run alone, how often something is tried.

use std::collections::HashMap;

use super::Kind;
use super::compare::Found;
use super::source::Source;

impl<'a> Found<'a> {
    pub(super) fn focus(&mut self, before: &[Source], after: &'a [Source]) {
        let focused = |sources: &'_ [Source]| -> usize {
            sources
                .iter()
                .flat_map(|source| &source.holders)
                .flat_map(|holder| &holder.marks)
                .filter(|mark| mark.kind == Kind::Focused)
                .count()
        };
        let more = focused(after).saturating_sub(focused(before));
        let mut new = Vec::new();
        for source in after {
            for holder in &source.holders {
                new.extend(
                    holder
                        .marks
                        .iter()
                        .filter(|mark| mark.kind == Kind::Focused)
                        .map(|mark| (source, mark.line, &holder.name)),
                );
            }
        }
        for (source, line, name) in new.into_iter().take(more) {
            self.say(Kind::Focused, source, line, name);
        }
    }

    pub(super) fn dials(&mut self, before: &[Source], after: &'a [Source], renamed: &HashMap<String, String>) {
        for old in before {
            let path = renamed.get(&old.path).unwrap_or(&old.path);
            let Some(new) = after.iter().find(|new| new.path == *path) else { continue };
            for name in super::mark::CASES.iter().chain(&super::mark::TRIES) {
                let values = |source: &'_ Source| -> Vec<(f64, usize)> {
                    source.dials.iter().filter(|dial| dial.name == *name).map(|dial| (dial.value, dial.line)).collect()
                };
                let (was, now) = (values(old), values(new));
                let tries = super::mark::TRIES.contains(name);
                for (at, (value, line)) in now.iter().enumerate() {
                    let old = was.get(at).map(|(value, _)| *value);
                    if tries && *value > old.unwrap_or(0.0) {
                        self.say(Kind::Retried, new, *line, name);
                    } else if !tries && was.len() == now.len() && old.is_some_and(|old| *value < old) {
                        self.say(Kind::FewerCases, new, *line, name);
                    }
                }
            }
        }
    }
}
