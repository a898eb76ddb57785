use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const PROTECT: [&str; 4] = ["guard", "check", "--protect", "SPEC.md"];

fn check(sandbox: &Sandbox, command: &str) -> (i32, String) {
    let output = sandbox.run(&[PROTECT.as_slice(), &["--", command]].concat());
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), sandbox.without_paths(&said))
}

#[test]
fn what_writes_is_underlined_and_the_exit_code_is_the_verdict() {
    let sandbox = Sandbox::bare();
    let mut all = String::new();
    for command in [
        "cat SPEC.md > /dev/null",
        "echo done > SPEC.md",
        "cd docs && sed -i s/a/b/ ../SPEC.md",
        "bash -c 'rm SPEC.md'",
        "make test",
        "eval \"$CMD\"",
        "echo 'a -> b > SPEC.md'",
        "if true; then",
    ] {
        let (code, said) = check(&sandbox, command);
        all += &format!("$ {command}\n{said}= {code}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_json_has_the_keys_it_promises_one_and_many() {
    let sandbox = Sandbox::bare();
    let one = sandbox.run(&[PROTECT.as_slice(), &["--json", "--", "tee SPEC.md"]].concat());
    let one: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(one["verdict"], "deny");
    assert_eq!(one["effects"][0]["op"], "write");
    assert_eq!(one["effects"][0]["certain"], true);
    assert!(one["effects"][0]["path"].is_string() && one["effects"][0]["via"].is_string() && one["reason"].is_string());

    let mut child = sandbox
        .command()
        .args(["guard", "check", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = [json!({"command": "ls", "protect": ["a"]}), json!({"command": "rm a", "protect": ["a"]})];
    for line in &lines {
        writeln!(child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let verdicts: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["allow", "deny"]);
}

#[test]
fn a_line_that_is_no_question_is_named() {
    let sandbox = Sandbox::bare();
    let mut child = sandbox
        .command()
        .args(["guard", "check", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"command\": 7}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(said, @r#"
    error: line 1 is not `{"command", "protect": […]}`: invalid type: integer `7`, expected a string at line 1 column 13

    hint: every line is one object: `{"command": "rm a", "protect": ["a"]}`; the lines before it have their verdicts
    "#);
}
