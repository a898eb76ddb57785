//! A line on standard error that shows that work goes on. `Screen` draws it, as all lines that are redrawn, so a line that
//! Ctrl-C leaves behind is whole; `indicatif` would redraw beside it.

use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use steadfast_text::duration;

use super::{Screen, faint};

/// Work that ends sooner needs no spinner.
const PATIENCE: Duration = Duration::from_millis(400);
const STEP: Duration = Duration::from_millis(120);
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// Columns of a bar.
const BAR: usize = 24;

/// Work that takes a while. Its line disappears when this is dropped.
#[derive(Debug)]
pub(crate) struct Spinner(Option<(Sender<()>, JoinHandle<()>)>);

impl Spinner {
    /// `⠹ running the check of 1.1 · 12 s`
    pub(crate) fn start(what: impl fmt::Display) -> Self {
        let what = what.to_string();
        let Some(mut screen) = Screen::of_stderr() else { return Self(None) };
        let (stop, stopped) = channel();
        let began = Instant::now();
        let thread = thread::spawn(move || {
            let mut pause = PATIENCE;
            for frame in FRAMES.iter().cycle() {
                // An error is the end, too: the other side is gone.
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                pause = STEP;
                let took = duration(began.elapsed().as_secs() * 1_000);
                screen.draw(&[format!("{frame} {what} {}", faint(&format!("· {took}")))]);
            }
            screen.wipe();
        });
        Self(Some((stop, thread)))
    }
}

/// `██████░░░░░░░░░░░░░░░░░░`
pub(crate) fn bar(done: usize, all: usize) -> String {
    let filled = BAR * done.min(all) / all.max(1);
    format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled))
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
