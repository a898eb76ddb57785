//! Hooks of an older version whose arguments are lost: a host that drops `args` starts the bare program with a payload.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time limit for a payload to arrive, and again to end. Standard input may be a pipe that stays open and silent.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Limit of bytes to read from the pipe, so that the host can write the whole payload.
const BYTE_LIMIT: u64 = 64 << 20;

/// Returns true if a JSON object arrives on standard input, and reads it to its end.
pub(crate) fn is_on_stdin() -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    let (sender, received) = mpsc::channel();
    // A read that never returns ends with the process.
    thread::spawn(move || {
        let mut bytes = stdin.lock().take(BYTE_LIMIT).bytes().flatten();
        let _ = sender.send(bytes.find(|byte| !byte.is_ascii_whitespace()) == Some(b'{'));
        let _ = sender.send(bytes.count() > 0);
    });
    let is_payload = received.recv_timeout(TIME_LIMIT).unwrap_or(false);
    if is_payload {
        // Lets the host write the rest.
        let _ = received.recv_timeout(TIME_LIMIT);
    }
    is_payload
}
