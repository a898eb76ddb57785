//! Starts what asks the user's command about a goal, and waits for nothing.

use steadfast_hook::{Process, Refining};

use crate::{beside, surroundings};

/// As this program is called among processes.
const OURS: &str = "steadfast";

/// What goes wrong is left: without it the goal is what the human said. A command that starts an agent here has hooks of its
/// own: what they hear is no human's prompt, and would ask the command again and again.
pub(crate) fn begin(refining: &Refining) {
    if surroundings::text(surroundings::REFINING).is_some() || Process::above(&[OURS]).is_some() {
        return;
    }
    let Refining { root, session, prompt } = refining;
    let _ = beside::start(root, ["refine", "--session", session.as_str(), "--prompt", &prompt.to_string()]);
}
