//! Agents that `proxy` starts, and the proxy without one.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use steadfast_sim::{Scenario, ScriptedModel};
use steadfast_testkit::wait_for;

use crate::sandbox::{Sandbox, write_program};

/// A sandbox with a service that needs no certificates, for an agent that is `sh`.
fn proxied(sandbox: &Sandbox, script: &str) -> Command {
    let mut command = sandbox.command();
    command.args(["proxy", "--upstream", "http://127.0.0.1:9", "--", "sh", "-c", script]);
    command
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// The state of a process as the system shows it: `S` for asleep, `T` for stopped.
fn state(process: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}

fn ready(sandbox: &Sandbox) {
    wait_for("the agent", || {
        let started = sandbox.root().join("started").exists();
        started.then_some(()).ok_or_else(|| "it has not started".to_owned())
    });
}

fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_exit_code_is_the_agents() {
    let sandbox = Sandbox::bare();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137)] {
        let output = proxied(&sandbox, script).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{script}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said, "warning: no answer of a model came through the proxy, so nothing was seen\n");
    }
    let (code, said) = sandbox.fails(&["proxy", "--upstream", "http://127.0.0.1:9", "--", "no-such-agent"]);
    assert_eq!(code, 1);
    assert_eq!(
        said,
        "error: cannot start `no-such-agent`: No such file or directory (os error 2)\n\n\
         hint: check the name of the agent after `--`\n"
    );
}

#[test]
fn every_word_after_the_agents_name_is_the_agents() {
    let sandbox = Sandbox::bare();
    let script = "printf '%s|' \"$@\"";
    for start in
        [&["proxy", "--upstream", "http://127.0.0.1:9", "--"][..], &["proxy", "--upstream", "http://127.0.0.1:9"]]
    {
        let words = ["sh", "-c", script, "sh", "-p", "--listen", "--", "--", "a b"];
        assert_eq!(sandbox.ok(&[start, &words].concat()), "-p|--listen|--|--|a b|");
    }
}

#[test]
fn the_agent_has_the_input_and_the_output_of_the_command() {
    let sandbox = Sandbox::bare();
    let mut child = proxied(&sandbox, "cat; echo \"$ANTHROPIC_BASE_URL $OPENAI_BASE_URL\"")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"typed\n").unwrap();
    let (code, said) = end(child);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((code, lines[0]), (Some(0), "typed"));
    let urls: Vec<&str> = lines[1].split(' ').collect();
    assert!(urls.iter().all(|url| url.starts_with("http://127.0.0.1:")) && urls[0] != urls[1], "{urls:?}");
}

#[test]
fn signals_reach_the_agent() {
    for name in ["TERM", "HUP", "INT", "USR1"] {
        let sandbox = Sandbox::bare();
        let script = format!("trap 'echo {name}; exit 5' {name}; touch started; while :; do sleep 0.01; done");
        let child = proxied(&sandbox, &script).stdout(Stdio::piped()).spawn().unwrap();
        ready(&sandbox);
        signal(child.id(), &format!("-{name}"));
        assert_eq!(end(child), (Some(5), format!("{name}\n")));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_stops_stops_the_command_and_continues_with_it() {
    let sandbox = Sandbox::bare();
    let child =
        proxied(&sandbox, "touch started; kill -STOP $$; echo continued").stdout(Stdio::piped()).spawn().unwrap();
    ready(&sandbox);
    wait_for("the command to stop", || {
        let state = state(child.id());
        if state == "T" { Ok(()) } else { Err(state) }
    });
    signal(child.id(), "-CONT");
    assert_eq!(end(child), (Some(0), "continued\n".to_owned()));
}

#[test]
fn what_cannot_be_behind_the_proxy_is_refused_with_the_reason() {
    let sandbox = Sandbox::bare();
    write_program(&sandbox.binary().with_file_name("codex"), "echo 'Not logged in'; exit 1");
    fs::create_dir_all(sandbox.root().join(".claude")).unwrap();
    let settings = r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}"#;
    fs::write(sandbox.root().join(".claude/settings.json"), settings).unwrap();
    let said = |arguments: &[&str]| sandbox.fails(arguments).1;
    insta::assert_snapshot!(said(&["proxy", "--", "claude"]), @"
    error: `CLAUDE_CODE_USE_BEDROCK` is set, and the proxy cannot stand between Claude Code and that service

    hint: start the agent without the proxy; its hooks work as always
    ");
    insta::assert_snapshot!(said(&["proxy", "--", "codex"]), @"
    error: Codex is not logged in, so its service is unknown

    hint: `codex login` logs in
    ");
    insta::assert_snapshot!(said(&["proxy", "--upstream", "ftp://x", "--", "sh"]), @"
    error: `ftp://x` is not an http or https address

    hint: a service is named like `https://api.anthropic.com`
    ");
    insta::assert_snapshot!(said(&["proxy", "--upstream", "http://x", "--listen", "0.0.0.0:0"]), @"
    error: 0.0.0.0:0 is not an address of this machine only; use 127.0.0.1 or [::1]

    hint: the proxy serves this machine only
    ");
    assert_eq!(sandbox.fails(&["proxy"]).0, 64);
    assert_eq!(sandbox.fails(&["proxy", "--listen", "127.0.0.1:0"]).0, 64);
}

#[test]
fn only_a_known_agent_can_be_corrected() {
    let sandbox = Sandbox::new();
    let enforced = ["proxy", "--upstream", "http://127.0.0.1:9", "--mode", "enforce", "--", "true"];
    let (code, said) = sandbox.fails(&enforced);
    assert_eq!(code, 1);
    assert!(said.contains("the rules do not know the tools of this agent"), "{said}");
    sandbox.set_own("[proxy]\nmode = \"enforce\"\n");
    let enforced = ["proxy", "--upstream", "http://127.0.0.1:9", "--", "true"];
    assert_eq!(sandbox.fails(&enforced), (code, said));
    sandbox.ok(&["proxy", "--upstream", "http://127.0.0.1:9", "--mode", "observe", "--", "true"]);
    let advised = ["proxy", "--upstream", "http://127.0.0.1:9", "--mode", "advise", "--", "true"];
    assert_eq!(sandbox.fails(&advised).0, 1);
    assert_eq!(sandbox.fails(&["proxy", "--mode", "strict", "--", "true"]).0, 64);
}

#[test]
fn an_agent_cannot_start_it() {
    let sandbox = Sandbox::new();
    let output = sandbox.as_agent("s", &["proxy", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn without_an_agent_it_serves_until_it_is_ended() {
    let sandbox = Sandbox::bare();
    let model = ScriptedModel::start(Scenario::new("talks").prompt("-").say("Hello.")).unwrap();
    let mut command = sandbox.command();
    command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &model.url()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let (address, token) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "HEAD {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(ask("/0123456789abcdef/api/hello"), "HTTP/1.1 404 Not Found");
    assert_eq!(model.requests().len(), 0);
    ask(&format!("/{token}/api/hello"));
    assert_eq!(model.requests().len(), 1);
    signal(child.id(), "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let written = String::from_utf8(output.stderr).unwrap();
    assert!(written.starts_with("warning: no answer of a model"), "{written}");
}

#[test]
fn status_names_the_requests_that_a_running_proxy_did_not_read() {
    let sandbox = Sandbox::new();
    let script = "echo \"$ANTHROPIC_BASE_URL\" > url; mv url started; while test ! -e go; do sleep 0.01; done";
    let mut command = proxied(&sandbox, script);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    ready(&sandbox);
    let url = fs::read_to_string(sandbox.root().join("started")).unwrap();
    let (host, token) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let ask = |method: &str, path: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("{method} /{token}{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        stream.write_all(format!("{head}content-length: 2\r\n\r\n{{}}").as_bytes()).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    };
    ask("GET", "/v1/models");
    assert!(!sandbox.ok(&["status"]).contains("did not read"));
    ask("POST", "/v1beta/models/g:streamGenerateContent?alt=sse");
    ask("POST", "/v1beta/models/g:streamGenerateContent");
    ask("POST", "/v1/messages");
    let line = "did not read 2 requests, which have an unknown format: /v1beta/models/g:streamGenerateContent\n";
    wait_for("the second request", || {
        let said = sandbox.ok(&["status"]);
        if said.contains(line) { Ok(()) } else { Err(said) }
    });
    let status: serde_json::Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(status["unseen"][0]["pid"], child.id());
    assert_eq!(status["unseen"][0]["requests"]["/v1beta/models/g:streamGenerateContent"], 2);
    fs::write(sandbox.root().join("go"), "").unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    let expected = "warning: no answer of a model came through the proxy, so nothing was seen; not read, in an unknown \
                    format: 2 requests to /v1beta/models/g:streamGenerateContent\n";
    assert_eq!(said, expected);
    assert!(!sandbox.ok(&["status"]).contains("did not read"), "its proxy has ended");
}

#[test]
fn a_recording_is_a_new_file_that_only_its_user_can_read_and_replay_knows_it() {
    let sandbox = Sandbox::bare();
    let record = ["proxy", "--upstream", "http://127.0.0.1:9", "--record", "session.jsonl", "--", "true"];
    let output = sandbox.run(&record);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.ends_with("recorded 0 exchanges in session.jsonl (1 kB)\n"), "{said}");
    let mode = fs::metadata(sandbox.root().join("session.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    insta::assert_snapshot!(sandbox.fails(&record).1, @"
    error: `session.jsonl` exists

    hint: name a new file: a recording never replaces one
    ");
    let replayed = sandbox.run(&["replay", "session.jsonl"]);
    assert_eq!(String::from_utf8(replayed.stderr).unwrap(), "0 actions, 0 steps, 0 verdicts\n");
    // An agent that cannot be started leaves no file.
    for (upstream, agent) in [("ftp://x", "true"), ("http://127.0.0.1:9", "no-such-agent")] {
        let (code, _) = sandbox.fails(&["proxy", "--upstream", upstream, "--record", "other.jsonl", "--", agent]);
        assert_eq!((code, sandbox.root().join("other.jsonl").exists()), (1, false));
    }
}
