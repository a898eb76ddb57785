use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A session of Claude Code: a prompt, a call for each of these commands, and a last word.
pub(crate) fn session(cwd: &str, commands: &[&str]) -> String {
    let row = |second: usize, kind: &str, message: Value| {
        json!({"type": kind, "uuid": format!("u-{second}"), "sessionId": "s-1", "cwd": cwd,
            "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "message": message})
    };
    let mut rows = vec![row(0, "user", json!({"role": "user", "content": "Fix the Auth bug."}))];
    for (number, command) in commands.iter().enumerate() {
        let (id, second) = (format!("c-{number}"), 2 * number + 1);
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        let usage = json!({"input_tokens": 3, "output_tokens": 20});
        rows.push(row(second, "assistant", json!({"id": format!("m-{number}"), "content": [call], "usage": usage})));
        let failed = command.contains("false");
        let content = if failed { "Exit code 1" } else { "ok" };
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed});
        rows.push(row(second + 1, "user", json!({"role": "user", "content": [result]})));
    }
    let text = json!({"type": "text", "text": "Fixed."});
    rows.push(row(2 * commands.len() + 1, "assistant", json!({"id": "last", "content": [text]})));
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// What Codex would have written.
fn rollout(cwd: &str) -> String {
    let row =
        |kind: &str, payload: Value| json!({"timestamp": "2026-03-02T10:00:00Z", "type": kind, "payload": payload});
    [
        row("session_meta", json!({"id": "t-1", "cwd": cwd})),
        row("event_msg", json!({"type": "user_message", "message": "and the theme"})),
    ]
    .iter()
    .map(|row| format!("{row}\n"))
    .collect()
}

/// A home in which both hosts kept a session of this repository, and others of other places.
fn with_sessions() -> Sandbox {
    let sandbox = Sandbox::bare();
    let root = fs::canonicalize(sandbox.root()).unwrap();
    let root = root.to_str().unwrap();
    let named: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let projects = sandbox.home().join(".claude/projects");
    let write = |path: PathBuf, text: String| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(projects.join(&named).join("s-1.jsonl"), session(root, &["ls", "cargo test || false"]));
    write(projects.join(format!("{named}-src")).join("s-2.jsonl"), session(&format!("{root}/src"), &["pwd"]));
    // Another folder beside this one, whose name begins the same.
    write(projects.join(format!("{named}-two")).join("s-3.jsonl"), session(&format!("{root}-two"), &["pwd"]));
    let sessions = sandbox.home().join(".codex/sessions/2026/03/02");
    write(sessions.join("rollout-2026-03-02-t-1.jsonl"), rollout(root));
    write(sessions.join("rollout-2026-03-02-t-2.jsonl"), rollout("/elsewhere"));
    sandbox
}

fn files(output: &str) -> Vec<String> {
    let name = |line: &str| -> String {
        let line: Value = serde_json::from_str(line).unwrap();
        line["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    output.lines().map(name).collect()
}

#[test]
fn without_a_file_the_sessions_of_this_repository_are_meant() {
    let sandbox = with_sessions();
    let said = sandbox.ok(&["transcript", "stats", "--json"]);
    assert_eq!(files(&said), ["s-1.jsonl", "s-2.jsonl", "rollout-2026-03-02-t-1.jsonl"]);

    // The hosts may keep their things elsewhere.
    fs::rename(sandbox.home().join(".claude"), sandbox.home().join("claude")).unwrap();
    fs::rename(sandbox.home().join(".codex"), sandbox.home().join("codex")).unwrap();
    let (code, said) = sandbox.fails(&["transcript", "stats"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: no session of Claude Code or Codex found for `/repo`

    hint: give a transcript, or a folder of transcripts
    ");
    let mut command = sandbox.command();
    command.env("CLAUDE_CONFIG_DIR", sandbox.home().join("claude")).env("CODEX_HOME", sandbox.home().join("codex"));
    let output = command.args(["transcript", "stats", "--json"]).output().unwrap();
    assert_eq!(files(&String::from_utf8(output.stdout).unwrap()).len(), 3);
}

#[test]
fn the_numbers_have_the_keys_they_promise() {
    let sandbox = Sandbox::bare();
    let file = sandbox.root().join("a.jsonl");
    fs::write(&file, session("/repo", &["ls", "false"]) + "{\"type\":\"user\",\"mess").unwrap();
    let said = sandbox.ok(&["transcript", "stats", "a.jsonl", "--json"]);
    let numbers: Value = serde_json::from_str(&said).unwrap();
    let expected = json!({
        "file": "a.jsonl",
        "host": "claude",
        "records": 7,
        "damaged": 1,
        "prompts": 1,
        "tool_calls": 2,
        "by_tool": {"Bash": 2},
        "subagent_calls": 0,
        "compactions": 0,
        "interrupts": 0,
        "input_tokens": 6,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 40,
        "began_at": 1_772_359_200_000_i64,
        "ended_at": 1_772_359_205_000_i64,
        "cost_usd": 0.0,
        "unpriced": ["unknown model"],
        "models": [{"model": "unknown model", "input_tokens": 6, "cache_read_tokens": 0, "cache_write_tokens": 0,
            "output_tokens": 40, "cost_usd": null}],
    });
    assert_eq!(numbers, expected);
    insta::assert_snapshot!(sandbox.ok(&["transcript", "stats", "a.jsonl"]), @r#"
    a.jsonl
      host       claude
      records    7, 1 damaged
      time       2026-03-01 10:00 UTC to 2026-03-01 10:00 UTC (5 s)
      human      1 prompt, 0 interrupts, 0 compactions
      calls      2, and 0 by subagents
      tools      Bash 2
      tokens     6 in, 0 from the cache, 0 into it, 40 out
      cost       unknown: no price for unknown model
    "#);
}

/// The same session, with these models for its messages and this many tokens of output in each.
fn priced(models: &[&str], output: u64) -> String {
    let mut number = 0;
    let rows = session("/repo", &vec!["ls"; models.len()]);
    let rows = rows.lines().map(|row| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        if row["message"]["usage"].is_object() {
            row["message"]["model"] = models[number].into();
            row["message"]["usage"]["output_tokens"] = output.into();
            number += 1;
        }
        format!("{row}\n")
    });
    rows.collect()
}

#[test]
fn sessions_have_a_total_with_their_cost_and_a_copied_message_costs_once() {
    let sandbox = Sandbox::bare();
    let write = |name: &str, text: String| fs::write(sandbox.root().join(name), text).unwrap();
    write("a.jsonl", priced(&["claude-opus-5", "nobodys-model"], 100_000));
    write("b.jsonl", priced(&["claude-opus-5", "claude-opus-5", "claude-haiku-5-5"], 100_000));
    fs::create_dir_all(sandbox.root().join("b/subagents")).unwrap();
    write("b/subagents/agent-x.jsonl", priced(&["claude-opus-5"], 40_000).replace("\"m-0\"", "\"other\""));
    insta::assert_snapshot!(sandbox.ok(&["transcript", "stats", "a.jsonl", "b.jsonl"]), @r#"
    a.jsonl
      host       claude
      records    6
      time       2026-03-01 10:00 UTC to 2026-03-01 10:00 UTC (5 s)
      human      1 prompt, 0 interrupts, 0 compactions
      calls      2, and 0 by subagents
      tools      Bash 2
      tokens     6 in, 0 from the cache, 0 into it, 200,000 out
      cost       $2.50 at list prices; no price for nobodys-model
                 claude-opus-5: 3 in, 0 from the cache, 0 into it, 100,000 out, $2.50
                 nobodys-model: 3 in, 0 from the cache, 0 into it, 100,000 out, no price
    b.jsonl
      host       claude
      records    8
      time       2026-03-01 10:00 UTC to 2026-03-01 10:00 UTC (7 s)
      human      1 prompt, 0 interrupts, 0 compactions
      calls      3, and 0 by subagents
      tools      Bash 3
      tokens     9 in, 0 from the cache, 0 into it, 300,000 out
      cost       $5.05 at list prices
                 claude-opus-5: 6 in, 0 from the cache, 0 into it, 200,000 out, $5.00
                 claude-haiku-5-5: 3 in, 0 from the cache, 0 into it, 100,000 out, $0.05
    total of 2 sessions, and 1 file of subagents
      hosts      claude 2
      records    14
      time       2026-03-01 10:00 UTC to 2026-03-01 10:00 UTC (7 s)
      human      2 prompts, 0 interrupts, 0 compactions
      calls      5, and 1 by subagents
      tools      Bash 5
      tokens     12 in, 0 from the cache, 0 into it, 340,000 out
      cost       $3.55 at list prices; no price for nobodys-model
                 claude-opus-5: 6 in, 0 from the cache, 0 into it, 140,000 out, $3.50
                 claude-haiku-5-5: 3 in, 0 from the cache, 0 into it, 100,000 out, $0.05
                 nobodys-model: 3 in, 0 from the cache, 0 into it, 100,000 out, no price
    "#);
    let total = sandbox.ok(&["transcript", "stats", "a.jsonl", "b.jsonl", "--total", "--json"]);
    let total: Value = serde_json::from_str(&total).unwrap();
    assert_eq!(
        [&total["sessions"], &total["subagent_files"], &total["unpriced"], &total["tool_calls"]],
        [&json!(2), &json!(1), &json!(["nobodys-model"]), &json!(5)]
    );
    // Message 0 is in both files; message 1 has another model in each, and its first one counts.
    assert_eq!(total["cost_usd"], json!(3.55003));
}

#[test]
fn what_a_hook_refused_is_refused_and_a_refused_stop_is_shown() {
    let sandbox = Sandbox::bare();
    let denied = "PreToolUse:Bash hook error: The human said: \\\"don't commit\\\". `git commit` is not run.";
    let rows = session("/repo", &["git commit -m false"]).replace("\"Exit code 1\"", &format!("\"{denied}\""));
    let stop = json!({"type": "attachment", "sessionId": "s-1", "cwd": "/repo", "timestamp": "2026-03-01T10:00:09.000Z",
        "attachment": {"type": "hook_blocking_error", "hookName": "Stop", "hookEvent": "Stop", "blockingError":
            {"blockingError": "2 of 2 tasks are open.", "command": "/usr/bin/steadfast hook --host claude Stop"}}});
    let feedback = json!({"type": "attachment", "sessionId": "s-1", "cwd": "/repo", "timestamp": "2026-03-01T10:00:12.000Z",
        "attachment": {"type": "hook_additional_context", "hookEvent": "Stop", "content": ["1 of 2 tasks is open."]}});
    fs::write(sandbox.root().join("a.jsonl"), format!("{rows}{stop}\n{feedback}\n")).unwrap();
    insta::assert_snapshot!(sandbox.ok(&["transcript", "show", "a.jsonl"]), @r#"
    session s-1
    Sun 2026-03-01, UTC
    10:00:00  human       Fix the Auth bug.
    10:00:01  Bash        git commit -m false                                                    refused
                          The human said: "don't commit". `git commit` is not run.
    10:00:03  agent       Fixed.
    10:00:09  host        Steadfast refuses the stop: 2 of 2 tasks are open.
    10:00:12  host        a hook refuses the stop: 1 of 2 tasks is open.
    "#);
    let json = sandbox.ok(&["transcript", "show", "a.jsonl", "--json"]);
    let calls: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls[1]["result"], "refused");
}

#[test]
fn a_timeline_says_when_who_and_what() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &["ls\nsrc", "cargo test || false"])).unwrap();
    insta::assert_snapshot!(sandbox.ok(&["transcript", "show", "a.jsonl"]), @r"
    session s-1
    Sun 2026-03-01, UTC
    10:00:00  human       Fix the Auth bug.
    10:00:01  Bash        ls src                                                                   1.0 s
    10:00:03  Bash        cargo test || false                                               1.0 s failed
                          Exit code 1
    10:00:05  agent       Fixed.
    ");
    let json = sandbox.ok(&["transcript", "show", "a.jsonl", "--json"]);
    let calls: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        calls[2],
        json!({"at": 1_772_359_203_000_i64, "agent": null, "who": "call", "text": "cargo test || false", "tool": "Bash",
            "result": "failed", "millis": 1000})
    );
    assert_eq!(sandbox.ok(&["transcript", "show", "a.jsonl", "--human"]).lines().count(), 3);
}

#[test]
fn what_a_subagent_did_is_shown_in_its_place() {
    let sandbox = Sandbox::bare();
    let folder = sandbox.root().join("a/subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(sandbox.root().join("a.jsonl"), session("/repo", &["ls"])).unwrap();
    let aside = session("/repo", &["pwd"]).replace("{\"cwd\"", "{\"isSidechain\":true,\"agentId\":\"x\",\"cwd\"");
    fs::write(folder.join("agent-x.jsonl"), aside.replace("c-0", "d-0")).unwrap();
    insta::assert_snapshot!(sandbox.ok(&["transcript", "show", "a.jsonl"]), @r"
    session s-1
    Sun 2026-03-01, UTC
    10:00:00  human       Fix the Auth bug.
    10:00:01  Bash        ls                                                                       1.0 s
    10:00:01  > Bash      pwd                                                                      1.0 s
    10:00:03  agent       Fixed.
    10:00:03  > agent     Fixed.
    ");
}

#[test]
fn the_newest_session_is_shown_where_none_is_named() {
    let sandbox = with_sessions();
    let codex = sandbox.home().join(".codex/sessions/2026/03/02/rollout-2026-03-02-t-1.jsonl");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    fs::File::options().append(true).open(codex).unwrap().set_modified(later).unwrap();
    let said = sandbox.ok(&["transcript", "show"]);
    assert!(said.contains("and the theme"), "{said}");
}

#[test]
fn what_was_said_is_found_in_whichever_session() {
    let sandbox = with_sessions();
    let said = sandbox.ok(&["transcript", "find", "auth"]);
    assert_eq!(said.matches("human: Fix the Auth bug.").count(), 2, "{said}");
    let theme = sandbox.ok(&["transcript", "find", "theme", "--json"]);
    let place: Value = serde_json::from_str(&theme).unwrap();
    assert_eq!(
        (&place["session"], &place["who"], &place["text"]),
        (&json!("t-1"), &json!("human"), &json!("and the theme"))
    );
    // A command is found too, and what nobody said is not.
    let folder = sandbox.home().join(".claude");
    let folder = folder.to_str().unwrap();
    assert_eq!(sandbox.ok(&["transcript", "find", "cargo TEST", folder]).lines().count(), 0);
    assert_eq!(sandbox.ok(&["transcript", "find", "cargo test", folder]).lines().count(), 2);
    assert_eq!(sandbox.ok(&["transcript", "find", "exit code", folder]).lines().count(), 2);
}

#[test]
fn what_is_not_read_is_named_and_the_rest_is_read() {
    let sandbox = Sandbox::bare();
    let copilot = json!({"type": "session.start", "data": {"sessionId": "x", "producer": "copilot-agent"}});
    fs::write(sandbox.root().join("copilot.jsonl"), format!("{copilot}\n")).unwrap();
    fs::write(sandbox.root().join("claude.jsonl"), session("/repo", &["ls"])).unwrap();
    let output = sandbox.run(&["transcript", "stats", "copilot.jsonl", "claude.jsonl", "--json"]);
    assert!(output.status.success());
    assert_eq!(files(&String::from_utf8(output.stdout).unwrap()), ["claude.jsonl"]);
    let aside = String::from_utf8(output.stderr).unwrap();
    assert_eq!(aside, "`copilot.jsonl` is a session of GitHub Copilot, which Steadfast cannot read yet\n");

    let (code, said) = sandbox.fails(&["transcript", "show", "copilot.jsonl"]);
    assert_eq!(code, 1);
    assert!(said.contains("error: cannot read any session, for the reasons above\n\nhint: "), "{said}");
    let (code, said) = sandbox.fails(&["transcript", "stats", "absent.jsonl"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: cannot read `absent.jsonl`: No such file or directory (os error 2)

    hint: give a transcript, or a folder of transcripts
    ");
    let (code, said) = sandbox.fails(&["transcript", "find", ""]);
    assert_eq!(code, 64);
    insta::assert_snapshot!(said, @r"
    error: the text is empty

    hint: `steadfast transcript find TEXT` searches messages, calls and answers of failed calls
    ");
    let output = sandbox.run(&["transcript", "find", "unheard of", "claude.jsonl"]);
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r"
    `unheard of` not found in 1 session
    ");
}

#[test]
fn what_a_terminal_would_obey_is_shown_and_not_obeyed() {
    let sandbox = Sandbox::bare();
    let text = session("/repo", &["printf '\u{1b}[2J'"]).replace("Fix the Auth bug.", "\\u001b]0;owned\\u0007 look");
    fs::write(sandbox.root().join("a.jsonl"), text).unwrap();
    for arguments in [&["transcript", "show", "a.jsonl"][..], &["transcript", "find", "look", "a.jsonl"]] {
        let said = sandbox.ok(arguments);
        assert!(!said.contains('\u{1b}') && !said.contains('\u{7}'), "{said:?}");
    }
}
