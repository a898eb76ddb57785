//! A hook line of an older version without its words: a host that drops `args` starts the bare program with a payload.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a payload may take to arrive, and then to end. Standard input may be a pipe that nobody writes to or closes.
const PATIENCE: Duration = Duration::from_secs(1);

/// As much of a payload as is taken from the pipe, so that the host can write it to its end.
const LONGEST: u64 = 64 << 20;

/// Whether a JSON object comes in on standard input. It is read to its end: nothing else wants it.
pub(crate) fn is_on_stdin() -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    let (found, hear) = mpsc::channel();
    // A read that never returns ends with the process.
    thread::spawn(move || {
        let mut bytes = stdin.lock().take(LONGEST).bytes().flatten();
        let _ = found.send(bytes.find(|byte| !byte.is_ascii_whitespace()) == Some(b'{'));
        let _ = found.send(bytes.count() > 0);
    });
    let is_payload = hear.recv_timeout(PATIENCE).unwrap_or(false);
    if is_payload {
        // The answer is known; this only lets the host write the rest.
        let _ = hear.recv_timeout(PATIENCE);
    }
    is_payload
}
