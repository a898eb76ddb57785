use clap::Args;
use serde_json::json;

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
    /// Print JSON with stable keys: `{decided}`.
    #[arg(long)]
    json: bool,
}

impl Decide {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("decide")?;
        let decided = list.decide(&self.text, &self.why)?;
        if self.json { tell!("{}", json!({ "decided": decided })) } else { tell!("{decided}") }
    }
}
