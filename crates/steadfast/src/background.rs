//! Work that takes longer than a hook may. It runs in a separate process, and the hook does not wait for it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use steadfast_hook::{BackgroundWork, host_above};
use steadfast_store::{Place, neighbours_are_due};
use steadfast_system::{ProcessEntry, program};
use steadfast_work::REFINING;

use crate::environment;

/// The name of this program in the process list.
const OURS: &str = "steadfast";

/// Starts the background work of a hook. Errors are ignored: without this work the goal stays as the human wrote it, and
/// the score is slightly less precise.
pub(crate) fn begin(work: &BackgroundWork) {
    match work {
        // The command that refines a goal may start an agent, whose hooks arrive here, too. Its prompt is not a human's,
        // and refining it would start the command again without end.
        BackgroundWork::Refine { root, session, prompt } => {
            if environment::text(REFINING).is_none() && ProcessEntry::above(|above| above.name == OURS).is_none() {
                let _ = start(root, ["refine", "--session", session.as_str(), "--prompt", &prompt.to_string()]);
            }
        }
        BackgroundWork::Notify { root, key, text } => {
            let mut words: Vec<OsString> = vec!["notify".into(), "--moment".into(), key.into()];
            if let Some(terminal) = host_above().and_then(|host| terminal_of(host.id)) {
                words.extend(["--terminal".into(), terminal.into_os_string()]);
            }
            words.extend(["--".into(), text.into()]);
            let _ = start(root, words);
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

/// Returns the terminal that a process reads or writes.
fn terminal_of(process: u32) -> Option<PathBuf> {
    let links = ["fd/1", "fd/2", "fd/0"].into_iter().filter_map(|file| ProcessEntry::link(process, file).ok());
    links.into_iter().find(|path| path.starts_with("/dev/pts") || path.to_string_lossy().starts_with("/dev/tty"))
}

/// Starts this program with other arguments at the root of a checkout.
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

/// Leaves the process group of the hook, which a host may kill, and takes the lowest priority.
pub(crate) fn detach_and_yield() {
    const LAST: i32 = 19;
    // `setsid` fails for a process that a terminal started: it leads its group already.
    let _ = rustix::process::setsid();
    let _ = rustix::process::setpriority_process(None, LAST);
}
