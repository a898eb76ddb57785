use clap::Args;
use serde_json::json;
use steadfast_model::{Objected, Stage, TaskId};
use steadfast_runner::review::{Judged, SessionReview, add_remedies, objected};
use steadfast_work::loops::Loops;
use steadfast_work::task_list::StatedEnd;

use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::report;
use crate::surroundings;

/// Looks whether the loop may be called complete: every task with evidence on the files as they are, a review that passed,
/// nothing that must not be, no test weakened, and what your own words say has to pass does.
///
/// Each distinct check runs once more. Exits with 2 while something is in the way, and says what; what an agent can meet
/// becomes a task whose check is that very objection.
#[derive(Debug, Args)]
pub(in crate::commands) struct Gate {
    /// As JSON: {open, objections: [text], ids: [id], tasks: [id], stated: [{command, said, passed}]}.
    #[arg(long)]
    json: bool,
}

impl Gate {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let looped = Loops::of(&repository)?.current()?;
        if looped.stage != Stage::Review {
            return Err(CommandError::refused(format!("the loop is {}, not in review", looped.stage.as_str()))
                .hint("`steadfast loop next` says what is to be done now"));
        }
        let session = SessionReview::of(&repository, &looped)?;
        let mut ledger = repository.ledger()?;
        let reviews = ledger.reviews_of(&looped.id)?;
        let judged = session.gate(&reviews)?;
        let objections: Vec<Objected> = judged.objections.iter().map(objected).collect();
        ledger.keep_objections(&looped.id, &objections, surroundings::now())?;
        if let Some(first) = objections.first() {
            let tasks = add_remedies(&mut ledger, session.plan(), &judged.objections, surroundings::now())?;
            if !tasks.is_empty() {
                ledger.advance_loop(&looped.id, Stage::Review, Stage::Executing, surroundings::now())?;
            }
            drop(ledger);
            Loops::of(&repository)?.written(&looped.id)?;
            self.say(&objections, &judged, &tasks)?;
            let error = CommandError::refused(format!("the gate does not open: {}", first.text));
            return Err(match tasks.first() {
                Some(task) => error.hint(format!("`steadfast task start {task}`; the loop is back at executing")),
                None => error.hint("a human sees to it, or runs `steadfast loop waive ID --why REASON`"),
            });
        }
        self.say(&objections, &judged, &[])?;
        ledger.advance_loop(&looped.id, Stage::Review, Stage::Complete, surroundings::now())?;
        drop(ledger);
        let over = Loops::of(&repository)?.written(&looped.id)?;
        if self.json { Ok(()) } else { tell!("{}", report::card(&repository, &over, &judged)?) }
    }

    fn say(&self, objections: &[Objected], judged: &Judged, tasks: &[TaskId]) -> Result<(), CommandError> {
        if self.json {
            let texts: Vec<&str> = objections.iter().map(|objected| objected.text.as_str()).collect();
            let ids: Vec<&str> = objections.iter().map(|objected| objected.id.as_str()).collect();
            let stated: Vec<_> = judged
                .stated
                .iter()
                .map(|run| json!({"command": run.command, "said": run.said, "passed": run.end == StatedEnd::Passed}))
                .collect();
            let open = objections.is_empty();
            return tell!(
                "{}",
                json!({"open": open, "objections": texts, "ids": ids, "tasks": tasks, "stated": stated})
            );
        }
        for objected in objections {
            match (&objected.check, tasks.is_empty()) {
                (None, false) => tell!("{} [{}, for a human]", objected.text, objected.id)?,
                _ => tell!("{} [{}]", objected.text, objected.id)?,
            }
        }
        for task in tasks {
            tell!("task {task} is about it")?;
        }
        Ok(())
    }
}
