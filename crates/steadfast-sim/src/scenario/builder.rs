//! Scenarios in Rust: each call adds one turn. `turn` adds a turn with parallel calls.

use serde_json::Value;

use super::{Action, Fault, Scenario, Then, Turn, Usage};

impl Scenario {
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), prompt: String::new(), turns: Vec::new(), subagent: Vec::new(), then: Then::Repeat }
    }

    #[must_use]
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.prompt = text.into();
        self
    }

    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds a text without calls, which ends the model's turn.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.turn(Turn::saying(text))
    }

    #[must_use]
    pub fn shell(self, command: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::shell(command)]))
    }

    #[must_use]
    pub fn write(self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::write(path, content)]))
    }

    #[must_use]
    pub fn edit(self, path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::edit(path, old, new)]))
    }

    #[must_use]
    pub fn read(self, path: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::read(path)]))
    }

    #[must_use]
    pub fn tool(self, name: impl Into<String>, input: Value) -> Self {
        self.turn(Turn::doing([Action::tool(name, input)]))
    }

    #[must_use]
    pub fn agent(self, kind: impl Into<String>, prompt: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::agent(kind, prompt)]))
    }

    #[must_use]
    pub fn agent_in_background(self, kind: impl Into<String>, prompt: impl Into<String>) -> Self {
        self.turn(Turn::doing([Action::agent_in_background(kind, prompt)]))
    }

    #[must_use]
    pub fn compact(self) -> Self {
        self.turn(Turn::doing([Action::Compact {}]))
    }

    #[must_use]
    pub fn fail(self, status: u16, times: u32) -> Self {
        self.turn(Turn { fail: Some(Fault { status, times }), ..Turn::default() })
    }

    /// Adds a human's prompt after an allowed stop, and the model's answer `text`.
    #[must_use]
    pub fn human(self, prompt: impl Into<String>, text: impl Into<String>) -> Self {
        self.turn(Turn { prompt: Some(prompt.into()), ..Turn::saying(text) })
    }

    #[must_use]
    pub fn subagent(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.subagent = turns.into_iter().collect();
        self
    }

    /// Sets the usage that all turns so far report.
    #[must_use]
    pub fn using(mut self, usage: Usage) -> Self {
        for turn in &mut self.turns {
            turn.usage = usage;
        }
        self
    }

    #[must_use]
    pub fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }
}

impl Turn {
    #[must_use]
    pub fn saying(text: impl Into<String>) -> Self {
        Self { say: Some(text.into()), ..Self::default() }
    }

    #[must_use]
    pub fn doing(actions: impl IntoIterator<Item = Action>) -> Self {
        Self::default().calling(actions)
    }

    /// Sets an id that other calls may also have.
    #[must_use]
    pub fn under(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    #[must_use]
    pub fn calling(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }
}

impl Action {
    #[must_use]
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell(command.into())
    }

    #[must_use]
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Write { path: path.into(), content: content.into() }
    }

    #[must_use]
    pub fn edit(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::Edit { path: path.into(), old: old.into(), new: new.into() }
    }

    #[must_use]
    pub fn read(path: impl Into<String>) -> Self {
        Self::Read(path.into())
    }

    #[must_use]
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::Tool { name: name.into(), input }
    }

    #[must_use]
    pub fn agent(kind: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self::Agent { kind: kind.into(), prompt: prompt.into(), background: false }
    }

    #[must_use]
    pub fn agent_in_background(kind: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self::Agent { kind: kind.into(), prompt: prompt.into(), background: true }
    }
}
