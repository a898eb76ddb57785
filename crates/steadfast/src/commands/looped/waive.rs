use clap::Args;
use steadfast_model::{LoopEnd, Waiver};
use steadfast_runner::review::close_remedies;
use steadfast_work::loops::Loops;
use steadfast_work::text::printable;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::surroundings;

/// Takes an objection of the gate as it is. The reason stands on the card.
///
/// `steadfast loop status` lists the objections with their ids. A loop that is capped goes on with `steadfast resume`, or
/// with `steadfast loop gate` in its checkout.
#[derive(Debug, Args)]
pub(in crate::commands) struct Waive {
    /// Its id: o-1a2b3c.
    objection: String,
    /// The reason.
    #[arg(long, value_name = "REASON")]
    why: String,
}

impl Waive {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let why = printable(self.why.trim());
        if why.is_empty() {
            return Err(CommandError::usage("the reason is empty")
                .hint("`steadfast loop waive ID --why \"that file belongs to it after all\"`"));
        }
        let loops = Loops::of(&repository)?;
        let looped = loops.last()?.filter(|looped| matches!(looped.ended, None | Some(LoopEnd::Capped)));
        let Some(looped) = looped else {
            return Err(CommandError::failure("there is no loop in this checkout whose gate objects to something")
                .hint("`steadfast loop status` shows the last one"));
        };
        let Some(objected) = looped.objections.iter().find(|objected| objected.id == self.objection) else {
            let known: Vec<&str> = looped.objections.iter().map(|objected| objected.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(CommandError::failure(format!("the gate has no objection `{}`", self.objection))
                .hint(format!("its objections at its last look: {known}")));
        };
        drop(loops);
        let mut ledger = repository.ledger()?;
        let waiver = Waiver { objection: objected.id.clone(), text: objected.text.clone(), why: why.clone() };
        let now = surroundings::now();
        ledger.waive_objection(&looped.id, &waiver, now)?;
        let closed = close_remedies(&mut ledger, &looped, objected, &why, now)?;
        drop(ledger);
        let after = Loops::of(&repository)?.written(&looped.id)?;
        for task in closed {
            note!("task {task} is closed: it was about this objection alone");
        }
        tell!("waived: {} ({why})", objected.text)?;
        match after.objections.len() {
            0 if after.run.is_some() => tell!("next: `steadfast resume`"),
            0 => tell!("next: `steadfast loop gate`"),
            left => tell!("{left} more objections are left: `steadfast loop status` lists them"),
        }
    }
}
