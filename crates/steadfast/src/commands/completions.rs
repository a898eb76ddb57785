use std::ffi::OsString;

use clap::{Arg, Args, Command};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompletionCandidate, Shell};
use steadfast_model::{Status, Task};
use steadfast_store::Place;
use steadfast_store::ledger::Ledger;
use steadfast_text::truncate_line;

use crate::environment;
use crate::error::CommandError;
use crate::output::{put, visible};

/// Set by the script of a shell: its name. The call completes the words after `--`.
pub(super) const SHELL: &str = "STEADFAST_COMPLETE";

/// Characters of a title beside an id.
const TITLE: usize = 60;

/// Print a completion script for a shell.
///
/// The script asks `steadfast` for the ids of tasks, plans, runs and sessions.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell to write for. For bash: `steadfast completions bash >
    /// ~/.local/share/bash-completion/completions/steadfast`.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut script = Vec::new();
        if let Some(shell) = Shells::builtins().completer(&self.shell.to_string()) {
            shell
                .write_registration(SHELL, "steadfast", "steadfast", "steadfast", &mut script)
                .map_err(|error| CommandError::failure(format!("cannot write the script: {error}")))?;
        }
        if self.shell == Shell::Zsh {
            // A file in `fpath` is the body of a function, which answers its first call, too.
            script.extend(ZSH_FIRST_CALL.as_bytes());
        }
        put(&String::from_utf8_lossy(&script)).map(|_| ())
    }
}

const ZSH_FIRST_CALL: &str =
    "\nif [ \"$funcstack[1]\" = \"_steadfast\" ]; then _clap_dynamic_completer_steadfast \"$@\"; fi\n";

/// Completes a command line for the script of a shell. Prints nothing if it cannot: the person is typing.
pub(super) fn complete(shell: &str, arguments: Vec<OsString>) {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else { return };
    let words: Vec<OsString> = arguments.into_iter().skip_while(|word| word != "--").skip(1).collect();
    let mut program = with_ids(super::program(), "");
    program.build();
    let mut candidates = Vec::new();
    if shell.write_complete(&mut program, words, Some(&environment::cwd()), &mut candidates).is_ok() {
        let _ = put(&String::from_utf8_lossy(&candidates));
    }
}

/// Adds the ids in the ledger to the arguments that take one.
fn with_ids(command: Command, above: &str) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| with_ids_of(argument, above, &name));
    command.mut_subcommands(|inner| with_ids(inner, &name))
}

fn with_ids_of(argument: Arg, above: &str, command: &str) -> Arg {
    let candidates = match (above, command, argument.get_id().as_str()) {
        ("task", "show", "id") => ArgValueCandidates::new(|| tasks(|_| true)),
        ("task", "unblock", "id") => ArgValueCandidates::new(|| tasks(|task| task.status == Status::Blocked)),
        ("task", "add", "after") => ArgValueCandidates::new(|| tasks(|task| !task.status.is_closed())),
        ("task", "start" | "done" | "wait" | "note" | "block", "id") => {
            ArgValueCandidates::new(|| tasks(|task| !task.status.is_closed()))
        }
        ("plan", "use", "id") => ArgValueCandidates::new(plans),
        (_, "progress" | "resume", "run") => ArgValueCandidates::new(runs),
        (.., "session") => ArgValueCandidates::new(sessions),
        _ => return argument,
    };
    argument.add(candidates)
}

fn ledger() -> Option<(Place, Ledger)> {
    let environment = environment::current();
    let place = Place::find(&environment.cwd, environment.user_state.as_deref())?;
    let ledger = Ledger::open_read_only(&place.state).ok()??;
    Some((place, ledger))
}

fn candidate(id: &str, title: &str) -> CompletionCandidate {
    let title = visible(truncate_line(title, TITLE));
    CompletionCandidate::new(id).help((!title.is_empty()).then(|| title.into()))
}

fn tasks(is_offered: fn(&Task) -> bool) -> Vec<CompletionCandidate> {
    let tasks = || {
        let (place, ledger) = ledger()?;
        let plan = ledger.plan_view(&place.worktree()).ok()??;
        ledger.tasks(&plan.id).ok()
    };
    let tasks = tasks().unwrap_or_default();
    tasks.iter().filter(|task| is_offered(task)).map(|task| candidate(task.id.as_str(), &task.title)).collect()
}

fn plans() -> Vec<CompletionCandidate> {
    let lines = || {
        let (place, ledger) = ledger()?;
        ledger.plans(&place.worktree()).ok()
    };
    lines().unwrap_or_default().iter().map(|line| candidate(line.id.as_str(), &line.title)).collect()
}

fn runs() -> Vec<CompletionCandidate> {
    let rows = || {
        let (place, ledger) = ledger()?;
        ledger.runs_of(&place.worktree()).ok()
    };
    let rows = rows().unwrap_or_default();
    rows.iter().map(|run| candidate(run.id.as_str(), &format!("{}, {}", run.spec, run.state.as_str()))).collect()
}

fn sessions() -> Vec<CompletionCandidate> {
    let rows = || ledger()?.1.sessions().ok();
    rows().unwrap_or_default().iter().map(|row| candidate(row.id.as_str(), row.host.as_str())).collect()
}
