use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::error::CommandError;

mod find;
pub(super) mod sessions;
mod show;
mod stats;

/// Looks at sessions as Claude Code and Codex wrote them down, also those from before Steadfast.
#[derive(Debug, Subcommand)]
pub(super) enum Transcript {
    /// Sums sessions up: prompts, calls, compactions, interrupts, tokens.
    Stats(stats::Stats),
    /// Shows a session as a timeline: when, who, what, and how it ended.
    Show(show::Show),
    /// Finds what was said or called for, and in which session.
    Find(find::Find),
}

impl Transcript {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Stats(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Find(command) => command.run(),
        }
    }
}

/// Which sessions.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Transcripts, or folders of them. By default those of this repository.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}
