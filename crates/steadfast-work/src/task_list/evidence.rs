//! What a task's end rests on, and whether that still holds.

use steadfast_model::{CheckEnd, Evidence, Fact, Status, Task};

use super::{TaskList, files};
use crate::error::WorkError;
use crate::text::one_line;

/// The last evidence of a task, as it is now.
#[derive(Clone, Debug)]
pub struct Proof {
    pub evidence: Evidence,
    /// Whether the files it is about changed since. None: not known, or nothing of this checkout.
    pub stale: Option<bool>,
    /// What a run did is on this branch, which is not merged yet.
    pub branch: Option<String>,
}

impl TaskList {
    /// The last evidence of each of these tasks of one plan.
    pub fn proofs(&self, tasks: &[Task]) -> Result<Vec<Option<Proof>>, WorkError> {
        let (mut evidence, elsewhere) = match tasks.first() {
            Some(first) => (self.ledger.evidence(&first.plan)?, self.elsewhere(&first.plan)?),
            None => Default::default(),
        };
        let closed = tasks.iter().filter(|task| task.status == Status::Done);
        let mut paths: Vec<String> = closed
            .filter_map(|task| evidence.get(&task.id))
            .flat_map(|evidence| evidence.files.keys().cloned())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let now = files::ids(&self.repository.place.root, &paths, files::A_LISTING);
        let proof = |task: &Task| {
            let evidence = evidence.remove(&task.id)?;
            let branch = elsewhere.tasks.contains(&task.id).then(|| elsewhere.branch.clone());
            let is_here = task.status == Status::Done && branch.is_none();
            let stale = is_here.then(|| is_stale(&evidence, &now)).flatten();
            Some(Proof { evidence, stale, branch })
        };
        Ok(tasks.iter().map(proof).collect())
    }
}

/// `None`: not known.
fn is_stale(evidence: &Evidence, now: &Fact<files::Ids>) -> Option<bool> {
    if evidence.files.is_empty() {
        return Some(false);
    }
    match now {
        Fact::Known(now) => Some(evidence.files.iter().any(|(path, id)| now.get(path).cloned().flatten() != *id)),
        Fact::Unknown(_) | Fact::NotAsked => None,
    }
}

/// A check may be a whole script: the beginning of it, in one line.
pub fn short(command: &str) -> String {
    const LONGEST: usize = 80;
    let line = one_line(command);
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST - 1).chain(['…']).collect() }
}

/// How a check that did not pass ended.
pub fn how(evidence: &Evidence) -> String {
    let command = evidence.command.as_deref().map(|command| format!("`{}` ", short(command))).unwrap_or_default();
    let how = match evidence.end {
        CheckEnd::Exited(code) => format!("{command}exited with {code}"),
        CheckEnd::Signalled(signal) => format!("{command}was ended by signal {signal}"),
        CheckEnd::TimedOut => format!("{command}ran into its time limit"),
        CheckEnd::NotStarted => format!("{command}could not be started"),
        CheckEnd::Lost => format!("{command}did not get to its end"),
        CheckEnd::Unsettled => format!("{command}changes the task's files each time it runs"),
        CheckEnd::Redefined => format!("{command}is not what it was when the plan was loaded"),
        CheckEnd::Looked => String::new(),
    };
    let note = match evidence.note.as_deref() {
        Some(note) if how.is_empty() => note.to_owned(),
        Some(note) => format!(" ({note})"),
        None => String::new(),
    };
    format!("{how}{note}")
}
