//! What the human reads of the plan gate, and the start of an approved plan.

use steadfast_model::{BindingChange, Verbosity};

use super::*;

fn without_draft() -> Gate {
    Gate { draft: None, ..gate() }
}

fn note(state: &mut State, event: &Event, gate: Gate) -> Option<String> {
    go(state, event, &behind(gate)).answer.note
}

fn asking(id: &str) -> ToolCall {
    ToolCall { words: vec!["Do you approve?".into()], ..call(id, Action::Ask) }
}

/// The decision after this answer to our question.
fn after(label: &str, draft: DraftLine) -> (State, PolicyDecision) {
    let gate = Gate { draft: Some(draft.clone()), ..gate() };
    let mut state = fresh();
    state.gate = Some(GateState::of(&gate));
    let asked = go(&mut state, &event(EventKind::PreTool(asking("q"))), &behind(gate.clone()));
    let Ruling::AskInstead(question) = asked.answer.ruling else { panic!("{:?}", asked.answer) };
    assert_eq!(question.draft, draft.hash);
    let answers = vec![DialogAnswer { question: question.text, label: label.into() }];
    let decision = go(&mut state, &answered(asking("q"), answers), &behind(gate));
    (state, decision)
}

fn starts(decision: &PolicyDecision) -> Option<bool> {
    decision.effects.iter().find_map(|effect| match effect {
        Effect::Approve { start, .. } => Some(*start),
        _ => None,
    })
}

#[test]
fn a_closed_gate_is_told_once_and_so_is_each_draft() {
    let mut state = fresh();
    let closed =
        "Steadfast: the plan gate is closed. `.tdd-progress.md`, `src/` cannot be written until you approve a plan";
    assert_eq!(note(&mut state, &pre("1", Action::shell("ls")), without_draft()).as_deref(), Some(closed));
    assert_eq!(note(&mut state, &pre("2", Action::shell("ls")), without_draft()), None);
    let waits = "Steadfast: plan 01234567 waits for your approval: Sign in (6 tasks). To approve it, type: approve plan 01234567";
    assert_eq!(note(&mut state, &post("2", Action::shell("ls")), gate()).as_deref(), Some(waits));
    assert_eq!(note(&mut state, &typed("What is it about?"), gate()), None);
    let other = Gate { draft: Some(DraftLine { hash: "89abcdef01234567".into(), ..draft() }), ..gate() };
    let replaced = note(&mut state, &pre("3", Action::shell("ls")), other).unwrap();
    assert!(replaced.starts_with("Steadfast: plan 89abcdef waits"), "{replaced}");
}

#[test]
fn a_draft_that_the_human_is_asked_about_or_that_the_host_shows_needs_no_line() {
    let mut state = fresh();
    state.gate = Some(GateState::of(&gate()));
    let asked = event(EventKind::PreTool(asking("q")));
    assert_eq!(note(&mut state, &asked, gate()), None);
    assert_eq!(note(&mut state, &pre("2", Action::shell("ls")), gate()), None);

    let mut planning = fresh();
    note(&mut planning, &pre("1", Action::shell("ls")), without_draft());
    let of_plan_mode = DraftLine { call: Some(ToolUseId::new("p")), ..draft() };
    let shown = Gate { draft: Some(of_plan_mode), ..gate() };
    assert_eq!(note(&mut planning, &pre("2", Action::shell("ls")), shown), None);
}

#[test]
fn a_refused_write_at_a_closed_gate_says_which_and_why() {
    let mut state = gated();
    let said = note(&mut state, &pre("1", write("/repo/src/a.rs")), gate()).unwrap();
    assert_eq!(said, "Steadfast refused to write `src/a.rs`. The plan is not approved.");
    assert_eq!(note(&mut state, &pre("2", write("/repo/src/a.rs")), gate()), None);
}

#[test]
fn approve_and_start_approves_and_the_session_works_on_it() {
    let (state, decision) = after("Approve and start", draft());
    assert_eq!((starts(&decision), state.gate, state.binding.ordered), (Some(true), None, true));
    assert_eq!(
        decision.answer.context.as_deref(),
        Some("The human approved plan 01234567 (Sign in) and asked to start. It is written to `PLAN.md`.")
    );
    assert_eq!(
        decision.answer.note.as_deref(),
        Some("Steadfast: plan 01234567 is approved, and the plan gate is open.")
    );
}

#[test]
fn approve_alone_starts_nothing() {
    let (state, decision) = after("Approve plan 01234567", draft());
    assert_eq!((starts(&decision), state.gate, state.binding.ordered), (Some(false), None, false));
}

#[test]
fn a_no_opens_the_gate_and_says_so() {
    let (state, decision) = after("Reject the plan", draft());
    assert_eq!((starts(&decision), state.gate), (None, None));
    assert_eq!(decision.answer.note.as_deref(), Some(text::REJECTED_LINE));
}

#[test]
fn a_text_without_tasks_has_nothing_to_start() {
    let plain = DraftLine { tasks: 0, ..draft() };
    assert!(text::question(&plain).options.iter().all(|(label, _)| label != text::START_LABEL));
    let (state, decision) = after("Approve and start", plain);
    assert_eq!((starts(&decision), state.gate.is_some()), (None, true));
}

#[test]
fn who_was_ordered_before_is_not_ordered_again() {
    let mut state = gated();
    state.apply(&Change::Binding(BindingChange::Ordered));
    state.rules.verbosity = Verbosity::Quiet;
    let decision = go(&mut state, &typed("approve plan 01234567"), &behind(gate()));
    assert_eq!((starts(&decision), decision.answer.note), (Some(false), None));
    assert!(!decision.changes.contains(&Change::Binding(BindingChange::Ordered)));
}
