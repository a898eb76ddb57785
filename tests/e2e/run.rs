//! A spec is worked off by agents, whatever they do.

mod agents;
mod looping;
mod proxied;
mod runner;

use std::collections::BTreeMap;

use steadfast_model::{
    Check, Dispatch, EvidenceClass, Host, Millis, RunState, RunView, Status, TaskId, UnitStatus, Via,
};
use steadfast_sim::{Cast, Scenario, Usage};

use crate::agents::Program;
use crate::journal::{Journal, LET_GO, REFUSED};
use agents::{Hands, cue};
use looping::{
    a_request_comes_to_its_card, every_agent_of_a_loop_is_behind_a_proxy,
    what_the_human_said_has_to_pass_and_what_must_not_be_is_taken_back,
};
use proxied::{
    a_budget_that_is_spent_behind_proxies_pauses_the_run_at_its_exact_cost,
    agents_behind_proxies_complete_a_run_at_its_exact_cost,
    an_interrupted_run_leaves_no_proxy_and_is_resumed_behind_proxies,
};
use runner::Workshop;

on_every_host!(
    twelve_tasks_are_done_whatever_their_agents_do,
    a_spent_budget_pauses_the_run_and_a_larger_one_completes_it,
    an_interrupted_run_is_paused_without_agents_and_resumed,
    a_request_comes_to_its_card,
);

on!(agents_behind_proxies_complete_a_run_at_its_exact_cost: claude_2_1_325, codex_0_166_0);
on!(a_budget_that_is_spent_behind_proxies_pauses_the_run_at_its_exact_cost: claude_2_1_325, codex_0_166_0);
on!(an_interrupted_run_leaves_no_proxy_and_is_resumed_behind_proxies: claude_2_1_325, codex_0_166_0);
on!(every_agent_of_a_loop_is_behind_a_proxy: claude_2_1_325, codex_0_166_0);
on!(an_agent_that_did_nothing_closes_nothing: claude_2_1_325);
on!(what_the_human_said_has_to_pass_and_what_must_not_be_is_taken_back: claude_2_1_325);

const TWELVE: &str = include_str!("run/SPEC.json");

/// Three that wait for nothing but the decisions.
const THREE: &str = r#"{
  "feature": "Three files",
  "description": "The folder holds one.txt, two.txt and three.txt.",
  "phases": [{"id": "phase-1", "name": "Phase 1", "tasks": [
    {"id": "1.1", "task": "Write one.txt", "files": ["one.txt"], "verification": {"command": "grep -q one one.txt"}},
    {"id": "1.2", "task": "Write two.txt", "files": ["two.txt"], "verification": {"command": "grep -q two two.txt"}},
    {"id": "1.3", "task": "Write three.txt", "files": ["three.txt"], "verification": {"command": "grep -q three three.txt"}}
  ]}]
}"#;

/// With a model whose price is in every list.
fn settings(program: &Program) -> &'static str {
    match program.host() {
        Host::Claude | Host::Sim => "[run]\narguments = [\"--model\", \"claude-sonnet-4-5\"]\n",
        // `gpt-5.5` is in the scene's own configuration.
        Host::Codex => "[run]\n",
    }
}

/// Longer than any of them is silent on a busy machine; and a command of Codex is looked after when it took 30 seconds.
fn silence(program: &Program) -> &'static str {
    if program.is_claude() { "silence = \"30s\"\n" } else { "silence = \"20s\"\n" }
}

/// Micro-dollars for an answer.
fn price(program: &Program, usage: Usage) -> u64 {
    match program.host() {
        Host::Claude | Host::Sim => 3 * usage.input + 15 * usage.output,
        Host::Codex => 5 * usage.input + 30 * usage.output,
    }
}

fn twelve_tasks_are_done_whatever_their_agents_do(program: &Program) {
    let settings = [settings(program), silence(program)].concat();
    let workshop = Workshop::new(program, &settings, TWELVE, Hands(program.host()).cast());
    let ended = workshop.run(&["run", "SPEC.json", "--parallel", "3", "--from-head"]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(0), "{}\n{timeline}", ended.said);
    let (view, dispatches) = (workshop.view(), workshop.dispatches());
    assert_eq!((view.run.state, waves(&view)), (RunState::Complete, vec![1, 4, 3, 4]), "{timeline}");
    assert_every_task_has_evidence(&view);
    assert_attempts(&workshop, &view, &dispatches);
    assert_order(&workshop, &view, &dispatches);
    assert_eq!(most_at_once(&dispatches), 3, "{timeline}");
    let calls = workshop.calls() as u64;
    let spent = (view.sums.micro_usd, view.sums.tokens, view.sums.unpriced);
    assert_eq!(spent, (calls * price(program, Usage::default()), calls * 120, 0), "{timeline}");
    let branch = view.run.branch.as_str();
    assert_eq!(workshop.git(&["show", &format!("{branch}:INDEX.md")]), "# Index\n\nalpha\nbeta\n");
    assert_eq!(workshop.git(&["ls-tree", "-r", "--name-only", branch, "parts"]).lines().count(), 12);
    workshop.assert_only_the_branch_is_left();
}

/// How many units each wave has.
fn waves(view: &RunView) -> Vec<usize> {
    let last = view.units.iter().map(|unit| unit.wave).max().unwrap_or(0);
    (1..=last).map(|wave| view.units.iter().filter(|unit| unit.wave == wave).count()).collect()
}

fn assert_every_task_has_evidence(view: &RunView) {
    assert_eq!(view.tasks.len(), 13, "the spec's, and the test that a type brings along");
    for task in &view.tasks {
        assert_eq!(task.status, Status::Done, "{}", task.id);
        let evidence = view.evidence.get(&task.id).unwrap_or_else(|| panic!("{} has no evidence", task.id));
        assert!(evidence.passed, "{}: {evidence:?}", task.id);
        if matches!(task.verify, Some(Check::Command { .. })) {
            assert_eq!(evidence.class, EvidenceClass::Executed, "{}", task.id);
        }
    }
}

/// How often each unit was tried, and what those that came later were told.
fn assert_attempts(workshop: &Workshop, view: &RunView, dispatches: &[Dispatch]) {
    let attempts: BTreeMap<&str, u32> = view.units.iter().map(|unit| (unit.unit.as_str(), unit.attempts)).collect();
    let conflicting = if attempts["1.1"] == 2 { "1.1" } else { "1.2" };
    let several = [(conflicting, 2), ("1.3", 2), ("1.4", 3), ("1.6", 2), ("1.7", 2)];
    let expected: BTreeMap<&str, u32> = attempts.keys().map(|unit| (*unit, 1)).chain(several).collect();
    assert_eq!(attempts, expected, "{}", workshop.timeline());

    let nth = |unit: &str, attempt: usize| {
        let mut of_unit = dispatches.iter().filter(|dispatch| dispatch.unit.as_str() == unit);
        of_unit.nth(attempt - 1).unwrap_or_else(|| panic!("{unit} has no attempt {attempt}"))
    };
    let told = |unit: &str, attempt: usize| workshop.told(nth(unit, attempt));
    for (unit, attempt, text) in [
        (conflicting, 2, "conflicts with this unit's in INDEX.md"),
        ("1.3", 2, "Attempt 1 ended with task 1.3 open"),
        ("1.4", 2, "delta is: dleta"),
        ("1.4", 3, "delta is: dalta"),
        ("1.6", 2, "Shall I go on with the second half?"),
        ("1.7", 2, "Attempt 1 ended with task 1.7 open: `cmp parts/delta.txt parts/delta-copy.txt` exited with 2"),
    ] {
        let told = told(unit, attempt);
        assert!(told.contains(text), "{unit} was not told {text:?} at attempt {attempt}: {told}");
    }
    let ending = nth("1.3", 1).ending.as_deref();
    assert_eq!(ending, Some("the agent was silent for too long and was stopped"));
    for unit in ["1.6", "1.7"] {
        let session = nth(unit, 1).session.as_ref().unwrap();
        let mut journal = Journal::of(&workshop.scene.state(), session.as_str());
        // The human's own wiring may hear it, too.
        journal.records.retain(|record| record.event.via == Via::Run);
        assert_eq!(journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO], "{unit}");
    }
}

/// Nothing began before what it waits for was over, and each unit landed once, after what it waits for.
fn assert_order(workshop: &Workshop, view: &RunView, dispatches: &[Dispatch]) {
    let began = |unit: &TaskId| dispatches.iter().filter(|one| one.unit == *unit).map(|one| one.started_at).min();
    let over = |unit: &TaskId| dispatches.iter().filter(|one| one.unit == *unit).filter_map(|one| one.ended_at).max();
    let range = format!("{}..{}", view.run.base, view.run.branch);
    let format = "--format=%(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
    let landed = workshop.git(&["log", "--first-parent", "--reverse", format, &range]);
    let landed: Vec<&str> = landed.lines().collect();
    let place = |unit: &TaskId| landed.iter().position(|landed| *landed == unit.as_str());

    let mut once: Vec<&str> = landed.clone();
    once.sort_unstable();
    let mut units: Vec<&str> = view.units.iter().map(|unit| unit.unit.as_str()).collect();
    units.sort_unstable();
    assert_eq!(once, units);
    for unit in &view.units {
        let tasks = view.tasks.iter().filter(|task| unit.tasks.contains(&task.id));
        for before in tasks.flat_map(|task| &task.blocked_by).filter(|id| !unit.tasks.contains(id)) {
            assert!(over(before).unwrap() <= began(&unit.unit).unwrap(), "{} and {before}", unit.unit);
            assert!(place(before).unwrap() < place(&unit.unit).unwrap(), "{} and {before}: {landed:?}", unit.unit);
        }
    }
}

fn most_at_once(dispatches: &[Dispatch]) -> usize {
    let at = |moment: Millis| {
        let runs = |one: &&Dispatch| one.started_at <= moment && one.ended_at.is_some_and(|end| end > moment);
        dispatches.iter().filter(runs).count()
    };
    dispatches.iter().map(|dispatch| at(dispatch.started_at)).max().unwrap_or(0)
}

/// A run whose budget was spent completes, and its cost is that of all calls.
fn resume_with_more_budget(workshop: &Workshop, call: u64) {
    let ended = workshop.run(&["resume", "--budget", "20"]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(0), "{}\n{timeline}", ended.said);
    let view = workshop.view();
    assert_eq!((view.run.state, statuses(&view)), (RunState::Complete, vec![UnitStatus::Done; 4]), "{timeline}");
    assert_eq!(view.sums.micro_usd, workshop.calls() as u64 * call, "{timeline}");
}

/// Each agent's host has its own share as a limit, and we look, too: whoever is at it may end what it asked for.
fn a_spent_budget_pauses_the_run_and_a_larger_one_completes_it(program: &Program) {
    let hands = Hands(program.host());
    let dear = Usage { input: 10_000, output: 1_000 };
    let call = price(program, dear);
    let busy = |name: &str| (0..12).fold(hands.session(name), |session, _| session.read("INDEX.md")).say("Busy.");
    let part = |name: &str, task: &str| {
        let writes = hands.writes(&[task], &format!("{name}.txt"), &format!("{name}\n"));
        [busy(name).using(dear), writes.using(dear)]
    };
    let cast = Cast::several()
        .part(cue("1.1"), part("one", "1.1"))
        .part(cue("1.2"), part("two", "1.2"))
        .part(cue("1.3"), part("three", "1.3"));
    let workshop = Workshop::new(program, settings(program), THREE, cast);
    // For each of three agents there are three answers and a bit; the decisions take none.
    let budget = 3 * (3 * call + call / 9);
    let ended = workshop.run(&["run", "SPEC.json", "--parallel", "3", "--from-head", "--budget", &usd(budget)]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(3), "{}\n{timeline}", ended.said);
    assert!(ended.said.contains("the budget is spent"), "{}", ended.said);
    let view = workshop.view();
    assert_eq!(statuses(&view), [UnitStatus::Done, UnitStatus::Waiting, UnitStatus::Waiting, UnitStatus::Waiting]);
    assert_eq!(view.run.state, RunState::Paused);
    let real = workshop.calls() as u64 * call;
    assert!(real <= budget + 3 * call, "{real} of {budget}\n{timeline}");
    assert_eq!(view.sums.micro_usd, real, "{timeline}");
    workshop.assert_nobody_is_left();

    resume_with_more_budget(&workshop, call);
    workshop.assert_only_the_branch_is_left();
}

fn an_interrupted_run_is_paused_without_agents_and_resumed(program: &Program) {
    let hands = Hands(program.host());
    let part = |name: &str, task: &str| -> [Scenario; 2] {
        [hands.hangs(), hands.writes(&[task], &format!("{name}.txt"), &format!("{name}\n"))]
    };
    let cast = Cast::several()
        .part(cue("1.1"), part("one", "1.1"))
        .part(cue("1.2"), part("two", "1.2"))
        .part(cue("1.3"), part("three", "1.3"));
    let workshop = Workshop::new(program, settings(program), THREE, cast);
    let mut runner = workshop.start(&["run", "SPEC.json", "--parallel", "3", "--from-head"]);
    // Two of each: they hang now.
    runner.until(|workshop| workshop.calls() >= 3 * 2);
    runner.interrupt();
    let ended = runner.finish();
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(3), "{}\n{timeline}", ended.said);
    workshop.assert_nobody_is_left();
    let view = workshop.view();
    assert_eq!((view.run.state, view.run.reason.as_deref()), (RunState::Paused, Some("a human stopped it")));
    assert_eq!(statuses(&view), [UnitStatus::Done, UnitStatus::Waiting, UnitStatus::Waiting, UnitStatus::Waiting]);
    assert!(view.units.iter().all(|unit| unit.stuck == 0), "it is held against nobody: {timeline}");

    let ended = workshop.run(&["resume"]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(0), "{}\n{timeline}", ended.said);
    let view = workshop.view();
    assert_eq!((view.run.state, statuses(&view)), (RunState::Complete, vec![UnitStatus::Done; 4]), "{timeline}");
    assert_eq!(view.units.iter().map(|unit| unit.attempts).collect::<Vec<_>>(), [0, 2, 2, 2], "{timeline}");
    workshop.assert_only_the_branch_is_left();
}

fn statuses(view: &RunView) -> Vec<UnitStatus> {
    view.units.iter().map(|unit| unit.status).collect()
}

fn usd(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// One without a check, as most issues of trackers are.
const UNCHECKED: &str = r#"{
  "feature": "Words",
  "description": "There is a parser.",
  "phases": [{"id": "phase-1", "name": "Phase 1", "tasks": [
    {"id": "1.1", "task": "Write the parser", "files": ["parser.py"]}
  ]}]
}"#;

fn an_agent_that_did_nothing_closes_nothing(program: &Program) {
    let hands = Hands(program.host());
    let idle = || Scenario::new("idle").say("I looked at it and did nothing.");
    let claims = || hands.session("claims").turn(hands.close("1.1")).say("It is done.");
    let cast = Cast::several().part(cue("1.1"), [idle(), claims(), idle()]);
    let workshop = Workshop::new(program, settings(program), UNCHECKED, cast);
    let ended = workshop.run(&["run", "SPEC.json", "--from-head"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let view = workshop.view();
    assert_eq!(view.run.state, RunState::Paused, "{}", ended.said);
    let statuses: Vec<Status> = view.tasks.iter().map(|task| task.status).collect();
    assert_eq!(statuses, [Status::Done, Status::Blocked], "{}", ended.said);
    for dispatch in workshop.dispatches() {
        let told = workshop.told(&dispatch);
        assert!(!told.contains("no session works on"), "the tasks are offered to their own agent: {told}");
    }
    let of_main: Vec<Dispatch> = workshop.dispatches().into_iter().filter(|one| one.unit.as_str() == "1.1").collect();
    let stuck = |dispatch: &Dispatch| {
        let told = workshop.told(dispatch);
        told.find("Stuck ").map(|at| told[at..].split('.').next().unwrap_or_default().to_owned())
    };
    let counted: Vec<Option<String>> = of_main.iter().map(stuck).collect();
    assert_eq!(counted, [None, Some("Stuck once before".into()), Some("Stuck 2 times before".into())]);
    let changed = workshop.git(&["diff", "--name-only", &view.run.base, &view.run.branch]);
    assert_eq!(changed.trim(), "");
}
