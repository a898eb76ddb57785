//! What is said of the calls of one model answer.

use steadfast_model::Batch;

use super::*;

fn all_back() -> Event {
    event(EventKind::ToolBatch { calls: 3 })
}

/// At work in a session whose host says when the calls of an answer are all back.
fn reported() -> State {
    let mut state = at_work();
    assert_eq!(said(&mut state, &all_back()), None);
    state
}

#[test]
fn a_batch_is_told_once_and_of_the_gravest() {
    let mut state = reported();
    let told = ["web/menu.ts", "web/footer.ts", "ops/list.yaml"].map(|path| said(&mut state, &edit(path)));
    assert_eq!(told, [None, None, None]);
    let told = said(&mut state, &all_back()).unwrap();
    assert!(told.starts_with("This leads away from the goal: `web/footer.ts`"), "{told}");
    assert_eq!((said(&mut state, &all_back()), state.drift.batch), (None, Batch::Reported));
}

#[test]
fn who_was_not_told_yet_has_ignored_nothing() {
    let mut state = reported();
    let levels: Vec<Level> =
        (0..20).map(|n| scored(&mut state, &edit(&format!("away{n}/part.ts"))).unwrap().1).collect();
    assert_eq!((levels[1], levels.iter().max().copied()), (Level::Correct, Some(Level::Correct)));
    assert_eq!(state.drift.escalation, 0);
}

#[test]
fn a_host_that_tells_of_no_batch_is_answered_at_once() {
    let mut state = at_work();
    let told = ["web/menu.ts", "web/footer.ts"].map(|path| said(&mut state, &edit(path)).is_some());
    assert_eq!(told, [true, true]);
}

#[test]
fn a_subagent_is_answered_at_once_and_ends_no_batch_of_the_main_thread() {
    let mut state = reported();
    let agent = || Some(Agent { id: AgentId::new("a"), agent_type: "worker".into() });
    assert_eq!(said(&mut state, &edit("web/menu.ts")), None);
    assert_eq!(said(&mut state, &Event { agent: agent(), ..all_back() }), None);
    let told = said(&mut state, &Event { agent: agent(), ..edit("web/footer.ts") });
    assert!(told.is_some_and(|told| told.contains("`web/footer.ts`")));
    let told = said(&mut state, &all_back());
    assert!(told.is_some_and(|told| told.contains("`web/menu.ts`")));
}

#[test]
fn what_was_not_said_before_the_human_spoke_is_not_said() {
    let mut state = reported();
    go(&mut state, &edit("web/menu.ts"));
    go(&mut state, &prompt("stop, something else"));
    assert_eq!(said(&mut state, &all_back()), None);
}
