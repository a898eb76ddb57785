use std::path::PathBuf;

use clap::{Args, ValueEnum};
use steadfast_plan::ExportTarget;
use steadfast_redact::redact_document;
use steadfast_work::file;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, put};

/// Export the plan to a list that other programs read.
#[derive(Debug, Args)]
pub(in crate::commands) struct Export {
    /// Format: `beads`, one issue per line as in `.beads/issues.jsonl`; `markdown`, a SPEC.md with statuses; `json`, a
    /// SPEC.json with statuses.
    #[arg(long, value_enum)]
    to: To,
    /// File to write. [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    Beads,
    Markdown,
    Json,
}

impl Export {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let to = match self.to {
            To::Beads => ExportTarget::Beads,
            To::Markdown => ExportTarget::Markdown,
            To::Json => ExportTarget::Json,
        };
        let text = here::task_list("plan export")?.exported(to)?;
        // Other people may read the export; a check with a secret must be rewritten by its author.
        let text = redact_document(&text);
        let Some(path) = self.output else {
            put(&text)?;
            return Ok(());
        };
        file::replace(&path, text.as_bytes()).map_err(|error| {
            CommandError::failure(format!("cannot write `{}`: {error}", path.display()))
                .hint("give a writable file, or omit `--output` and redirect standard output")
        })?;
        note!("written to `{}`", path.display());
        Ok(())
    }
}
