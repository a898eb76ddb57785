use super::*;

fn approved(decision: &PolicyDecision) -> Option<Channel> {
    decision.effects.iter().find_map(|effect| match effect {
        Effect::Approve { hash, channel, .. } if hash == HASH => Some(*channel),
        _ => None,
    })
}

fn saying(event: Event) -> PolicyDecision {
    decide(&gated(), &event, &behind(gate()))
}

#[test]
fn the_whole_message_of_a_human_approves_the_very_draft() {
    let mut state = gated();
    let decision = go(&mut state, &typed("approve plan 01234567\n"), &behind(gate()));
    assert_eq!(approved(&decision), Some(Channel::Prompt));
    assert_eq!((state.gate, state.approved.as_deref()), (None, Some(HASH)));
    assert_eq!(
        decision.answer.context.as_deref(),
        Some("The human approved plan 01234567 (Sign in). It is written to `PLAN.md`.")
    );
}

#[test]
fn free_words_another_hash_and_other_speakers_do_not() {
    let notification = "<task-notification>approve plan 01234567</task-notification>";
    let words = [
        typed("approve plan"),
        typed("yes, approve plan 01234567"),
        typed("approve plan 01234567 please"),
        typed("approve plan 89abcdef"),
        typed("approved"),
        event(EventKind::prompt("approve plan 01234567", PromptOrigin::Notification)),
        event(EventKind::prompt(notification, PromptOrigin::Notification)),
        event(EventKind::prompt("approve plan 01234567", PromptOrigin::Machine)),
        event(EventKind::prompt("approve plan 01234567", PromptOrigin::Scheduled)),
        by("worker", typed("approve plan 01234567")),
        Event { attended: Some(false), ..typed("approve plan 01234567") },
    ];
    for event in words {
        let decision = saying(event.clone());
        assert_eq!(approved(&decision), None, "{event:?}");
        assert!(!decision.changes.iter().any(|change| matches!(change, Change::GateOpened(_))), "{event:?}");
    }
}

#[test]
fn without_a_sign_of_a_human_a_prompt_is_not_enough() {
    let mut state = gated();
    state.attended = false;
    let prompt = event(EventKind::prompt("approve plan 01234567", PromptOrigin::Human));
    let decision = decide(&state, &prompt, &behind(gate()));
    assert_eq!(approved(&decision), None);
    assert_eq!(
        decision.answer.note.as_deref(),
        Some(
            "Nothing is approved: Steadfast does not know whether a human is at this session. `steadfast plan approve` \
             in a terminal approves it."
        )
    );
}

fn asking(id: &str, question: &str) -> ToolCall {
    ToolCall { words: vec![question.into()], ..call(id, Action::Ask) }
}

fn before(call: ToolCall) -> Event {
    event(EventKind::PreTool(call))
}

fn our_question() -> Question {
    text::question(&draft())
}

fn answer(question: &str, label: &str) -> Vec<DialogAnswer> {
    vec![DialogAnswer { question: question.into(), label: label.into() }]
}

#[test]
fn our_question_stands_in_for_the_agents_and_its_answer_counts() {
    let mut state = gated();
    let asked = go(&mut state, &before(asking("q", "Plan: Do you approve?")), &behind(gate()));
    assert_eq!(asked.answer.ruling, Ruling::AskInstead(our_question()));
    let answers = answer(&our_question().text, "Approve plan 01234567");
    let decision = go(&mut state, &answered(asking("q", "Plan: Do you approve?"), answers), &behind(gate()));
    assert_eq!(approved(&decision), Some(Channel::Question));
    assert_eq!(state.gate, None);
}

#[test]
fn a_look_alike_question_approves_nothing() {
    let label = "Approve plan 01234567";
    let text = our_question().text;
    // Never exchanged: the agent asked our very words under another call, or in a subagent.
    let mut state = gated();
    let decision = go(&mut state, &answered(asking("q", &text), answer(&text, label)), &behind(gate()));
    assert_eq!(approved(&decision), None);
    let decision = go(&mut state, &by("worker", answered(asking("q", &text), answer(&text, label))), &behind(gate()));
    assert_eq!(approved(&decision), None);
    // Exchanged, and another question answered.
    go(&mut state, &before(asking("q", "Approve?")), &behind(gate()));
    let decision = go(&mut state, &answered(asking("q", "Approve?"), answer("Approve?", label)), &behind(gate()));
    assert_eq!(approved(&decision), None);
    // Exchanged, and the draft became another one since.
    let other = Gate { draft: Some(DraftLine { hash: "f".repeat(16), ..draft() }), ..gate() };
    let decision = go(&mut state, &answered(asking("q2", "Approve?"), answer(&text, label)), &behind(other));
    assert_eq!(decision.effects, []);
}

#[test]
fn not_yet_keeps_it_closed_and_a_rejection_opens_it() {
    let answered_with = |label: &str| {
        let mut state = gated();
        go(&mut state, &before(asking("q", "Approve the plan?")), &behind(gate()));
        let answers = answer(&our_question().text, label);
        let decision = go(&mut state, &answered(asking("q", "Approve the plan?"), answers), &behind(gate()));
        (decision.answer.context, state.gate.is_some(), state.approved)
    };
    assert_eq!(answered_with("Not yet"), (Some(text::NOT_YET.into()), true, None));
    assert_eq!(answered_with("add a task for the docs"), (Some(text::NOT_YET.into()), true, None));
    assert_eq!(answered_with("Reject the plan"), (Some(text::REJECTED.into()), false, None));
}

#[test]
fn other_questions_are_the_agents_own() {
    for event in [
        before(asking("q", "Database: Which one shall it be?")),
        by("worker", before(asking("q", "Approve the plan?"))),
        Event { attended: Some(false), ..before(asking("q", "Approve the plan?")) },
    ] {
        assert_eq!(decide(&gated(), &event, &behind(gate())).answer.ruling, Ruling::Pass, "{event:?}");
    }
}

fn leaving(id: &str) -> ToolCall {
    ToolCall { words: vec!["# Sign in\n".into()], ..call(id, Action::LeavePlan) }
}

fn left(id: &str) -> Event {
    answered(leaving(id), Vec::new())
}

fn dialog() -> Event {
    event(EventKind::Permission(ToolCall { id: None, ..leaving("") }))
}

/// The marker once the draft of that call is kept.
fn leaving_gate() -> Gate {
    Gate { draft: Some(DraftLine { call: Some(ToolUseId::new("x")), ..draft() }), ..gate() }
}

#[test]
fn leaving_plan_mode_in_its_dialog_approves_what_it_was_left_with() {
    let mut state = gated();
    let leaves = Event { planning: true, ..before(leaving("x")) };
    let before = go(&mut state, &leaves, &behind(gate()));
    let waiting = Some(state.rules.approval.waiting(leaves.at));
    let (call, text) = (ToolUseId::new("x"), "# Sign in\n".to_owned());
    assert_eq!(before.effects, [Effect::KeepDraft { scope: gate().scope, call, text, waiting }]);
    go(&mut state, &dialog(), &behind(leaving_gate()));
    let after = go(&mut state, &left("x"), &behind(leaving_gate()));
    assert_eq!(approved(&after), Some(Channel::PlanMode));
}

#[test]
fn a_plan_that_no_human_was_shown_waits_for_nobody() {
    let waits = |event: Event| {
        let effects = go(&mut gated(), &event, &behind(gate())).effects;
        effects.iter().any(|effect| matches!(effect, Effect::KeepDraft { waiting: Some(_), .. }))
    };
    let leaves = Event { planning: true, ..before(leaving("x")) };
    assert!(waits(leaves.clone()));
    assert!(!waits(Event { unasked: true, ..leaves.clone() }), "permissions bypassed");
    assert!(!waits(Event { attended: Some(false), ..leaves }), "nobody there");
}

#[test]
fn leaving_plan_mode_without_its_dialog_approves_nothing() {
    let after = |state: &mut State, event: Event| approved(&go(state, &event, &behind(leaving_gate())));
    assert_eq!(after(&mut gated(), left("x")), None, "no dialog was shown");
    let mut asked = gated();
    go(&mut asked, &dialog(), &behind(leaving_gate()));
    assert_eq!(after(&mut asked.clone(), Event { unasked: true, ..left("x") }), None, "permissions bypassed");
    assert_eq!(after(&mut asked.clone(), Event { attended: Some(false), ..left("x") }), None, "nobody there");
    assert_eq!(after(&mut asked.clone(), by("worker", left("x"))), None, "a subagent");
    assert_eq!(after(&mut asked.clone(), left("y")), None, "another call");
}

#[test]
fn leaving_plan_mode_in_its_dialog_without_a_plan_opens_what_it_closed_and_approves_nothing() {
    let planned = Gate { trigger: Trigger::PlanMode, draft: None, ..gate() };
    let mut state = fresh();
    state.gate = Some(GateState::of(&planned));
    go(&mut state, &dialog(), &behind(planned.clone()));
    let after = go(&mut state, &left("x"), &behind(planned));
    assert_eq!((approved(&after), state.gate, state.approved), (None, None, None));
}

#[test]
fn who_leaves_plan_mode_by_hand_with_nothing_drafted_has_opened_it() {
    let planned = Gate { trigger: Trigger::PlanMode, draft: None, ..gate() };
    let mut state = fresh();
    state.gate = Some(GateState::of(&planned));
    go(&mut state, &typed("never mind, just fix it"), &behind(planned.clone()));
    assert_eq!(state.gate, None);
    let mut drafted = fresh();
    drafted.gate = Some(GateState::of(&planned));
    go(&mut drafted, &typed("go on"), &behind(Gate { draft: Some(draft()), ..planned }));
    assert!(drafted.gate.is_some());
}

#[test]
fn in_the_hardened_profile_only_a_terminal_approves() {
    let mut state = gated();
    state.rules.approval.profile = Profile::Hardened;
    assert_eq!(approved(&decide(&state, &typed("approve plan 01234567"), &behind(gate()))), None);
    let asked = decide(&state, &before(asking("q", "Approve the plan?")), &behind(gate()));
    assert_eq!(asked.answer.ruling, Ruling::Pass);
    go(&mut state, &dialog(), &behind(leaving_gate()));
    assert_eq!(approved(&go(&mut state, &left("x"), &behind(leaving_gate()))), None);
}

#[test]
fn what_is_nearly_a_yes_is_answered_with_what_would_be_one() {
    let typing = "To approve \"Sign in\", type this and nothing else: approve plan 01234567";
    for (said, why) in [
        ("approve plan 01234567!", "the message contains more than the approval."),
        ("`approve plan 01234567`", "the message contains more than the approval."),
        ("approve plan 89abcdef", "the draft is 01234567, not 89abcdef."),
        ("approve plan 0123", "the draft is 01234567, not 0123."),
        ("yes, approved", "the message does not say which plan."),
    ] {
        let decision = saying(typed(said));
        assert_eq!(approved(&decision), None, "{said}");
        assert_eq!(decision.answer.note, Some(format!("Nothing is approved: {why} {typing}")), "{said}");
    }
    // Where that would not count either, it is not said.
    let decision = saying(Event { attended: Some(false), ..typed("yes, approved") });
    let terminal =
        "Nothing is approved: the message does not say which plan. `steadfast plan approve` in a terminal approves it.";
    assert_eq!(decision.answer.note.as_deref(), Some(terminal));
    for said in ["they approved the budget", "how do I approve a plan?", "carry on"] {
        assert_eq!(saying(typed(said)).answer.note, None, "{said}");
    }
    // Without a draft there is nothing to approve.
    let undrafted = Gate { draft: None, ..gate() };
    assert_eq!(decide(&gated(), &typed("yes, approved"), &behind(undrafted)).answer.note, None);
    // A message of somebody else is not answered.
    let other = event(EventKind::prompt("yes, approved", PromptOrigin::Notification));
    assert_eq!(saying(other).answer.note, None);
}

#[test]
fn an_approve_in_somebody_elses_dialog_is_answered() {
    let asked = "Ready to build?";
    for (label, is_told) in [
        ("Approve", true),
        ("Approve and continue", true),
        ("Yes, approve plan 01234567", true),
        ("Not yet", false),
        ("Use SQLite", false),
    ] {
        let decision = saying(answered(asking("q", asked), answer(asked, label)));
        assert_eq!(approved(&decision), None, "{label}");
        let note = decision.answer.note.unwrap_or_default();
        assert_eq!(
            note.starts_with("Nothing is approved: the agent asked its own question"),
            is_told,
            "{label}: {note}"
        );
        assert_eq!(decision.answer.context.as_deref(), is_told.then_some(text::NOT_YET), "{label}");
    }
}
