//! The transcripts for a command.

use std::path::{Path, PathBuf};

use steadfast_hosts::install::Homes;
use steadfast_hosts::transcript::{
    ListingError, Transcript, Writer, list_transcripts, newest_transcript, transcripts_of,
};

use crate::error::CommandError;
use crate::here;
use crate::output::note;

/// The named transcripts, or those of this repository, in a stable order.
pub(in crate::commands) fn find(named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    if named.is_empty() { of_repository(transcripts_of) } else { Ok(list_transcripts(named)?) }
}

/// The newest transcript of a main thread in this repository.
pub(in crate::commands) fn newest() -> Result<PathBuf, CommandError> {
    of_repository(newest_transcript)
}

fn of_repository<T>(list: fn(&Homes, &Path) -> Result<T, ListingError>) -> Result<T, CommandError> {
    let setup = here::setup()?;
    Ok(list(&setup.install.homes, &setup.place.root)?)
}

/// The error if no file could be read. The reasons were printed per file.
pub(in crate::commands) fn none_read() -> CommandError {
    CommandError::failure("cannot read any session, for the reasons above")
        .hint("give transcripts of Claude Code or Codex; without a file, `steadfast transcript stats` reads those of this repository")
}

/// Counts unreadable files. Each gets a note; the command fails only if all are unreadable.
#[derive(Debug, Default)]
pub(in crate::commands) struct Unread {
    count: usize,
}

impl Unread {
    /// Opens a transcript, or notes the reason if it cannot be read.
    pub(in crate::commands) fn open(&mut self, file: &Path) -> Option<Transcript> {
        let why = match Transcript::open(file) {
            Ok(transcript) => match transcript.writer() {
                Some(Writer::Claude | Writer::Codex) | None => return Some(transcript),
                Some(writer @ (Writer::Copilot | Writer::Gemini)) => {
                    format!("`{}` is a session of {}, which Steadfast cannot read yet", file.display(), writer.name())
                }
            },
            Err(error) => error.to_string(),
        };
        note!("{why}");
        self.count += 1;
        None
    }

    /// Opens a file that belongs to a session. The command does not depend on it.
    pub(in crate::commands) fn open_extra(&self, file: &Path) -> Option<Transcript> {
        Transcript::open(file).inspect_err(|error| note!("{error}")).ok()
    }

    pub(in crate::commands) fn end(self, asked: usize) -> Result<(), CommandError> {
        if asked == 0 || self.count < asked {
            return Ok(());
        }
        Err(none_read())
    }
}
