use std::path::PathBuf;

use clap::Args;

mod find;
pub(super) mod sessions;
mod show;
mod stats;

super::commands! {
    /// Search and summarize the transcripts of Claude Code and Codex.
    pub(super) enum Transcript {
        /// Summarize sessions: prompts, calls, compactions, interrupts, tokens.
        Stats(stats::Stats),
        /// Show a session as a timeline of prompts, messages and calls.
        Show(show::Show),
        /// Find text in the sessions.
        Find(find::Find),
    }
}

/// The sessions of a command.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Transcripts, or folders of transcripts. [default: those of this repository]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}
