use std::time::Duration;

use clap::Args;
use steadfast_model::SessionId;
use steadfast_store::log_line;
use steadfast_work::refine::refine;

use crate::{background, environment, error::CommandError, here};

/// Asks the user's command what else belongs to a goal. The hook of a prompt starts it, beside everything else.
#[derive(Debug, Args)]
pub(super) struct Refine {
    #[arg(long)]
    session: String,
    /// The number of the human's prompt.
    #[arg(long)]
    prompt: u64,
    /// How long the command may take.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

impl Refine {
    /// An error goes to the log alone.
    pub(super) fn run(self) -> Result<(), CommandError> {
        background::step_aside();
        let repository = here::repository()?;
        let session = SessionId::new(&self.session);
        if let Err(error) = refine(&repository, &session, self.prompt, Duration::from_secs(self.seconds)) {
            let line = format!("session {session}: the goal was not refined: {error}");
            log_line(&repository.place, environment::now(), &line);
        }
        Ok(())
    }
}
