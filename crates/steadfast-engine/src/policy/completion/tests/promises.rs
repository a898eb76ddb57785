use super::*;

const COMPLETE: &str = "All is well.\n<promise>ALL TASKS COMPLETE</promise>";
const NEEDS_USER: &str = "I tried both. Which key is it?\n<promise>BLOCKED - NEEDS USER</promise>";
const CHECKPOINT: &str = "<promise>CONTEXT LIMIT - CHECKPOINT</promise>";

fn block(task: &str, reason: &str) -> Effect {
    Effect::BlockTask { plan: PlanId::new("list"), task: TaskId::new(task), reason: reason.into() }
}

#[test]
fn a_false_promise_of_completion_is_answered_with_what_is_open() {
    let said = verdict(&fresh(), &saying(COMPLETE), &knowing(plan(Some(ME), 2, 3, 0)));
    assert_eq!(
        said,
        Verdict::Continue {
            reason: "You promised `ALL TASKS COMPLETE`, but 2 of 5 tasks are open: 1 Task 1 (in progress); 2 Task 2. Next is 1. \
                     `steadfast task done 1` closes it, `steadfast task block 1 --why REASON` sets it aside."
                .into()
        }
    );
}

#[test]
fn a_promise_is_worth_nothing_more_than_a_stop() {
    let facts = knowing(plan(Some(ME), 2, 3, 0));
    let mut state = fresh();
    let refusals = (0..10).take_while(|_| !go(&mut state, &saying(COMPLETE), &facts).answer.ruling.is_pass()).count();
    assert_eq!((refusals, state.stop.released), (3, Some(Release::Capped)));
}

#[test]
fn a_promise_of_completion_over_blocked_tasks_is_corrected_for_the_human() {
    let mut state = fresh();
    let said = go(&mut state, &saying(COMPLETE), &knowing(plan(Some(ME), 0, 3, 2))).answer;
    assert_eq!(
        said.note.as_deref(),
        Some(
            "Steadfast let this session stop as all blocked, not complete as the agent promised: 2 of 5 tasks are \
             blocked, 3 done. `steadfast task list` shows why."
        )
    );
    assert_eq!(state.stop.released, Some(Release::AllBlocked));
}

#[test]
fn the_plans_own_promise_is_one() {
    let mut own = plan(Some(ME), 2, 3, 0);
    own.brief.promise = Some("AUTH SHIPPED".into());
    let said = verdict(&fresh(), &saying("<promise>auth shipped</promise>"), &knowing(own));
    assert!(said.text().starts_with("You promised `auth shipped`, but "), "{}", said.text());
}

#[test]
fn an_agent_that_needs_the_user_is_told_once_what_else_there_is() {
    let mut state = fresh();
    let first = go(&mut state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 3, 2, 0)));
    assert_eq!(
        first.answer.ruling,
        steadfast_model::Ruling::Continue {
            reason: "1 is blocked until the user has answered. 2 of 5 tasks are open: 2 Task 2; 3 Task 3. Next is 2. \
                     `steadfast task done 2` closes it, `steadfast task block 2 --why REASON` sets it aside."
                .into()
        }
    );
    assert_eq!(first.effects, [block("1", "Which key is it?")]);
    assert_eq!((state.stop.refused, state.stop.idle), (1, 1));

    let mut blocked = plan(Some(ME), 2, 2, 1);
    blocked.open[0].status = Status::Pending;
    let second = go(&mut state, &saying(NEEDS_USER), &knowing(blocked.clone()));
    assert_eq!(second.effects, [], "nothing was begun in between");
    assert_eq!(
        second.answer.note.as_deref(),
        Some(
            "Steadfast let this session stop as needs user: Which key is it? 2 of 5 tasks are open; `steadfast task \
             list` shows them."
        )
    );
    assert_eq!(state.stop.released, Some(Release::NeedsUser));
    assert!(go(&mut state, &stopping(), &knowing(blocked.clone())).answer.is_pass(), "it waits for the human");
    go(&mut state, &prompted("the second one"), &Facts::default());
    assert!(!go(&mut state, &stopping(), &knowing(blocked)).answer.ruling.is_pass());
}

#[test]
fn a_task_begun_in_between_is_blocked_too() {
    let mut state = fresh();
    go(&mut state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 3, 2, 0)));
    let second = go(&mut state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 2, 2, 1)));
    assert_eq!(second.effects, [block("1", "Which key is it?")]);
    assert_eq!(state.stop.released, Some(Release::NeedsUser));
}

#[test]
fn with_nothing_else_to_do_it_is_let_go_at_once() {
    let mut state = fresh();
    let said = go(&mut state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 1, 2, 0)));
    assert_eq!(said.effects, [block("1", "Which key is it?")]);
    let note = said.answer.note.unwrap();
    assert_eq!(
        note,
        "Steadfast let this session stop as needs user: Which key is it? 1 Task 1 waits for you; `steadfast task \
         unblock 1` reopens it. 0 of 3 tasks are open; `steadfast task list` shows them."
    );
    assert!(go(&mut state, &stopping(), &knowing(plan(Some(ME), 0, 2, 1))).answer.is_pass(), "the human was told");
    assert_eq!(state.stop.released, Some(Release::NeedsUser));
}

#[test]
fn without_a_task_begun_the_next_one_is_meant() {
    let mut ready = plan(Some(ME), 2, 0, 0);
    ready.open[0].status = Status::Pending;
    assert_eq!(decide(&fresh(), &saying(NEEDS_USER), &knowing(ready)).effects, [block("1", "Which key is it?")]);
}

#[test]
fn waiting_yields_only_for_something() {
    let waits = |blocked| {
        let mut state = fresh();
        go(&mut state, &saying("<promise>WAITING: for the review</promise>"), &knowing(plan(Some(ME), 2, 0, blocked)));
        state.stop.released
    };
    assert_eq!((waits(0), waits(1)), (None, Some(Release::Yielded)));
}

#[test]
fn a_full_context_lets_go_and_the_second_without_progress_counts_as_stuck() {
    let mut first = plan(Some(ME), 2, 1, 0);
    let mut state = fresh();
    let said = go(&mut state, &saying(CHECKPOINT), &knowing(first.clone()));
    assert_eq!(said.effects, [Effect::Checkpoint { plan: PlanId::new("list") }]);
    assert_eq!(state.stop.released, Some(Release::Checkpoint));
    assert_eq!(
        said.answer.note.as_deref(),
        Some(
            "Steadfast let this session stop as checkpoint: its context is full, 2 of 3 tasks are open. `steadfast \
             status` shows the tasks, `steadfast resume` continues in a fresh session."
        )
    );
    first.brief.checkpoints = 1;
    let again = go(&mut state, &saying(CHECKPOINT), &knowing(first.clone()));
    let note = again.answer.note.unwrap();
    assert!(note.contains("No task was closed since the last checkpoint: tasks in progress count as stuck."));
    assert!(!go(&mut state, &stopping(), &knowing(first)).answer.ruling.is_pass(), "it holds again");
}

#[test]
fn a_host_that_does_not_tell_the_last_message_is_served_all_the_same() {
    let mut silent = stopping();
    let EventKind::Stop(stop) = &mut silent.kind else { unreachable!() };
    stop.last_message = None;
    let facts = knowing(plan(Some(ME), 2, 3, 0));
    assert_eq!(verdict(&fresh(), &silent, &facts), verdict(&fresh(), &stopping(), &facts));
}

#[test]
fn who_only_observes_touches_no_task() {
    let mut state = fresh();
    state.rules.completion = Mode::Observe;
    assert_eq!(decide(&state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 2, 0, 0))).effects, []);
    state.rules.completion = Mode::Advise;
    assert_eq!(decide(&state, &saying(NEEDS_USER), &knowing(plan(Some(ME), 2, 0, 0))).effects.len(), 1);
}
