//! Evidence that a task is done, if its check is not a command.

use std::path::Path;

use steadfast_check::artifact::{self, Artifact};
use steadfast_hosts::is_skill_installed;
use steadfast_model::{Check, CheckEnd, Evidence, EvidenceClass, Fact, Host, Task, TaskId};
use steadfast_store::ledger::Started;
use steadfast_text::{and_more, truncate_line};

use super::{TaskError, TaskList, decisions, files, skills};
use crate::error::WorkError;

impl TaskList {
    /// Evidence for which no command ran.
    pub(super) fn looked(&self, class: EvidenceClass, passed: bool, note: String) -> Evidence {
        Evidence::without_run(class, passed, note, self.now())
    }

    /// Evidence for a task without a check. An agent's claim counts if the files changed since the start; a human's
    /// always.
    pub(super) fn claimed(&self, task: &Task) -> Result<Evidence, WorkError> {
        if !self.caller.is_agent() {
            return Ok(self.looked(EvidenceClass::Forced, true, "a human closed it".into()));
        }
        let changed = self.changed_since(task, &task.id, false)?;
        let note = changed.note.as_deref().unwrap_or_default();
        let note = if changed.passed { format!("it has no check; {note}") } else { note.to_owned() };
        Ok(Evidence { class: EvidenceClass::Claimed, note: Some(note), ..changed })
    }

    /// Evidence for a task that has to change its files.
    pub(super) fn changed(&self, task: &Task) -> Result<Evidence, WorkError> {
        match task.verify {
            Some(Check::Written) => self.changed_since(task, &before_in_chain(task), true),
            _ => self.changed_since(task, &task.id, false),
        }
    }

    /// The same evidence again, for a task that such a change closed.
    pub(super) fn looked_again(&self, task: &Task) -> Result<Option<Evidence>, WorkError> {
        let is_looked_at = matches!(task.verify, Some(Check::Changed | Check::Written));
        is_looked_at.then(|| self.changed(task)).transpose()
    }

    /// Checks that the task's files differ from when `since` was started. With `there`, no file may be missing.
    pub(super) fn changed_since(&self, task: &Task, since: &TaskId, there: bool) -> Result<Evidence, WorkError> {
        let started = self.ledger.started(&task.plan, since).ok().flatten();
        let ids = match files::ids(&self.repository.place.root, &task.files, files::ONE_TASK) {
            Fact::Known(ids) => ids,
            Fact::Unknown(why) => {
                return Ok(self.looked(EvidenceClass::Observed, false, format!("cannot read its files: {why}")));
            }
            Fact::NotAsked => files::Ids::new(),
        };
        let Some(started) = started else {
            let note = format!("it was never started, so its changes are unknown: `steadfast task start {since}`");
            return Ok(self.looked(EvidenceClass::Observed, false, note));
        };
        if let Some(why) = &started.unseen {
            let note =
                format!("its files could not be read when it was started ({why}): `steadfast task start {since}`");
            return Ok(self.looked(EvidenceClass::Observed, false, note));
        }
        if task.files.is_empty() {
            return Ok(self.tree_changed_since(&started));
        }
        let missing: Vec<&str> = ids.iter().filter(|(_, id)| id.is_none()).map(|(name, _)| name.as_str()).collect();
        let changed = files::changed(&started.files, &ids);
        let (passed, note) = if there && !missing.is_empty() {
            (false, format!("missing: {}", missing.join(", ")))
        } else if changed.is_empty() {
            (false, format!("none of its files changed since {}: {}", started.at, task.files.join(", ")))
        } else {
            (true, format!("changed: {}", some(&changed)))
        };
        let seen =
            if passed { files::seen(&self.repository.place.root, &task.files, &ids, self.now()) } else { Vec::new() };
        Ok(Evidence { files: ids, seen, ..self.looked(EvidenceClass::Observed, passed, note) })
    }

    fn tree_changed_since(&self, started: &Started) -> Evidence {
        let place = &self.repository.place;
        match (started.tree.as_deref(), files::tree(&place.root, &place.state)) {
            (Some(before), Fact::Known(now)) if before == now => {
                let since = if started.loaded { "added" } else { "started" };
                self.looked(EvidenceClass::Observed, false, format!("nothing changed since it was {since}"))
            }
            (Some(_), Fact::Known(now)) => {
                Evidence { tree: Some(now), ..self.looked(EvidenceClass::Observed, true, "the tree changed".into()) }
            }
            (None, _) => self.looked(
                EvidenceClass::Claimed,
                true,
                "it names no files, and the tree at its start is unknown".into(),
            ),
            (_, Fact::Unknown(why)) => {
                self.looked(EvidenceClass::Observed, false, format!("cannot read the tree: {why}"))
            }
            (_, Fact::NotAsked) => self.looked(EvidenceClass::Observed, false, "the tree was not read".into()),
        }
    }

    pub(super) fn shown(&self, task: &Task, artifact: Option<&Path>) -> Result<Evidence, WorkError> {
        let Some(path) = artifact else {
            return Err(TaskError::NoArtifact(task.id.clone()).into());
        };
        let root = &self.repository.place.root;
        // The path is relative to the folder in which the command was called.
        let full = self.repository.environment.cwd.join(path);
        let shows: Vec<&str> = task.files.iter().map(String::as_str).collect();
        Ok(match artifact::look(root, &full, &shows) {
            Ok(Artifact { kind, width, height, id, .. }) => {
                let note = format!("{}: {kind}, {width} × {height}, {id}", path.display());
                let mut evidence = self.looked(EvidenceClass::Artifact, true, note);
                if let Fact::Known(ids) = files::ids(root, &task.files, files::ONE_TASK) {
                    evidence.seen = files::seen(root, &task.files, &ids, self.now());
                    evidence.files = ids;
                }
                evidence
            }
            Err(error) => self.looked(EvidenceClass::Artifact, false, error.to_string()),
        })
    }

    pub(super) fn decided(&self, task: &Task) -> Result<Evidence, WorkError> {
        let section = decisions::section_of(self, task)?;
        Ok(match section {
            Ok(lines) => self.looked(EvidenceClass::Observed, true, format!("{lines} in its section")),
            Err(missing) => self.looked(EvidenceClass::Observed, false, missing),
        })
    }

    pub(super) fn used(&self, task: &Task, names: &[String]) -> Result<Evidence, WorkError> {
        let since = self.ledger.started(&task.plan, &task.id)?.map_or(task.created_at, |started| started.at);
        let session = self.caller.session.as_ref();
        Ok(match skills::used(&self.repository.place, session, names, since) {
            skills::Seen::All => self.looked(EvidenceClass::Observed, true, format!("used: {}", names.join(", "))),
            skills::Seen::Without(missing) => {
                // A skill that was removed since the plan was loaded cannot be used, so the task could never be closed.
                let environment = &self.repository.environment;
                let is_here = |name: &String| {
                    let homes = environment.homes.as_ref();
                    homes.is_none_or(|homes| is_skill_installed(Host::Claude, name, &self.repository.place.root, homes))
                };
                let named =
                    |names: &[String]| names.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ");
                match missing.iter().filter(|name| is_here(name)).cloned().collect::<Vec<_>>().as_slice() {
                    [] => {
                        let note = format!("not used, because they are not installed here: {}", named(&missing));
                        self.looked(EvidenceClass::Claimed, true, note)
                    }
                    unused => {
                        let note = format!("not used since it was started: {}", named(unused));
                        self.looked(EvidenceClass::Observed, false, note)
                    }
                }
            }
            skills::Seen::CannotTell(why) => self.looked(EvidenceClass::Claimed, true, why),
        })
    }
}

/// The beginning of a command in one line, because a check may be a whole script.
pub fn short(command: &str) -> String {
    const LONGEST: usize = 80;
    truncate_line(command, LONGEST)
}

/// The end of a check that did not pass, in words.
pub fn how(evidence: &Evidence) -> String {
    let command = evidence.command.as_deref().map(|command| format!("`{}` ", short(command))).unwrap_or_default();
    let how = match evidence.end {
        CheckEnd::Exited(code) => format!("{command}exited with {code}"),
        CheckEnd::Signalled(signal) => format!("{command}was killed by signal {signal}"),
        CheckEnd::TimedOut => format!("{command}reached its time limit"),
        CheckEnd::NotStarted => format!("{command}could not be started"),
        CheckEnd::Lost => format!("{command}did not finish"),
        CheckEnd::Unsettled => format!("{command}changes the task's files on every run"),
        CheckEnd::Redefined => format!("{command}changed since the plan was loaded"),
        CheckEnd::Looked => String::new(),
    };
    let note = match evidence.note.as_deref() {
        Some(note) if how.is_empty() => note.to_owned(),
        Some(note) => format!(" ({note})"),
        None => String::new(),
    };
    format!("{how}{note}")
}

/// The task before a generated one: `2.1` for `2.1a`.
fn before_in_chain(task: &Task) -> TaskId {
    TaskId::new(task.id.as_str().trim_end_matches(|c: char| c.is_ascii_lowercase()))
}

fn some(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    and_more(names, SHOWN)
}
