//! The position in a list of turns.

use super::{Scenario, Then, Turn};

#[derive(Debug, Clone)]
pub struct Script {
    turns: Vec<Turn>,
    then: Then,
    next: usize,
    faults: u32,
}

impl Script {
    /// Returns the main thread's turns.
    #[must_use]
    pub fn main(scenario: &Scenario) -> Self {
        Self::new(scenario.turns.clone(), scenario.then.clone())
    }

    /// Returns a subagent's turns. Each subagent starts at the first one.
    #[must_use]
    pub fn subagent(scenario: &Scenario) -> Self {
        if scenario.subagent.is_empty() {
            Self::new(vec![Turn::saying("done")], Then::Repeat)
        } else {
            Self::new(scenario.subagent.clone(), Then::Repeat)
        }
    }

    fn new(turns: Vec<Turn>, then: Then) -> Self {
        Self { turns, then, next: 0, faults: 0 }
    }

    /// Returns the next turn without taking it. `None` after the last written turn.
    #[must_use]
    pub fn peek(&self) -> Option<&Turn> {
        self.turns.get(self.next)
    }

    /// Takes the next turn. A turn that fails several times is returned as often.
    #[must_use]
    pub fn advance(&mut self) -> Turn {
        let Some(turn) = self.turns.get(self.next) else {
            return self.after_the_end();
        };
        let turn = turn.clone();
        let again = turn.fail.is_some_and(|fault| self.faults + 1 < fault.times);
        if again {
            self.faults += 1;
        } else {
            self.faults = 0;
            self.next += 1;
        }
        turn
    }

    fn after_the_end(&mut self) -> Turn {
        let length = self.turns.len();
        let back = match &self.then {
            Then::Say(text) => return Turn::saying(text.clone()),
            Then::Repeat => 1,
            Then::Loop(count) => (*count).clamp(1, length.max(1)),
        };
        if length == 0 {
            return Turn::saying("done");
        }
        self.next = length - back;
        self.advance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(scenario: &Scenario, count: usize) -> Vec<String> {
        let mut script = Script::main(scenario);
        (0..count)
            .map(|_| {
                let turn = script.advance();
                turn.say.unwrap_or_else(|| format!("{:?}", turn.fail.unwrap().status))
            })
            .collect()
    }

    #[test]
    fn the_last_turn_repeats() {
        let scenario = Scenario::new("x").say("a").say("b");
        assert_eq!(said(&scenario, 4), ["a", "b", "b", "b"]);
    }

    #[test]
    fn a_loop_goes_over_the_last_turns() {
        let scenario = Scenario::new("x").say("a").say("b").say("c").then(Then::Loop(2));
        assert_eq!(said(&scenario, 6), ["a", "b", "c", "b", "c", "b"]);
    }

    #[test]
    fn a_fixed_text_follows() {
        let scenario = Scenario::new("x").say("a").then(Then::Say("z".into()));
        assert_eq!(said(&scenario, 3), ["a", "z", "z"]);
    }

    #[test]
    fn a_fault_happens_as_often_as_written() {
        let scenario = Scenario::new("x").fail(529, 2).say("a");
        assert_eq!(said(&scenario, 4), ["529", "529", "a", "a"]);
    }

    #[test]
    fn a_subagent_without_turns_says_done() {
        let mut script = Script::subagent(&Scenario::new("x").say("a"));
        assert_eq!(script.advance(), Turn::saying("done"));
    }
}
