use clap::Args;
use serde_json::json;
use steadfast_work::Caller;
use steadfast_work::loops::{Binding, Loops};

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Says where the loop stands and what takes it further.
#[derive(Debug, Args)]
pub(in crate::commands) struct Next {
    /// Print JSON with stable keys: `{loop, stage, standing, action}`; without a loop, `{loop: null}`.
    #[arg(long)]
    json: bool,
}

impl Next {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = Caller::of(Some(&repository.place), &repository.environment, "loop next");
        let mut loops = Loops::of(&repository)?;
        let Some(looped) = loops.unfinished()? else {
            if self.json {
                return tell!("{}", json!({ "loop": null }));
            }
            note!("no loop is under way; `steadfast loop start \"what is wanted\"` begins one");
            return Ok(());
        };
        loops.bind(&caller, &looped, Binding::UnlessHeld)?;
        let next = loops.next(&looped)?;
        if self.json {
            let (stage, standing, action) = (next.stage, next.standing, next.action);
            return tell!("{}", json!({"loop": looped.id, "stage": stage, "standing": standing, "action": action}));
        }
        tell!("{}: {}", next.stage.as_str(), next.standing)?;
        tell!("next: {}", next.action)
    }
}
