//! `steadfast run --proxy`, as far as no real host is needed.

use serde_json::Value;

use crate::run::{progress, task, with_spec};
use crate::sandbox::{Sandbox, write_program};

fn sandbox() -> Sandbox {
    with_spec(&[("1", &[], vec![task("1.1", "test -s 1.1.txt")])])
}

#[test]
fn the_simulated_agent_calls_no_model_and_needs_no_proxy() {
    let sandbox = sandbox();
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim", "--proxy"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("note: the simulated agent calls no model, so it has no proxy"), "{said}");
    assert!(!said.contains("behind a proxy"), "{said}");
    let shown = progress(&sandbox);
    assert_eq!((&shown["state"], &shown["proxy"]), (&Value::from("complete"), &Value::from(false)), "{shown}");
}

#[test]
fn an_agent_that_cannot_be_behind_a_proxy_is_refused_before_the_run_starts() {
    let sandbox = sandbox();
    let beside = |name: &str| sandbox.binary().with_file_name(name);
    write_program(&beside("claude"), "touch started; exit 1");
    write_program(&beside("codex"), "echo 'Not logged in'; exit 1");
    let said = |arguments: &[&str], variable: (&str, &str)| {
        let output = sandbox.command().args(arguments).env(variable.0, variable.1).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let bedrock = ("CLAUDE_CODE_USE_BEDROCK", "1");
    let run = ["run", "SPEC.json", "--host", "claude"];
    insta::assert_snapshot!(said(&[&run[..], &["--proxy"]].concat(), bedrock), @"
    error: `CLAUDE_CODE_USE_BEDROCK` is set, and the proxy cannot stand between Claude Code and that service

    hint: start the agent without the proxy; its hooks work as always

    hint: `steadfast run --no-proxy` starts the agents without proxies
    ");
    sandbox.set_own("[run]\nproxy = true\n");
    let of_setting = said(&run, bedrock);
    assert_eq!(of_setting, said(&[&run[..], &["--proxy"]].concat(), bedrock));
    insta::assert_snapshot!(said(&["run", "SPEC.json", "--host", "codex"], ("A", "b")), @"
    error: Codex is not logged in, so its service is unknown

    hint: `codex login` logs in

    hint: `steadfast run --no-proxy` starts the agents without proxies
    ");
    assert_eq!(progress(&sandbox)["run"], Value::Null, "a run was created");
    assert!(!sandbox.root().join("started").exists());
    let (code, said) = sandbox.fails(&["run", "SPEC.json", "--proxy", "--no-proxy"]);
    assert_eq!(code, 64, "{said}");
    // The option beats the setting: the agent is started, and fails by itself.
    let output = sandbox.command().args(run).arg("--no-proxy").env(bedrock.0, bedrock.1).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the agent died: exited with 1") && !said.contains("proxy"), "{said}");
    assert_eq!(progress(&sandbox)["proxy"], false);
}

#[test]
fn what_claude_code_lacks_behind_a_proxy_is_said_once() {
    let sandbox = sandbox();
    write_program(&sandbox.binary().with_file_name("claude"), "exit 1");
    let said = |arguments: &[&str]| String::from_utf8(sandbox.run(arguments).stderr).unwrap();
    let first = said(&["run", "SPEC.json", "--host", "claude", "--proxy"]);
    assert!(first.contains(", each agent behind a proxy, ") && first.contains("no Remote Control"), "{first}");
    assert_eq!(progress(&sandbox)["proxy"], true);
    // A resumed run is behind proxies again, unless it is told otherwise.
    sandbox.ok(&["task", "unblock", "1.1"]);
    let again = said(&["resume"]);
    assert!(again.contains(", each agent behind a proxy, ") && !again.contains("Remote Control"), "{again}");
    sandbox.ok(&["task", "unblock", "1.1"]);
    assert!(!said(&["resume", "--no-proxy"]).contains("behind a proxy"));
    assert_eq!(progress(&sandbox)["proxy"], false);
}
