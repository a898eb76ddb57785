//! Steadfast's own state, and who may run which command.
//!
//! This sees the plain spellings coming. What is dressed up (`env -u`, a script, `base64 | sh`) is refused by the
//! command itself, which looks at its environment, its ancestors and the claim of its call.

use steadfast_model::{
    Action, Direction, Event, EventKind, Facts, Mode, Needs, PolicyName, Rules, State, Verdict, human_command,
};

use super::{Judgement, Policy};
use crate::claim;

#[derive(Debug)]
pub(super) struct Integrity;

impl Policy for Integrity {
    fn name(&self) -> PolicyName {
        PolicyName::Integrity
    }

    fn direction(&self) -> Direction {
        Direction::Gate
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.integrity
    }

    fn needs(&self, _state: &State, _event: &Event) -> Needs {
        Needs::default()
    }

    fn judge(&self, _state: &State, event: &Event, _facts: &Facts) -> Judgement {
        let EventKind::PreTool(call) = &event.kind else { return Judgement::default() };
        let refused = match &call.action {
            Action::Shell { command } => humans_command(command),
            Action::Write { paths } => paths.iter().find(|path| is_state(path)).map(|path| {
                format!("{path} is Steadfast's own state. `steadfast task` and `steadfast status` show what is in it.")
            }),
            _ => None,
        };
        refused.map_or_else(Judgement::default, |reason| Judgement::of(Verdict::Deny { reason }))
    }
}

fn humans_command(line: &str) -> Option<String> {
    let mut calls = claim::calls(line).filter(|(before, _)| is_run(before));
    let command = calls.find_map(|(_, after)| human_command(words(after)))?;
    Some(format!(
        "`steadfast {command}` is for a human. If it is needed, say so; a human runs it in a terminal of their own."
    ))
}

/// Whether what comes next is run, and not only spoken of: between it and the beginning of its simple command stand
/// nothing but assignments, options and programs that run another. `git commit -m "steadfast off"` runs nothing.
fn is_run(before: &str) -> bool {
    const RUNNERS: [&str; 16] = [
        "env", "sudo", "doas", "nohup", "setsid", "exec", "command", "time", "timeout", "nice", "xargs", "eval",
        "bash", "sh", "zsh", "dash",
    ];
    let start = before.rfind(['\n', ';', '|', '&', '(', '`', '{']).map_or(0, |at| at + 1);
    let segment = &before[start..];
    // The folder of the program itself.
    let program = segment.rfind(|c: char| c.is_whitespace()).map_or("", |at| &segment[..at]);
    program.split_whitespace().map(|word| word.trim_matches(['"', '\'', '\\'])).all(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        word.is_empty()
            || word.starts_with('-')
            || word.contains('=')
            || RUNNERS.contains(&name)
            || word.starts_with(|c: char| c.is_ascii_digit())
            || word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    })
}

/// The words of a simple command, up to where the next begins. Quotes around a word do not hide it.
fn words(rest: &str) -> impl Iterator<Item = &str> {
    let end = rest.find(['\n', ';', '|', '&', ')', '`', '<', '>']).unwrap_or(rest.len());
    rest[..end].split_whitespace().map(|word| word.trim_matches(['"', '\'', '\\'])).filter(|word| !word.is_empty())
}

/// Whether a path lies in the state. Case is folded: file systems do.
fn is_state(path: &str) -> bool {
    let path = path.replace('\\', "/").to_lowercase();
    path.starts_with(".git/steadfast/") || path.contains("/.git/steadfast/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_spellings_of_a_humans_command_are_seen() {
        for line in [
            "steadfast uninstall",
            "cd /repo && /usr/local/bin/steadfast uninstall --purge",
            "'steadfast' task unblock 2",
            "true; steadfast  off",
            "steadfast pause --for 10m",
            "env -u CLAUDECODE steadfast config set stop.enabled false",
            "steadfast doctor --fix",
            "bash -c \"steadfast clean\"",
            "x=$(steadfast \"off\")",
            "A=1 sudo -E timeout 5 ./bin/steadfast init --yes",
            "{ steadfast off; }",
            "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID steadfast off",
        ] {
            assert!(humans_command(line).is_some(), "{line}");
        }
    }

    #[test]
    fn what_an_agent_may_run_is_left_alone() {
        for line in [
            "steadfast task done 1",
            "steadfast task list && echo off",
            "steadfast doctor",
            "steadfast status | grep off",
            "steadfast task add 'uninstall the old parser'",
            "grep -rn uninstall crates/steadfast/src",
            "cat steadfast.toml; echo init",
            "git commit -m 'steadfast: off by one'",
            "git commit -m \"Document steadfast off and steadfast uninstall\"",
            "echo run steadfast init first",
            "grep -rn 'steadfast off' docs",
        ] {
            assert_eq!(humans_command(line), None, "{line}");
        }
    }

    #[test]
    fn the_state_is_known_by_its_path() {
        for path in ["/repo/.git/steadfast/state.db", ".git/steadfast/gates/x", "/Repo/.GIT/Steadfast/plans/a"] {
            assert!(is_state(path), "{path}");
        }
        for path in ["/repo/steadfast.toml", "docs/.git-steadfast/x", "/repo/.steadfast/decisions/spec.md"] {
            assert!(!is_state(path), "{path}");
        }
    }
}
