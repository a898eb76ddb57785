use std::io::{IsTerminal, Write, stderr};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::RunSettings;
use steadfast_store::{Place, log_line};

use crate::environment;
use crate::output::visible;

/// Time limit of the user's command.
const LIMIT: Duration = Duration::from_secs(10);

/// The notification to a human that a run needs them or is complete.
#[derive(Debug)]
pub(super) struct Notice {
    /// The user's command; if empty, the terminal shows the notification.
    command: String,
}

impl Notice {
    pub(super) fn of(settings: &RunSettings) -> Self {
        Self { command: settings.notify.value.clone() }
    }

    pub(super) fn send(&self, place: &Place, line: &str) {
        if self.command.is_empty() {
            if stderr().is_terminal() {
                // OSC 9: many terminals show a notification, the others ring the bell.
                let line: String = visible(line.replace('\n', " ")).chars().take(200).collect();
                let _ = write!(stderr(), "\u{1b}]9;{line}\u{7}");
            }
            return;
        }
        if let Err(why) = self.run(line) {
            log_line(place, environment::now(), &format!("`run.notify` failed: {why}"));
        }
    }

    fn run(&self, line: &str) -> Result<(), String> {
        let mut command = steadfast_system::program("/bin/sh");
        let script = format!("{} \"$1\"", self.command);
        command.args(["-c", &script, "sh", line]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let until = Instant::now() + LIMIT;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(status.to_string()),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("it took longer than {} s", LIMIT.as_secs()));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}
