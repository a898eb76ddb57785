//! Collects effects, each once, including those through links that the line created.

use std::ops::Range;

use super::Walk;
use crate::effect::{Certainty, CommandEffect, Op};
use crate::expand::Arg;
use crate::text::{ANY, is_device, is_known, resolve, shown};

impl Walk {
    pub(crate) fn effect(&mut self, op: Op, target: &Arg, via: &str) {
        self.copy(op, None, target, via);
    }

    /// Adds an effect on `target`, which gets the content of `source`.
    pub(crate) fn copy(&mut self, op: Op, source: Option<&Arg>, target: &Arg, via: &str) {
        let path = match target.text.strip_prefix("~/") {
            // In quotes, or for a program that expands `~` itself.
            Some(rest) => resolve(&format!("{}/{rest}", self.context.home), &self.state.cwd),
            None => resolve(&target.text, &self.state.cwd),
        };
        if is_device(&path) {
            return;
        }
        let copy_of = source.map(|source| resolve(&source.text, &self.state.cwd)).filter(|path| is_known(path));
        let effect = self.new_effect(op, &path, via, certainty(&path), &target.span);
        self.add(CommandEffect { copy_of, ..effect });
        let through: Vec<String> = self
            .links
            .iter()
            .filter_map(|(link, target)| {
                let rest = path.strip_prefix(link.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
            })
            .collect();
        for target_path in through {
            self.push(op, &target_path, via, &target.span);
        }
    }

    /// Returns the target of a path through a link that the line created.
    pub(crate) fn through(&self, path: &str) -> Option<String> {
        self.links.iter().rev().find_map(|(link, target)| {
            let rest = path.strip_prefix(link.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
        })
    }

    /// Adds an effect on a path from the text that may be another one.
    pub(crate) fn possible(&mut self, op: Op, path: &str, via: &str, span: &Range<usize>) {
        let effect = self.new_effect(op, path, via, Certainty::Possible, span);
        self.add(effect);
    }

    pub(crate) fn push(&mut self, op: Op, path: &str, via: &str, span: &Range<usize>) {
        let effect = self.new_effect(op, path, via, certainty(path), span);
        self.add(effect);
    }

    /// Marks effects found inside as guesses. They count only if their path is protected.
    pub(crate) fn guessing<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.guess, true);
        let found = self.in_subshell(walk);
        self.guess = before;
        found
    }

    /// Adds a write that is a guess.
    pub(crate) fn guessed_write(&mut self, target: &Arg, via: &str) {
        let before = std::mem::replace(&mut self.guess, true);
        self.effect(Op::Write, target, via);
        self.guess = before;
    }

    fn new_effect(&self, op: Op, path: &str, via: &str, certainty: Certainty, span: &Range<usize>) -> CommandEffect {
        let op = if self.guess { Op::Unknown } else { op };
        let path = (path != ANY.to_string()).then(|| shown(path));
        CommandEffect { op, path, via: via.to_owned(), certainty, span: self.span(span), copy_of: None }
    }

    fn add(&mut self, effect: CommandEffect) {
        // A few effects are compared faster than hashed.
        const FEW: usize = 16;
        let is_new = if self.effects.len() < FEW {
            !self.effects.contains(&effect)
        } else {
            if self.seen.is_empty() {
                self.seen.extend(self.effects.iter().cloned());
            }
            self.seen.insert(effect.clone())
        };
        if is_new {
            self.effects.push(effect);
        }
    }
}

fn certainty(path: &str) -> Certainty {
    if is_known(path) { Certainty::Certain } else { Certainty::Possible }
}
