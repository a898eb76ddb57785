//! Prints the timeline: time, actor, text.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use steadfast_model::{Millis, Release};
use steadfast_text::{HANG, columns, count};

use super::scene::Scene;
use crate::terminal;

const NARROW: usize = 40;

/// Pause between two lines on a terminal, so that a person can follow.
const PAUSE: Duration = Duration::from_millis(200);

/// How much of a session is printed.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// Every entry, with its time since the start.
    Full { start: Millis },
    /// Some entries, without times; long texts end with `…`.
    Short,
}

impl Layout {
    /// The longest line.
    fn width(self) -> usize {
        match self {
            Self::Full { .. } => 100,
            Self::Short => 80,
        }
    }

    /// Where the text of an entry begins: after `12.34s  steadfast  ` or `  steadfast  `.
    fn indent(self) -> usize {
        match self {
            Self::Full { .. } => 19,
            Self::Short => 13,
        }
    }
}

pub(super) struct Timeline {
    out: anstream::AutoStream<io::Stdout>,
    layout: Layout,
    width: usize,
    pause: Duration,
    /// The actor of the last entry in the short layout, which names an actor once.
    last: Option<Actor>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Actor {
    Human,
    Agent,
    Host,
    Steadfast,
}

impl Actor {
    fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
            Self::Host => "host",
            Self::Steadfast => "steadfast",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Human => Style::new().bold(),
            Self::Agent => AnsiColor::Cyan.on_default(),
            Self::Host => Style::new().dimmed(),
            Self::Steadfast => AnsiColor::Green.on_default().bold(),
        }
    }
}

const PLAIN: Style = Style::new();
const FAINT: Style = Style::new().dimmed();
const REFUSAL: Style = AnsiColor::Yellow.on_default().bold();

/// The width of the headings of rows.
const ROW: usize = "Without Steadfast  ".len();

/// Part of an entry: its lines begin with `mark`.
struct Part<'a> {
    style: Style,
    mark: &'static str,
    text: &'a str,
}

impl Timeline {
    pub(super) fn new(layout: Layout, fast: bool) -> Self {
        let pauses = io::stdout().is_terminal() && !fast && matches!(layout, Layout::Full { .. });
        Self {
            out: anstream::stdout(),
            layout,
            width: terminal::width().unwrap_or(usize::MAX).clamp(NARROW, layout.width()),
            pause: if pauses { PAUSE } else { Duration::ZERO },
            last: None,
        }
    }

    pub(super) fn show(&mut self, at: Millis, scene: &Scene) -> io::Result<()> {
        let plain = |text| Part { style: PLAIN, mark: "", text };
        let quote = |style, text| Part { style, mark: "| ", text };
        match scene {
            Scene::Asked { text } => self.entry(at, Actor::Human, &[plain(text)]),
            Scene::Said { text } => self.entry(at, Actor::Agent, &[plain(&format!("\"{text}\""))]),
            Scene::Ran { command, output } => {
                // Shows the error, else the last line, which lists the remaining work.
                let refused = refusal(output);
                if matches!(self.layout, Layout::Short) {
                    self.entry(at, Actor::Agent, &[plain(&format!("runs `{command}`"))])?;
                    let (style, answer) = match refused {
                        Some(error) => (REFUSAL, shorten(error, self.text_width(), 2)),
                        None if is_closing(command) => {
                            (PLAIN, shorten(output.lines().next_back().unwrap_or_default(), self.text_width(), 1))
                        }
                        None => return Ok(()),
                    };
                    return self.entry(at, Actor::Steadfast, &[Part { style, mark: "", text: &answer }]);
                }
                let shown = refused.or(output.lines().next_back()).unwrap_or_default();
                let shown = shorten(shown, self.text_width() - 2, 1);
                let output = Part { style: if refused.is_some() { REFUSAL } else { FAINT }, mark: "  ", text: &shown };
                self.entry(at, Actor::Agent, &[plain(&format!("runs `{command}`")), output])
            }
            Scene::Wrote { path, lines } => {
                self.entry(at, Actor::Agent, &[plain(&format!("writes {path} ({})", count(*lines, "line")))])
            }
            Scene::Informed { text } => {
                let text = shorten(&format!("tells the agent: {text}"), self.text_width(), 2);
                self.entry(at, Actor::Steadfast, &[plain(&text)])
            }
            Scene::Tried { what } => self.entry(at, Actor::Agent, &[plain(&format!("wants to {what}"))]),
            Scene::WantsToStop => self.entry(at, Actor::Host, &[plain("asks: may the agent stop?")]),
            Scene::Refused { reason } => {
                let heading = Part { style: REFUSAL, mark: "", text: "refuses. The agent gets:" };
                let reason = match self.layout {
                    Layout::Full { .. } => reason.clone(),
                    Layout::Short => shorten(reason, self.text_width() - 2, 2),
                };
                self.entry(at, Actor::Steadfast, &[heading, quote(REFUSAL, &reason)])
            }
            Scene::Released { release } => {
                let text = match release {
                    Some(Release::Complete) => "lets the agent stop: complete, no task is open",
                    Some(Release::NeedsReview) => "lets the agent stop: some tasks closed on its word alone",
                    Some(Release::Unmerged) => "lets the agent stop: done on a branch that is not merged",
                    Some(Release::Unverified) => "lets the agent stop: unverified, not complete",
                    Some(Release::AllBlocked) => "lets the agent stop: all open tasks are blocked",
                    Some(Release::Checkpoint) => "lets the agent stop: its context is full, a new session continues",
                    Some(Release::NeedsUser) => "lets the agent stop: it needs you",
                    Some(Release::Capped) => "lets the agent stop: capped, not complete",
                    Some(Release::NotApproved) => "lets the agent stop: the plan is not approved",
                    Some(Release::Dismissed) => "lets the agent stop: released by the human",
                    Some(Release::Yielded) => "lets the agent wait",
                    None => "lets the agent stop",
                };
                self.entry(at, Actor::Steadfast, &[plain(text)])
            }
            Scene::RunLine { text } => self.entry(at, Actor::Steadfast, &[plain(text)]),
            Scene::Noted { text } => self.entry(at, Actor::Steadfast, &[plain("notes:"), quote(PLAIN, text)]),
        }
    }

    /// A paragraph over the whole width.
    pub(super) fn paragraph(&mut self, style: Style, text: &str) -> io::Result<()> {
        for line in wrap(text, self.width) {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        Ok(())
    }

    /// A heading and its text in a column of its own.
    pub(super) fn row(&mut self, style: Style, heading: &str, text: &str) -> io::Result<()> {
        let mut heading = heading;
        for line in wrap(text, self.width - ROW) {
            writeln!(self.out, "{style}{heading:ROW$}{line}{style:#}")?;
            heading = "";
        }
        Ok(())
    }

    pub(super) fn verbatim(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        self.last = None;
        writeln!(self.out)
    }

    fn text_width(&self) -> usize {
        self.width - self.layout.indent()
    }

    fn entry(&mut self, at: Millis, actor: Actor, parts: &[Part<'_>]) -> io::Result<()> {
        let (mut name, style, indent) = (actor.name(), actor.style(), self.layout.indent());
        match self.layout {
            Layout::Full { start } => {
                let seconds = at.since(start).max(0) as f64 / 1000.0;
                write!(self.out, "{FAINT}{seconds:5.2}s{FAINT:#}  ")?;
            }
            Layout::Short => {
                if self.last.replace(actor) == Some(actor) {
                    name = "";
                }
                write!(self.out, "  ")?;
            }
        }
        write!(self.out, "{style}{name:<9}{style:#}  ")?;
        let mut first = true;
        for Part { style, mark, text } in parts {
            for line in wrap(text, self.text_width() - mark.len()) {
                if !first {
                    write!(self.out, "{:indent$}", "")?;
                }
                first = false;
                writeln!(self.out, "{style}{mark}{line}{style:#}")?;
            }
        }
        self.out.flush()?;
        std::thread::sleep(self.pause);
        Ok(())
    }
}

/// The error in the output of a command.
pub(super) fn refusal(output: &str) -> Option<&str> {
    output.lines().find_map(|line| line.strip_prefix("error: "))
}

/// True for the command that closes a task by its check.
pub(super) fn is_closing(command: &str) -> bool {
    command.starts_with("steadfast task done ")
}

/// Shortens a text to this many lines, at a word.
fn shorten(text: &str, width: usize, lines: usize) -> String {
    let mut wrapped = wrap(text, width);
    if wrapped.len() <= lines {
        return text.to_owned();
    }
    wrapped.truncate(lines);
    if let Some(last) = wrapped.last_mut() {
        if columns(last) >= width {
            last.truncate(last.rfind(' ').unwrap_or(last.len()));
        }
        last.push('…');
    }
    wrapped.join(" ")
}

/// The lines of a text. All begin at the same column.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let lines = text.lines().map(|line| steadfast_text::wrap(&format!("{HANG}{line}"), width).replace(HANG, ""));
    lines.flat_map(|wrapped| wrapped.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_of_a_text_begin_at_the_same_column() {
        assert_eq!(wrap("one two three\nfour", 7), ["one two", "three", "four"]);
    }

    #[test]
    fn a_shortened_text_ends_between_words_and_says_so() {
        assert_eq!(shorten("one two three", 9, 1), "one two…");
        assert_eq!(shorten("one two three", 7, 1), "one…");
        assert_eq!(shorten("one two", 7, 1), "one two");
        assert_eq!(shorten("one two three four", 7, 2), "one two three…");
    }
}
