//! The verification commands of a spec, and the references to them.

use std::collections::BTreeMap;

use super::{Draft, Span, Text};
use crate::ids::nearest;
use crate::problem::{Code, Findings};

const PREFIX: &str = "$verification_commands.";

/// The maximum depth of references inside references.
const DEEPEST: usize = 8;

/// The maximum length of a filled-in command, in bytes. No real check is longer.
const LONGEST: usize = 1 << 16;

/// Commands by name, with their references filled in.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    by_name: BTreeMap<String, String>,
}

impl Commands {
    pub(crate) fn of(draft: &Draft, findings: &mut Findings) -> Self {
        let raw: BTreeMap<&str, &Text> =
            draft.commands.iter().map(|(name, command)| (name.as_str(), command)).collect();
        let mut commands = Self::default();
        for (name, command) in &draft.commands {
            let mut path = Vec::new();
            let filled = follow(name.as_str(), &raw, &mut path).unwrap_or_else(|circle| {
                let message = format!("the command `{}` refers to itself: {}", name.as_str(), circle.join(" → "));
                findings.add(
                    Code::CircularCommand,
                    &command.span,
                    message,
                    "replace one of these references with the command itself",
                );
                command.value.clone()
            });
            commands.by_name.insert(name.value.clone(), filled);
        }
        let used = draft.phases.iter().flat_map(|phase| phase.authored()).filter_map(|task| task.command.as_ref());
        for command in used.chain(draft.commands.iter().map(|(_, command)| command)) {
            commands.check(command, findings);
        }
        commands
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(String::as_str)
    }

    /// Fills in the references of a command. Unknown references stay; `check` reports them.
    pub(crate) fn fill(&self, command: &str) -> String {
        replace(command, |name| self.by_name.get(name).cloned())
    }

    fn check(&self, command: &Text, findings: &mut Findings) {
        for (name, _) in references(&command.value) {
            if self.by_name.contains_key(name) {
                continue;
            }
            let help = match nearest(name, self.by_name.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{PREFIX}{near}`?"),
                None if self.by_name.is_empty() => {
                    "write the command itself, or add `verification_commands` to the spec".to_owned()
                }
                None => "add it to `verification_commands`".to_owned(),
            };
            let message = format!("unknown verification command `{name}`");
            findings.add(Code::UnknownCommand, &command.span, message, help);
        }
    }
}

/// Fills in all references of a named command. `Err`: the cycle that they make.
fn follow<'a>(
    name: &'a str,
    raw: &BTreeMap<&'a str, &'a Text>,
    path: &mut Vec<&'a str>,
) -> Result<String, Vec<String>> {
    if let Some(start) = path.iter().position(|seen| *seen == name) {
        let circle = path[start..].iter().chain([&name]).map(|name| (*name).to_owned());
        return Err(circle.collect());
    }
    let Some(command) = raw.get(name) else { return Ok(format!("{PREFIX}{name}")) };
    // Each level may double the length, so the depth is limited.
    if path.len() > DEEPEST {
        return Ok(format!("{PREFIX}{name}"));
    }
    path.push(name);
    let mut circle = None;
    let filled = replace(&command.value, |inner| {
        let inner = raw.get_key_value(inner).map(|(name, _)| *name)?;
        follow(inner, raw, path).map_err(|found| circle = Some(found)).ok()
    });
    path.pop();
    circle.map_or(Ok(filled), Err)
}

/// Returns the names of the references, with their positions.
fn references(command: &str) -> impl Iterator<Item = (&str, Span)> {
    command.match_indices(PREFIX).map(|(start, _)| {
        let rest = &command[start + PREFIX.len()..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
        (&rest[..end], start..start + PREFIX.len() + end)
    })
}

fn replace(command: &str, mut by: impl FnMut(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut last = 0;
    for (name, span) in references(command) {
        filled.push_str(&command[last..span.start]);
        match by(name).filter(|_| filled.len() < LONGEST) {
            Some(text) => filled.push_str(&text),
            None => filled.push_str(&command[span.clone()]),
        }
        last = span.end;
    }
    filled.push_str(&command[last..]);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(commands: &[(&str, &str)]) -> Draft {
        let text = |value: &str| Text::new(value, 0..1);
        let commands = commands.iter().map(|(name, command)| (text(name), text(command))).collect();
        Draft { commands, ..Draft::default() }
    }

    #[test]
    fn references_are_followed() {
        let draft = draft(&[("unit", "npm run unit"), ("test", "$verification_commands.unit && echo ok")]);
        let mut findings = Findings::default();
        let commands = Commands::of(&draft, &mut findings);
        assert!(!findings.has_error());
        assert_eq!(commands.get("test"), Some("npm run unit && echo ok"));
        assert_eq!(commands.fill("cd x; $verification_commands.unit"), "cd x; npm run unit");
    }

    #[test]
    fn a_circle_and_an_unknown_name_are_errors() {
        for commands in [
            [("a", "$verification_commands.b"), ("b", "$verification_commands.a")],
            [("a", "$verification_commands.c"), ("b", "true")],
        ] {
            let mut findings = Findings::default();
            Commands::of(&draft(&commands), &mut findings);
            assert!(findings.has_error(), "{commands:?}");
        }
    }
}
