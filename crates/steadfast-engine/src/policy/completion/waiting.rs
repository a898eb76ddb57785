//! Tells whether a session that stops really waits for a process in the background.
//!
//! An agent that works for the session excuses a stop. A process excuses it only while the agent says that it waits for
//! it, the process is alive, and it is not a server: a process that listens on a port never ends by itself and would
//! disable the gate. If the operating system gives no answer (no `/proc`, no visible host, no time), the host's word
//! that it runs is enough. The agent has said that it waits, and refusing a real wait is worse than accepting a false
//! one.

use steadfast_model::{Event, EventKind, Liveness, Stopping};
use steadfast_text::truncate_line;

use super::promise;

/// The longest command, in characters.
const COMMAND: usize = 60;

/// The most processes that are named.
const NAMED: usize = 3;

pub(super) fn needs_processes(event: &Event) -> bool {
    match &event.kind {
        EventKind::Stop(stopping) => {
            stopping.processes().next().is_some()
                && stopping.last_message.as_deref().is_some_and(promise::says_that_it_waits)
        }
        _ => false,
    }
}

/// Returns true if there is a process that will end.
pub(super) fn is_real(stopping: &Stopping, seen: &[Liveness]) -> bool {
    named_processes(stopping, seen).any(|(_, process)| matches!(process, Liveness::Runs | Liveness::Unknown))
}

/// Returns the text about processes that run but do not excuse this stop, for the end of a refusal.
pub(super) fn not_excused(event: &Event, seen: &[Liveness]) -> String {
    let EventKind::Stop(stopping) = &event.kind else { return String::new() };
    let lines = named_processes(stopping, seen).take(NAMED).map(|(name, process)| match process {
        Liveness::Listens { port } => {
            format!(" `{name}` listens on port {port}: a server does not end by itself, so it does not excuse a stop.")
        }
        Liveness::Gone => format!(" `{name}` has ended."),
        Liveness::Runs | Liveness::Unknown => format!(
            " `{name}` still runs in the background; it excuses a stop only with `<promise>WAITING: …</promise>`."
        ),
    });
    lines.collect()
}

fn named_processes<'a>(stopping: &'a Stopping, seen: &'a [Liveness]) -> impl Iterator<Item = (String, Liveness)> + 'a {
    let seen = seen.iter().copied().chain(std::iter::repeat(Liveness::Unknown));
    stopping.processes().zip(seen).map(|(process, seen)| (short(process.name()), seen))
}

/// Shortens a command to one line, without backticks.
fn short(command: &str) -> String {
    truncate_line(&command.replace('`', "'"), COMMAND + 1)
}
