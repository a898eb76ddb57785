use clap::Args;

use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Record a decision and its reason for later sessions.
#[derive(Debug, Args)]
pub(super) struct Decide {
    /// The decision, in one line.
    text: String,
    /// Reason for the decision.
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
