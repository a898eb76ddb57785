use clap::Args;

use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Writes down a decision, and why: it outlives the conversation.
#[derive(Debug, Args)]
pub(super) struct Decide {
    /// What was decided, in one line.
    text: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    why: String,
}

impl Decide {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("decide")?;
        tell!("{}", list.decide(&self.text, &self.why)?)?;
        Ok(())
    }
}
