use steadfast_plan::{Dimension, score};

use crate::{lines, plan, said};

#[test]
fn headings_boxes_and_tables_are_tasks_and_the_same_one_is_one() {
    let plan = plan(
        "# Sign in with a code\n\nPeople sign in with a code\ninstead of a password.\n\n\
         ## Constraints\n- The old endpoint stays.\n- No new dependency.\n\n## Success criteria\n- [ ] Nobody types a password.\n\n\
         ## Verification commands\n- test: `cargo test`\n\n\
         ## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n- [x] Describe them (docs)\n  - Files: docs/codes.md\n\n\
         | ID | Task | Type | Files |\n|----|----|----|----|\n| 1.1 | Make codes | backend | src/code.rs |\n\n\
         ### 1.1 Make codes\n- **Verify:** `cargo test -p auth`, quickly\n- Notes: the clock is injected\n- [ ] six digits\n\n\
         ```\n- [ ] 9.9 not a task\n```\n\n## 2. Page\n\n### Task 2.1: The form\n**Depends on**: Task 1.1 (the codes), Phase 1 complete\n\
         **Verify**: `npm test`\n",
    );
    assert_eq!(plan.feature, "Sign in with a code");
    assert_eq!(plan.description.as_deref(), Some("People sign in with a code instead of a password."));
    assert_eq!(plan.constraints, ["The old endpoint stays.", "No new dependency."]);
    assert_eq!(plan.criteria, ["Nobody types a password."]);
    insta::assert_snapshot!(lines(&plan));
}

#[test]
fn a_plain_list_of_boxes_is_a_spec() {
    let plan = plan("# List\n\n- [ ] One\n- [ ] Two\n");
    let ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["1.0", "1.1", "1.2"]);
}

#[test]
fn a_table_about_something_else_is_not_a_list_of_tasks() {
    let plan = plan(
        "# F\n\n## Phase 1\n\n| Argument | Type | Description |\n|---|---|---|\n| x | int | a number |\n\n- [ ] 1.1 T\n",
    );
    assert_eq!(plan.tasks.len(), 2);
}

/// Else a task whose number was not counted up would be lost without a word.
#[test]
fn two_titles_under_one_id_are_one_task_and_that_is_said() {
    let text = "# F\n\n## Phase 1\n\n- [ ] 1.1 Make codes\n  - verify: `make`\n- [ ] 1.1 Send codes\n";
    assert_eq!(plan(text).tasks.len(), 2);
    insta::assert_snapshot!(said(text, "SPEC.md"), @r"
    SPEC.md:7:11: warning[other-title]: `1.1` has two titles, this one and `Make codes`; they are read as one task
      |
    7 | - [ ] 1.1 Send codes
      |           ^^^^^^^^^^
      = help: give this one another id if they are two tasks
    ");
}

/// `spec lint` and `loop score` read one text: three backticks do not end a block that four began.
#[test]
fn a_fence_inside_of_a_longer_one_is_code_for_the_plan_and_for_the_score() {
    let text = "# Codes\n\n````md\n```sh\nmake\n```\n- [ ] 9.9 Only `src/example.rs` may change\n````\n\n- [ ] 1.1 Make codes\n";
    assert_eq!(plan(text).tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["1.0", "1.1"]);
    let outcome = |text: &str| {
        let scored = score(text);
        let because = |dimension| scored.marks.iter().find(|mark| mark.dimension == dimension)?.because.clone();
        (because(Dimension::Done).map(|sentence| sentence.text), scored.points(Dimension::Constraints))
    };
    assert_eq!(outcome(text), (Some("Make codes".to_owned()), 0));
    assert_eq!(outcome(&text.replace("````", "```")), (Some("Only `src/example.rs` may change".to_owned()), 2));
}
