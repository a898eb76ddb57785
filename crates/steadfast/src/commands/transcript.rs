use std::path::PathBuf;

use clap::Args;

mod find;
pub(super) mod sessions;
mod show;
mod stats;

super::commands! {
    /// Looks at sessions as Claude Code and Codex wrote them down, also those from before Steadfast.
    pub(super) enum Transcript {
        /// Sums sessions up: prompts, calls, compactions, interrupts, tokens.
        Stats(stats::Stats),
        /// Shows a session as a timeline: when, who, what, and how it ended.
        Show(show::Show),
        /// Finds what was said or called for, and in which session.
        Find(find::Find),
    }
}

/// Which sessions.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Transcripts, or folders of them. By default those of this repository.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}
