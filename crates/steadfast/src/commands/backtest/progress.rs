use std::time::Duration;

use crate::terminal::{Screen, bar};

const STEP: Duration = Duration::from_millis(100);

/// Shows a progress bar until `ended`, if standard error is a terminal.
pub(super) fn show(what: &str, all: usize, done: impl Fn() -> usize, ended: impl Fn() -> bool) {
    let Some(mut screen) = Screen::of_stderr() else { return };
    // Short work needs no bar.
    std::thread::sleep(STEP);
    while !ended() {
        let done = done();
        screen.draw(&[format!("{} {done} of {all} {what}", bar(done, all))]);
        std::thread::sleep(STEP);
    }
    screen.wipe();
}
