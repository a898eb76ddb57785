use steadfast_model::{
    AddedBy, Autonomy, Finding, FindingSeverity, LoopEnd, LoopId, PlanId, Resolution, RunId, Scores, Shape, TaskId,
    TaskKind,
};

use steadfast_model::Millis;

use super::*;

fn looped(stage: Stage) -> Loop {
    Loop {
        stage,
        scores: Some(Scores { spec: 7, fit: 35, autonomy: Autonomy::ToolReview }),
        recall_surfaced: vec!["auth edge cases".into()],
        updated_at: Millis(1_770_286_500_000),
        ..Loop::new(LoopId::new("l-1"), "/w".into(), "Add validation to auth".into(), Millis(1_770_285_600_000))
    }
}

fn finding(severity: FindingSeverity) -> Finding {
    Finding {
        id: 1,
        severity,
        file: "src/a.rs".into(),
        line: 1,
        expert: "tests".into(),
        text: "t".into(),
        must_not: None,
        resolution: Resolution::Open,
    }
}

fn review(kind: ReviewKind, score: u8, severities: &[FindingSeverity]) -> Review {
    let findings: Vec<Finding> = severities.iter().map(|severity| finding(*severity)).collect();
    let blocking = findings.iter().filter(|finding| finding.blocks()).count();
    Review {
        kind,
        score: Some(score),
        findings,
        blockers_remaining: u32::try_from(blocking).unwrap(),
        passed: blocking == 0,
        at: Millis(1),
    }
}

fn reviews() -> [Review; 3] {
    use FindingSeverity::{Blocker, Suggestion, Warning};
    [
        review(ReviewKind::Light { wave: 1 }, 8, &[Warning, Suggestion]),
        review(ReviewKind::Light { wave: 2 }, 7, &[Warning, Blocker, Suggestion]),
        review(ReviewKind::Thorough { round: 1 }, 6, &[Blocker]),
    ]
}

#[test]
fn the_state_has_the_keys_of_its_format() {
    insta::assert_snapshot!(workflow_state(&looped(Stage::Review), &reviews()), @r#"
    {
      "version": 1,
      "stage": "review",
      "task": "Add validation to auth",
      "spec_score": 7,
      "fit_score": 35,
      "shape_chosen": "tool-review",
      "started_at": "2026-02-05T10:00:00Z",
      "last_updated": "2026-02-05T10:15:00Z",
      "recall_surfaced": [
        "auth edge cases"
      ],
      "reviews": {
        "wave_1": {
          "score": 8,
          "issues": 2,
          "blockers": 0
        },
        "wave_2": {
          "score": 7,
          "issues": 3,
          "blockers": 1
        },
        "thorough": {
          "passed": false,
          "blockers_remaining": 1
        }
      }
    }
    "#);
}

#[test]
fn a_state_before_anything_was_judged_says_so() {
    let new = Loop::new(LoopId::new("l-1"), "/w".into(), "x".into(), Millis(0));
    let state: serde_json::Value = serde_json::from_str(&workflow_state(&new, &[])).unwrap();
    assert_eq!((&state["spec_score"], &state["shape_chosen"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!(state["reviews"], serde_json::json!({}));
}

#[test]
fn of_a_wave_that_was_reviewed_twice_the_last_counts() {
    let wave = ReviewKind::Light { wave: 10 };
    let reviews = [review(wave, 3, &[]), review(ReviewKind::Light { wave: 2 }, 5, &[]), review(wave, 9, &[])];
    let state: serde_json::Value = serde_json::from_str(&workflow_state(&looped(Stage::Executing), &reviews)).unwrap();
    assert_eq!((&state["reviews"]["wave_10"]["score"], &state["reviews"]["wave_2"]["score"]), (&9.into(), &5.into()));
}

#[test]
fn a_new_session_is_told_where_the_loop_stands() {
    let standing = LoopProgress { done: 2, blocked: 0, all: 6, wave: Some(2) };
    insta::assert_snapshot!(resume_text(&looped(Stage::Executing), &reviews(), standing), @r"
    [LOOP RESUME] Active loop detected
    Stage: executing | Spec: 7/10 | Fit: 35
    Progress: 2/6 tasks | Wave: 2
    Reviews: wave 1: 8/10, 2 issues; wave 2: 7/10, 3 issues; thorough round 1: 1 blocker remaining
    Next: `steadfast task next` shows the next task
    ");
    let new = Loop::new(LoopId::new("l-1"), "/w".into(), "x".into(), Millis(0));
    insta::assert_snapshot!(resume_text(&new, &[], LoopProgress::default()), @r"
    [LOOP RESUME] Active loop detected
    Stage: intent | Spec: -/10 | Fit: -
    Progress: 0/0 tasks | Wave: -
    Reviews: none
    Next: `steadfast loop advance shape`
    ");
}

#[test]
fn the_page_counts_reviews_and_panels_as_counsel() {
    let said = "x".repeat(200);
    let notes = format!("A panel recommends:\ntests: Test both.\nA panel recommends:\n{said}");
    let stuck = Task {
        plan: PlanId::new("p"),
        id: TaskId::new("1.1"),
        title: "Codes".into(),
        kind: TaskKind::Main,
        task_type: None,
        phase: None,
        item: None,
        files: Vec::new(),
        notes: Some(notes),
        verify: None,
        blocked_by: Vec::new(),
        status: Status::Pending,
        stuck_count: 2,
        wave: None,
        added_by: AddedBy::Human,
        created_at: Millis(0),
        updated_at: Millis(0),
    };
    let page = loop_progress(&looped(Stage::Executing), &reviews(), std::slice::from_ref(&stuck));
    let at = page.find("- Counsel").unwrap();
    let short = "x".repeat(160);
    let id = &stuck.id;
    let lines =
        format!("- Counsel consulted: 5 times\n  - {id}, stuck: tests: Test both.\n  - {id}, stuck: {short}…\n");
    assert_eq!(page[at..], lines);
}

/// Each stage, and what it needs to be left.
#[test]
fn every_stage_says_what_takes_it_further() {
    let with_shape = Loop { shape: Some(Shape::default()), spec: Some("auth.md".into()), ..looped(Stage::Shape) };
    let unclear =
        Loop { scores: Some(Scores { spec: 2, fit: 10, autonomy: Autonomy::Blocked }), ..looped(Stage::Intent) };
    let overridden = Loop { overridden: Some("a trial".into()), ..unclear.clone() };
    let planned = Loop { plan: Some(PlanId::new("p")), run: Some(RunId::new("r")), ..looped(Stage::Decompose) };
    let half = LoopProgress { done: 2, blocked: 1, all: 6, wave: None };
    let stuck = LoopProgress { done: 5, blocked: 1, all: 6, wave: None };
    let over = LoopProgress { done: 6, blocked: 0, all: 6, wave: None };
    let [_, _, failed] = reviews();
    let passed = review(ReviewKind::Thorough { round: 2 }, 9, &[]);
    let archived = Loop { ended: Some(LoopEnd::Archived), ..looped(Stage::Executing) };
    let none = LoopProgress::default();
    let cases: [(&Loop, &[Review], LoopProgress); 14] = [
        (&unclear, &[], none),
        (&overridden, &[], none),
        (&looped(Stage::Intent), &[], none),
        (&looped(Stage::Shape), &[], none),
        (&with_shape, &[], none),
        (&looped(Stage::Decompose), &[], none),
        (&planned, &[], half),
        (&looped(Stage::Executing), &[], half),
        (&looped(Stage::Executing), &[], stuck),
        (&looped(Stage::Executing), &[], over),
        (&looped(Stage::Review), &[], over),
        (&looped(Stage::Review), std::slice::from_ref(&failed), over),
        (&looped(Stage::Review), &[failed.clone(), passed], over),
        (&archived, &[], half),
    ];
    let said: Vec<String> = cases
        .into_iter()
        .map(|(looped, reviews, standing)| {
            let NextStep { stage, standing, action } = next(looped, reviews, standing);
            format!("{}: {standing}: {action}", stage.as_str())
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    intent: the request is not clear enough: `steadfast loop start TEXT` with a clearer request, or a human runs `steadfast loop override --why REASON`
    intent: a human accepted the request as it is: `steadfast loop advance shape`
    intent: the request is clear enough: `steadfast loop advance shape`
    shape: criteria, must-nots and verification are not recorded yet: `steadfast loop shape SPEC.md` records those of the spec
    shape: the shape is recorded: `steadfast loop advance decompose`
    decompose: no plan is loaded: `steadfast plan load SPEC.md`, then `steadfast loop advance executing`
    decompose: 2 of 6 tasks are done, 1 blocked: `steadfast loop advance executing`
    executing: 2 of 6 tasks are done, 1 blocked: `steadfast task next` shows the next task
    executing: 5 of 6 tasks are done, 1 blocked: a human can run `steadfast task unblock ID`; `steadfast loop advance review` continues without the blocked tasks
    executing: 6 of 6 tasks are done: `steadfast loop advance review`
    review: the thorough review has not run yet: `steadfast loop review`
    review: round 1 of the thorough review has 1 blocker left: `steadfast loop review` lists the findings to fix, waive or defer
    review: round 2 of the thorough review passed: `steadfast loop gate`
    executing: the loop has ended: `steadfast loop start TEXT` starts another
    ");
}

#[test]
fn a_review_that_too_few_answered_is_held_again_and_leaves_nothing_to_fix() {
    let unanswered = Review { passed: false, ..review(ReviewKind::Thorough { round: 1 }, 9, &[]) };
    let over = LoopProgress { done: 6, blocked: 0, all: 6, wave: None };
    let NextStep { standing, action, .. } = next(&looped(Stage::Review), std::slice::from_ref(&unanswered), over);
    assert_eq!(
        (standing.as_str(), action.as_str()),
        (
            "round 1 of the thorough review did not pass: too few experts answered",
            "`steadfast loop review` asks them again"
        )
    );
    let text = resume_text(&looped(Stage::Review), &[unanswered], over);
    assert!(text.contains("thorough round 1: not passed, too few answers"), "{text}");
}

#[test]
fn the_page_of_a_loop_has_its_iteration_its_cost_and_its_reviews() {
    use steadfast_model::{LoopLimits, SessionId};
    let mut looped = looped(Stage::Executing);
    let status = |looped: &Loop, reviews: &[Review]| {
        let page = loop_progress(looped, reviews, &[]);
        let line = page.lines().nth(2).unwrap_or_default().to_owned();
        (line, page.lines().last().unwrap_or_default().to_owned())
    };
    let expected = "**Status:** executing | Iteration 0 | Cost: $0.00";
    assert_eq!(status(&looped, &[]), (expected.to_owned(), "- Counsel consulted: 0 times".to_owned()));
    looped.iterations = 3;
    looped.spent.insert(SessionId::new("s"), 1_239_000);
    looped.limits = LoopLimits { iterations: Some(25), micro_usd: Some(10_000_000) };
    let expected = "**Status:** executing | Iteration 3 of 25 | Cost: $1.23 of $10.00";
    assert_eq!(status(&looped, &reviews()), (expected.to_owned(), "- Counsel consulted: 3 times".to_owned()));
}
