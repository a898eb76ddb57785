use steadfast_model::{Action, BindingWord, Leased, Outcome, TaskFile, ToolCall, ToolResult};

use super::*;

/// A plan that a human loaded in a terminal.
fn offered() -> PlanView {
    let mut plan = plan(None, 2, 1, 0);
    plan.counts = Counts { pending: 2, in_progress: 0, ..plan.counts };
    plan.open.iter_mut().for_each(|task| task.status = Status::Pending);
    plan.brief.spec = Some("SPEC.json".into());
    plan
}

fn with_files(plan: PlanView) -> Facts {
    let file = |path: &str, task: &str| TaskFile { path: path.into(), task: TaskId::new(task) };
    Facts { task_files: vec![file("one.txt", "1"), file("src/two", "2")], ..knowing(plan) }
}

fn call(action: Action) -> ToolCall {
    ToolCall { id: None, tool: "Tool".into(), action, words: Vec::new() }
}

fn wrote(path: &str) -> Event {
    let result = ToolResult {
        call: call(Action::Write { paths: vec![format!("/repo/{path}")] }),
        outcome: Outcome::Ok,
        millis: None,
        answers: Vec::new(),
        names: Vec::new(),
    };
    event(EventKind::PostTool(result))
}

/// Whether the next stop is refused.
fn is_held(state: &State, facts: &Facts) -> bool {
    matches!(verdict(state, &stopping(), facts), Verdict::Continue { .. })
}

fn context(decision: &PolicyDecision) -> &str {
    decision.answer.context.as_deref().unwrap_or_default()
}

#[test]
fn an_order_binds_and_its_negation_does_not() {
    let facts = with_files(offered());
    for (text, binds) in [
        ("run all tasks and don't stop until they are done", true),
        ("/steadfast-run-tasks", true),
        ("Implement the spec", true),
        ("Don't run the plan yet, just read SPEC.json", false),
        ("explain the plan to me", false),
        ("what tasks are open?", false),
    ] {
        let mut state = fresh();
        go(&mut state, &prompted(text), &facts);
        assert_eq!(is_held(&state, &facts), binds, "{text}");
    }
}

#[test]
fn the_human_reads_once_that_the_session_is_bound_and_how_to_end_that() {
    let (mut state, facts) = (fresh(), with_files(offered()));
    let first = go(&mut state, &prompted("do the tasks"), &facts);
    assert_eq!(
        first.answer.note.as_deref(),
        Some(
            "Steadfast: this session is bound to SPEC.json and does not stop while its tasks are open. `steadfast plan \
             release` ends that."
        )
    );
    assert!(context(&first).contains("3 tasks"), "{}", context(&first));
    let again = go(&mut state, &prompted("do the tasks"), &facts);
    assert_eq!(again.answer.note, None);
}

#[test]
fn who_was_bound_by_its_agent_is_told_of_it_with_the_first_refusal() {
    let (mut state, facts) = (fresh(), knowing(plan(Some(ME), 2, 0, 0)));
    state.apply(&Change::Attended(true));
    let first = go(&mut state, &stopping(), &facts).answer.note.unwrap();
    assert!(first.contains("`steadfast plan release`"), "{first}");
    assert_eq!(go(&mut state, &stopping(), &facts).answer.note, None);
}

#[test]
fn several_sessions_may_be_bound_to_one_plan() {
    let theirs = PlanView { owner: Some(SessionId::new("session-2")), ..offered() };
    let (mut state, facts) = (fresh(), knowing(theirs));
    assert!(!is_held(&state, &facts));
    go(&mut state, &prompted("Go on with the plan \"tasks\": 1 of 3 tasks are done."), &facts);
    assert!(is_held(&state, &facts));
}

#[test]
fn who_is_left_alone_with_a_plan_takes_it() {
    let theirs = PlanView { owner: Some(SessionId::new("session-2")), ..offered() };
    let mut state = fresh();
    go(&mut state, &prompted("do the tasks"), &knowing(theirs.clone()));
    assert_eq!(go(&mut state, &stopping(), &knowing(theirs.clone())).effects, []);
    let left = PlanView { owner_ended: Some(OwnerEnd { reason: "exit".into(), at: Millis(500) }), ..theirs };
    let take = Effect::TakePlan { plan: PlanId::new("list"), session: SessionId::new(ME), silent: None };
    assert_eq!(go(&mut state, &stopping(), &knowing(left)).effects, [take]);
}

#[test]
fn what_another_living_session_has_started_holds_nobody_else() {
    let lease = |task: &str| Leased { task: TaskId::new(task), session: SessionId::new("session-2") };
    let mut shared = plan(Some(ME), 2, 1, 0);
    let facts = |leased| Facts { leased, ..knowing(shared.clone()) };
    let Verdict::Continue { reason } = verdict(&fresh(), &stopping(), &facts(vec![lease("1")])) else {
        panic!("the other task holds")
    };
    assert!(reason.contains("2 Task 2") && !reason.contains("Task 1"), "{reason}");
    shared.open.truncate(1);
    let mut state = fresh();
    let facts = Facts { leased: vec![lease("1")], ..knowing(shared) };
    let note = go(&mut state, &stopping(), &facts).answer.note.unwrap();
    assert_eq!(state.stop.released, Some(Release::Yielded));
    assert!(note.contains("not complete") && note.contains("1 in session session-2"), "{note}");
}

#[test]
fn what_a_living_session_has_started_is_not_given_up_with_its_owner() {
    let left = PlanView {
        owner: Some(SessionId::new("session-0")),
        owner_ended: Some(OwnerEnd { reason: "exit".into(), at: Millis(500) }),
        ..plan(None, 2, 1, 0)
    };
    let given_up = |leased| {
        let facts = Facts { leased, ..knowing(left.clone()) };
        let effects = decide(&fresh(), &prompted("do the tasks"), &facts).effects;
        effects.iter().filter(|effect| matches!(effect, Effect::GiveUp { .. })).count()
    };
    assert_eq!(given_up(Vec::new()), 1);
    assert_eq!(given_up(vec![Leased { task: TaskId::new("1"), session: SessionId::new("session-2") }]), 0);
}

#[test]
fn a_released_session_stops_as_such_until_the_next_order() {
    let mine = knowing(PlanView { owner: Some(SessionId::new(ME)), ..offered() });
    for words in ["stop here", "leave the rest", "that's enough for today", "don't do the other tasks"] {
        let mut state = fresh();
        go(&mut state, &prompted("do the tasks"), &mine);
        let leave = Effect::LeavePlan { plan: PlanId::new("list"), session: SessionId::new(ME) };
        assert_eq!(go(&mut state, &prompted(words), &mine).effects, [leave], "{words}");
        let stopped = go(&mut state, &stopping(), &mine);
        assert_eq!(state.stop.released, Some(Release::Dismissed), "{words}");
        assert!(stopped.answer.note.unwrap().contains("as released by the user, not complete"), "{words}");
        go(&mut state, &prompted("what is in the readme?"), &mine);
        assert!(!is_held(&state, &mine), "{words}");
        go(&mut state, &prompted("ok, finish the remaining tasks"), &mine);
        assert!(is_held(&state, &mine), "{words}");
    }
}

#[test]
fn a_human_releases_a_session_by_a_command() {
    let (mut state, facts) = (fresh(), knowing(PlanView { owner: Some(SessionId::new(ME)), ..offered() }));
    let word = |word| event(EventKind::Binding(word));
    let id = || PlanId::new("list");
    go(&mut state, &word(BindingWord::Taken(id())), &Facts::default());
    assert_eq!(state.binding.plans, [id()]);
    go(&mut state, &word(BindingWord::Released(id())), &Facts::default());
    assert!(!is_held(&state, &facts));
    go(&mut state, &word(BindingWord::Taken(id())), &Facts::default());
    assert!(!is_held(&state, &facts), "what the agent does in the same turn binds nobody again");
    go(&mut state, &prompted("look at the readme"), &facts);
    go(&mut state, &word(BindingWord::Taken(id())), &Facts::default());
    assert!(is_held(&state, &facts), "a later turn's task is begun on purpose");
}

#[test]
fn an_edit_alone_binds_nobody_and_the_agent_is_told_once_whose_file_it_is() {
    let (mut state, facts) = (fresh(), with_files(offered()));
    go(&mut state, &prompted("fix the typo in one.txt"), &facts);
    let told = go(&mut state, &wrote("one.txt"), &Facts::default());
    assert_eq!(
        context(&told),
        "Steadfast: `one.txt` belongs to the open task 1 of this worktree's plan. `steadfast task start 1` takes it."
    );
    let again = go(&mut state, &wrote("one.txt"), &Facts::default());
    assert!(!context(&again).contains("belongs to"), "{}", context(&again));
    assert!(!is_held(&state, &facts));
    go(&mut state, &prompted("and another one in one.txt"), &facts);
    let later = go(&mut state, &wrote("one.txt"), &Facts::default());
    assert!(!context(&later).contains("belongs to"), "{}", context(&later));
    let folder = go(&mut state, &wrote("src/two/a.rs"), &Facts::default());
    assert!(context(&folder).contains("the open task 2"), "{}", context(&folder));
}

#[test]
fn a_bare_go_ahead_binds_with_the_first_edit_of_a_tasks_file() {
    let facts = with_files(offered());
    for (text, path, binds) in [
        ("go", "one.txt", true),
        ("ok, do it", "one.txt", true),
        ("continue", "src/two/lib.rs", true),
        ("go", "README.md", false),
        ("run the linter and continue", "one.txt", false),
        ("why is the build red?", "one.txt", false),
    ] {
        let mut state = fresh();
        go(&mut state, &prompted(text), &facts);
        assert!(!is_held(&state, &facts), "{text}");
        go(&mut state, &wrote(path), &Facts::default());
        assert_eq!(is_held(&state, &facts), binds, "{text}, then {path}");
    }
    let mut state = fresh();
    go(&mut state, &prompted("go"), &facts);
    go(&mut state, &prompted("no, first tell me what you think"), &facts);
    go(&mut state, &wrote("one.txt"), &Facts::default());
    assert!(!is_held(&state, &facts), "a later prompt takes the go-ahead back");
}

#[test]
fn our_own_skills_and_commands_bind_whoever_calls_them() {
    let facts = knowing(offered());
    let skill = |name: &str| event(EventKind::PreTool(call(Action::Skill { name: name.into() })));
    let shell = |line: &str| event(EventKind::PreTool(call(Action::shell(line))));
    for (called, binds) in [
        (event(EventKind::Command { name: "steadfast-run-tasks".into() }), true),
        (event(EventKind::Command { name: "steadfast:loop".into() }), true),
        (skill("steadfast:run-tasks"), true),
        (skill("steadfast-implement"), true),
        (shell("cd /repo && steadfast loop advance --to executing"), true),
        (event(EventKind::Command { name: "steadfast-plan".into() }), false),
        (skill("run-tasks-of-others"), false),
        (shell("steadfast loop status"), false),
        (shell("grep -r 'loop advance' docs"), false),
    ] {
        let mut state = fresh();
        go(&mut state, &called, &Facts::default());
        assert_eq!(is_held(&state, &facts), binds, "{:?}", called.kind);
    }
}

#[test]
fn a_skill_that_loads_its_plan_binds_when_that_is_there() {
    let mut state = fresh();
    go(&mut state, &prompted("/steadfast-implement SPEC.json"), &Facts { plan: Fact::Known(None), ..Facts::default() });
    assert!(is_held(&state, &knowing(offered())));
}
