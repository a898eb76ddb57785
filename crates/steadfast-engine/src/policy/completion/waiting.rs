//! Whether a session that stops really waits for a process in the background.
//!
//! An agent that works for the session excuses a stop. A process does so only while the agent says that it waits for it,
//! it is alive, and it is no server: one that listens on a port never ends by itself, and would switch the gate off.
//! Where the operating system does not tell (no `/proc`, no host to be seen, no time), the host's word that it runs is
//! taken: the agent has said that it waits, and a wait that is refused is worse than one too many.

use steadfast_model::{Event, EventKind, Liveness, Stopping};
use steadfast_text::truncate_line;

use super::promise;

/// More of a command is not said.
const COMMAND: usize = 60;

/// More processes are not named.
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

/// The agent said that it waits: is there a process that will end?
pub(super) fn is_real(stopping: &Stopping, seen: &[Liveness]) -> bool {
    told(stopping, seen).any(|(_, process)| matches!(process, Liveness::Runs | Liveness::Unknown))
}

/// What runs and does not excuse this stop, as it is added to a refusal.
pub(super) fn not_excused(event: &Event, seen: &[Liveness]) -> String {
    let EventKind::Stop(stopping) = &event.kind else { return String::new() };
    let lines = told(stopping, seen).take(NAMED).map(|(name, process)| match process {
        Liveness::Listens { port } => {
            format!(" `{name}` listens on port {port}: a server does not end by itself and excuses no stop.")
        }
        Liveness::Gone => format!(" `{name}` has ended."),
        Liveness::Runs | Liveness::Unknown => format!(
            " `{name}` still runs in the background; it excuses a stop only with `<promise>WAITING: …</promise>`."
        ),
    });
    lines.collect()
}

fn told<'a>(stopping: &'a Stopping, seen: &'a [Liveness]) -> impl Iterator<Item = (String, Liveness)> + 'a {
    let seen = seen.iter().copied().chain(std::iter::repeat(Liveness::Unknown));
    stopping.processes().zip(seen).map(|(process, seen)| (short(process.name()), seen))
}

/// In one line, without what would end the quotation.
fn short(command: &str) -> String {
    truncate_line(&command.replace('`', "'"), COMMAND + 1)
}
