//! An agent of a run: wired at launch, in a worktree that has no settings of its own, listened to while it works.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::json;
use steadfast_e2e::agents::Agent;
use steadfast_hosts::launch::{AgentPermissions, Headless, LaunchOptions, claude, codex, headless};
use steadfast_hosts::price::Prices;
use steadfast_hosts::stream::{AgentEnd, AgentEvent};
use steadfast_model::{Host, Spent, Via};
use steadfast_runner::agent::{AgentUpdate, Assignment, Departed, Departure, attend};
use steadfast_sim::{Scenario, ScriptedModel};

use crate::agents::Program;
use crate::journal::{Journal, LET_GO, REFUSED, name};
use crate::world::{PROMPT, Scene};

on_every_host!(an_agent_is_wired_at_launch, an_agent_that_is_wired_twice_is_counted_once);
on!(an_agent_is_ended_by_its_own_limits: claude_2_1_325, claude_2_1_197);
on!(an_agent_without_access_says_so: claude_2_1_325, codex_0_166_0);

/// What the scripted model says it took for each answer.
const INPUT: u64 = 100;
const OUTPUT: u64 = 20;

/// What an answer costs with the model that a host takes by itself, in millionths of a dollar.
fn price(program: &Program) -> u64 {
    match program.agent {
        Agent::Claude2_1_325 => INPUT * 4 + OUTPUT * 20,
        Agent::Claude2_1_197 => INPUT * 5 + OUTPUT * 25,
        Agent::Codex0_166_0 => INPUT * 5 + OUTPUT * 30,
        Agent::Copilot1_0_102 => 0,
    }
}

fn an_agent_is_wired_at_launch(program: &Program) {
    let scene = Scene::bare(program);
    std::fs::create_dir(scene.state()).unwrap();
    let (departure, events) = attended(&scene, work(), &[]);
    is_gated(&scene, &departure, &events);
    let journal = journal(&scene, &departure);
    assert_eq!(journal.stops(), [REFUSED, LET_GO]);
    let stops = journal.records.iter().filter(|record| name(record) == "Stop");
    assert!(stops.map(|record| record.event.via).eq([Via::Run, Via::Run]));
}

fn an_agent_that_is_wired_twice_is_counted_once(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&["--user"]);
    let (departure, events) = attended(&scene, work(), &[]);
    is_gated(&scene, &departure, &events);
    let journal = journal(&scene, &departure);
    for via in [Via::Run, Via::User] {
        assert!(journal.records.iter().any(|record| record.event.via == via), "{via}");
    }
}

fn work() -> Scenario {
    Scenario::new("headless")
        .prompt(PROMPT)
        .write("one.txt", "one\n")
        // The host connects to its servers while the first turns run.
        .shell("steadfast task list; sleep 1")
        .say("I have made good progress.")
        .tool("mcp__steadfast__task_done", json!({"id": "1"}))
        .say("Done.")
}

fn is_gated(scene: &Scene, departure: &Departure, events: &[AgentEvent]) {
    assert_eq!(departure.how, Departed::Ended(AgentEnd::Finished), "{departure:?}");
    assert_eq!(departure.said.as_deref(), Some("Done."));
    // Five answers, each once.
    let expected = Spent {
        micro_usd: Some(5 * price(&scene.program)),
        input_tokens: 5 * INPUT,
        cached_tokens: 0,
        output_tokens: 5 * OUTPUT,
    };
    assert_eq!(departure.spent, expected);
    assert_eq!(events.iter().filter(|event| matches!(event, AgentEvent::Turn)).count(), 5);
    let spent: Vec<u64> = events.iter().filter_map(spent).collect();
    assert!(spent.is_sorted() && spent[0] < spent[spent.len() - 1], "{spent:?}");
}

fn spent(event: &AgentEvent) -> Option<u64> {
    match event {
        AgentEvent::Spent(spent) => spent.micro_usd,
        _ => None,
    }
}

fn an_agent_is_ended_by_its_own_limits(program: &Program) {
    let endless = || Scenario::new("endless").prompt(PROMPT).shell("true");
    let scene = Scene::bare(program);
    let (departure, _) = attended(&scene, endless(), &["--max-turns", "2"]);
    assert_eq!(departure.how, Departed::Ended(AgentEnd::TurnLimit));
    let (departure, _) = attended(&scene, endless(), &["--max-budget-usd", "0.0015"]);
    assert_eq!(departure.how, Departed::Ended(AgentEnd::BudgetSpent));
    // The call that went over it is the last one.
    assert_eq!(departure.spent.micro_usd, Some(2 * price(program)));
}

fn an_agent_without_access_says_so(program: &Program) {
    let scene = Scene::bare(program);
    let (departure, _) = attended(&scene, Scenario::new("locked out").prompt(PROMPT).fail(403, 100), &[]);
    assert!(matches!(departure.how, Departed::Ended(AgentEnd::NoAccess(_))), "{departure:?}");
}

/// In a worktree beside the repository, with one task.
fn attended(scene: &Scene, scenario: Scenario, extra: &[&str]) -> (Departure, Vec<AgentEvent>) {
    let directory = worktree(scene);
    let model = ScriptedModel::start(scenario).unwrap();
    let host = scene.program.host();
    let mut extra: Vec<String> = extra.iter().map(|&word| word.to_owned()).collect();
    if host == Host::Codex {
        extra.extend(["-c".to_owned(), format!("model_providers.scripted.base_url=\"{}/v1\"", model.url())]);
    }
    let program = scene.program.path.clone();
    let mut launch = headless(&Headless {
        host,
        program: program.clone(),
        prompt: PROMPT.to_owned(),
        session: None,
        budget_micro_usd: None,
        max_turns: None,
        steadfast: scene.dir().join("bin/steadfast"),
        permissions: AgentPermissions::Edit,
        extra,
    });
    let alone = Some(scene.alone(model.url()));
    let options = LaunchOptions { program, prompt: String::new(), unasked: false, settings: None, alone };
    let alone = if scene.program.is_claude() { claude(&options) } else { codex(&options) };
    (launch.env, launch.clear_env) = (alone.env, alone.clear_env);
    let assignment = Assignment {
        launch,
        host,
        prices: Prices::built_in(),
        directory,
        mark: scene.dir().display().to_string(),
        log: scene.dir().join("agent.log"),
        silence: Duration::from_secs(60),
        limit: Duration::from_secs(120),
    };
    let mut events = Vec::new();
    let departure = attend(&assignment, &AtomicBool::new(false), &mut |heard| {
        if let AgentUpdate::Event(event) = heard {
            events.push(event);
        }
    });
    (departure, events)
}

fn worktree(scene: &Scene) -> PathBuf {
    let directory = scene.dir().join("worktree");
    if !directory.exists() {
        scene.git(["worktree", "add", "--quiet", "--detach", "../worktree"]);
        let added = Command::new(scene.dir().join("bin/steadfast"))
            .args(["task", "add", "piece 1", "--verify", "grep -q one one.txt"])
            .current_dir(&directory)
            .env("HOME", scene.home())
            .output()
            .unwrap();
        assert!(added.status.success() || !scene.state().exists(), "{}", String::from_utf8_lossy(&added.stderr));
    }
    directory
}

fn journal(scene: &Scene, departure: &Departure) -> Journal {
    Journal::of(&scene.state(), departure.session.as_ref().unwrap().as_str())
}
