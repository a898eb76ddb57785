//! Checks that a human stated: their content is recorded at the start, and they run at the end.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_check::definition::{Definition, DefinitionPart, PartState, define};
use steadfast_check::{CheckReport, CheckRun};
use steadfast_model::{Check, CheckEnd, Evidence, EvidenceClass, Millis, PlanId, StatedCheck, Status, TaskId};
use steadfast_redact::redact;
use steadfast_system::program;

use super::checking::CheckAttempt;
use super::confinement::Confinement;
use super::supervision::{TAIL, with_own_folder};
use super::{PlanError, RunTasks, TaskError, TaskList, how};
use crate::error::WorkError;

/// The result of a stated check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatedEnd {
    Passed,
    Failed {
        /// `exited with 1`.
        how: String,
        output: String,
    },
    /// The command runs something else than when it was stated. A human has to accept that.
    Changed {
        difference: String,
    },
    /// The wait for its end was stopped.
    Stopped,
}

/// Time for a supervisor to end the processes of its check.
const ENDING: Duration = Duration::from_secs(10);

/// The longest pause between two looks at a running check.
const PAUSE: Duration = Duration::from_millis(50);

/// Records the current content of each check. A check that cannot be read is kept without it.
pub fn frozen(root: &Path, checks: &[StatedCheck]) -> Vec<StatedCheck> {
    let frozen = |check: &StatedCheck| {
        let definition = define(root, root, &check.command).ok();
        StatedCheck { frozen: definition.and_then(|found| serde_json::to_string(&found).ok()), ..check.clone() }
    };
    checks.iter().map(frozen).collect()
}

impl RunTasks {
    /// Runs a stated check on the files in `folder`. `work` are the files that the plan's tasks have to write. An error
    /// says nothing about the work.
    pub fn check_stated(
        &self,
        folder: &Path,
        check: &StatedCheck,
        work: &[String],
        stop: &AtomicBool,
    ) -> Result<StatedEnd, WorkError> {
        if let Some(difference) = difference(folder, check, work) {
            return Ok(StatedEnd::Changed { difference });
        }
        let Some(evidence) = self.run_stated(folder, &check.command, stop)? else { return Ok(StatedEnd::Stopped) };
        if evidence.passed {
            return Ok(StatedEnd::Passed);
        }
        if matches!(evidence.end, CheckEnd::Lost | CheckEnd::NotStarted) {
            return Err(TaskError::StatedLost { command: check.command.clone(), how: how(&evidence) }.into());
        }
        Ok(StatedEnd::Failed { how: how(&evidence), output: evidence.output_tail.unwrap_or_default() })
    }

    fn run_stated(&self, folder: &Path, command: &str, stop: &AtomicBool) -> Result<Option<Evidence>, WorkError> {
        Alone { state: self.state(), now: self.now(), mark: Some(self.mark()), folder }.run(command, stop)
    }
}

/// The surroundings of a command that belongs to no task.
struct Alone<'a> {
    state: &'a Path,
    now: Millis,
    mark: Option<&'a str>,
    folder: &'a Path,
}

/// Ends a supervisor. First with a signal, because only the supervisor knows the processes of its check.
fn end(supervisor: &mut Child) {
    let pid = i32::try_from(supervisor.id()).ok().and_then(rustix::process::Pid::from_raw);
    let signalled = pid.is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok());
    let until = Instant::now() + ENDING;
    while signalled && Instant::now() < until {
        if !matches!(supervisor.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(PAUSE);
    }
    let _ = supervisor.kill();
    let _ = supervisor.wait();
}

impl Alone<'_> {
    /// Runs the command in its own process, which writes the result to a file. `None` if the wait was stopped.
    fn run(&self, command: &str, stop: &AtomicBool) -> Result<Option<Evidence>, WorkError> {
        let failed = |source| TaskError::StatedNotStarted { command: command.to_owned(), source };
        let name = CheckAttempt::new(&PlanId::new("stated"), &TaskId::new("stated"), self.now, None).name;
        let checks = self.state.join("checks");
        fs::create_dir_all(&checks).map_err(failed)?;
        let report = checks.join(format!("{name}.stated"));
        let mut supervisor = program(std::env::current_exe().map_err(failed)?);
        supervisor
            .args(["supervise", "--stated", command, "--report"])
            .arg(&report)
            .arg("--in")
            .arg(self.folder)
            .env(crate::SANDBOX, "")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(mark) = self.mark {
            supervisor.env(steadfast_check::MARK, mark);
        }
        let mut child = supervisor.spawn().map_err(failed)?;
        let mut pause = Duration::from_millis(1);
        while child.try_wait().map_err(failed)?.is_none() {
            if stop.load(Ordering::Relaxed) {
                end(&mut child);
                let _ = fs::remove_file(&report);
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
        let text = fs::read_to_string(&report).unwrap_or_default();
        let _ = fs::remove_file(&report);
        let lost = || TaskError::StatedLost { command: command.to_owned(), how: "its supervisor is gone".to_owned() };
        Ok(Some(serde_json::from_str(&text).map_err(|_| lost())?))
    }
}

impl TaskList {
    /// Runs the command of a check that is in no plan yet, with the limits of every check. While the plan gate is
    /// closed, an agent may not run the commands of a spec.
    pub fn try_check(&self, command: &str, source: &str) -> Result<Evidence, WorkError> {
        if self.caller.is_agent() && !self.gates().is_empty() {
            let (name, source_file) = (format!("`{source}`"), Some(source.to_owned()));
            return Err(PlanError::GateClosed { name, source_file }.into());
        }
        let lost = || TaskError::StatedLost { command: command.to_owned(), how: "it was stopped".to_owned() };
        Ok(self.try_alone(command, &AtomicBool::new(false))?.ok_or_else(lost)?)
    }

    fn try_alone(&self, command: &str, stop: &AtomicBool) -> Result<Option<Evidence>, WorkError> {
        let place = &self.repository.place;
        let alone = Alone { state: &place.state, now: self.now(), mark: self.mark.as_deref(), folder: &place.root };
        alone.run(command, stop)
    }

    /// Reports open tasks whose check passes before any work. Runs each distinct command once, and at most `most` of
    /// them. Ends when `stop` is set.
    pub(super) fn passing_already(
        &self,
        plan: &PlanId,
        most: usize,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Vec<TaskId>),
    ) -> Result<(), WorkError> {
        let mut commands: Vec<(String, Vec<TaskId>)> = Vec::new();
        for task in self.ledger().tasks(plan)?.into_iter().filter(|task| task.status != Status::Done) {
            let Some(command) = task.verify.as_ref().and_then(Check::as_command) else { continue };
            match commands.iter_mut().find(|(known, _)| known == command) {
                Some((_, tasks)) => tasks.push(task.id),
                None => commands.push((command.to_owned(), vec![task.id])),
            }
        }
        for (command, tasks) in commands.into_iter().take(most) {
            match self.try_alone(&command, stop)? {
                Some(evidence) if evidence.passed => tell(tasks),
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    pub fn supervise_stated(&self, command: &str, confinement: &mut Confinement, stop: &AtomicBool) -> Evidence {
        let check = CheckRun {
            task: "stated".to_owned(),
            command: command.to_owned(),
            directory: self.repository.place.root.clone(),
            limit: self.check_limit(),
            environment: with_own_folder(self.repository.environment.path.as_deref()),
            tail: TAIL,
        };
        let report = confinement.run(&check, stop);
        let passed = report.passed();
        let CheckReport { end, seconds, output_tail, note, .. } = report;
        Evidence {
            command: Some(command.to_owned()),
            end,
            seconds: Some(seconds),
            output_tail: Some(redact(&output_tail).into_owned()),
            note: note.map(|note| redact(&note).into_owned()),
            ..self.looked(EvidenceClass::Executed, passed, String::new())
        }
    }
}

/// The differences in what the command runs since it was stated. `None` if there are none.
fn difference(folder: &Path, check: &StatedCheck, work: &[String]) -> Option<String> {
    let before: Definition = serde_json::from_str(check.frozen.as_deref()?).ok()?;
    let now = define(folder, folder, &check.command).ok()?;
    // Files that were missing and that a task has to write are the work itself.
    let is_work = |part: &DefinitionPart| {
        let was_missing =
            |was: &DefinitionPart| was.file == part.file && was.what == part.what && was.state == PartState::Missing;
        before.parts.iter().any(was_missing) && work.iter().any(|file| Path::new(&part.file).starts_with(file))
    };
    let without = |definition: &Definition| Definition {
        parts: definition.parts.iter().filter(|part| !is_work(part)).cloned().collect(),
    };
    let lines = without(&before).difference(&without(&now));
    (!lines.is_empty()).then(|| lines.join("; "))
}
