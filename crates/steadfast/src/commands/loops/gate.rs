use clap::Args;
use serde_json::json;
use steadfast_model::{LoopEnd, Objected, Stage, TaskId, Waiver};
use steadfast_runner::review::{
    Against, GateOutcome, SessionReview, add_remedies, close_remedies, objected, still_objects,
};
use steadfast_text::printable;
use steadfast_work::loops::Loops;
use steadfast_work::task_list::StatedEnd;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::report;

/// Check whether the loop is complete, and list the objections.
///
/// Requires evidence for every task on the current files, a passed review, no broken must-not, no weakened test, and
/// success of every check that the request states. Runs each distinct check once more. Exits with 2 while there are
/// objections. An objection that an agent can meet becomes a task, with the objection as its check.
#[derive(Debug, Args)]
pub(in crate::commands) struct Gate {
    /// Print JSON with stable keys: `{open, objections: [text], ids: [id], tasks: [id], stated: [{command, said,
    /// passed}]}`.
    #[arg(long)]
    json: bool,
}

impl Gate {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let looped = Loops::of(&repository)?.current()?;
        if looped.stage != Stage::Review {
            return Err(CommandError::refused(format!(
                "the loop is at stage {}; the gate opens only at stage review",
                looped.stage.as_str()
            ))
            .hint("`steadfast loop next` shows the next step"));
        }
        let session = SessionReview::of(&repository, &looped)?;
        let mut ledger = repository.ledger()?;
        let reviews = ledger.reviews_of(&looped.id)?;
        let judged = session.gate(&reviews)?;
        let objections: Vec<Objected> = judged.objections.iter().map(objected).collect();
        ledger.keep_objections(&looped.id, &objections, environment::now())?;
        if let Some(first) = objections.first() {
            let tasks = add_remedies(&mut ledger, session.plan(), &judged.objections, environment::now())?;
            if !tasks.is_empty() {
                ledger.advance_loop(&looped.id, Stage::Review, Stage::Executing, environment::now())?;
            }
            drop(ledger);
            Loops::of(&repository)?.written(&looped.id)?;
            self.say(&objections, &judged, &tasks)?;
            let error = CommandError::refused(format!("the gate does not open: {}", first.text));
            return Err(match tasks.first() {
                Some(task) => {
                    error.hint(format!("run `steadfast task start {task}`; the loop is back at stage executing"))
                }
                None => {
                    error.hint("only a human can resolve it, or waive it with `steadfast loop waive ID --why REASON`")
                }
            });
        }
        self.say(&objections, &judged, &[])?;
        ledger.advance_loop(&looped.id, Stage::Review, Stage::Complete, environment::now())?;
        drop(ledger);
        let over = Loops::of(&repository)?.written(&looped.id)?;
        if self.json { Ok(()) } else { tell!("{}", report::card(&repository, &over, &judged)?) }
    }

    fn say(&self, objections: &[Objected], judged: &GateOutcome, tasks: &[TaskId]) -> Result<(), CommandError> {
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
                (None, false) => tell!("{} [{}, needs a human]", objected.text, objected.id)?,
                _ => tell!("{} [{}]", objected.text, objected.id)?,
            }
        }
        for task in tasks {
            tell!("task {task} resolves it")?;
        }
        Ok(())
    }
}

/// Waive an objection of the gate, with a reason for the card.
///
/// `steadfast loop status` lists the objections with their ids. Continue a capped loop with `steadfast resume`, or with
/// `steadfast loop gate` in its checkout.
#[derive(Debug, Args)]
pub(in crate::commands) struct Waive {
    /// Objection id, such as o-1a2b3c.
    objection: String,
    /// Reason for the waiver.
    #[arg(long, value_name = "REASON")]
    why: String,
}

impl Waive {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let why = printable(self.why.trim());
        if why.is_empty() {
            return Err(CommandError::usage("the reason is empty")
                .hint("`steadfast loop waive ID --why \"the change of that file is intended\"`"));
        }
        let loops = Loops::of(&repository)?;
        let looped = loops.last()?.filter(|looped| matches!(looped.ended, None | Some(LoopEnd::Capped)));
        let Some(looped) = looped else {
            return Err(CommandError::failure("no loop in this checkout has objections of its gate")
                .hint("`steadfast loop status` shows the last loop"));
        };
        let Some(objected) = looped.objections.iter().find(|objected| objected.id == self.objection) else {
            let known: Vec<&str> = looped.objections.iter().map(|objected| objected.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(CommandError::failure(format!("the gate has no objection `{}`", self.objection))
                .hint(format!("objections of the last gate check: {known}")));
        };
        drop(loops);
        let mut ledger = repository.ledger()?;
        let waiver = Waiver { objection: objected.id.clone(), text: objected.text.clone(), why: why.clone() };
        let now = environment::now();
        ledger.waive_objection(&looped.id, &waiver, now)?;
        let closed = close_remedies(&mut ledger, &looped, objected, &why, now)?;
        drop(ledger);
        let after = Loops::of(&repository)?.written(&looped.id)?;
        for task in closed {
            note!("task {task} is closed: it was only about this objection");
        }
        tell!("waived: {} ({why})", objected.text)?;
        match after.objections.len() {
            0 if after.run.is_some() => tell!("next: `steadfast resume`"),
            0 => tell!("next: `steadfast loop gate`"),
            left => tell!("{left} objections left: `steadfast loop status` lists them"),
        }
    }
}

/// Test an objection of the gate against the files of this checkout.
///
/// The gate makes this the check of a task. While the objection holds, prints the remaining problems and exits with 2.
#[derive(Debug, Args)]
pub(in crate::commands) struct Objection {
    /// Commit at which the work began.
    #[arg(long, value_name = "COMMIT")]
    base: String,
    /// Must-not to test.
    #[arg(long, value_name = "TEXT", conflicts_with = "tests", required_unless_present = "tests")]
    must_not: Option<String>,
    /// File that may change outside a scope, such as the spec. May be given several times.
    #[arg(long, value_name = "FILE")]
    own: Vec<String>,
    /// File with the weakened tests.
    #[arg(long, value_name = "FILE")]
    tests: Option<String>,
}

impl Objection {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let against = match (&self.must_not, &self.tests) {
            (Some(must_not), _) => Against::MustNot { must_not, own: &self.own },
            (None, Some(file)) => Against::Tests(file),
            (None, None) => {
                return Err(CommandError::usage("no objection given: add `--must-not TEXT` or `--tests FILE`"));
            }
        };
        let left = still_objects(&repository, &self.base, against)?;
        let Some(first) = left.first() else { return tell!("the objection is resolved") };
        left.iter().try_for_each(|line| tell!("{line}"))?;
        let error = CommandError::refused(format!("the objection still holds: {first}"));
        Err(match self.must_not {
            Some(_) => error.hint(format!("`git checkout {} -- PATH` restores a file", self.base)),
            None => error.hint("restore the stronger test, and fix the code that fails it"),
        })
    }
}
