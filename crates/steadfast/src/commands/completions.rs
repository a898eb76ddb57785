use clap::Args;
use clap_complete::Shell;

use crate::error::CommandError;
use crate::output::put;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell to write for. For bash: `steadfast completions bash >
    /// ~/.local/share/bash-completion/completions/steadfast`.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut without_hidden(&super::program()), "steadfast", &mut script);
        put(&String::from_utf8_lossy(&script)).map(|_| ())
    }
}

/// A copy without hidden commands: the scripts would offer them, and `clap` cannot remove a command.
fn without_hidden(program: &clap::Command) -> clap::Command {
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let about = program.get_about().cloned().unwrap_or_default();
    clap::Command::new("steadfast")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .args(program.get_arguments().cloned())
        .subcommands(shown)
}
