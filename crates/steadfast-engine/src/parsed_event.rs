use std::cell::OnceCell;
use std::ops::Deref;

use steadfast_model::{Action, Event, EventKind, Gate, ToolCall};
use steadfast_shell::{Certainty, Context, Op, Reading, effects};

use crate::drift::unix;
use crate::goal::{self, Said};
use crate::policy;

/// An event as the policies read it. Its command line and its prompt are parsed once, when a policy first asks for
/// them: parsing costs more than all judging.
#[derive(Debug)]
pub struct ParsedEvent<'e> {
    event: &'e Event,
    reading: OnceCell<Reading>,
    said: OnceCell<Said>,
}

/// A path that a command line would touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    pub path: String,
    /// If the path ends in a link, the command follows it.
    pub at_end: bool,
}

impl<'e> ParsedEvent<'e> {
    pub fn of(event: &'e Event) -> Self {
        Self { event, reading: OnceCell::new(), said: OnceCell::new() }
    }

    /// Returns the call that this event is about.
    pub(crate) fn call(&self) -> Option<&'e ToolCall> {
        match &self.event.kind {
            EventKind::PreTool(call) | EventKind::Permission(call) => Some(call),
            EventKind::PostTool(result) => Some(&result.call),
            _ => None,
        }
    }

    /// Returns the effects of the call's command line. `None`: the call has none.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        let Action::Shell { command, .. } = &self.call()?.action else { return None };
        let context = || Context { cwd: unix(&self.event.cwd, &self.event.cwd).into_owned(), home: "~".to_owned() };
        let read = || {
            let mut reading = effects(command, &context());
            // The text after the part that was read may do anything.
            reading.parsed &= !self.event.cut;
            reading
        };
        Some(self.reading.get_or_init(read))
    }

    /// Returns the absolute paths of the files that the call would certainly write.
    pub fn targets(&self) -> Vec<String> {
        const MOST: usize = 64;
        let cwd = &self.event.cwd;
        let paths: Vec<String> = match self.call().map(|call| &call.action) {
            Some(Action::Write { paths } | Action::Mcp { paths, .. }) => {
                paths.iter().map(|path| policy::absolute(path, cwd)).collect()
            }
            Some(Action::Shell { .. }) => {
                let effects = self.reading().into_iter().flat_map(|reading| &reading.effects);
                let writes = effects.filter(|effect| {
                    matches!(effect.op, Op::Write | Op::Move)
                        && effect.certainty == Certainty::Certain
                        && effect.via != "mkdir"
                });
                writes.filter_map(|effect| effect.path.clone()).collect()
            }
            _ => Vec::new(),
        };
        paths.into_iter().take(MOST).collect()
    }

    /// Returns the paths that its command line would touch, so that the caller can resolve links.
    pub fn touched(&self) -> Vec<Touched> {
        const MOST: usize = 64;
        if !matches!(self.event.kind, EventKind::PreTool(_)) {
            return Vec::new();
        }
        let mut touched: Vec<Touched> = Vec::new();
        for effect in self.reading().into_iter().flat_map(|reading| &reading.effects) {
            let Some(path) = effect.path.as_deref().filter(|path| path.starts_with(['/', '~'])) else { continue };
            // Of a pattern, the folders before its first wildcard.
            let known = match path.find(['*', '?']) {
                Some(at) => path[..at].rsplit_once('/').map_or("", |(folder, _)| folder),
                None => path,
            };
            let is_pattern = known.len() < path.len();
            // Removing a link does not follow it.
            let at_end = is_pattern || !matches!(effect.op, Op::Delete | Op::Move);
            let found = Touched { path: known.to_owned(), at_end };
            if !known.is_empty() && !touched.contains(&found) && touched.len() < MOST {
                touched.push(found);
            }
        }
        touched
    }

    /// Returns the paths that a gate protects, as absolute paths.
    pub fn protected(gate: &Gate) -> Vec<String> {
        let draft = gate.draft.iter().map(|draft| draft.path.as_str());
        let paths = gate.protected.iter().map(String::as_str).chain(draft);
        paths.map(|path| policy::absolute(path, &gate.root)).collect()
    }

    /// Returns the git subcommands of the call that are not git's own, and so may be aliases.
    pub fn unknown_git_words(&self) -> Vec<String> {
        self.reading().map(policy::unknown_git_words).unwrap_or_default()
    }

    /// Returns the human's words about the goal. `None`: the event has none.
    pub(crate) fn said(&self) -> Option<&Said> {
        let text = goal::text(self.event)?;
        Some(self.said.get_or_init(|| goal::read(text)))
    }

    /// Returns the names in the human's text that are no paths.
    pub fn names(&self) -> &[String] {
        self.said().map(|said| said.names.as_slice()).unwrap_or_default()
    }
}

impl Deref for ParsedEvent<'_> {
    type Target = Event;

    fn deref(&self) -> &Event {
        self.event
    }
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Host, Millis, SessionId};

    use super::*;

    fn event(action: Action) -> Event {
        let call = ToolCall { id: None, tool: "Bash".into(), action, words: Vec::new() };
        Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), EventKind::PreTool(call))
    }

    #[test]
    fn a_command_line_is_read_once() {
        let event = event(Action::shell("rm a"));
        let heard = ParsedEvent::of(&event);
        let (first, again) = (heard.reading().unwrap(), heard.reading().unwrap());
        assert_eq!(first.effects[0].path.as_deref(), Some("/repo/a"));
        assert!(std::ptr::eq(first, again));
    }

    #[test]
    fn what_is_no_command_line_is_not_read() {
        assert_eq!(ParsedEvent::of(&event(Action::Ask)).reading(), None);
    }
}
