//! Work that takes longer than a hook may: in a process of its own, for which the hook does not wait.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;

use steadfast_hook::BackgroundWork;
use steadfast_store::{Place, neighbours_are_due};
use steadfast_system::{ProcessEntry, program};
use steadfast_work::REFINING;

use crate::environment;

/// As this program is called among processes.
const OURS: &str = "steadfast";

/// Starts what the hook left to do. An error is ignored: without it a goal is what the human said, and the score is only a
/// little less sure.
pub(crate) fn begin(work: &BackgroundWork) {
    match work {
        // A command that starts an agent here has hooks of its own: what they hear is no human's prompt, and would ask the
        // command again and again.
        BackgroundWork::Refine { root, session, prompt } => {
            if environment::text(REFINING).is_none() && ProcessEntry::above(|above| above.name == OURS).is_none() {
                let _ = start(root, ["refine", "--session", session.as_str(), "--prompt", &prompt.to_string()]);
            }
        }
        BackgroundWork::FindNeighbours { root } => {
            let place = Place::find(root, environment::user_state().as_deref());
            let is_due = |place: &Place| neighbours_are_due(place, environment::now());
            if root.join(".git").exists() && place.as_ref().is_some_and(is_due) {
                let _ = start(root, ["neighbours"]);
            }
        }
    }
}

/// Starts this program with other words at the root of a checkout.
fn start<W: AsRef<OsStr>>(root: &Path, words: impl IntoIterator<Item = W>) -> std::io::Result<()> {
    program(std::env::current_exe()?)
        .args(words)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Leaves the process group of the hook, which a host may end, and takes the lowest priority.
pub(crate) fn step_aside() {
    const LAST: i32 = 19;
    // A process that was started from a terminal leads its group already, and stays.
    let _ = rustix::process::setsid();
    let _ = rustix::process::setpriority_process(None, LAST);
}
