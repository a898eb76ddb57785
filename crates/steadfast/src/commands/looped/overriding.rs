use clap::Args;
use steadfast_work::loops::{Loops, how};
use steadfast_work::text::printable;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Takes a request that is not clear enough as it is. The reason is kept, and the loop has the least freedom.
#[derive(Debug, Args)]
pub(in crate::commands) struct Override {
    /// Why it may begin all the same.
    #[arg(long, value_name = "TEXT")]
    why: String,
}

impl Override {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let why = printable(self.why.trim());
        if why.is_empty() {
            return Err(CommandError::usage("an override has a reason, and this one is empty")
                .hint("`steadfast loop override --why \"a trial, nothing is at stake\"`"));
        }
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        if !looped.is_unclear() {
            note!("loop {} needs no override: nothing is changed", looped.id);
            return Ok(());
        }
        let looped = loops.take_as_it_is(&looped, &why)?;
        tell!("loop {} is taken as it is: {why}", looped.id)?;
        if let Some(autonomy) = looped.autonomy() {
            tell!("{}", how(autonomy))?;
        }
        tell!("next: {}", loops.next(&looped)?.action)
    }
}
