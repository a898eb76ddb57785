//! A check, from the side of the supervisor that runs it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_check::{CheckReport, CheckRun};
use steadfast_model::{Check, CheckEnd, Evidence, EvidenceClass, Fact, Task};
use steadfast_plan::swallowed;
use steadfast_redact::redact;
use steadfast_store::ledger::Recorded;

use super::checking::CheckAttempt;
use super::confinement::Confinement;
use super::{TaskError, TaskList, files};
use crate::error::WorkError;

/// Size of the output that is kept, in bytes.
pub(super) const TAIL: usize = 16 << 10;

impl TaskList {
    /// Runs the check of a task to its end and records the result. `stop` is set when this process is asked to end.
    pub fn supervise(
        &mut self,
        run: &CheckAttempt,
        confinement: &mut Confinement,
        stop: &AtomicBool,
    ) -> Result<(), WorkError> {
        let task = self.ledger.task(&run.plan, &run.task)?;
        let Some(command) = task.verify.as_ref().and_then(Check::as_command).map(str::to_owned) else {
            return Err(TaskError::NoCommand(task.id).into());
        };
        let evidence = self.run_check(&task, &command, confinement, stop);
        let recorded = self.ledger.record_run(&run.plan, &run.task, &run.name, &evidence)?;
        if evidence.passed && recorded.is_some() {
            self.renew(&run.plan, &run.task, &evidence)?;
        }
        if let Some(Recorded { changed, .. }) = recorded {
            self.tell_owner(&changed)?;
            self.render_decisions();
        }
        Ok(())
    }

    /// The time limit of a check.
    pub(super) fn check_limit(&self) -> Duration {
        // Another command reports an unreadable configuration; the check uses the default limit.
        let settings = self.repository.config.load().unwrap_or_default();
        Duration::from_secs(settings.ledger.check_seconds.value.into())
    }

    fn run_check(&self, task: &Task, command: &str, confinement: &mut Confinement, stop: &AtomicBool) -> Evidence {
        let place = &self.repository.place;
        let check = CheckRun {
            task: task.id.to_string(),
            command: command.to_owned(),
            directory: place.root.clone(),
            limit: self.check_limit(),
            environment: with_own_folder(self.repository.environment.path.as_deref()),
            tail: TAIL,
        };
        let mut before = look(&place.root, task);
        let mut report = confinement.run(&check, stop);
        let mut after = look(&place.root, task);
        if report.passed() && before != after {
            // A check that changes the files it checks proves nothing about the current files. Formatters and snapshots
            // are stable in the second run.
            before = after;
            report = confinement.run(&check, stop);
            after = look(&place.root, task);
            if report.passed() && before != after {
                report.end = CheckEnd::Unsettled;
            }
        }
        let passed = report.passed();
        let (tree, missing) = match passed.then(|| files::tree(&place.root, &place.state)) {
            Some(Fact::Known(tree)) => (Some(tree), None),
            Some(Fact::Unknown(why)) => (None, Some(format!("the tree is unknown: {why}"))),
            Some(Fact::NotAsked) | None => (None, None),
        };
        let files = after.unwrap_or_default();
        let seen = if passed { files::seen(&place.root, &task.files, &files, self.now()) } else { Vec::new() };
        let CheckReport { end, seconds, output_tail, note, .. } = report;
        // A swallowed exit status is not evidence, whatever it is.
        let swallowed = passed.then(|| swallowed(command)).flatten();
        let why = swallowed.map(|why| format!("its exit status proves nothing: {why}"));
        let notes: Vec<String> = note.into_iter().chain(missing).chain(why).collect();
        Evidence {
            class: if swallowed.is_some() { EvidenceClass::Claimed } else { EvidenceClass::Executed },
            passed,
            end,
            command: Some(command.to_owned()),
            seconds: Some(seconds),
            output_tail: Some(redact(&output_tail).into_owned()),
            tree,
            files,
            seen,
            note: (!notes.is_empty()).then(|| redact(&notes.join("; ")).into_owned()),
            at: self.now(),
        }
    }
}

/// Adds the folder of this program to the search path, because a check may call it. It comes last, so that it hides no
/// other program.
pub(super) fn with_own_folder(path: Option<&OsStr>) -> Vec<(String, String)> {
    let own = std::env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let Some(own) = own else { return Vec::new() };
    let mut folders: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default()).collect();
    if folders.contains(&own) {
        return Vec::new();
    }
    folders.push(own);
    let joined = std::env::join_paths(folders).ok().and_then(|joined| joined.into_string().ok());
    joined.map(|joined| ("PATH".to_owned(), joined)).into_iter().collect()
}

/// The ids of the task's files, or `None` if they cannot be read.
fn look(root: &Path, task: &Task) -> Option<files::Ids> {
    match files::ids(root, &task.files, files::ONE_TASK) {
        Fact::Known(ids) => Some(ids),
        Fact::Unknown(_) | Fact::NotAsked => None,
    }
}
