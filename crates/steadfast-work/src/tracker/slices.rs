//! The slices of a TDD plan, in a file that people and their tools also write.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use steadfast_model::{Millis, Status};
use steadfast_plan::{CompileOptions, Compiled, compile, render, with_slice_status};
use steadfast_redact::redact;
use steadfast_store::ledger::Untold;
use steadfast_store::{Place, gate_before};
use steadfast_text::one_line;

use super::{TimeBudget, Tracker, TrackerError};
use crate::file::replace;

/// Its default path; the name also tells its format.
const FILE: &str = ".tdd-progress.md";

/// A longer file is not a plan of slices.
const LONGEST: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct Slices {
    place: Place,
    /// From the root of the checkout.
    path: String,
    now: Millis,
}

impl Slices {
    pub(super) fn new(place: &Place, path: Option<&str>, now: Millis) -> Self {
        Self { place: place.clone(), path: path.unwrap_or(FILE).to_owned(), now }
    }

    fn file(&self) -> PathBuf {
        self.place.root.join(&self.path)
    }

    fn failed(&self, source: io::Error) -> TrackerError {
        TrackerError::File { path: self.path.clone(), source }
    }

    /// While a gate is closed the file is sealed, and a change would be undone.
    fn is_ours_to_write(&self) -> bool {
        gate_before(&self.place, None, self.now).is_none()
    }
}

impl Tracker for Slices {
    fn source(&self) -> String {
        self.path.clone()
    }

    fn name(&self) -> String {
        format!("`{}`", self.path)
    }

    fn read(&self, _: TimeBudget) -> Result<String, TrackerError> {
        // Reading a pipe or a device could block.
        let is_file = |found: &std::fs::Metadata| found.is_file() && found.len() <= LONGEST;
        match self.file().metadata() {
            // There is no plan yet, or it is finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(self.failed(error)),
            Ok(found) if !is_file(&found) => return Err(self.failed(io::Error::other("it is not a file of slices"))),
            Ok(_) => {}
        }
        let mut text = String::new();
        let file = File::open(self.file()).map_err(|error| self.failed(error))?;
        file.take(LONGEST).read_to_string(&mut text).map_err(|error| self.failed(error))?;
        Ok(text)
    }

    fn compile(&self, text: &str, options: &CompileOptions) -> Result<Option<Compiled>, TrackerError> {
        if !steadfast_plan::has_slices(text) {
            return Ok(None);
        }
        let compiled = compile(text, FILE, options).map_err(|report| {
            let said = render(&report.problems, text, &self.path, redact);
            TrackerError::Lint(said.lines().next().unwrap_or_default().to_owned())
        })?;
        Ok(Some(compiled))
    }

    fn tell(&self, untold: &Untold, patience: TimeBudget) -> Result<Status, TrackerError> {
        if !self.is_ours_to_write() {
            return Err(TrackerError::Gated(self.path.clone()));
        }
        // A claim is only the agent's word. A human writes `done`, or the check does.
        let there = if untold.is_claim() { Status::InProgress } else { untold.task.status };
        let status = match there {
            Status::Done => "done".to_owned(),
            Status::InProgress => "in-progress".to_owned(),
            Status::Pending => "pending".to_owned(),
            Status::Blocked => {
                let why = untold.reason.as_deref().unwrap_or("the work cannot continue");
                format!("blocked: {}", one_line(why))
            }
        };
        let text = self.read(patience)?;
        let written = with_slice_status(&text, untold.task.id.as_str(), &status)
            .ok_or_else(|| self.failed(io::Error::other(format!("it has no slice {}", untold.task.id))))?;
        replace(&self.file(), written.as_bytes()).map_err(|error| self.failed(error))?;
        Ok(there)
    }
}
