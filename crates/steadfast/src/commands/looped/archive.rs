use clap::Args;
use steadfast_work::loops::Loops;

use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Puts the loop that is not finished away. Its plan and what was done stay; its must-nots hold nobody any more.
#[derive(Debug, Args)]
pub(in crate::commands) struct Archive {}

impl Archive {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        let looped = loops.archive(&looped)?;
        tell!("loop {} is put away at {}", looped.id, looped.stage.as_str())
    }
}
