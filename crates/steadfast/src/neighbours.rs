//! Starts what makes the table of neighbours, and waits for nothing.

use std::process::{Command, Stdio};

use steadfast_store::{Place, neighbours_are_due};

use crate::surroundings;

/// Starts it where Steadfast is set up, history is to be had and the table is old. What goes wrong is left: without a table
/// the score is only a little less sure.
pub(crate) fn begin() {
    let cwd = surroundings::cwd();
    let Some(place) = Place::find(&cwd, surroundings::user_state().as_deref()) else { return };
    if place.root.join(".git").exists() && neighbours_are_due(&place, surroundings::now()) {
        let _ = start(&place);
    }
}

#[expect(clippy::disallowed_methods, reason = "history is read in a process of its own, which nobody waits for")]
fn start(place: &Place) -> std::io::Result<()> {
    Command::new(std::env::current_exe()?)
        .arg("neighbours")
        .current_dir(&place.root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}
