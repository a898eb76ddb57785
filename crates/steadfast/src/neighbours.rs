//! Starts what makes the table of neighbours, and waits for nothing.

use steadfast_store::{Place, neighbours_are_due};

use crate::{beside, surroundings};

/// Starts it where Steadfast is set up, history is to be had and the table is old. What goes wrong is left: without a table
/// the score is only a little less sure.
pub(crate) fn begin() {
    let cwd = surroundings::cwd();
    let Some(place) = Place::find(&cwd, surroundings::user_state().as_deref()) else { return };
    if place.root.join(".git").exists() && neighbours_are_due(&place, surroundings::now()) {
        let _ = beside::start(&place.root, ["neighbours"]);
    }
}
