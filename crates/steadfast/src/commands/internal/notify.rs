use std::path::PathBuf;

use clap::Args;
use steadfast_store::is_new_notice;

use crate::background;
use crate::error::CommandError;
use crate::here;
use crate::notifier::Notifier;

/// Tell the human that a session needs them. A hook runs this in the background.
#[derive(Debug, Args)]
pub(in crate::commands) struct Notify {
    /// Key of the moment. The human hears of each key once.
    #[arg(long, value_name = "KEY")]
    moment: String,
    /// The terminal of the session's host.
    #[arg(long, value_name = "PATH")]
    terminal: Option<PathBuf>,
    text: String,
}

impl Notify {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        background::detach_and_yield();
        let repository = here::repository()?;
        let notifier = Notifier::of(&repository.config.load()?);
        // The same event may come through two wirings, and a host may repeat it.
        if is_new_notice(&repository.place, &self.moment).unwrap_or(true) {
            notifier.tell_of_session(&repository.place, self.terminal.as_deref(), &self.text);
        }
        Ok(())
    }
}
