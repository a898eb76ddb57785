//! A subagent: its own script, its own events, its own stop.

use serde_json::Value;

use super::moment::{Moment, Who};
use super::payload::{Event, StopFields};
use super::session::{Interrupt, Session};
use crate::scenario::Script;

#[derive(Debug)]
pub(super) struct Subagent {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) tool_use_id: String,
    pub(super) script: Script,
    pub(super) stop: StopState,
    pub(super) turns: u32,
    /// Started in this turn of the main thread. Its first own turn is the next one.
    pub(super) fresh: bool,
}

/// The refused stops of one thread.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct StopState {
    /// A stop was refused since the last prompt.
    pub(super) active: bool,
    /// Number of refusals in a row without a tool call in between.
    pub(super) refusals: u32,
}

impl Subagent {
    pub(super) fn who(&self) -> Who {
        Who::Subagent { id: self.id.clone(), kind: self.kind.clone() }
    }
}

impl Session<'_> {
    /// Runs a subagent to its end. Returns its last message.
    pub(super) fn play(&mut self, subagent: &mut Subagent) -> Result<String, Interrupt> {
        loop {
            if let Some(text) = self.step(subagent, self.tasks())? {
                return Ok(text);
            }
        }
    }

    /// Runs one turn of a subagent. Returns its last message when it has ended.
    pub(super) fn step(&mut self, subagent: &mut Subagent, tasks: Vec<Value>) -> Result<Option<String>, Interrupt> {
        let who = subagent.who();
        subagent.turns += 1;
        let turn = subagent.script.advance();
        if let Some(fault) = turn.fail {
            self.tell(Moment::ModelFailed { status: fault.status });
            return Ok(Some(format!("API Error: {}", fault.status)));
        }
        let said = turn.say.clone().unwrap_or_default();
        if turn.say.is_some() {
            self.tell(Moment::Said { who: who.clone(), text: said.clone() });
        }
        if turn.calls_tools() && subagent.turns < self.agent.turn_limit {
            let _result = self.batch(&who, &turn.actions)?;
            subagent.stop.refusals = 0;
            return Ok(None);
        }
        self.tell(Moment::StopTried { who: who.clone(), message: said.clone() });
        let stop = StopFields { active: subagent.stop.active, message: &said, background: tasks };
        let event = Event::SubagentStop { stop, transcript: self.transcript_of(&subagent.id) };
        let answer = self.fire(&who, &event)?;
        if self.is_refused(&who, &mut subagent.stop, answer) && subagent.turns < self.agent.turn_limit {
            return Ok(None);
        }
        self.tell(Moment::SubagentEnded { who });
        Ok(Some(said))
    }
}
