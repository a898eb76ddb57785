//! A loop holds the session that is bound to it, on the account of refusals that tasks have.

use steadfast_model::{GateScope, LoopId, LoopView, Ruling, Stage};

use super::*;

const COMPLETE: &str = "<promise>ALL TASKS COMPLETE</promise>";
const NEEDS_USER: &str = "Which key is it?\n<promise>BLOCKED - NEEDS USER</promise>";

fn view(stage: Stage, session: Option<&str>) -> LoopView {
    let (standing, next) = match stage {
        Stage::Executing => ("2 of 2 tasks are done", "`steadfast loop advance review`"),
        Stage::Review => ("the thorough review has not run yet", "`steadfast loop review`"),
        _ => ("no plan is loaded", "`steadfast loop next`"),
    };
    LoopView {
        id: LoopId::new("l-1a2b3c4d"),
        stage,
        session: session.map(SessionId::new),
        session_ended: None,
        run: None,
        plan: Some(PlanId::new("list")),
        counts: Counts { done: 2, ..Counts::default() },
        waits: None,
        limit: None,
        standing: standing.into(),
        next: next.into(),
    }
}

fn in_loop(looped: LoopView, plan: Option<PlanView>) -> Facts {
    Facts { plan: Fact::Known(plan), unfinished: Fact::Known(Some(looped)), ..Facts::default() }
}

fn waits(why: Option<&str>) -> Effect {
    Effect::LoopWaits { id: LoopId::new("l-1a2b3c4d"), why: why.map(str::to_owned) }
}

fn binds(session: Option<&str>) -> Effect {
    Effect::BindLoop { id: LoopId::new("l-1a2b3c4d"), session: session.map(SessionId::new) }
}

#[test]
fn with_all_tasks_done_the_loop_holds_until_its_gate() {
    let mut state = fresh();
    let facts = in_loop(view(Stage::Executing, Some(ME)), Some(plan(Some(ME), 0, 2, 0)));
    let decision = go(&mut state, &stopping(), &facts);
    assert_eq!(
        decision.opinions[0].verdict,
        Verdict::Continue {
            reason: "loop l-1a2b3c4d: stage executing, 2 of 2 tasks are done; next: `steadfast loop advance review`. \
                     `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user. (refusal 1 of 50)"
                .into()
        }
    );
    assert_eq!((state.stop.refused, state.stop.released), (1, None));
}

#[test]
fn every_stage_after_intent_holds_the_bound_session_and_nobody_else() {
    for stage in Stage::ALL {
        let holds = |session: Option<&str>| {
            let said = verdict(&fresh(), &stopping(), &in_loop(view(stage, session), None));
            matches!(said, Verdict::Continue { .. })
        };
        let after_intent = !matches!(stage, Stage::Intent | Stage::Complete);
        assert_eq!((holds(Some(ME)), holds(Some("another")), holds(None)), (after_intent, false, false), "{stage:?}");
    }
}

#[test]
fn a_run_works_on_its_loop_and_holds_no_session() {
    let in_run = LoopView { run: Some(RunId::new("r-1")), ..view(Stage::Review, Some(ME)) };
    assert_eq!(verdict(&fresh(), &stopping(), &in_loop(in_run, None)), Verdict::Pass);
}

#[test]
fn a_promise_of_completion_does_not_complete_a_loop() {
    let facts = in_loop(view(Stage::Review, Some(ME)), Some(plan(Some(ME), 0, 2, 0)));
    let said = verdict(&fresh(), &saying(COMPLETE), &facts);
    let text = "You promised completion, but the loop is not complete. loop l-1a2b3c4d: stage review";
    assert!(said.text().starts_with(text), "{}", said.text());
}

#[test]
fn open_tasks_are_told_before_the_loop() {
    let looped =
        LoopView { counts: Counts { pending: 1, done: 1, ..Counts::default() }, ..view(Stage::Executing, Some(ME)) };
    let said = verdict(&fresh(), &stopping(), &in_loop(looped, Some(plan(Some(ME), 1, 1, 0))));
    assert!(said.text().starts_with("1 of 2 tasks is open"), "{}", said.text());
}

#[test]
fn the_account_of_refusals_is_the_one_of_tasks() {
    let mut state = fresh();
    let facts = in_loop(view(Stage::Review, Some(ME)), None);
    for _ in 0..3 {
        assert!(matches!(go(&mut state, &stopping(), &facts).opinions[0].verdict, Verdict::Continue { .. }));
    }
    let note = go(&mut state, &stopping(), &facts).answer.note.unwrap();
    assert!(
        note.starts_with("Steadfast stopped insisting after 3 refusals in a row without a tool call: loop "),
        "{note}"
    );
    assert!(note.contains("capped, not complete"), "{note}");
    assert_eq!(state.stop.released, Some(Release::Capped));
    assert!(go(&mut state, &stopping(), &facts).answer.is_pass(), "until the human speaks");
    assert_eq!(state.stop.released, Some(Release::Capped), "never complete");
}

#[test]
fn the_agents_word_that_it_needs_the_user_makes_the_loop_wait() {
    let mut state = fresh();
    let facts = in_loop(view(Stage::Review, Some(ME)), None);
    let decision = go(&mut state, &saying(NEEDS_USER), &facts);
    assert_eq!(decision.effects, [waits(Some("Which key is it?"))]);
    let note = decision.answer.note.unwrap();
    assert!(note.contains("loop l-1a2b3c4d waits for you in stage review: Which key is it?"), "{note}");
    assert_eq!(state.stop.released, Some(Release::NeedsUser));
    // With the last open task the same: the task is blocked, and the loop waits.
    let both = in_loop(view(Stage::Executing, Some(ME)), Some(plan(Some(ME), 1, 1, 0)));
    let effects = go(&mut fresh(), &saying(NEEDS_USER), &both).effects;
    assert_eq!(effects.last(), Some(&waits(Some("Which key is it?"))), "{effects:?}");
}

#[test]
fn a_loop_that_waits_for_a_human_holds_nobody_until_the_human_speaks() {
    let mut state = fresh();
    let facts = in_loop(LoopView { waits: Some("a key".into()), ..view(Stage::Review, Some(ME)) }, None);
    let first = go(&mut state, &stopping(), &facts);
    assert_eq!((first.answer.ruling == Ruling::Pass, first.answer.note.is_some()), (true, true));
    assert!(go(&mut state, &stopping(), &facts).answer.is_pass(), "it is said once");
    let spoken = go(&mut state, &prompted("it is 42"), &facts);
    assert_eq!(spoken.effects, [waits(None)]);
    let stranger = in_loop(LoopView { waits: Some("a key".into()), ..view(Stage::Review, Some("another")) }, None);
    assert_eq!(go(&mut fresh(), &prompted("it is 42"), &stranger).effects, []);
}

#[test]
fn a_loop_at_its_limit_waits_and_its_open_tasks_hold_nobody() {
    let mut state = fresh();
    let looped = LoopView { waits: Some("10 of 10 iterations are used".into()), ..view(Stage::Executing, Some(ME)) };
    let first = go(&mut state, &stopping(), &in_loop(looped, Some(plan(Some(ME), 2, 1, 0))));
    assert_eq!((state.stop.released, state.stop.refused), (Some(Release::NeedsUser), 0));
    assert!(first.answer.note.unwrap().contains("waits for you in stage executing: 10 of 10 iterations are used."));
}

#[test]
fn a_spent_budget_lets_go_and_is_kept() {
    let mut state = fresh();
    let looped =
        LoopView { limit: Some("the budget is spent: $3.00 of $2.50".into()), ..view(Stage::Review, Some(ME)) };
    let decision = go(&mut state, &stopping(), &in_loop(looped, None));
    assert_eq!(decision.effects, [waits(Some("the budget is spent: $3.00 of $2.50"))]);
    assert_eq!((state.stop.released, state.stop.refused), (Some(Release::NeedsUser), 0));
}

#[test]
fn a_checkpoint_background_work_and_plan_mode_let_a_loop_go() {
    let facts = in_loop(view(Stage::Review, Some(ME)), None);
    let mut state = fresh();
    go(&mut state, &saying("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"), &facts);
    assert_eq!(state.stop.released, Some(Release::Checkpoint));
    let mut state = fresh();
    go(&mut state, &Event { planning: true, ..stopping() }, &facts);
    assert_eq!(state.stop.released, Some(Release::Yielded));
}

#[test]
fn a_draft_that_waits_for_its_yes_is_no_reason_to_go_on() {
    let gate = steadfast_model::Gate::new(GateScope::Session(SessionId::new(ME)), "a draft waits", Millis(1));
    let facts = Facts { gate: Some(gate), ..in_loop(view(Stage::Decompose, Some(ME)), None) };
    assert_eq!(verdict(&fresh(), &stopping(), &facts), Verdict::Pass);
}

#[test]
fn tasks_of_another_living_session_hold_this_one_not() {
    let open = |owner_ended| {
        let looped = LoopView {
            counts: Counts { pending: 2, ..Counts::default() },
            standing: "0 of 2 tasks are done".into(),
            next: "`steadfast task next` shows the next task".into(),
            ..view(Stage::Executing, Some(ME))
        };
        let tasks = PlanView { owner_ended, ..plan(Some("another"), 2, 0, 0) };
        verdict(&fresh(), &stopping(), &in_loop(looped, Some(tasks)))
    };
    assert_eq!(open(None), Verdict::Pass);
    let ended = OwnerEnd { reason: "exit".into(), at: Millis(10) };
    assert!(
        open(Some(ended)).text().starts_with("loop l-1a2b3c4d: stage executing, 0 of 2 tasks are done; next: `ste")
    );
}

#[test]
fn the_humans_order_binds_releases_and_is_told_once() {
    let other = in_loop(view(Stage::Shape, Some("another")), None);
    let bound = go(&mut fresh(), &prompted("Go on with the loop."), &other);
    assert_eq!(bound.effects, [binds(Some(ME))]);
    assert!(bound.answer.note.unwrap().contains("bound to loop l-1a2b3c4d (stage shape)"));
    let mine = in_loop(view(Stage::Shape, Some(ME)), None);
    let again = go(&mut fresh(), &prompted("Go on with the loop."), &mine);
    assert_eq!((again.effects, again.answer.is_pass()), (vec![], true));
    assert_eq!(go(&mut fresh(), &prompted("Stop the loop."), &mine).effects, [binds(None)]);
    assert_eq!(go(&mut fresh(), &prompted("What is the loop at?"), &other).effects, []);
}

#[test]
fn a_cleared_session_stays_bound_and_a_fork_does_not() {
    let ended = |reason: &str| Some(OwnerEnd { reason: reason.into(), at: Millis(900) });
    let starts = |source, reason: &str| {
        let looped = LoopView { session_ended: ended(reason), ..view(Stage::Shape, Some("before")) };
        go(&mut fresh(), &event(EventKind::SessionStart { source }), &in_loop(looped, None)).effects
    };
    assert_eq!(starts(StartSource::Clear, "clear"), [binds(Some(ME))]);
    assert_eq!(starts(StartSource::Clear, "exit"), []);
    assert_eq!(starts(StartSource::Fork, "clear"), []);
    assert_eq!(starts(StartSource::Startup, "clear"), []);
}
