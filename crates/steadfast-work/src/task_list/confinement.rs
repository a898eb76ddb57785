//! Runs a check in the sandbox of the session that requested it, or not at all.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_check::{CheckReport, CheckRun, Supervisor};
use steadfast_hosts::Sandbox;
use steadfast_model::CheckEnd;

/// A test command, to tell a failed sandbox from a failed check: both may exit with 1. A program that does not know the
/// sandbox, refuses it or ignores its arguments does not exit with 42.
const PROBE: &str = "exit 42";
const PROBED: CheckEnd = CheckEnd::Exited(42);
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// The supervisor of a check, with or without a sandbox.
#[derive(Debug)]
pub struct Confinement {
    supervisor: Supervisor,
    sandboxed: bool,
}

impl Confinement {
    /// `root` is the folder in which checks run.
    pub fn new(supervisor: Supervisor, sandbox: Option<&Sandbox>, root: &Path) -> Self {
        match sandbox {
            Some(sandbox) => Self { supervisor: supervisor.within(sandbox.words(root)), sandboxed: true },
            None => Self { supervisor, sandboxed: false },
        }
    }

    pub(super) fn run(&mut self, check: &CheckRun, stop: &AtomicBool) -> CheckReport {
        if !self.sandboxed {
            return self.supervisor.run(check, stop);
        }
        let mut check = check.clone();
        // Only for the supervisor; the check does not need it.
        check.environment.push((crate::SANDBOX.to_owned(), String::new()));
        let probe = CheckRun { command: PROBE.to_owned(), limit: PROBE_LIMIT, ..check.clone() };
        let probed = self.supervisor.run(&probe, stop);
        if probed.end != PROBED {
            return not_started(probed);
        }
        let mut report = self.supervisor.run(&check, stop);
        let place = "in Codex's sandbox".to_owned();
        report.note = Some(report.note.map_or(place.clone(), |note| format!("{place}; {note}")));
        report
    }
}

fn not_started(probed: CheckReport) -> CheckReport {
    let why = reason(&probed.output_tail).map_or_else(|| how(probed.end), str::to_owned);
    CheckReport {
        end: CheckEnd::NotStarted,
        output_tail: String::new(),
        note: Some(format!("Codex's sandbox cannot be applied, so the check was not run: {why}")),
        ..probed
    }
}

/// The last line that is not a warning or a note.
fn reason(output: &str) -> Option<&str> {
    let idle = |line: &&str| !line.is_empty() && !line.starts_with("WARNING: ") && !line.starts_with("note: ");
    output.lines().map(str::trim).rfind(idle)
}

fn how(end: CheckEnd) -> String {
    match end {
        CheckEnd::Exited(code) => format!("`codex sandbox` exited with {code} and printed no reason"),
        CheckEnd::TimedOut => format!("`codex sandbox` did not respond within {} s", PROBE_LIMIT.as_secs()),
        other => format!("`codex sandbox` ended as {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_line_that_says_something() {
        let warning = "WARNING: proceeding, even though we could not create PATH aliases: …";
        let panic = "thread 'main' (2) panicked at linux_run_main.rs:1193:5:\nFailed to execvp /x: No such \
                     file\nnote: run with …";
        for (output, expected) in [
            (
                format!("{warning}\nError: invalid --sandbox-state-json value: …\n"),
                Some("Error: invalid --sandbox-state-json value: …"),
            ),
            (panic.to_owned(), Some("Failed to execvp /x: No such file")),
            (format!("{warning}\n\n"), None),
            (String::new(), None),
        ] {
            assert_eq!(reason(&output), expected);
        }
    }
}
