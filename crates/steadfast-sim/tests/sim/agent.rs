//! The simulated agent with a hook that is a real program.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steadfast_sim::agent::Work;
use steadfast_sim::{Action, AgentError, Ending, HookCommand, Moment, Scenario, Turn, Who};
use steadfast_testkit::PATIENCE;

use crate::fake_hook::FakeHook;

fn run(hook: &FakeHook, scenario: Scenario) -> (Ending, Vec<Moment>) {
    let mut moments = Vec::new();
    let ending = hook.agent(scenario).run(&mut |moment| moments.push(moment.clone())).unwrap();
    (ending, moments)
}

const ALWAYS_BLOCK: &str = r#"[ "$1" = Stop ] && echo '{"decision": "block", "reason": "1 task is open"}'"#;

fn stops(hook: &FakeHook) -> usize {
    hook.events().iter().filter(|name| *name == "Stop").count()
}

#[test]
fn a_quiet_hook_lets_everything_pass() {
    let hook = FakeHook::new("");
    let scenario = Scenario::new("x").prompt("go").write("a.txt", "x\n").say("done");
    let (ending, moments) = run(&hook, scenario);
    let target = hook.cwd().canonicalize().unwrap().join("a.txt");
    let target = target.display().to_string();
    let expected = [
        Moment::SessionStarted { source: "startup" },
        Moment::Prompted { text: "go".into() },
        Moment::Answered,
        Moment::ToolStarting { who: Who::Main, tool: "Write".into(), target: target.clone() },
        Moment::ToolRan {
            who: Who::Main,
            tool: "Write".into(),
            output: format!("The file {target} was created."),
            target,
        },
        Moment::Answered,
        Moment::Said { who: Who::Main, text: "done".into() },
        Moment::StopTried { who: Who::Main, message: "done".into() },
        Moment::Ended(Ending::Stopped),
    ];
    assert_eq!(ending, Ending::Stopped);
    assert_eq!(moments, expected);
}

#[test]
fn a_denied_call_does_not_run_and_the_next_one_does() {
    let answers = r#"
case "$1 $payload" in PreToolUse*secret*)
  echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "locked"}}' ;;
esac"#;
    let hook = FakeHook::new(answers);
    let scenario = Scenario::new("x")
        .turn(Turn::doing([Action::write("secret.txt", "x"), Action::write("open.txt", "x")]))
        .say("done");
    let (_, moments) = run(&hook, scenario);
    let denied: Vec<&str> = moments
        .iter()
        .filter_map(|moment| match moment {
            Moment::ToolDenied { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(denied, ["locked"]);
    assert!(!hook.cwd().join("secret.txt").exists());
    assert!(hook.cwd().join("open.txt").exists());
}

#[test]
fn the_hooks_before_parallel_calls_run_at_the_same_time() {
    // Each hook waits until the other has started, and objects if that does not happen.
    let answers = r#"
if [ "$1" = PreToolUse ]; then
  touch "$here/started.$$"
  tries=0
  while [ "$(ls "$here" | grep -c started)" -lt 2 ]; do
    tries=$((tries + 1))
    [ $tries -gt 1000 ] && echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}' && exit 0
    sleep 0.01
  done
fi"#;
    let hook = FakeHook::new(answers);
    let both = Turn::doing([Action::shell("echo a > a"), Action::shell("echo b > b")]);
    let mut agent = hook.agent(Scenario::new("x").turn(both).say("done"));
    agent.hook_limit = PATIENCE;
    agent.run(&mut |_| {}).unwrap();
    assert!(hook.cwd().join("a").exists() && hook.cwd().join("b").exists());
}

#[test]
fn eight_refusals_in_a_row_are_granted_and_the_ninth_is_overridden() {
    let hook = FakeHook::new(ALWAYS_BLOCK);
    let (ending, moments) = run(&hook, Scenario::new("x").say("I am done"));
    let refused = |moment: &&Moment| matches!(moment, Moment::StopRefused { .. });
    assert_eq!(ending, Ending::Overridden);
    assert_eq!(moments.iter().filter(refused).count(), 8);
    assert_eq!(stops(&hook), 9);
    assert_eq!(hook.events().last().unwrap(), "SessionEnd");
}

#[test]
fn a_tool_call_starts_the_count_of_refusals_again() {
    let hook = FakeHook::new(ALWAYS_BLOCK);
    let mut agent = hook.agent(Scenario::new("x").say("a").say("b").shell("true").say("c"));
    agent.stop_cap = 2;
    assert_eq!(agent.run(&mut |_| {}).unwrap(), Ending::Overridden);
    assert_eq!(stops(&hook), 2 + 3);
}

#[test]
fn without_a_cap_only_the_turn_limit_ends_it() {
    let hook = FakeHook::new(ALWAYS_BLOCK);
    let mut agent = hook.agent(Scenario::new("x").say("a"));
    (agent.stop_cap, agent.turn_limit) = (0, 12);
    assert_eq!(agent.run(&mut |_| {}).unwrap(), Ending::TurnLimit);
    assert_eq!(stops(&hook), 12);
}

#[test]
fn a_context_at_stop_continues_the_run_as_in_claude_code() {
    let answers = r#"
[ "$1" = Stop ] && mkdir "$here/once" 2>/dev/null &&
  echo '{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "by the way"}}'"#;
    let hook = FakeHook::new(answers);
    let (ending, moments) = run(&hook, Scenario::new("x").say("done"));
    assert_eq!(ending, Ending::Stopped);
    assert!(moments.contains(&Moment::StopRefused { who: Who::Main, reason: "by the way".into() }));
    assert_eq!(stops(&hook), 2);
}

#[test]
fn context_note_and_halt_reach_their_readers() {
    let answers = r#"
case "$1" in
  SessionStart) echo '{"hookSpecificOutput": {"additionalContext": "2 tasks are open"}}' ;;
  UserPromptSubmit) echo '{"systemMessage": "watching"}' ;;
  PostToolUse) echo '{"continue": false, "stopReason": "enough"}' ;;
esac"#;
    let hook = FakeHook::new(answers);
    let (ending, moments) = run(&hook, Scenario::new("x").shell("true").say("never said"));
    assert_eq!(ending, Ending::Halted { reason: "enough".into() });
    assert!(moments.contains(&Moment::ContextReceived { event: "SessionStart", text: "2 tasks are open".into() }));
    assert!(moments.contains(&Moment::Note { text: "watching".into() }));
    assert_eq!(stops(&hook), 0);
}

#[test]
fn a_refused_prompt_ends_the_session_before_the_model_speaks() {
    let hook = FakeHook::new(r#"[ "$1" = UserPromptSubmit ] && echo no >&2 && exit 2"#);
    let (ending, _) = run(&hook, Scenario::new("x").shell("touch touched").say("done"));
    assert_eq!(ending, Ending::PromptRefused { reason: "no".into() });
    assert_eq!(hook.events(), ["SessionStart", "UserPromptSubmit", "SessionEnd"]);
}

#[test]
fn a_fault_of_the_model_is_a_failed_stop() {
    let hook = FakeHook::new("");
    let (ending, _) = run(&hook, Scenario::new("x").shell("true").fail(529, 1).say("a"));
    assert_eq!(ending, Ending::ModelFailed { status: 529 });
    let seen = hook.seen();
    let failure = seen.iter().find(|event| event["hook_event_name"] == "StopFailure").unwrap();
    assert_eq!(failure["error"], "server_error");
    assert_eq!(stops(&hook), 0);
}

#[test]
fn shell_and_hook_know_the_session() {
    let hook = FakeHook::new(r#"echo "$STEADFAST_SESSION_ID $STEADFAST_SIM $EXTRA" > "$here/env""#);
    let mut agent =
        hook.agent(Scenario::new("x").shell("echo \"$STEADFAST_SESSION_ID $STEADFAST_SIM $EXTRA\" > env").say("done"));
    agent.session = "s-1".into();
    agent.env.insert("EXTRA".into(), "more".into());
    agent.run(&mut |_| {}).unwrap();
    let read = |path: std::path::PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(read(hook.here().join("env")), "s-1 1 more\n");
    assert_eq!(read(hook.cwd().join("env")), "s-1 1 more\n");
    assert_eq!(hook.seen()[0]["session_id"], "s-1");
}

#[test]
fn a_subagent_that_ends_in_the_background_is_announced_with_its_words() {
    let hook = FakeHook::new("");
    let scenario = Scenario::new("x")
        .prompt("go")
        .agent_in_background("explorer", "look around")
        .say("waiting")
        .say("finished")
        .subagent([Turn::saying("found <it>")]);
    let (ending, _) = run(&hook, scenario);
    assert_eq!(ending, Ending::Stopped);
    let seen = hook.seen();
    let prompts: Vec<&str> = seen
        .iter()
        .filter(|event| event["hook_event_name"] == "UserPromptSubmit")
        .filter_map(|event| event["prompt"].as_str())
        .collect();
    assert_eq!(prompts[0], "go");
    assert!(prompts[1].starts_with("<task-notification>"), "{prompts:?}");
    assert!(prompts[1].contains("<result>found &lt;it&gt;</result>"), "{prompts:?}");
    let waiting: Vec<usize> = seen
        .iter()
        .filter(|event| event["hook_event_name"] == "Stop")
        .map(|event| event["background_tasks"].as_array().unwrap().len())
        .collect();
    assert_eq!(waiting, [1, 0]);
}

#[test]
fn a_hook_that_hangs_is_ended_and_the_session_goes_on() {
    let hook = FakeHook::new(r#"[ "$1" = Stop ] && sleep 600"#);
    let mut agent = hook.agent(Scenario::new("x").say("done"));
    // Enough time for the hooks that answer, on any machine.
    agent.hook_limit = Duration::from_secs(3);
    let started = Instant::now();
    let mut failed = Vec::new();
    let ending = agent
        .run(&mut |moment| {
            if let Moment::HookFailed { event, problem } = moment {
                failed.push((*event, problem.clone()));
            }
        })
        .unwrap();
    assert_eq!(ending, Ending::Stopped);
    assert_eq!(failed, [("Stop", "no answer within 3 s".to_owned())]);
    assert!(started.elapsed() < PATIENCE, "it waited for the hook");
}

#[test]
fn a_hook_that_is_not_there_is_an_error_with_its_name() {
    let hook = FakeHook::new("");
    let mut agent = hook.agent(Scenario::new("x").say("done"));
    agent.hook = HookCommand::new("/nowhere/steadfast", ["hook"]);
    let error = agent.run(&mut |_| {}).unwrap_err();
    assert!(matches!(error, AgentError::Hook { .. }));
    assert!(error.to_string().starts_with("cannot run the hook /nowhere/steadfast: "), "{error}");
}

/// A ledger of two tasks, kept in files.
const LEDGER: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/commands"
case "$1 $2" in
  'task next')
    for id in 1 2; do
      if [ ! -e "$here/done.$id" ]; then
        echo '{"tasks": [{"id": "'$id'", "title": "write file '$id'", "status": "pending", "files": ["f'$id'.md"]}]}'
        exit 0
      fi
    done
    echo '{"tasks": []}' ;;
  'task done') touch "$here/done.$3" ;;
esac
"#;

#[test]
#[expect(clippy::disallowed_methods, reason = "another process makes the program that is executed")]
fn without_a_scenario_it_works_through_the_ledger() {
    let hook = FakeHook::new("");
    let steadfast = hook.here().join("steadfast");
    let draft = hook.here().join("draft");
    fs::write(&draft, LEDGER).unwrap();
    // A child that another test just forked inherits files that are open for writing. Such a file cannot be executed.
    assert!(Command::new("install").args([&draft, &steadfast]).status().unwrap().success());
    let mut agent = hook.agent(Scenario::new("unused"));
    agent.work = Work::Ledger { steadfast: steadfast.display().to_string(), prompt: "work on the plan".into() };
    assert_eq!(agent.run(&mut |_| {}).unwrap(), Ending::Stopped);
    let commands = fs::read_to_string(hook.here().join("commands")).unwrap();
    let expected = [
        "task next --json",
        "task start 1",
        "task done 1",
        "task next --json",
        "task start 2",
        "task done 2",
        "task next --json",
    ];
    assert_eq!(commands.lines().collect::<Vec<_>>(), expected);
    let written = fs::read_to_string(hook.cwd().join("f1.md")).unwrap();
    assert_eq!(written, "1 write file 1\n");
    let last: Vec<Value> = hook.seen().into_iter().rev().take(2).collect();
    assert_eq!(last[1]["last_assistant_message"], json!("No task is left. I am finished."));
}
