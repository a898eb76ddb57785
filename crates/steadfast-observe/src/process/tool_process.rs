//! Finds the sessions that have a running process from one of their tool calls, by the environments in `/proc`.
//!
//! A host gives the processes of a tool call variables that its hooks and servers do not get: Claude Code ends
//! `AI_AGENT` in `_agent` (`_harness` for the others), Codex sets `CODEX_TOOL_CALL_ID`. All descendants of a tool call
//! inherit them, even if they leave its parent and its terminal (`setsid`, `nohup`, a daemon).

use std::thread;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_system::{ProcessEntry, process_ids};

use crate::deadline::Deadline;
use crate::error::ObserveError;

/// The most ancestors of this process that are excluded.
const GENERATIONS: usize = 32;

/// The most reads of an empty environment.
const READS_OF_EMPTY: usize = 50;

/// After this many empty environments with a command line, the process was started without an environment.
const SURELY_EMPTY: usize = 3;

/// Returns the sessions that have a running process from a tool call, each once. This process and its ancestors do not
/// count.
#[must_use]
pub fn sessions_at_work(budget: Duration) -> Fact<Vec<String>> {
    // If the system hides the environment of processes, it hides that of this process too.
    if ProcessEntry::of(std::process::id()).is_none() {
        return Fact::Unknown("this system does not show the environment of a process".into());
    }
    match find_sessions(Deadline::after(budget)) {
        Ok(sessions) => Fact::Known(sessions),
        Err(error) => Fact::Unknown(format!("the process table cannot be read: {error}")),
    }
}

fn find_sessions(deadline: Deadline) -> Result<Vec<String>, ObserveError> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for id in process_ids() {
        deadline.left()?;
        // Fails for a process that has ended meanwhile or belongs to another user.
        if let Some(environment) = read_environment(id, deadline)? {
            found.extend(tool_sessions(&environment).map(|session| (id, session)));
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let parent = |id: &u32| ProcessEntry::of(*id).map(|process| process.parent).filter(|parent| *parent > 1);
    let own: Vec<u32> = std::iter::successors(Some(std::process::id()), parent).take(GENERATIONS).collect();
    found.retain(|(id, _)| !own.contains(id) && ProcessEntry::of(*id).is_some_and(|process| !process.ended));
    let mut sessions: Vec<String> = found.into_iter().map(|(_, session)| session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    Ok(sessions)
}

/// Reads the environment of a process. `None`: it has ended, or belongs to another user.
///
/// While a process replaces its program, the kernel shows an empty environment for about 100 µs. So an empty one is
/// read again.
fn read_environment(id: u32, deadline: Deadline) -> Result<Option<Vec<u8>>, ObserveError> {
    let mut empty = 0;
    for _ in 0..READS_OF_EMPTY {
        let Ok(environment) = ProcessEntry::environment(id) else { return Ok(None) };
        // A kernel thread, or a process that has ended, has no program.
        if !environment.is_empty() || empty == SURELY_EMPTY || ProcessEntry::link(id, "exe").is_err() {
            return Ok(Some(environment));
        }
        deadline.left()?;
        // Between two programs the command line is empty too; with `env -i` it is not.
        match ProcessEntry::command_line(id) {
            Ok(line) if !line.is_empty() => empty += 1,
            _ => thread::sleep(Duration::from_micros(100)),
        }
    }
    Ok(None)
}

/// Returns the sessions whose tool calls set this environment: a host may run inside another.
fn tool_sessions(environment: &[u8]) -> impl Iterator<Item = String> {
    let (mut session, mut agent, mut project) = (None, None, false);
    let (mut thread, mut call) = (None, false);
    for entry in environment.split(|byte| *byte == 0) {
        let Some(equals) = entry.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (&entry[..equals], &entry[equals + 1..]);
        match name {
            b"CLAUDE_CODE_SESSION_ID" => session = Some(value),
            b"AI_AGENT" => agent = Some(value),
            b"CLAUDE_PROJECT_DIR" => project = true,
            b"CODEX_SESSION_ID" => thread = Some(value),
            b"CODEX_THREAD_ID" => thread = thread.or(Some(value)),
            b"CODEX_TOOL_CALL_ID" => call = true,
            _ => {}
        }
    }
    let of_tool = match agent {
        Some(agent) => !agent.ends_with(b"_harness"),
        // Versions without the variable: only hooks and servers have the project's folder.
        None => !project,
    };
    let found = [session.filter(|_| of_tool), thread.filter(|_| call)];
    found.map(|found| found.map(|id| String::from_utf8_lossy(id).into_owned())).into_iter().flatten()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use steadfast_model::Fact;

    use super::tool_sessions;

    /// A shell that replaces itself all the time, as `setsid`, `nohup` and `env` do once.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the process that is looked for")]
    fn a_process_that_is_replacing_its_program_is_found() {
        let session = format!("replacing-{}", std::process::id());
        let again = "exec sh -c \"$AGAIN\"";
        let mut shell = Command::new("sh")
            .args(["-c", again])
            .env("AGAIN", again)
            .env("AI_AGENT", "claude-code_2-1-325_agent")
            .env("CLAUDE_CODE_SESSION_ID", &session)
            .spawn()
            .unwrap();
        let missed = (0..200).filter(|_| {
            let Fact::Known(sessions) = super::sessions_at_work(Duration::from_secs(5)) else { return true };
            !sessions.contains(&session)
        });
        let missed = missed.count();
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert_eq!(missed, 0);
    }

    fn session(environment: &[&str]) -> Option<String> {
        tool_sessions(environment.join("\0").as_bytes()).next()
    }

    /// As the hosts give it.
    #[test]
    fn what_a_tool_call_started_is_told_from_hooks_and_servers() {
        let claude = "CLAUDE_CODE_SESSION_ID=s-1";
        let tool = ["HOME=/home/user", "AI_AGENT=claude-code_2-1-325_agent", "CLAUDECODE=1", claude];
        assert_eq!(session(&tool).as_deref(), Some("s-1"));
        let server = ["AI_AGENT=claude-code_2-1-325_harness", "CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/repo", claude];
        assert_eq!(session(&server), None);
        // A version without the variable.
        assert_eq!(session(&["CLAUDECODE=1", claude]).as_deref(), Some("s-1"));
        assert_eq!(session(&["CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/repo", claude]), None);
        let codex = ["CODEX_THREAD_ID=t-2", "CODEX_SESSION_ID=t-1", "CODEX_TOOL_CALL_ID=call_1"];
        assert_eq!(session(&codex).as_deref(), Some("t-1"));
        assert_eq!(session(&["CODEX_HOME=/home/user/.codex"]), None);
        assert_eq!(session(&["HOME=/home/user", "EDITOR=vim"]), None);
    }
}
