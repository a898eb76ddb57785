//! Prompts that the agent scheduled or sent itself. They wake the session but are not the human's word.

use steadfast_model::{Event, EventKind, PromptOrigin, State};

use crate::goal;

/// Tells the human which command has the effect that such a prompt would have had.
pub(crate) fn note(state: &State, event: &Event) -> Option<String> {
    let EventKind::Prompt { text, origin: PromptOrigin::Scheduled | PromptOrigin::Machine, .. } = &event.kind else {
        return None;
    };
    if event.agent.is_some() {
        return None;
    }
    let who = "the agent itself scheduled or sent this prompt";
    let said = text.trim().to_lowercase();
    for (word, done, command) in
        [("approve plan ", "approved", "steadfast plan approve"), ("reject plan ", "rejected", "steadfast plan reject")]
    {
        if said.starts_with(word) {
            return Some(format!("Nothing is {done}: {who}. `{command}` in a terminal does it."));
        }
    }
    let number = goal::would_lift(state, text)?;
    Some(format!("Nothing is lifted: {who}. `steadfast goal allow {number}` in a terminal does it."))
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Change, Facts, Host, Millis, SessionId};

    use super::*;
    use crate::decide;

    fn prompt(text: &str, origin: PromptOrigin) -> Event {
        Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), EventKind::prompt(text, origin))
    }

    /// After a human forbade something.
    fn forbidden() -> State {
        let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
        let said = prompt("Mend the parser, but don't commit.", PromptOrigin::Human);
        let changes = decide(&state, &said, &Facts::default()).changes;
        state.advance(1, Millis(1), &changes);
        assert_eq!((state.constraints().len(), state.prompts), (1, 1));
        state
    }

    #[test]
    fn it_lifts_forbids_and_resets_nothing() {
        let mut state = forbidden();
        state.stop.refused = 2;
        for text in ["ok, commit it", "Don't push.", "Work through the tasks.", "approve plan 01234567", "go on"] {
            let changes = decide(&state, &prompt(text, PromptOrigin::Scheduled), &Facts::default()).changes;
            let counts = |change: &Change| {
                matches!(
                    change,
                    Change::HumanSpoke
                        | Change::ConstraintLifted(_)
                        | Change::ConstraintAdded(_)
                        | Change::GoalSet { .. }
                        | Change::Binding(_)
                        | Change::GateOpened(_)
                )
            };
            assert!(!changes.iter().any(counts), "{text}: {changes:?}");
        }
    }

    #[test]
    fn the_human_reads_what_counts_instead() {
        let state = forbidden();
        let note = |text: &str, origin| decide(&state, &prompt(text, origin), &Facts::default()).answer.note;
        let scheduled = |text: &str| note(text, PromptOrigin::Scheduled);
        let who = "the agent itself scheduled or sent this prompt";
        assert_eq!(
            scheduled("ok, commit it"),
            Some(format!("Nothing is lifted: {who}. `steadfast goal allow 1` in a terminal does it."))
        );
        assert_eq!(
            scheduled("approve plan 01234567"),
            Some(format!("Nothing is approved: {who}. `steadfast plan approve` in a terminal does it."))
        );
        assert_eq!(scheduled("look at the build"), None);
        assert_eq!(note("look at the build", PromptOrigin::Human), None);
    }
}
