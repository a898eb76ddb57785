use super::*;

fn agent() -> Option<Agent> {
    Some(Agent { id: AgentId::new("a1"), agent_type: "worker".into() })
}

fn ends(message: &str) -> Event {
    let stopping = Stopping { again: false, last_message: Some(message.into()), background: None, wakeups: 0 };
    Event { agent: agent(), ..event(EventKind::SubagentStop(stopping)) }
}

fn changed(task: &str, status: Status) -> Event {
    let changed = TaskChanged { plan: PlanId::new("list"), task: TaskId::new(task), status, earned: false };
    Event { agent: agent(), ..event(EventKind::TaskChanged(changed)) }
}

/// A subagent started task 1.
fn holding() -> State {
    let mut state = fresh();
    go(&mut state, &Event { agent: agent(), ..event(EventKind::SubagentStart) }, &Facts::default());
    go(&mut state, &changed("1", Status::InProgress), &Facts::default());
    state
}

fn given_up(task: &str) -> Effect {
    Effect::GiveUp { plan: PlanId::new("list"), task: Some(TaskId::new(task)) }
}

#[test]
fn a_subagent_does_not_end_with_its_task_in_progress() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = holding();
    assert!(Completion.needs(&state, &ParsedEvent::of(&ends(""))).plan);
    let said = go(&mut state, &ends("done!"), &facts);
    assert_eq!(
        said.answer.ruling,
        steadfast_model::Ruling::Continue {
            reason: "This agent started a task that is in progress: 1 Task 1. `steadfast task done 1` closes it, \
                     `steadfast task block 1 --why REASON` sets it aside."
                .into()
        }
    );
    assert_eq!((state.stop.refused, state.stop.idle, state.subagents.len()), (1, 0, 1));
}

#[test]
fn what_it_leaves_after_max_idle_can_be_begun_again() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = holding();
    for _ in 0..3 {
        assert!(!go(&mut state, &ends("done!"), &facts).answer.ruling.is_pass());
    }
    let last = go(&mut state, &ends("done!"), &facts);
    assert_eq!((last.answer.is_pass(), last.effects), (true, vec![given_up("1")]));
    assert_eq!((state.held.len(), state.subagents.len()), (0, 0));
}

#[test]
fn it_ends_freely_with_its_task_closed_or_taken_over() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut closed = holding();
    go(&mut closed, &changed("1", Status::Done), &Facts::default());
    assert!(go(&mut closed, &ends(""), &facts).answer.is_pass());

    let mut taken = holding();
    go(&mut taken, &Event { agent: None, ..changed("1", Status::InProgress) }, &Facts::default());
    assert!(go(&mut taken, &ends(""), &facts).answer.is_pass());

    let mut other = holding();
    let stranger = Event { agent: Some(Agent { id: AgentId::new("a2"), agent_type: "w".into() }), ..ends("") };
    assert!(!Completion.needs(&other, &ParsedEvent::of(&stranger)).plan, "nothing is looked up for one without a task");
    assert!(go(&mut other, &stranger, &Facts::default()).answer.is_pass());
}

#[test]
fn its_promises_are_kept() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let asks = go(&mut holding(), &ends("No key.\n<promise>BLOCKED - NEEDS USER</promise>"), &facts);
    let block = Effect::BlockTask { plan: PlanId::new("list"), task: TaskId::new("1"), reason: "No key.".into() };
    assert_eq!((asks.answer.is_pass(), asks.effects), (true, vec![block]));
    let full = go(&mut holding(), &ends("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"), &facts);
    assert_eq!((full.answer.is_pass(), full.effects), (true, vec![given_up("1")]));
}

#[test]
fn a_running_check_or_a_capped_session_lets_it_go() {
    let mut checked = plan(Some(ME), 2, 0, 0);
    checked.checking = vec![Checking { task: TaskId::new("1"), run: "r".into() }];
    let said = go(&mut holding(), &ends(""), &knowing(checked));
    assert_eq!((said.answer.is_pass(), said.effects), (true, vec![]));

    let mut capped = holding();
    capped.stop.capped = true;
    assert!(go(&mut capped, &ends(""), &knowing(plan(Some(ME), 2, 0, 0))).answer.is_pass());
}

#[test]
fn its_refusals_come_from_the_sessions_account() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = holding();
    state.rules.stop.max_cycles = 2;
    go(&mut state, &stopping(), &facts);
    assert!(!go(&mut state, &ends(""), &facts).answer.ruling.is_pass());
    assert!(go(&mut state, &ends(""), &facts).answer.is_pass());
    assert_eq!(state.stop.refused, 2);
}

#[test]
fn the_same_end_through_two_wirings_is_one_refusal() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = holding();
    let first = go(&mut state, &ends("bye"), &facts).answer;
    assert_eq!(go(&mut state, &Event { via: Via::User, ..ends("bye") }, &facts).answer, first);
    assert_eq!(state.stop.refused, 1);
}

#[test]
fn an_interrupt_and_a_new_start_forget_what_was_held() {
    for kind in [EventKind::Interrupt, EventKind::SessionStart { source: StartSource::Resume }] {
        let mut state = holding();
        go(&mut state, &event(kind), &Facts::default());
        assert_eq!(state.held, []);
    }
}
