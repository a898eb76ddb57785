use std::time::Duration;

use clap::Args;
use steadfast_model::Fact;
use steadfast_observe::{Checkout, NeighbourTable};
use steadfast_store::make_neighbours;

use crate::background;
use crate::error::CommandError;
use crate::here;

/// What git gets for it: nobody waits, and nobody should notice.
const BUDGET: Duration = Duration::from_secs(10);

/// Compute the table of files that change together in the history. The start of a session runs this in the background.
#[derive(Debug, Args)]
pub(super) struct Neighbours {}

impl Neighbours {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let Self {} = self;
        background::step_aside();
        let place = here::repository()?.place;
        // What could not be found out is written down as such: it is not tried again before the hour is over.
        let make = || match Checkout::find(&place.root).neighbours(BUDGET) {
            Fact::Known(table) => table,
            Fact::Unknown(why) => NeighbourTable::empty(&why),
            Fact::NotAsked => NeighbourTable::empty("not asked"),
        };
        make_neighbours(&place, || make().as_str().to_owned()).map_err(|error| {
            CommandError::failure(format!("the table of neighbours cannot be written: {error}"))
                .hint("`steadfast doctor` looks at the state it needs")
        })
    }
}
