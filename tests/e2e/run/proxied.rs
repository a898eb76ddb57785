//! Runs whose agents are behind proxies.

use std::net::TcpStream;

use steadfast_model::{EvidenceClass, RunState, TaskId, UnitStatus};
use steadfast_sim::{Action, Cast, Request, Scenario, Track, Turn, Usage};
use steadfast_testkit::wait_for;

use super::agents::{Hands, cue};
use super::runner::Workshop;
use super::{THREE, price, resume_with_more_budget, settings, statuses, usd};
use crate::agents::Program;

/// Each of the three units, with these sessions.
fn cast(sessions: impl Fn(&str, &str) -> [Scenario; 2]) -> Cast {
    let parts = [("one", "1.1"), ("two", "1.2"), ("three", "1.3")];
    parts.into_iter().fold(Cast::several(), |cast, (name, task)| cast.part(cue(task), sessions(name, task)))
}

fn writes(hands: Hands, name: &str, task: &str) -> Scenario {
    hands.writes(&[task], &format!("{name}.txt"), &format!("{name}\n"))
}

/// The service saw no request that did not come through a proxy, which asks for answers without compression.
pub(super) fn assert_every_request_came_through_a_proxy(workshop: &Workshop) {
    let asked: Vec<Request> = workshop.model.requests().into_iter().filter(|one| one.method == "POST").collect();
    assert!(!asked.is_empty());
    for request in asked {
        assert_eq!(request.header("accept-encoding"), Some("identity"), "{} came another way", request.route());
    }
}

/// In Claude Code, after a subagent has looked around: what that costs is not in the main thread's answers.
fn writes_after_a_subagent(program: &Program, name: &str, task: &str) -> Scenario {
    let hands = Hands(program.host());
    if !program.is_claude() {
        return writes(hands, name, task);
    }
    let looks = [Turn::doing([Action::shell("ls")]), Turn::saying("nothing there")];
    let session = hands.session(name).agent("general-purpose", "look elsewhere").subagent(looks);
    session.write(format!("{name}.txt"), format!("{name}\n")).turn(hands.close(task)).say("All of it is done.")
}

pub(super) fn agents_behind_proxies_complete_a_run_at_its_exact_cost(program: &Program) {
    let cast = cast(|name, task| [(); 2].map(|()| writes_after_a_subagent(program, name, task)));
    let workshop = Workshop::new(program, settings(program), THREE, cast);
    let ended = workshop.run(&["run", "SPEC.json", "--parallel", "3", "--from-head", "--proxy"]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(0), "{}\n{timeline}", ended.said);
    assert!(ended.said.contains(", each agent behind a proxy, "), "{}", ended.said);
    let view = workshop.view();
    assert_eq!((view.run.state, statuses(&view)), (RunState::Complete, vec![UnitStatus::Done; 4]), "{timeline}");
    for task in ["1.1", "1.2", "1.3"] {
        let evidence = &view.evidence[&TaskId::new(task)];
        assert!(evidence.passed && evidence.class == EvidenceClass::Executed, "{task}: {evidence:?}");
    }
    assert_every_request_came_through_a_proxy(&workshop);
    let of_subagents = workshop.model.requests().iter().filter(|request| request.track == Track::Subagent).count();
    assert!(of_subagents >= 3 * 2 || !program.is_claude(), "{of_subagents}");
    let calls = workshop.calls() as u64;
    let spent = (view.sums.micro_usd, view.sums.tokens, view.sums.unpriced);
    assert_eq!(spent, (calls * price(program, Usage::default()), calls * 120, 0), "{timeline}");
    let shown = workshop.scene.command(&workshop.scene.bin().join("steadfast"), &["progress", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["proxy"], shown["cost_usd"].as_f64()), (&true.into(), Some(spent.0 as f64 / 1e6)));
    workshop.assert_only_the_branch_is_left();
}

/// No agent has a share of its own: together they go to the limit, and over it by the answers under way.
pub(super) fn a_budget_that_is_spent_behind_proxies_pauses_the_run_at_its_exact_cost(program: &Program) {
    let hands = Hands(program.host());
    let dear = Usage { input: 10_000, output: 1_000 };
    let call = price(program, dear);
    let busy = |name: &str| (0..12).fold(hands.session(name), |session, _| session.read("INDEX.md")).say("Busy.");
    let sessions = |name: &str, task: &str| [busy(name).using(dear), writes(hands, name, task).using(dear)];
    let settings = format!("{}proxy = true\n", settings(program));
    let workshop = Workshop::new(program, &settings, THREE, cast(sessions));
    let budget = 10 * call - call / 2;
    let ended = workshop.run(&["run", "SPEC.json", "--parallel", "3", "--from-head", "--budget", &usd(budget)]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(3), "{}\n{timeline}", ended.said);
    assert!(ended.said.contains("the budget is spent"), "{}", ended.said);
    let view = workshop.view();
    assert_eq!(statuses(&view), [UnitStatus::Done, UnitStatus::Waiting, UnitStatus::Waiting, UnitStatus::Waiting]);
    assert_eq!(view.run.state, RunState::Paused);
    assert!(view.units.iter().all(|unit| unit.stuck == 0), "it is held against nobody: {timeline}");
    let real = workshop.calls() as u64 * call;
    assert!(real >= budget && real <= budget + 3 * call, "{real} of {budget}\n{timeline}");
    assert_eq!(view.sums.micro_usd, real, "{timeline}");
    // The one refusal ended each agent, and the run did not start another one.
    let attempts: Vec<u32> = view.units.iter().map(|unit| unit.attempts).collect();
    assert_eq!(attempts, [0, 1, 1, 1], "{timeline}");
    for dispatch in workshop.dispatches() {
        assert_eq!(dispatch.ending.as_deref(), Some("the budget of the run was spent"), "{timeline}");
    }
    workshop.assert_nobody_is_left();

    resume_with_more_budget(&workshop, call);
    assert_every_request_came_through_a_proxy(&workshop);
    workshop.assert_only_the_branch_is_left();
}

/// The ports of this machine that the command lines of the scene's processes name, apart from the service's.
fn ports(workshop: &Workshop) -> Vec<u16> {
    let of_line = |line: String| -> Vec<u16> {
        let parts = line.split("http://127.0.0.1:").skip(1);
        let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
        parts.filter_map(|part| digits(part).parse().ok()).collect()
    };
    let mut ports: Vec<u16> = workshop.processes().into_iter().flat_map(of_line).collect();
    ports.sort_unstable();
    ports.dedup();
    ports.retain(|port| *port != workshop.model.port());
    ports
}

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

pub(super) fn an_interrupted_run_leaves_no_proxy_and_is_resumed_behind_proxies(program: &Program) {
    let hands = Hands(program.host());
    let workshop =
        Workshop::new(program, settings(program), THREE, cast(|name, task| [hands.hangs(), writes(hands, name, task)]));
    let mut runner = workshop.start(&["run", "SPEC.json", "--parallel", "3", "--from-head", "--proxy"]);
    // Two of each: they hang now.
    runner.until(|workshop| workshop.calls() >= 3 * 2);
    let found = ports(&workshop);
    assert_eq!(found.len(), 3, "each agent has a proxy of its own: {found:?}");
    assert!(found.iter().all(|port| is_open(*port)));
    // An agent that is killed takes its proxy with it, and the run goes on.
    let killed = workshop.kill_an_agent(&format!("127.0.0.1:{}", found[0]));
    wait_for("the end of the killed agent's proxy", || {
        if is_open(found[0]) { Err(format!("{killed} had it")) } else { Ok(()) }
    });
    assert!(runner.is_running() && found[1..].iter().all(|port| is_open(*port)));
    runner.interrupt();
    let ended = runner.finish();
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(3), "{}\n{timeline}", ended.said);
    assert!(found.iter().all(|port| !is_open(*port)));
    workshop.assert_nobody_is_left();
    assert_eq!(workshop.view().run.state, RunState::Paused);

    let ended = workshop.run(&["resume"]);
    let timeline = workshop.timeline();
    assert_eq!(ended.code, Some(0), "{}\n{timeline}", ended.said);
    assert_eq!(workshop.view().run.state, RunState::Complete, "{timeline}");
    assert_every_request_came_through_a_proxy(&workshop);
    assert_eq!(
        workshop.view().sums.micro_usd,
        workshop.calls() as u64 * price(program, Usage::default()),
        "{timeline}"
    );
    workshop.assert_only_the_branch_is_left();
}
