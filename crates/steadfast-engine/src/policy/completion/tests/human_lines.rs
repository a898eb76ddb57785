//! What the human reads of the stop gate.

use steadfast_model::{Mode, Ruling, Verbosity};

use super::*;

fn set(verbosity: Verbosity) -> State {
    let mut state = fresh();
    state.rules.verbosity = verbosity;
    state
}

fn note(state: &mut State, event: &Event, plan: PlanView) -> Option<String> {
    go(state, event, &knowing(plan)).answer.note
}

#[test]
fn a_refused_stop_is_one_line_until_something_has_changed() {
    let mut state = fresh();
    let line = "Steadfast: not done yet. 2 of 5 tasks open, next: 1 Task 1";
    assert_eq!(note(&mut state, &stopping(), plan(Some(ME), 2, 3, 0)).as_deref(), Some(line));
    assert_eq!(note(&mut state, &stopping(), plan(Some(ME), 2, 3, 0)), None);
    let changed = note(&mut state, &stopping(), plan(Some(ME), 1, 4, 0));
    assert_eq!(changed.as_deref(), Some("Steadfast: not done yet. 1 of 5 tasks open, next: 1 Task 1"));
    go(&mut state, &prompted("Why?"), &knowing(plan(Some(ME), 2, 3, 0)));
    assert_eq!(note(&mut state, &stopping(), plan(Some(ME), 2, 3, 0)).as_deref(), Some(line));
}

#[test]
fn how_to_end_it_is_said_once_and_the_rest_is_no_news_then() {
    let mut state = State { attended: true, ..fresh() };
    let first = note(&mut state, &stopping(), plan(Some(ME), 1, 0, 0)).unwrap();
    assert_eq!(
        first,
        "Steadfast: not done yet. 1 of 1 task open, next: 1 Task 1. `steadfast plan release` lets it stop."
    );
    assert_eq!(note(&mut state, &stopping(), plan(Some(ME), 1, 0, 0)), None);
}

#[test]
fn a_false_promise_is_told_as_one() {
    let said = note(&mut fresh(), &saying("<promise>EPIC COMPLETE</promise>"), plan(Some(ME), 1, 1, 0));
    assert_eq!(
        said.as_deref(),
        Some("Steadfast: the agent promised completion, but 1 of 2 tasks open, next: 1 Task 1")
    );
}

#[test]
fn the_human_reads_neither_the_count_nor_the_name_of_a_tool_and_with_detailed_the_count() {
    let said = |verbosity| {
        let mut state = State { attended: true, ..set(verbosity) };
        go(&mut state, &stopping(), &knowing(plan(Some(ME), 2, 0, 0)))
    };
    let normal = said(Verbosity::Normal);
    let Ruling::Continue { reason } = &normal.answer.ruling else { panic!("{:?}", normal.answer) };
    let shown = format!("{reason} {}", normal.answer.note.unwrap());
    assert!(!shown.contains("AskUserQuestion") && !shown.contains("(refusal"), "{shown}");
    // What is written down has it.
    assert!(normal.opinions[0].verdict.text().ends_with(" (refusal 1 of 50)"), "{:?}", normal.opinions);

    let detailed = said(Verbosity::Detailed).answer;
    let Ruling::Continue { reason } = &detailed.ruling else { panic!("{detailed:?}") };
    assert!(reason.ends_with(" (refusal 1 of 50)"), "{reason}");
    assert!(detailed.note.unwrap().ends_with(" (refusal 1 of 50)"));
}

#[test]
fn quiet_leaves_only_what_needs_the_human() {
    let mut state = set(Verbosity::Quiet);
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    for _ in 0..3 {
        assert_eq!(go(&mut state, &stopping(), &facts).answer.note, None);
    }
    let capped = go(&mut state, &stopping(), &facts).answer.note.unwrap();
    assert!(capped.starts_with("Steadfast stopped insisting after 3 refusals in a row"), "{capped}");
}

#[test]
fn advice_is_the_line_and_not_the_text_for_the_agent() {
    let mut state = fresh();
    state.rules.completion = Mode::Advise;
    let answer = go(&mut state, &stopping(), &knowing(plan(Some(ME), 2, 0, 0))).answer;
    assert_eq!(answer.ruling, Ruling::Pass);
    assert_eq!(answer.note.as_deref(), Some("Steadfast: not done yet. 2 of 2 tasks open, next: 1 Task 1"));
}

#[test]
fn a_session_start_says_in_one_line_what_is_there() {
    let started = |plan: PlanView, source| {
        let facts = knowing(plan);
        go(&mut fresh(), &event(EventKind::SessionStart { source }), &facts).answer.note
    };
    let gone = || PlanView {
        owner_ended: Some(OwnerEnd { reason: "logout".into(), at: Millis(1) }),
        ..plan(Some("another"), 1, 1, 0)
    };
    let unapproved = || PlanView { approval: Approval::Required, ..plan(None, 2, 0, 0) };
    for (plan, source, said) in [
        (
            plan(None, 2, 0, 0),
            StartSource::Startup,
            Some("Steadfast: 2 open tasks wait here, next: 1 Task 1. To start, say: do the tasks"),
        ),
        (
            gone(),
            StartSource::Clear,
            Some("Steadfast: 1 open task waits here, next: 1 Task 1. To start, say: do the tasks"),
        ),
        (
            plan(Some(ME), 2, 0, 0),
            StartSource::Resume,
            Some("Steadfast: this session works on 2 open tasks, next: 1 Task 1"),
        ),
        (
            unapproved(),
            StartSource::Startup,
            Some("Steadfast: 2 open tasks of a plan that is not approved; `steadfast plan status` shows it"),
        ),
        (plan(Some(ME), 2, 0, 0), StartSource::Compact, None),
        (plan(Some("another"), 2, 0, 0), StartSource::Startup, None),
        (plan(None, 0, 2, 0), StartSource::Startup, None),
    ] {
        assert_eq!(started(plan, source).as_deref(), said, "{source:?}");
    }
    let of_run = Facts { of_run: true, ..knowing(plan(None, 2, 0, 0)) };
    let start = event(EventKind::SessionStart { source: StartSource::Startup });
    assert_eq!(go(&mut fresh(), &start, &of_run).answer.note, None);
}
