//! A human's commands inside an agent's call: the table alone says which they are.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use steadfast_model::{Claim, Host, Millis, SessionId, ToolUseId, human_commands};
use steadfast_store::leave_claim;

use crate::sandbox::Sandbox;

/// A call of this row that is understood: each value that the help names in its usage is `1`.
fn call(sandbox: &Sandbox, row: &str) -> Vec<String> {
    let (flags, words): (Vec<&str>, Vec<&str>) = row.split(' ').partition(|word| word.starts_with('-'));
    let help = sandbox.ok(&[&words[..], &["--help"]].concat());
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: steadfast ")).unwrap();
    let wanted = usage.split(' ').filter(|word| *word != "[OPTIONS]");
    let value = |word| if str::starts_with(word, ['<', '[']) { "1" } else { word };
    wanted.map(value).chain(flags).map(str::to_owned).collect()
}

/// Every file of the repository and the home, and where every link leads: many lead to the program.
fn files(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![sandbox.root(), sandbox.home()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let content = match fs::read_link(&path) {
                Ok(target) => target.into_os_string().into_encoded_bytes(),
                Err(_) if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                Err(_) => fs::read(&path).unwrap(),
            };
            found.push((path, content));
        }
    }
    found.sort();
    found
}

fn is_refused(sandbox: &Sandbox, row: &str, output: &Output) {
    let said = sandbox.without_paths(&output.stderr);
    assert_eq!(
        said,
        format!(
            "error: only a human can run `steadfast {row}`, and this is an agent's call\n\n\
             hint: a human runs `steadfast {row}` in a separate terminal\n"
        )
    );
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{row}");
}

#[test]
fn every_row_for_a_human_is_refused_to_an_agent_and_changes_nothing() {
    let set_up = Sandbox::new();
    set_up.ok(&["task", "add", "One", "--verify", "false"]);
    let bare = Sandbox::bare();
    for sandbox in [set_up, bare] {
        let before = files(&sandbox);
        for row in human_commands() {
            let output = sandbox.command().args(call(&sandbox, row)).env("CLAUDECODE", "1").output().unwrap();
            is_refused(&sandbox, row, &output);
        }
        assert_eq!(files(&sandbox), before);
    }
}

/// An agent runs this right now.
fn leave(sandbox: &Sandbox, command: &str) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let claim = Claim {
        call: ToolUseId::new("call-1"),
        session: SessionId::new("s-1"),
        agent: None,
        host: Host::Claude,
        cwd: sandbox.root().display().to_string(),
        command: command.to_owned(),
        at: Millis(now.try_into().unwrap()),
    };
    leave_claim(&sandbox.place(), &claim).unwrap();
}

#[test]
fn every_row_for_a_human_is_refused_by_the_claim_of_its_call_alone() {
    let sandbox = Sandbox::new();
    for row in human_commands() {
        // Of a task the claim has to name which one.
        let names_task = row.starts_with("task ") && !row.contains(" --");
        let said = if names_task { call(&sandbox, row).join(" ") } else { row.to_owned() };
        leave(&sandbox, &format!("env -i steadfast {said}"));
        let output = sandbox.command().args(call(&sandbox, row)).output().unwrap();
        is_refused(&sandbox, row, &output);
    }
}

#[test]
fn a_human_unblocks_a_task_while_an_agent_is_at_another() {
    let sandbox = Sandbox::new();
    for task in ["One", "Two"] {
        sandbox.ok(&["task", "add", task]);
    }
    sandbox.ok(&["task", "block", "1", "--why", "the key is missing"]);
    leave(&sandbox, "steadfast task unblock 2");
    sandbox.ok(&["task", "unblock", "1"]);
}

#[test]
fn where_steadfast_is_not_set_up_a_human_is_told_so() {
    let sandbox = Sandbox::bare();
    let (code, said) = sandbox.fails(&["plan", "clear"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("error: steadfast is not set up for `/repo`"), "{said}");
}
