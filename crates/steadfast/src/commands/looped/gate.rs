use clap::Args;
use serde_json::json;
use steadfast_model::Stage;
use steadfast_runner::review::SessionReview;
use steadfast_work::loops::Loops;

use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::report;
use crate::surroundings;

/// Looks whether the loop may be called complete: every task with evidence on the files as they are, a review that passed,
/// nothing that must not be, no test weakened.
///
/// Each distinct check runs once more. Exits with 2 while something is in the way, and says what.
#[derive(Debug, Args)]
pub(in crate::commands) struct Gate {
    /// As JSON: {open, objections: [text]}.
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
        let objections: Vec<String> = judged.objections.iter().map(ToString::to_string).collect();
        if self.json {
            tell!("{}", json!({"open": objections.is_empty(), "objections": objections}))?;
        }
        if let Some(first) = objections.first() {
            if !self.json {
                for objection in &objections {
                    tell!("{objection}")?;
                }
            }
            return Err(CommandError::refused(format!("the gate does not open: {first}"))
                .hint("each is to be mended first; `steadfast task add` makes a task of it"));
        }
        ledger.advance_loop(&looped.id, Stage::Review, Stage::Complete, surroundings::now())?;
        drop(ledger);
        let over = Loops::of(&repository)?.written(&looped.id)?;
        if self.json { Ok(()) } else { tell!("{}", report::card(&repository, &over, judged.checks)?) }
    }
}
