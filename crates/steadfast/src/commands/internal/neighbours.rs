use std::time::Duration;

use clap::Args;
use steadfast_model::Fact;
use steadfast_observe::{Checkout, NeighbourTable};
use steadfast_store::make_neighbours;

use crate::background;
use crate::error::CommandError;
use crate::here;

/// Time limit for git, which runs in the background at the lowest priority.
const BUDGET: Duration = Duration::from_secs(10);

/// Compute the table of files that change together in the history. The start of a session runs this in the background.
#[derive(Debug, Args)]
pub(in crate::commands) struct Neighbours {}

impl Neighbours {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let Self {} = self;
        background::detach_and_yield();
        let place = here::repository()?.place;
        // A failure is recorded, too, so that Steadfast tries again only after an hour.
        let make = || match Checkout::find(&place.root).neighbours(BUDGET) {
            Fact::Known(table) => table,
            Fact::Unknown(why) => NeighbourTable::empty(&why),
            Fact::NotAsked => NeighbourTable::empty("not asked"),
        };
        make_neighbours(&place, || make().as_str().to_owned()).map_err(|error| {
            CommandError::failure(format!("cannot write the table of files that change together: {error}"))
                .hint("`steadfast doctor` checks the state it needs")
        })
    }
}
