use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use steadfast_model::Millis;
use steadfast_store::log_line;
use steadfast_testkit::{PATIENCE, wait_for};

use crate::sandbox::Sandbox;

/// Session `s-1` is offered a task, takes it, and is refused a stop.
fn with_history() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "Write the parser"]);
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Please do the tasks."}));
    assert!(sandbox.stop_is_refused("s-1"));
    sandbox
}

/// The first words of each line, without the time and the text.
fn words(said: &str) -> Vec<String> {
    let of = |line: &str| {
        let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
        columns[1..columns.len() - 1].join(" ")
    };
    said.lines().map(of).collect()
}

fn verdicts(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let said = sandbox.ok(&[&["log", "--json"], arguments].concat());
    said.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_verdict_is_a_line_the_newest_last() {
    let sandbox = with_history();
    let said = sandbox.ok(&["log"]);
    insta::assert_snapshot!(words(&said).join("\n"), @r"
    s-1 - SessionStart completion enforce context
    s-1 - UserPromptSubmit completion enforce context
    s-1 - Stop completion enforce continue
    ");
    let last = said.lines().last().unwrap();
    assert!(last.starts_with("20") && last.as_bytes()[10] == b' ' && last.as_bytes()[13] == b':', "{last}");
    assert!(last.ends_with("  1 of 1 tasks is open: 1 Write the parser. Next is 1. `steadfast task done 1` closes it, `steadfast task block 1 --why REASON` sets it aside. (refusal 1 of 50)"), "{last}");
}

#[test]
fn the_json_has_the_keys_it_promises() {
    let sandbox = with_history();
    log_line(&sandbox.place(), Millis(1_000), "something");
    let said = sandbox.ok(&["log", "--json", "--problems"]);
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let promised = ["agent", "at", "event", "facts", "mode", "policy", "reason", "sequence", "session", "verdict"];
        assert_eq!(keys, promised);
        assert!(line["at"].is_i64());
    }
    let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["at"], &first["verdict"], &first["reason"]),
        (&json!(1_000), &json!("problem"), &json!("something"))
    );
}

#[test]
fn lines_can_be_narrowed() {
    let sandbox = with_history();
    sandbox.hook("SessionStart", "t-2", json!({"source": "startup"}));
    assert_eq!(verdicts(&sandbox, &[]), ["context", "context", "continue"]);
    assert_eq!(verdicts(&sandbox, &["--verdict", "continue"]), ["continue"]);
    assert_eq!(verdicts(&sandbox, &["--verdict", "continue", "--verdict", "context"]).len(), 3);
    assert_eq!(verdicts(&sandbox, &["--session", "s-1", "--limit", "2"]), ["context", "continue"]);
    assert_eq!(verdicts(&sandbox, &["--session", "t"]), [""; 0]);
    assert_eq!(verdicts(&sandbox, &["--policy", "completion", "--limit", "1"]), ["continue"]);
    assert_eq!(verdicts(&sandbox, &["--since", "2h"]).len(), 3);
    assert_eq!(verdicts(&sandbox, &["--since", "2000-01-01T00:00:00+02:00"]).len(), 3);
    assert_eq!(verdicts(&sandbox, &["--since", "2200-01-01"]), [""; 0]);
    assert_eq!(verdicts(&sandbox, &["--limit", "0"]), [""; 0]);
}

#[test]
fn what_hooks_could_not_do_stands_in_between() {
    let sandbox = with_history();
    let now = Millis(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis().try_into().unwrap());
    log_line(&sandbox.place(), Millis(now.0 - 3_600_000), "cannot drain the journal: \u{1b}[2Jlocked");
    assert!(!sandbox.ok(&["log"]).contains("problem"));
    let said = sandbox.ok(&["log", "--problems"]);
    let first = said.lines().next().unwrap();
    assert!(first.contains("  problem   cannot drain the journal:  [2Jlocked"), "{first}");
    assert_eq!(said.lines().count(), 4);
    assert!(!sandbox.ok(&["log", "--problems", "--since", "30m"]).contains("problem"));
    assert_eq!(sandbox.ok(&["log", "--problems", "--limit", "3"]), sandbox.ok(&["log"]));
}

#[test]
fn an_empty_log_says_so_beside_the_data() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["log"]);
    assert!(output.status.success() && output.stdout.is_empty());
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"no verdicts");
}

#[test]
fn what_is_not_understood_is_said_with_what_would_be() {
    let sandbox = Sandbox::new();
    let usage = |arguments: &[&str]| {
        let (code, said) = sandbox.fails(arguments);
        assert_eq!(code, 64, "{said}");
        said.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(usage(&["log", "--since", "yesterday"]), @"error: invalid value 'yesterday' for '--since <WHEN>': expected `30m`, `2h`, `7d`, or a time as in `2026-07-28T09:30:00Z`");
    insta::assert_snapshot!(usage(&["log", "--verdict", "pass"]), @r"
    error: invalid value 'pass' for '--verdict <VERDICT>'
      [possible values: note, context, ask, continue, deny]
    ");
    let said = usage(&["log", "--policy", "mood"]);
    assert!(
        said.starts_with("error: invalid value 'mood' for '--policy <POLICY>': unknown variant `mood`, expected"),
        "{said}"
    );
    assert!(said.contains("`completion`"), "{said}");
    usage(&["log", "--limit", "many"]);
    usage(&["log", "stray"]);
    assert_eq!(sandbox.fails(&["log", "--session", "x"]).0, 1);
    insta::assert_snapshot!(Sandbox::bare().fails(&["log"]).1, @r"
    error: steadfast is not set up for `/repo`

    hint: `steadfast init` sets it up; it shows what it changes first
    ");
}

#[test]
fn the_help_promises_stable_keys() {
    let sandbox = Sandbox::bare();
    for command in ["log", "why"] {
        let help = sandbox.ok(&[command, "--help"]);
        assert!(help.contains("stable keys"), "{help}");
    }
}

/// `log --follow`, and its lines as they come. It is ended with the test.
struct Following {
    child: Child,
    lines: Receiver<String>,
}

impl Following {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command();
        let mut child = command.args(["log", "--follow"]).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn following_shows_what_was_and_each_new_line_once() {
    let sandbox = with_history();
    let following = Following::start(&sandbox, &["--limit", "1", "--problems"]);
    let first = following.next();
    assert!(first.contains("Stop") && first.contains("(refusal 1 of 50)"), "{first}");
    assert_eq!(&first[13..14], ":", "its time is exact: {first}");

    assert!(sandbox.stop_is_refused("s-1"));
    let second = following.next();
    assert!(second.ends_with("(refusal 2 of 50)"), "{second}");
    sandbox.ok(&["status"]);
    sandbox.hook("SessionEnd", "s-1", json!({"reason": "exit"}));
    sandbox.hook("SessionStart", "s-2", json!({"source": "startup"}));
    let third = following.next();
    assert!(third.contains("  s-2"), "a session that is new: {third}");
    log_line(&sandbox.place(), Millis(0), "something");
    let problem = following.next();
    assert!(problem.starts_with("1970-01-01 00:00:00  -") && problem.ends_with("problem   something"), "{problem}");
    // What came twice would come before these.
    for second in 1..=2 {
        log_line(&sandbox.place(), Millis(1_000 * second), "more");
        assert!(following.next().starts_with(&format!("1970-01-01 00:00:0{second}  -")));
    }
    assert_eq!(following.lines.try_iter().collect::<Vec<_>>(), [""; 0], "nothing twice");
}

#[test]
fn following_keeps_to_its_filters() {
    let sandbox = with_history();
    let following = Following::start(&sandbox, &["--session", "s-1", "--verdict", "continue", "--json"]);
    let sequence =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["reason"].as_str().unwrap().contains("refusal 1 of");
    assert!(sequence(&following.next()));
    sandbox.hook("SessionStart", "s-1", json!({"source": "compact"}));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "go on"}));
    assert!(sandbox.stop_is_refused("s-1"));
    assert!(sequence(&following.next()));
}

#[test]
fn following_ends_when_nobody_reads_also_with_nothing_to_say() {
    let sandbox = with_history();
    let mut command = sandbox.command();
    let child = command.args(["log", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut following = Following { child, lines: channel().1 };
    let mut output = following.child.stdout.take().unwrap();
    output.read_exact(&mut [0]).unwrap();
    drop(output);
    let status = wait_for("its end", || following.child.try_wait().unwrap().ok_or_else(|| "it goes on".to_owned()));
    assert!(status.success());
}

#[test]
fn a_pipe_that_closes_is_no_failure() {
    let sandbox = with_history();
    for arguments in [&["log"][..], &["log", "--json"], &["why"], &["why", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.command().args(arguments).stdout(writer).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}
