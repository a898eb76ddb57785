use serde_json::{Value, json};
use steadfast_model::{
    Action, Agent, AgentId, Answer, Direction, Event, EventKind, Facts, Host, Millis, Mode, PolicyName, PolicyOpinion,
    Record, Ruling, SessionId, ToolCall, Verdict,
};

use crate::sandbox::Sandbox;

/// One in which session `s-1` works on two tasks.
fn at_work() -> Sandbox {
    let sandbox = Sandbox::new();
    for title in ["Write the parser", "Write its tests"] {
        sandbox.ok(&["task", "add", title]);
    }
    assert!(sandbox.as_agent("s-1", &["task", "start", "1"]).status.success());
    sandbox
}

fn mode(sandbox: &Sandbox, mode: &str) {
    std::fs::write(sandbox.root().join("steadfast.toml"), format!("[mode]\ncompletion = \"{mode}\"\n")).unwrap();
}

fn stop(sandbox: &Sandbox, session: &str) -> String {
    let said = json!({"background_tasks": [], "last_assistant_message": "Good progress,\nlet me know!"});
    sandbox.hook("Stop", session, said)
}

/// What it prints, with times replaced.
fn why(sandbox: &Sandbox, arguments: &[&str]) -> String {
    without_times(&sandbox.ok(&[&["why"], arguments].concat()))
}

fn without_times(said: &str) -> String {
    let lines = said.lines().map(|line| {
        let mut line = line.to_owned();
        for seconds in (1..60).rev() {
            line = line.replace(&format!("{seconds} s ago"), "[ago]");
        }
        line = line.replace("just now", "[ago]").replace("Just now", "[ago]");
        match line.find(" UTC, line ") {
            Some(end) if line.starts_with("Event") => format!("{}[time]{}", &line[..end - 5], &line[end + 4..]),
            _ => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn first_line(sandbox: &Sandbox) -> String {
    why(sandbox, &[]).lines().next().unwrap().to_owned()
}

/// Writes a verdict into the journal of `s-9` that no policy gives today.
fn record(sandbox: &Sandbox, verdict: Verdict, mode: Mode, ruling: Ruling) {
    let call =
        ToolCall { id: None, tool: "Bash".into(), action: Action::shell("rm -rf\n\u{1b}build"), words: Vec::new() };
    let at = Millis(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap());
    let plain = Event::plain(SessionId::new("s-9"), Host::Claude, "/repo", at, EventKind::PreTool(call));
    let event = Event { agent: Some(Agent { id: AgentId::new("a-7"), agent_type: "worker".into() }), ..plain };
    let opinions = vec![PolicyOpinion { policy: PolicyName::Completion, mode, verdict }];
    let answer = Answer { ruling, ..Answer::default() };
    let (changes, effects) = (Vec::new(), Vec::new());
    sandbox.invent(Record { event, facts: Facts::default(), opinions, answer, changes, effects });
}

#[test]
fn a_refused_stop_is_told_with_what_was_known_and_what_to_do() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    insta::assert_snapshot!(why(&sandbox, &[]), @r"
    [ago] `completion` refused to let session s-1 stop: 2 of 2 tasks are open, next is 1 Write the parser.

    Event    Stop, [time], line 1 of the journal
    Mode     enforce
    Budget   refusal 1 of 50 since the last prompt, 1 of 3 without a tool call
    Said     “Good progress, let me know!”

    Tasks then:
      0 of 2 tasks done, 2 open, 0 blocked
      1 Write the parser (in progress)
      2 Write its tests

    The agent was told:
      2 of 2 tasks are open: 1 Write the parser (in progress); 2 Write its tests. Next is 1. `steadfast task done 1` closes it, `steadfast task block 1 --why REASON` sets it aside. (refusal 1 of 50)

    Since then:
      nothing yet
      now: 0 of 2 tasks done, 2 open, 0 blocked

    Next steps:
      `steadfast task list` shows all tasks.
      `steadfast task done 1` closes 1; `steadfast task block 1 --why REASON` sets it aside.
      `steadfast config show` shows the modes and limits in effect, and where they are set.
    ");
}

#[test]
fn what_happened_since_is_told() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    sandbox.hook("PreToolUse", "s-1", json!({"tool_name": "Read", "tool_use_id": "c-1", "tool_input": {}}));
    sandbox.ok(&["task", "done", "1"]);
    sandbox.ok(&["task", "done", "2"]);
    stop(&sandbox, "s-1");
    sandbox.hook("SessionEnd", "s-1", json!({"reason": "exit"}));
    let said = why(&sandbox, &[]);
    insta::assert_snapshot!(said[said.find("Since then").unwrap()..], @r"
    Since then:
      closed: 1 Write the parser (done)
      closed: 2 Write its tests (done)
      1 tool call
      Steadfast let the session stop as complete, [ago]
      the session ended (exit), [ago]
      now: 2 of 2 tasks done, 0 open, 0 blocked

    Next steps:
      `steadfast task list` shows all tasks.
      No task is open any more, so the session may stop.
      `steadfast config show` shows the modes and limits in effect, and where they are set.
    ");
}

#[test]
fn a_prompt_of_the_human_arms_the_gate_again() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    sandbox.hook("Stop", "s-1", json!({"background_tasks": [{"id": "b", "type": "subagent", "status": "running"}]}));
    let since = |sandbox: &Sandbox| {
        let said: Value = serde_json::from_str(&sandbox.ok(&["why", "--json"])).unwrap();
        (said["since"]["released"].clone(), said["since"]["prompts"].clone())
    };
    assert_eq!(since(&sandbox), (json!("yielded"), json!(0)));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "and?"}));
    assert_eq!(since(&sandbox), (Value::Null, json!(1)));
}

#[test]
fn a_refusal_that_was_only_observed_or_advised_says_so() {
    let sandbox = at_work();
    mode(&sandbox, "observe");
    stop(&sandbox, "s-1");
    insta::assert_snapshot!(why(&sandbox, &[]), @r"
    [ago] `completion` would have refused to let session s-1 stop, but its mode was `observe`: 2 of 2 tasks are open, next is 1 Write the parser.

    Event    Stop, [time], line 1 of the journal
    Mode     observe: it records, but sends no message
    Budget   refusal 1 of 50 since the last prompt, 1 of 3 without a tool call
    Said     “Good progress, let me know!”

    Tasks then:
      0 of 2 tasks done, 2 open, 0 blocked
      1 Write the parser (in progress)
      2 Write its tests

    Not sent to anyone; the message would have been:
      2 of 2 tasks are open: 1 Write the parser (in progress); 2 Write its tests. Next is 1. `steadfast task done 1` closes it, `steadfast task block 1 --why REASON` sets it aside. (refusal 1 of 50)

    Since then:
      nothing yet
      now: 0 of 2 tasks done, 2 open, 0 blocked

    Next steps:
      `steadfast task list` shows all tasks.
      `steadfast task done 1` closes 1; `steadfast task block 1 --why REASON` sets it aside.
      `steadfast config show` shows the modes and limits in effect, and where they are set.
    ");
    mode(&sandbox, "advise");
    stop(&sandbox, "s-1");
    let said = why(&sandbox, &[]);
    insta::assert_snapshot!(said.lines().next().unwrap(), @"[ago] `completion` would have refused to let session s-1 stop, but its mode was `advise`: 2 of 2 tasks are open, next is 1 Write the parser.");
    assert!(said.contains("\nMode     advise: it sends messages, but refuses nothing\n"), "{said}");
    assert!(said.contains("\nThe human was told:\n  2 of 2 tasks are open:"), "{said}");
}

#[test]
fn a_paused_session_is_called_so() {
    let sandbox = at_work();
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.ok(&["pause"]);
    stop(&sandbox, "s-1");
    let said = why(&sandbox, &[]);
    assert!(said.contains("\nMode     observe: a human had paused steadfast\n"), "{said}");
    for _ in 0..3 {
        stop(&sandbox, "s-1");
    }
    let said = first_line(&sandbox);
    assert!(said.starts_with("[ago] Steadfast would have let session s-1 stop as capped, not complete:"), "{said}");
}

#[test]
fn a_session_that_was_let_go_as_capped_is_explained() {
    let sandbox = at_work();
    while sandbox.stop_is_refused("s-1") {}
    insta::assert_snapshot!(why(&sandbox, &[]), @"
    [ago] Steadfast let session s-1 stop as capped, not complete: 2 of 2 tasks are open after 3 refusals.

    Event    Stop, [time], line 4 of the journal
    Mode     enforce

    Tasks then:
      0 of 2 tasks done, 2 open, 0 blocked
      1 Write the parser (in progress)
      2 Write its tests

    The human was told:
      Steadfast stopped insisting after 3 refusals in a row without a tool call: 2 of 2 tasks are open (`steadfast task list`). The session counts as capped, not complete. Your next message starts over.

    Since then:
      nothing yet
      now: 0 of 2 tasks done, 2 open, 0 blocked

    Next steps:
      `steadfast task list` shows all tasks.
      `steadfast task done 1` closes 1; `steadfast task block 1 --why REASON` sets it aside.
      The next prompt to the session arms the stop gate again.
    ");
}

#[test]
fn a_session_that_was_let_go_as_all_blocked_is_explained() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    sandbox.ok(&["task", "done", "1"]);
    sandbox.ok(&["task", "block", "2", "--why", "no fixtures"]);
    stop(&sandbox, "s-1");
    insta::assert_snapshot!(why(&sandbox, &[]), @r"
    [ago] Steadfast let session s-1 stop as all blocked: 1 of 2 tasks is blocked, 1 done.

    Event    Stop, [time], line 4 of the journal
    Mode     enforce
    Said     “Good progress, let me know!”

    Tasks then:
      1 of 2 tasks done, 0 open, 1 blocked

    The human was told:
      Steadfast let this session stop as all blocked: 1 of 2 tasks is blocked, 1 done. `steadfast task list` shows why.

    Since then:
      nothing yet
      now: 1 of 2 tasks done, 0 open, 1 blocked

    Next steps:
      `steadfast task list` shows why each is blocked.
      `steadfast task unblock ID` makes one open again; only a human can run it.
    ");
}

#[test]
fn tasks_that_could_not_be_read_are_explained_also_while_they_cannot() {
    let sandbox = at_work();
    let state = sandbox.place().state;
    for kind in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(state.join(format!("state.db{kind}")));
    }
    std::fs::write(state.join("state.db"), vec![7; 9_000]).unwrap();
    std::fs::remove_dir_all(state.join("plans")).unwrap();
    stop(&sandbox, "s-1");
    let output = sandbox.run(&["why"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(warning.starts_with("warning: showing the journals only: the ledger `"), "{warning}");
    assert!(warning.contains("is damaged"), "{warning}");
    let said = without_times(&String::from_utf8(output.stdout).unwrap());
    insta::assert_snapshot!(said.replace(&sandbox.root().display().to_string(), "/repo"), @r"
    [ago] Steadfast let session s-1 stop because its tasks could not be read: the ledger `/repo/.git/steadfast/state.db` is damaged

    Event    Stop, [time], line 1 of the journal
    Mode     enforce
    Said     “Good progress, let me know!”

    Tasks then:
      unknown: the ledger `/repo/.git/steadfast/state.db` is damaged

    The human was told:
      Steadfast could not read the tasks: the ledger `/repo/.git/steadfast/state.db` is damaged

    Since then:
      nothing yet

    Next steps:
      `steadfast status` shows whether the tasks can be read now.
      `steadfast log --problems` shows other failures of hooks.
    ");
}

#[test]
fn a_refused_tool_call_is_named() {
    let sandbox = at_work();
    let call = json!({"tool_name": "Bash", "tool_use_id": "c-1", "tool_input": {"command": "steadfast uninstall"}});
    sandbox.hook("PreToolUse", "s-1", call);
    insta::assert_snapshot!(why(&sandbox, &[]), @r"
    [ago] `integrity` refused `Bash steadfast uninstall` of session s-1: Only a human can run `steadfast uninstall`. If it is needed, say so; a human runs it in a terminal of their own.

    Event    PreToolUse, [time], line 1 of the journal
    Mode     enforce

    The agent was told:
      Only a human can run `steadfast uninstall`. If it is needed, say so; a human runs it in a terminal of their own.

    Since then:
      nothing yet

    Next steps:
      `steadfast log --session s-1` shows what came before.
      `steadfast config show` shows the modes and limits in effect, and where they are set.
    ");
}

#[test]
fn every_kind_of_verdict_has_its_words() {
    let sandbox = Sandbox::new();
    let reason = || "build is\nnot yours".to_owned();
    let ask = || Verdict::Ask { reason: reason() };
    record(&sandbox, Verdict::Deny { reason: reason() }, Mode::Advise, Ruling::Pass);
    insta::assert_snapshot!(first_line(&sandbox), @"[ago] `completion` would have refused `Bash rm -rf  build` of agent a-7 of session s-9, but its mode was `advise`: build is not yours");
    record(&sandbox, ask(), Mode::Enforce, Ruling::Ask { reason: reason(), falls: Direction::Gate });
    let said = why(&sandbox, &[]);
    insta::assert_snapshot!(said.lines().next().unwrap(), @"[ago] `completion` asked a human about `Bash rm -rf  build` of agent a-7 of session s-9: build is not yours");
    assert!(said.contains("\nThe human was asked:\n  build is\n  not yours\n"), "{said}");
    record(&sandbox, ask(), Mode::Enforce, Ruling::Deny { reason: reason() });
    insta::assert_snapshot!(first_line(&sandbox), @"[ago] `completion` refused `Bash rm -rf  build` of agent a-7 of session s-9, because no human was there to ask: build is not yours");
    record(&sandbox, ask(), Mode::Observe, Ruling::Pass);
    insta::assert_snapshot!(first_line(&sandbox), @"[ago] `completion` would have asked a human about `Bash rm -rf  build` of agent a-7 of session s-9, but its mode was `observe`: build is not yours");
    record(&sandbox, Verdict::Note(reason()), Mode::Enforce, Ruling::Pass);
    insta::assert_snapshot!(first_line(&sandbox), @"[ago] `completion` added a note on `Bash rm -rf  build` of agent a-7 of session s-9: build is not yours");
}

#[test]
fn a_journal_that_was_begun_anew_leaves_what_the_ledger_knows() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    sandbox.ok(&["status"]);
    let padding = "x".repeat(60_000);
    while sandbox.session("s-1").journal_bytes() < 1 << 20 {
        sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": padding}));
    }
    let said = why(&sandbox, &[]);
    assert!(said.contains("\n  the journal was restarted, so more is not known\n"), "{said}");
    assert!(said.contains("(refusal 1 of 50)"), "{said}");
}

#[test]
fn a_session_whose_files_are_gone_leaves_what_the_ledger_knows() {
    let gone = |sandbox: &Sandbox, session: &str| {
        sandbox.ok(&["status"]);
        std::fs::remove_dir_all(sandbox.session(session).dir()).unwrap();
        first_line(sandbox)
    };
    let sandbox = at_work();
    while sandbox.stop_is_refused("s-1") {}
    insta::assert_snapshot!(gone(&sandbox, "s-1"), @"[ago] Steadfast let session s-1 stop as capped, not complete: 2 of 2 tasks are open with no refusal left.");
    let reason = || "build is not yours".to_owned();
    record(&sandbox, Verdict::Deny { reason: reason() }, Mode::Enforce, Ruling::Deny { reason: reason() });
    insta::assert_snapshot!(gone(&sandbox, "s-9"), @"[ago] `completion` refused an event `PreToolUse` of agent a-7 of session s-9: build is not yours");
}

#[test]
fn a_refusal_that_a_block_has_settled_says_who_can_go_on() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    sandbox.ok(&["task", "done", "1"]);
    sandbox.ok(&["task", "block", "2", "--why", "no fixtures"]);
    let said = why(&sandbox, &[]);
    insta::assert_snapshot!(said[said.find("Next steps").unwrap()..], @r"
    Next steps:
      `steadfast task list` shows all tasks.
      The other tasks are blocked, so the session may stop.
      `steadfast task unblock ID` makes one open again; only a human can run it.
      `steadfast config show` shows the modes and limits in effect, and where they are set.
    ");
}

#[test]
fn inside_an_agent_it_is_about_its_own_session() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    let said = |session| String::from_utf8(sandbox.as_agent(session, &["why"]).stdout).unwrap();
    assert!(said("s-1").contains("refused to let session s-1 stop"), "{}", said("s-1"));
    insta::assert_snapshot!(said("s-2"), @r"
    Nothing was refused in session s-2.

    `steadfast log` shows the messages to sessions.
    ");
}

/// Root may write anywhere, so as root this is nobody's process.
#[test]
fn a_ledger_that_cannot_be_written_hides_nothing() {
    use std::os::unix::process::CommandExt;

    let sandbox = at_work();
    stop(&sandbox, "s-1");
    let (state, top) = (sandbox.place().state, sandbox.root().parent().unwrap().to_owned());
    let allow = |mode: &str| {
        assert!(std::process::Command::new("chmod").args(["-R", mode]).arg(&state).status().unwrap().success());
    };
    assert!(std::process::Command::new("chmod").arg("a+rx").arg(top).status().unwrap().success());
    allow("a+rX,a-w");
    let mut command = sandbox.command();
    command.arg("why");
    if std::fs::write(state.join("probe"), "").is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    allow("u+w");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("`completion` refused to let session s-1 stop"), "{said}{:?}", output.stderr);
    assert!(output.stderr.is_empty());
}

#[test]
fn without_a_refusal_it_says_so() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(why(&sandbox, &[]), @r"
    Nothing was refused in this repository.

    `steadfast log` shows the messages to sessions.
    ");
    assert_eq!(sandbox.ok(&["why", "--json"]), "null\n");
}

#[test]
fn the_json_has_the_keys_it_promises() {
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    let said: Value = serde_json::from_str(&sandbox.ok(&["why", "--session", "s-1", "--json"])).unwrap();
    let keys: Vec<&str> = said.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "agent", "at", "budget", "event", "facts", "gate", "mode", "next", "policy", "reason", "sequence",
            "session", "since", "summary", "told", "verdict", "what"
        ]
    );
    assert_eq!(said["budget"], json!({"refusal": 1, "limit": 50}));
    assert_eq!(said["told"], json!({"agent": said["reason"], "human": null}));
    assert_eq!(
        said["since"],
        json!({"closed": [], "opened": null, "prompts": 0, "tool_calls": 0, "released": null, "ended": null})
    );
}

#[test]
fn what_cannot_be_answered_is_refused_with_the_next_command() {
    insta::assert_snapshot!(Sandbox::bare().fails(&["why"]).1, @r"
    error: steadfast is not set up for `/repo`

    hint: `steadfast init` sets it up; it shows what it changes first
    ");
    let sandbox = at_work();
    stop(&sandbox, "s-1");
    stop(&sandbox, "s-2");
    let (code, said) = sandbox.fails(&["why", "--session", "x"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: this repository has no session `x`

    hint: `steadfast status` lists the sessions
    ");
    insta::assert_snapshot!(sandbox.fails(&["why", "--session", "s-"]).1, @r"
    error: more than one session starts with `s-`: `s-1`, `s-2`

    hint: give more characters of the id
    ");
    assert_eq!(sandbox.fails(&["why", "s-1"]).0, 64);
}
