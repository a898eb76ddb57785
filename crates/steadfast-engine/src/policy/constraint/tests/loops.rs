//! What a loop must not do.

use steadfast_model::{
    AddedBy, Approval, Brief, Counts, Fact, PlanId, PlanView, StartSource, Status, TakingBack, TaskChanged, TaskId,
};

use super::*;

/// A plan that is owned by `owner`, with what its loop must not do.
fn plan_of(owner: &str, must_nots: &[&str]) -> Facts {
    let plan = PlanView {
        id: PlanId::new("p"),
        title: "p".into(),
        worktree: "/repo".into(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: Some(SessionId::new(owner)),
        owner_ended: None,
        run: None,
        counts: Counts { pending: 1, ..Counts::default() },
        open: Vec::new(),
        checking: Vec::new(),
        brief: Brief { must_nots: must_nots.iter().copied().map(str::to_owned).collect(), ..Brief::default() },
    };
    Facts { plan: Fact::Known(Some(plan)), ..Facts::default() }
}

fn after(state: &mut State, event: &Event, facts: &Facts) {
    for change in decide(state, event, facts).changes {
        state.apply(&change);
    }
}

#[test]
fn what_a_loop_must_not_do_is_refused_to_who_works_on_its_plan_and_no_prompt_lifts_it() {
    let mut state = told(&[]);
    let must_nots = ["No new dependencies.", "Don't touch migrations/.", "Be kind to the reader."];
    let task = TaskId::new("1");
    let started = event(EventKind::TaskChanged(TaskChanged {
        plan: PlanId::new("p"),
        task,
        status: Status::InProgress,
        earned: false,
    }));
    after(&mut state, &started, &plan_of("s", &must_nots));
    assert_eq!(
        refusal(&state, &write("migrations/1.sql")).unwrap(),
        "The plan says: \"Don't touch migrations/\". `migrations/1.sql` is not written. It applies until the loop of \
         the plan ends."
    );
    assert!(refusal(&state, &shell("cargo add serde")).is_some());
    after(&mut state, &prompt("you may touch migrations/ now, go ahead"), &plan_of("s", &must_nots));
    assert!(refusal(&state, &write("migrations/1.sql")).is_some(), "no prompt lifts it");
    assert_eq!(refusal(&state, &write("src/a.rs")), None);

    after(&mut state, &started, &plan_of("s", &[]));
    assert_eq!(refusal(&state, &write("migrations/1.sql")), None, "the loop is over");
}

#[test]
fn what_a_loop_must_not_do_holds_nobody_who_does_not_work_on_its_plan() {
    let mut state = told(&[]);
    let facts = plan_of("another", &["Don't touch migrations/."]);
    after(&mut state, &prompt("What is this about?"), &facts);
    assert_eq!(refusal(&state, &write("migrations/1.sql")), None);
    after(&mut state, &event(EventKind::SessionStart { source: StartSource::Startup }), &facts);
    assert_eq!(refusal(&state, &write("migrations/1.sql")), None);
}

#[test]
fn who_takes_the_plan_is_held_to_it_from_the_first_call() {
    let mut state = told(&[]);
    let mut facts = plan_of("s", &["Don't touch migrations/."]);
    if let Fact::Known(Some(plan)) = &mut facts.plan {
        plan.owner = None;
    }
    after(&mut state, &prompt("Work on the plan."), &facts);
    assert!(refusal(&state, &write("migrations/1.sql")).is_some());
}

/// A task of the gate changed: it takes back what was done to this file.
fn changed(status: Status) -> Event {
    let task = TaskId::new("9");
    event(EventKind::TaskChanged(TaskChanged { plan: PlanId::new("p"), task, status, earned: false }))
}

#[test]
fn what_broke_a_must_not_may_be_taken_back_while_its_task_is_in_progress_and_nothing_else() {
    // The human said it in this session, too.
    let mut state = told(&["Don't touch src/auth."]);
    let mut facts = plan_of("s", &["Don't touch src/auth."]);
    if let Fact::Known(Some(plan)) = &mut facts.plan {
        let paths = vec!["/repo/src/auth/token.ts".to_owned()];
        plan.brief.taking_back = vec![TakingBack { task: TaskId::new("9"), paths }];
    }
    let back = [
        write("src/auth/token.ts"),
        shell("git checkout 1a2b -- src/auth/token.ts"),
        shell("git show 1a2b:src/auth/token.ts > src/auth/token.ts"),
        shell("git restore --source=1a2b src/auth/token.ts"),
        shell("rm src/auth/token.ts"),
    ];
    let other = [
        write("src/auth/other.ts"),
        shell("git checkout 1a2b -- src/auth"),
        shell("git checkout 1a2b -- src/auth/token.ts src/auth/other.ts"),
    ];
    let refused = |state: &State, calls: &[Event]| calls.iter().filter(|call| refusal(state, call).is_some()).count();
    assert_eq!(refused(&state, &back), back.len());
    after(&mut state, &changed(Status::InProgress), &facts);
    assert_eq!((refused(&state, &back), refused(&state, &other)), (0, other.len()));
    after(&mut state, &changed(Status::Done), &Facts::default());
    assert_eq!(refused(&state, &back), back.len());
}

#[test]
fn a_scope_shuts_out_neither_the_spec_nor_our_own_files() {
    let mut state = told(&["Only touch hello.txt."]);
    let mut facts = plan_of("s", &["Only touch hello.txt."]);
    if let Fact::Known(Some(plan)) = &mut facts.plan {
        plan.brief.spec = Some("docs/greeting.md".into());
    }
    for path in ["hello.txt", "SPEC.md", "SPEC.json", ".steadfast/decisions/greeting.md"] {
        assert_eq!(refusal(&state, &write(path)), None, "{path}");
    }
    assert!(refusal(&state, &write("src/main.rs")).is_some());
    state = told(&[]);
    after(&mut state, &changed(Status::InProgress), &facts);
    for (path, is_free) in [("docs/greeting.md", true), ("SPEC.md", true), ("docs/other.md", false)] {
        assert_eq!(refusal(&state, &write(path)).is_none(), is_free, "{path}");
    }
}

/// The agent of a unit is bound by the prompt that the runner gives it.
#[test]
fn the_agent_of_a_unit_may_take_back_what_its_unit_is_about_and_nothing_else() {
    let mut state = told(&[]);
    let mut facts = plan_of("s", &["Do not touch `src/auth`"]);
    if let Fact::Known(Some(plan)) = &mut facts.plan {
        plan.owner = None;
        let paths = vec!["/repo/src/auth/token.ts".to_owned()];
        plan.brief.taking_back = vec![TakingBack { task: TaskId::new("+2"), paths }];
    }
    let text = "You do one unit of the plan \"p\" in this git worktree, without a human present. Its tasks: +2.\n\
                `steadfast task next` shows what to do.";
    after(&mut state, &prompt(text), &facts);
    assert_eq!(refusal(&state, &shell("git checkout before -- src/auth/token.ts")), None);
    assert!(refusal(&state, &shell("git checkout before -- src/auth/other.ts")).is_some());
}
