use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

const STEP: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// Shows a progress bar until `ended`, if standard error is a terminal.
pub(super) fn show(what: &str, all: usize, done: impl Fn() -> usize, ended: impl Fn() -> bool) {
    let mut out = stderr();
    if !out.is_terminal() {
        return;
    }
    // Short work needs no bar.
    std::thread::sleep(STEP);
    while !ended() {
        let done = done();
        let filled = WIDTH * done / all.max(1);
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH - filled));
        let _ = write!(out, "\r{bar} {done} of {all} {what}");
        let _ = out.flush();
        std::thread::sleep(STEP);
    }
    let _ = write!(out, "\r\u{1b}[K");
}
