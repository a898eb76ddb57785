use std::time::Duration;

use clap::Args;
use steadfast_model::SessionId;
use steadfast_store::log_line;
use steadfast_work::refine::refine;

use crate::{background, environment, error::CommandError, here};

/// Ask the user's command for files that belong to a goal. The hook of a prompt runs this in the background.
#[derive(Debug, Args)]
pub(in crate::commands) struct Refine {
    /// Session id.
    #[arg(long)]
    session: String,
    /// Number of the human's prompt.
    #[arg(long)]
    prompt: u64,
    /// Time limit for the command in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

impl Refine {
    /// Writes errors to the log only: the process runs in the background.
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        background::detach_and_yield();
        let repository = here::repository()?;
        let session = SessionId::new(&self.session);
        if let Err(error) = refine(&repository, &session, self.prompt, Duration::from_secs(self.seconds)) {
            let line = format!("session {session}: cannot refine the goal: {error}");
            log_line(&repository.place, environment::now(), &line);
        }
        Ok(())
    }
}
