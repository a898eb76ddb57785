use std::collections::BTreeMap;

use steadfast_model::{
    AddedBy, CheckEnd, Evidence, EvidenceClass, Host, Limits, Millis, PlanId, Run, RunId, Sums, TaskKind, WorkSpan,
};

use super::*;

pub(crate) fn task(id: &str, title: &str, status: Status, after: &[&str]) -> Task {
    Task {
        plan: PlanId::new("p"),
        id: TaskId::new(id),
        title: title.into(),
        kind: TaskKind::Main,
        task_type: None,
        phase: None,
        item: None,
        files: Vec::new(),
        notes: None,
        verify: None,
        blocked_by: after.iter().map(|id| TaskId::new(*id)).collect(),
        status,
        stuck_count: 0,
        wave: None,
        added_by: AddedBy::Human,
        created_at: Millis(0),
        updated_at: Millis(0),
    }
}

fn unit(tasks: &[&str], title: &str, wave: u32, status: UnitStatus) -> RunUnit {
    let tasks: Vec<TaskId> = tasks.iter().map(|id| TaskId::new(*id)).collect();
    let mut unit = RunUnit::new(tasks[0].clone(), title.into(), tasks, wave);
    unit.status = status;
    if status != UnitStatus::Waiting {
        unit.attempts = 1;
    }
    if status == UnitStatus::Done {
        unit.merged = Some("c1".into());
    }
    unit
}

fn evidence(class: EvidenceClass, end: CheckEnd, command: Option<&str>, note: Option<&str>) -> Evidence {
    Evidence {
        class,
        passed: true,
        end,
        command: command.map(str::to_owned),
        seconds: Some(1.0),
        output_tail: None,
        tree: command.map(|_| "0123456789abcdef".into()),
        files: BTreeMap::new(),
        seen: Vec::new(),
        note: note.map(str::to_owned),
        at: Millis(5),
    }
}

/// In the middle of its second wave.
fn view() -> RunView {
    let run = Run {
        id: RunId::new("r-1a2b3c4d"),
        plan: PlanId::new("p"),
        worktree: "/home/ada/engine".into(),
        spec: "SPEC.md".into(),
        host: Host::Claude,
        base: "c0".into(),
        branch: "steadfast/r-1a2b3c4d".into(),
        state: RunState::Running,
        reason: None,
        limits: Limits { parallel: 3, iterations: 25, micro_usd: Some(25_000_000), ..Limits::default() },
        started_at: Millis(0),
        updated_at: Millis(3_723_000),
        ended_at: None,
        runner: None,
    };
    let looked = evidence(EvidenceClass::Observed, CheckEnd::Looked, None, Some("2 lines in its section"));
    let ran = evidence(EvidenceClass::Executed, CheckEnd::Exited(0), Some("cargo test"), None);
    let sums = |iterations, micro_usd| Sums { iterations, micro_usd, tokens: 1_000, unpriced: 0 };
    RunView {
        run,
        title: "Add validation to auth".into(),
        units: vec![
            unit(&["T-001"], "Add ValidationError import to auth.ts", 1, UnitStatus::Done),
            unit(&["T-002", "T-002a"], "Add ValidationError import to api.ts", 1, UnitStatus::Done),
            unit(&["T-003"], "Create validation schema", 2, UnitStatus::Running),
            unit(&["T-004"], "Implement validateToken", 2, UnitStatus::Waiting),
            unit(&["T-005"], "Implement validateUser", 3, UnitStatus::Waiting),
            unit(&["T-006"], "Write it down", 4, UnitStatus::Waiting),
        ],
        tasks: vec![
            task("T-001", "Add ValidationError import to auth.ts", Status::Done, &[]),
            task("T-002", "Add ValidationError import to api.ts", Status::Done, &[]),
            task("T-002a", "Test: Add ValidationError\nimport to api.ts", Status::Done, &["T-002"]),
            task("T-003", "Create validation schema", Status::InProgress, &["T-001"]),
            task("T-004", "Implement validateToken", Status::Pending, &[]),
            task("T-005", "Implement validateUser", Status::Pending, &["T-001", "T-003"]),
            task("T-006", "Write it down", Status::Pending, &["T-004", "T-005"]),
        ],
        evidence: BTreeMap::from([
            (TaskId::new("T-001"), looked),
            (TaskId::new("T-002"), evidence(EvidenceClass::Claimed, CheckEnd::Looked, None, None)),
            (TaskId::new("T-002a"), ran),
        ]),
        blocked: BTreeMap::new(),
        sums: sums(3, 2_500_000),
        unit_sums: BTreeMap::from([
            (TaskId::new("T-001"), sums(1, 1_000_000)),
            (TaskId::new("T-002"), sums(2, 1_500_000)),
        ]),
        spans: Vec::new(),
    }
}

/// The schema could not be made, and the money is gone.
fn paused() -> RunView {
    let mut view = view();
    view.run.state = RunState::Paused;
    view.run.reason = Some("the budget is spent".into());
    view.units[2].status = UnitStatus::Blocked;
    view.units[2].stuck = 3;
    view.units[2].attempts = 3;
    view.tasks[3].status = Status::Blocked;
    view.blocked.insert(TaskId::new("T-003"), "its check failed 3 times".into());
    view.unit_sums.insert(TaskId::new("T-003"), Sums { iterations: 3, micro_usd: 0, tokens: 12_345, unpriced: 3 });
    view.sums = Sums { iterations: 6, micro_usd: 25_030_000, tokens: 14_345, unpriced: 3 };
    view
}

/// Nothing is left.
fn complete() -> RunView {
    let mut view = view();
    view.run.state = RunState::Complete;
    view.run.ended_at = Some(Millis(7_200_000));
    for unit in &mut view.units {
        unit.status = UnitStatus::Done;
        unit.merged = Some("c".into());
    }
    for task in &mut view.tasks {
        task.status = Status::Done;
    }
    view
}

#[test]
fn the_page_is_what_people_read_while_it_goes_on() {
    insta::assert_snapshot!(progress_md(&view()), @r"
    # Loop Progress: Add validation to auth

    **Status:** 2 of 6 units landed | Iteration 3 | Cost: $2.50/$25

    ## ✅ Completed
    - [x] T-001: Add ValidationError import to auth.ts
    - [x] T-002: Add ValidationError import to api.ts
    - [x] T-002a: Test: Add ValidationError import to api.ts

    ## 🔄 In Progress
    - [ ] T-003: Create validation schema (assigned to subagent)

    ## ⏳ Pending
    - [ ] T-004: Implement validateToken
    - [ ] T-005: Implement validateUser (blocked by T-003)
    - [ ] T-006: Write it down (blocked by T-004, T-005)

    ## 📊 Metrics
    - Tasks: 3/7 complete
    - Stuck count: 0
    - Counsel consulted: 0 times
    ");
}

#[test]
fn a_page_of_a_run_that_is_paused_says_why_and_what_is_blocked() {
    insta::assert_snapshot!(progress_md(&paused()), @r"
    # Loop Progress: Add validation to auth

    **Status:** 2 of 6 units landed | Iteration 6 | Cost: $25.03/$25 and 3 iterations of unknown price | Paused: the budget is spent

    ## ✅ Completed
    - [x] T-001: Add ValidationError import to auth.ts
    - [x] T-002: Add ValidationError import to api.ts
    - [x] T-002a: Test: Add ValidationError import to api.ts

    ## ⏳ Pending
    - [ ] T-004: Implement validateToken
    - [ ] T-005: Implement validateUser (blocked by T-003)
    - [ ] T-006: Write it down (blocked by T-004, T-005)

    ## 🚫 Blocked
    - [ ] T-003: Create validation schema (its check failed 3 times)

    ## 📊 Metrics
    - Tasks: 3/7 complete
    - Stuck count: 3
    - Counsel consulted: 0 times
    ");
}

#[test]
fn a_page_of_a_run_that_is_complete_has_nothing_open() {
    insta::assert_snapshot!(progress_md(&complete()), @r"
    # Loop Progress: Add validation to auth

    **Status:** 6 of 6 units landed | Iteration 3 | Cost: $2.50/$25 | Complete

    ## ✅ Completed
    - [x] T-001: Add ValidationError import to auth.ts
    - [x] T-002: Add ValidationError import to api.ts
    - [x] T-002a: Test: Add ValidationError import to api.ts
    - [x] T-003: Create validation schema
    - [x] T-004: Implement validateToken
    - [x] T-005: Implement validateUser
    - [x] T-006: Write it down

    ## 📊 Metrics
    - Tasks: 7/7 complete
    - Stuck count: 0
    - Counsel consulted: 0 times
    ");
}

#[test]
fn one_line_says_how_it_stands() {
    assert_eq!(status_line(&view()), "2 of 6 units landed · 1 agent · 3 of 7 tasks · $2.50 of $25");
    let said = "paused: the budget is spent · 3 of 7 tasks · $25.03 of $25 and 3 iterations of unknown price";
    assert_eq!(status_line(&paused()), said);
    assert_eq!(status_line(&complete()), "complete · 7 of 7 tasks · $2.50 of $25");
    let mut tokens = view();
    tokens.run.limits = Limits { tokens: Some(5_000_000), ..Limits::default() };
    tokens.units[3].status = UnitStatus::Running;
    assert_eq!(
        status_line(&tokens),
        "2 of 6 units landed · 2 agents · 3 of 7 tasks · $2.50, 1,000 of 5,000,000 tokens"
    );
}

#[test]
fn the_report_has_evidence_cost_what_is_left_and_what_to_do() {
    insta::assert_snapshot!(report(&paused()), @"
    Run r-1a2b3c4d of SPEC.md: paused: the budget is spent
    3 of 7 tasks done, 6 units, 6 iterations, 1 h 2 min, $25.03 of $25 and 3 iterations of unknown price

    T-001 Add ValidationError import to auth.ts ($1.00, 1 iteration)
      T-001 done: 2 lines in its section (observed)

    T-002 Add ValidationError import to api.ts ($1.50, 2 iterations)
      T-002 done: claimed, not checked
      T-002a done: `cargo test` exited with 0 (executed, tree 01234567)

    T-003 Create validation schema (12,345 tokens, 3 iterations)

    Left:
      T-003 Create validation schema: blocked: its check failed 3 times
      T-004 Implement validateToken: not started
      T-005 Implement validateUser: depends on T-003
      T-006 Write it down: depends on T-004, T-005

    Next:
      `steadfast task unblock T-003` when its cause is fixed
      `steadfast resume --budget USD` continues with the higher limit
      `git merge steadfast/r-1a2b3c4d` merges the finished work into your branch
    ");
}

#[test]
fn the_report_names_every_blocked_task_and_where_its_work_is() {
    let mut view = paused();
    for unit in view.units.iter_mut().filter(|unit| unit.status == UnitStatus::Waiting) {
        unit.status = UnitStatus::Blocked;
        unit.directory = Some(format!("/runs/{}", unit.unit));
    }
    let report = report(&view);
    let named = view.units.iter().filter(|unit| unit.status == UnitStatus::Blocked);
    assert!(named.clone().count() > 1);
    for unit in named.filter(|unit| unit.directory.is_some()) {
        let line =
            format!("`steadfast task unblock {0}` when its cause is fixed; its worktree is /runs/{0}", unit.unit);
        assert!(report.contains(&line), "{report}");
    }
}

#[test]
fn the_report_of_a_complete_run_ends_with_the_merge() {
    insta::assert_snapshot!(report(&complete()), @"
    Run r-1a2b3c4d of SPEC.md: complete
    7 of 7 tasks done, 6 units, 3 iterations, 2 h, $2.50 of $25

    T-001 Add ValidationError import to auth.ts ($1.00, 1 iteration)
      T-001 done: 2 lines in its section (observed)

    T-002 Add ValidationError import to api.ts ($1.50, 2 iterations)
      T-002 done: claimed, not checked
      T-002a done: `cargo test` exited with 0 (executed, tree 01234567)

    T-003 Create validation schema
      T-003 done: no evidence

    T-004 Implement validateToken
      T-004 done: no evidence

    T-005 Implement validateUser
      T-005 done: no evidence

    T-006 Write it down
      T-006 done: no evidence

    Next:
      `git merge steadfast/r-1a2b3c4d` merges the finished work into your branch
    ");
}

#[test]
fn what_experts_recommended_for_a_stuck_task_is_on_the_page_and_in_the_report() {
    let mut view = paused();
    let notes = "mind the order\nA panel recommends:\ncorrectness: The field is optional.\ntests: Test both.\nlater";
    view.tasks[3].notes = Some(notes.into());
    let page = progress_md(&view);
    let lines = "- Counsel consulted: 1 time\n  - T-003, stuck: correctness: The field is optional.\n";
    assert!(page.ends_with(lines), "{page}");
    let report = report(&view);
    assert!(report.contains("\n  T-003 counsel: correctness: The field is optional.\n"), "{report}");
}

const MINUTE: i64 = 60_000;

fn span(unit: &str, from: i64, to: i64) -> WorkSpan {
    let ended_at = Some(Millis(to * MINUTE));
    WorkSpan { unit: TaskId::new(unit), started_at: Millis(from * MINUTE), ended_at }
}

fn landed(view: &mut RunView, place: usize, minute: i64) {
    view.units[place].updated_at = Millis(minute * MINUTE);
}

/// 1 and 2 begin, 3 waits for 1, 4 for nothing, 5 for 1 and 3, 6 for 4 and 5.
fn timed() -> RunView {
    let mut view = complete();
    for (place, minute) in [10, 20, 40, 25, 60, 120].into_iter().enumerate() {
        landed(&mut view, place, minute);
    }
    view.spans = [("T-001", 0, 10), ("T-002", 0, 20), ("T-004", 0, 25), ("T-003", 10, 40), ("T-005", 40, 60)]
        .into_iter()
        .chain([("T-006", 60, 120)])
        .map(|(unit, from, to)| span(unit, from, to))
        .collect();
    view
}

#[test]
fn the_report_says_which_places_stood_idle_how_long_and_why() {
    let said = |view: &RunView| report(view).split("\n\n").find(|part| part.starts_with("Places")).map(str::to_owned);
    insta::assert_snapshot!(said(&timed()).unwrap(), @"
    Places: 3, in use 45 % of 2 h
      place 2 idle 1 h 40 min: 15 min waiting for T-003; 5 min waiting for T-003, T-004; 20 min waiting for T-005; 1 h with nothing left to start
      place 3 idle 1 h 35 min: 15 min waiting for T-003; 20 min waiting for T-005; 1 h with nothing left to start
    ");
    // T-003 needs a human from 40 on: what is left of the run waits for that, and then nobody is there.
    let mut stuck = timed();
    stuck.run.state = RunState::Paused;
    stuck.run.ended_at = None;
    stuck.run.updated_at = Millis(80 * MINUTE);
    stuck.spans.truncate(4);
    for (place, status) in [(2, UnitStatus::Blocked), (4, UnitStatus::Waiting), (5, UnitStatus::Waiting)] {
        stuck.units[place].status = status;
    }
    insta::assert_snapshot!(said(&stuck).unwrap(), @"
    Places: 3, in use 35 % of 1 h 20 min
      place 1 idle 40 min: 40 min waiting for a human (T-003)
      place 2 idle 1 h: 15 min waiting for T-003; 5 min waiting for T-003, T-004; 40 min waiting for a human (T-003)
      place 3 idle 55 min: 15 min waiting for T-003; 40 min waiting for a human (T-003)
    ");
    // A review that everything waits for, and a time in which no agent worked.
    let mut reviewed = timed();
    reviewed.spans.retain(|span| span.unit.as_str() < "T-005");
    reviewed.spans.push(span("@review", 40, 50));
    reviewed.spans.extend([span("T-005", 70, 80), span("T-006", 80, 120)]);
    landed(&mut reviewed, 4, 80);
    insta::assert_snapshot!(said(&reviewed).unwrap(), @"
    Places: 3, in use 37 % of 2 h
      place 1 idle 30 min: 10 min waiting for a review; 20 min with no agent at work (a pause or a rate limit)
      place 2 idle 1 h 40 min: 15 min waiting for T-003; 5 min waiting for T-003, T-004; 10 min waiting for T-005; 10 min waiting for a review; 20 min with no agent at work (a pause or a rate limit); 40 min with nothing left to start
      place 3 idle 1 h 35 min: 15 min waiting for T-003; 10 min waiting for T-005; 10 min waiting for a review; 20 min with no agent at work (a pause or a rate limit); 40 min with nothing left to start
    ");
}

#[test]
fn a_run_in_which_nobody_worked_says_nothing_about_places() {
    assert!(!report(&complete()).contains("Places"));
}

#[test]
fn the_page_of_a_run_that_goes_on_says_what_is_idle_now() {
    let mut view = view();
    view.spans = vec![span("T-001", 0, 10), WorkSpan { ended_at: None, ..span("T-003", 20, 0) }];
    view.run.updated_at = Millis(30 * MINUTE);
    view.units[3].status = UnitStatus::Blocked;
    let page = progress_md(&view);
    assert!(page.contains("- Idle places: 2 of 3: waiting for T-003\n"), "{page}");
}
