//! What a call changed without showing it, and what goes with what.

use steadfast_model::{Neighbours, StepKind, Stopping};

use super::*;

fn changed(paths: &[&str]) -> Facts {
    Facts { changed: Fact::Known(paths.iter().map(|path| (*path).to_owned()).collect()), ..Facts::default() }
}

fn script() -> Event {
    shell("python3 gen.py", Outcome::Ok)
}

fn subagent_ends() -> Event {
    let agent = Some(Agent { id: AgentId::new("a"), agent_type: "worker".into() });
    let stopping = Stopping { again: false, last_message: None, background: None, wakeups: 0 };
    Event { agent, ..event(EventKind::SubagentStop(stopping)) }
}

fn go_on(state: &mut State, event: &Event, facts: &Facts) -> PolicyDecision {
    let decision = decide(state, event, facts);
    let sequence = state.sequence + 1;
    state.advance(sequence, event.at, &decision.changes);
    decision
}

/// Kind, paths and score of the step that follows from an event.
fn step(state: &mut State, event: &Event, facts: &Facts) -> Option<(StepKind, Vec<String>, u8)> {
    let decision = go_on(state, event, facts);
    steps(&decision).first().map(|step| (step.kind, step.paths.clone(), step.score.get()))
}

#[test]
fn only_what_may_write_unseen_is_looked_at() {
    let state = at_work();
    let asks = |event: &Event| needs(&state, event).changed;
    assert!(asks(&script()) && asks(&shell("make", failed())) && asks(&subagent_ends()));
    for event in [shell("grep -rn x .", Outcome::Ok), shell("cp a b", Outcome::Ok), edit("web/menu.ts"), read("a.rs")] {
        assert!(!asks(&event), "{event:?}");
    }
    let looking = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    assert!(!needs(&looking, &script()).changed && needs(&looking, &subagent_ends()).changed);
}

#[test]
fn what_a_script_changed_is_what_it_wrote() {
    let mut state = at_work();
    let first = step(&mut state, &script(), &changed(&["web/menu.ts"]));
    assert_eq!(first, Some((StepKind::Bash, vec!["web/menu.ts".into()], 7)));
    let told = go_on(&mut state, &script(), &changed(&["web/footer.ts"]));
    assert!(told.answer.context.unwrap().starts_with(
        "This leads away from the goal: `web/footer.ts` has nothing to do with the work so far; the step before led away, too."
    ));
}

#[test]
fn a_script_that_failed_has_written_all_the_same() {
    let mut state = at_work();
    let failing = shell("python3 gen.py", failed());
    let written = step(&mut state, &failing, &changed(&["web/menu.ts"]));
    assert_eq!(written, Some((StepKind::Bash, vec!["web/menu.ts".into()], 7)));
    assert_eq!(state.drift.places.fresh.last().map(String::as_str), Some("web/menu.ts"));
}

#[test]
fn what_a_subagent_left_behind_is_a_step_and_the_human_hears_of_it() {
    let mut state = at_work();
    let left = step(&mut state, &subagent_ends(), &changed(&["web/menu.ts"]));
    assert_eq!(left, Some((StepKind::Delegate, vec!["web/menu.ts".into()], 7)));
    assert_eq!(step(&mut state, &subagent_ends(), &changed(&[])), None);
}

#[test]
fn what_was_written_before_is_nothing_new() {
    let mut state = at_work();
    go(&mut state, &edit("web/menu.ts"));
    go(&mut state, &edit("web/footer.ts"));
    let again = ["src/auth/token.rs", "web/menu.ts", "web/footer.ts", "target/debug/x", ".steadfast/x"];
    assert_eq!(step(&mut state, &script(), &changed(&again)), None);
}

#[test]
fn what_is_not_known_changes_nothing() {
    let mut state = at_work();
    let facts = Facts { changed: Fact::Unknown("not a git repository".into()), ..Facts::default() };
    assert_eq!(decide(&state, &script(), &facts).changes, decide(&state, &script(), &Facts::default()).changes);
    assert_eq!(step(&mut state, &script(), &facts), None);
    let shown = step(&mut state, &shell("python3 gen.py > web/menu.ts", Outcome::Ok), &facts);
    assert_eq!(shown, Some((StepKind::Bash, vec!["web/menu.ts".into()], 7)));
}

#[test]
fn the_task_and_the_history_are_asked_for_once_something_leads_away() {
    let state = at_work();
    let more = |path: &str| leads_astray(&state, &ParsedEvent::of(&script()), &[path.to_owned()]);
    assert_eq!((more("web/menu.ts"), more("src/auth/session.rs")), (true, false));
    let asks = |path: &str| needs(&state, &edit(path)).neighbours;
    assert_eq!((asks("web/menu.ts"), asks("src/auth/session.rs")), (true, false));
}

#[test]
fn what_history_changes_with_the_work_goes_with_it() {
    let with = |path: &str, with: &str| Facts {
        neighbours: vec![Neighbours { path: path.into(), with: vec![with.into()] }],
        ..Facts::default()
    };
    let score = |facts: &Facts| step(&mut at_work(), &edit("web/menu.ts"), facts).map(|(_, _, score)| score);
    assert_eq!(score(&with("web/menu.ts", "src/auth/token.rs")), Some(9));
    // Of another file, or with another one, it says nothing.
    assert_eq!(score(&with("web/footer.ts", "src/auth/token.rs")), Some(7));
    assert_eq!(score(&with("web/menu.ts", "web/footer.ts")), Some(7));
}

#[test]
fn whoever_strays_among_neighbours_is_not_at_home_after_the_first() {
    let mut state = at_work();
    go(&mut state, &edit("web/menu.ts"));
    let neighbours = vec![Neighbours { path: "web/footer.ts".into(), with: vec!["web/menu.ts".into()] }];
    let next = step(&mut state, &edit("web/footer.ts"), &Facts { neighbours, ..Facts::default() });
    assert_eq!(next, Some((StepKind::Edit, vec!["web/footer.ts".into()], 5)));
}
