use super::*;

/// A session that may stop on these.
fn only(exits: &[ExitOn]) -> State {
    let mut state = fresh();
    state.rules.stop.exits = Some(exits.to_vec());
    state
}

fn but(exit: ExitOn) -> State {
    only(&ExitOn::ALL.into_iter().filter(|other| *other != exit).collect::<Vec<_>>())
}

#[test]
fn without_all_complete_a_promise_is_wanted() {
    let facts = knowing(plan(Some(ME), 0, 5, 0));
    let mut state = but(ExitOn::AllComplete);
    assert_eq!(
        verdict(&state, &stopping(), &facts).text(),
        "All 5 tasks are done. The turn ends with `<promise>ALL TASKS COMPLETE</promise>`."
    );
    go(&mut state, &saying("<promise>EPIC COMPLETE</promise>"), &facts);
    assert_eq!(state.stop.released, Some(Release::Complete));

    let mut silent = but(ExitOn::AllComplete);
    assert_eq!(refusals_until_released(&mut silent, &facts, true), 50);
    assert_eq!(silent.stop.released, Some(Release::Capped));

    let mut nothing_to_say = but(ExitOn::AllComplete);
    nothing_to_say.rules.stop.promises = Some(vec![StopRules::NEEDS_USER.into()]);
    assert_eq!(refusals_until_released(&mut nothing_to_say, &facts, true), 0);
}

#[test]
fn without_all_blocked_it_is_refused_until_the_budget_ends() {
    let facts = knowing(plan(Some(ME), 0, 3, 2));
    let mut state = but(ExitOn::AllBlocked);
    assert_eq!(
        verdict(&state, &stopping(), &facts).text(),
        "2 of 5 tasks are blocked. `steadfast task list` shows why."
    );
    assert_eq!(refusals_until_released(&mut state, &facts, true), 50);
    assert_eq!(state.stop.released, Some(Release::Capped));
}

#[test]
fn without_context_checkpoint_that_promise_is_an_ordinary_stop() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let said =
        decide(&but(ExitOn::ContextCheckpoint), &saying("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"), &facts);
    assert_eq!(said.answer, decide(&fresh(), &stopping(), &facts).answer);
    assert_eq!(said.effects, []);
}

#[test]
fn without_needs_user_the_task_is_blocked_and_the_others_hold() {
    let asks = saying("<promise>BLOCKED - NEEDS USER</promise>");
    let mut state = but(ExitOn::NeedsUser);
    for refusal in 1..=2 {
        let said = go(&mut state, &asks, &knowing(plan(Some(ME), 2, 0, 0)));
        assert_eq!((said.effects.len(), state.stop.refused), (1, refusal));
    }
    let last = go(&mut state, &asks, &knowing(plan(Some(ME), 1, 0, 2)));
    assert_eq!(last.effects.len(), 1);
    assert_eq!(state.stop.released, Some(Release::AllBlocked));

    let mut neither = only(&[]);
    assert!(!go(&mut neither, &asks, &knowing(plan(Some(ME), 1, 0, 2))).answer.ruling.is_pass());
}

#[test]
fn with_no_exit_at_all_it_still_ends() {
    for facts in [plan(Some(ME), 0, 5, 0), plan(Some(ME), 0, 3, 2), plan(Some(ME), 2, 3, 0)] {
        let mut state = only(&[]);
        assert_eq!(refusals_until_released(&mut state, &knowing(facts), false), 3);
    }
}

#[test]
fn what_is_not_checked_does_not_hold() {
    let started = plan(Some(ME), 1, 0, 0);
    let mut ready = plan(Some(ME), 1, 0, 0);
    ready.open[0].status = Status::Pending;
    let refused = |check_ready_tasks, check_in_progress, plan: &PlanView| {
        let mut state = fresh();
        state.rules.stop = StopRules { check_ready_tasks, check_in_progress, ..StopRules::default() };
        let said = go(&mut state, &stopping(), &knowing(plan.clone())).answer;
        assert_eq!(state.stop.released, None, "nothing is claimed of tasks nobody looked at");
        !said.ruling.is_pass()
    };
    assert_eq!([refused(false, true, &started), refused(false, true, &ready)], [true, false]);
    assert_eq!([refused(true, false, &started), refused(true, false, &ready)], [false, true]);
    assert_eq!([refused(false, false, &started), refused(false, false, &ready)], [false, false]);
}
