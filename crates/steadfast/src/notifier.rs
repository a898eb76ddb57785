//! Tells a human that a session or a run needs them, in the way that `ui.notify` says.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write, stderr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::Settings;
use steadfast_redact::redact;
use steadfast_store::{Place, log_line};
use steadfast_text::truncate;

use crate::environment;
use crate::here;
use crate::output::visible;

/// Time limit of the user's command.
const LIMIT: Duration = Duration::from_secs(10);

/// The longest text, in characters.
const LONGEST: usize = 200;

/// The way to reach the human.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notifier {
    /// Nothing is set: a run at a terminal uses it, and a session says nothing.
    Unset,
    Off,
    /// The bell, and the notification of the terminal (OSC 9 and OSC 777).
    Terminal,
    /// `notify-send`.
    Desktop,
    /// A shell command that gets the text as its last argument.
    Command(String),
}

impl Notifier {
    /// `run.notify` is the old name of `ui.notify`.
    pub(crate) fn of(settings: &Settings) -> Self {
        let (ui, run) = (settings.ui.notify.value.trim(), settings.run.notify.value.trim());
        match if ui.is_empty() { run } else { ui } {
            "" => Self::Unset,
            "none" => Self::Off,
            "terminal" => Self::Terminal,
            "notify-send" => Self::Desktop,
            command => Self::Command(command.to_owned()),
        }
    }

    /// The way that the settings of this repository name. Unreadable settings name none.
    pub(crate) fn here() -> Self {
        let settings = here::repository().ok().and_then(|repository| repository.config.load().ok());
        settings.as_ref().map_or(Self::Unset, Self::of)
    }

    /// Tells about a run, whose own terminal is at hand.
    pub(crate) fn tell_of_run(&self, place: &Place, text: &str) {
        match self {
            Self::Off => {}
            Self::Unset | Self::Terminal => {
                if stderr().is_terminal() {
                    let _ = stderr().write_all(sequence(&line(text), *self == Self::Terminal).as_bytes());
                }
            }
            Self::Desktop | Self::Command(_) => self.start(place, text),
        }
    }

    /// Tells about a session. `terminal`: where its host runs.
    pub(crate) fn tell_of_session(&self, place: &Place, terminal: Option<&Path>, text: &str) {
        match self {
            Self::Unset | Self::Off => {}
            Self::Terminal => {
                if let Some(Err(why)) = terminal.map(|terminal| ring(terminal, text)) {
                    log_line(place, environment::now(), &format!("`ui.notify` failed: {why}"));
                }
            }
            Self::Desktop | Self::Command(_) => self.start(place, text),
        }
    }

    fn start(&self, place: &Place, text: &str) {
        let mut command = match self {
            Self::Desktop => {
                let mut command = steadfast_system::program("notify-send");
                command.args(["--app-name", "Steadfast", "--", "Steadfast"]).arg(line(text));
                command
            }
            Self::Command(user) => {
                let mut command = steadfast_system::program("/bin/sh");
                command.args(["-c", &format!("{user} \"$1\""), "sh", &line(text)]);
                command
            }
            Self::Unset | Self::Off | Self::Terminal => return,
        };
        if let Err(why) = run(&mut command) {
            log_line(place, environment::now(), &format!("`ui.notify` failed: {why}"));
        }
    }
}

/// One line without secrets and without anything that a terminal obeys.
fn line(text: &str) -> String {
    truncate(&visible(redact(&text.replace('\n', " ")).into_owned()), LONGEST).into_owned()
}

/// The notification of a terminal: OSC 9 (iTerm, kitty, WezTerm, Windows Terminal) or OSC 777 (foot, Ghostty, rxvt). A
/// terminal that knows neither ignores it, or rings the bell that ends it.
fn sequence(line: &str, every_way: bool) -> String {
    let osc_9 = format!("\u{1b}]9;{line}\u{7}");
    // A semicolon separates the parts of OSC 777.
    if every_way { format!("\u{7}{osc_9}\u{1b}]777;notify;Steadfast;{}\u{7}", line.replace(';', ",")) } else { osc_9 }
}

/// Writes to another program's terminal. It moves no cursor, so the program's picture stays whole.
fn ring(terminal: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(terminal)?;
    if file.is_terminal() { file.write_all(sequence(&line(text), true).as_bytes()) } else { Ok(()) }
}

fn run(command: &mut Command) -> Result<(), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ui: &str, run: &str) -> Notifier {
        let mut settings = Settings::default();
        settings.ui.notify.value = ui.to_owned();
        settings.run.notify.value = run.to_owned();
        Notifier::of(&settings)
    }

    #[test]
    fn the_old_name_holds_where_the_new_one_says_nothing() {
        let command = |text: &str| Notifier::Command(text.to_owned());
        assert_eq!(of("", ""), Notifier::Unset);
        assert_eq!(of("", "say"), command("say"));
        assert_eq!(of("notify-send", "say"), Notifier::Desktop);
        assert_eq!(of("none", "say"), Notifier::Off);
        assert_eq!(of("terminal", ""), Notifier::Terminal);
        assert_eq!(of("beep -f 440", ""), command("beep -f 440"));
    }

    #[test]
    fn a_text_is_one_line_without_secrets_or_control_characters() {
        let token = format!("ghp_{}", &"a1B2c3D4e5".repeat(4)[..36]);
        let said = line(&format!("run 1;\nthe key is {token} \u{1b}[2J"));
        assert!(said.contains("[redacted:") && !said.contains('\u{1b}') && !said.contains('\n'), "{said:?}");
        assert!(line(&"x".repeat(1_000)).chars().count() <= LONGEST);
        assert_eq!(sequence("a;b", false), "\u{1b}]9;a;b\u{7}");
        assert_eq!(sequence("a;b", true), "\u{7}\u{1b}]9;a;b\u{7}\u{1b}]777;notify;Steadfast;a,b\u{7}");
    }
}
