//! What a loop must not do.

use steadfast_model::{
    AddedBy, Approval, Brief, Counts, Fact, PlanId, PlanView, StartSource, Status, TaskChanged, TaskId,
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
        "The plan says: \"Don't touch migrations/\". `migrations/1.sql` is not written. It holds while its loop goes on."
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
