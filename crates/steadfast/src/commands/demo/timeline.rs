//! Prints the timeline: time, actor, text.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use steadfast_model::{Millis, Release};

use super::scene::Scene;

const WIDTH: usize = 100;
const NARROW: usize = 40;

/// Where the text of a line begins: after `12.34s  steadfast  `.
const INDENT: usize = 19;

/// Pause between two lines on a terminal, so that a person can follow.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Timeline {
    out: anstream::AutoStream<io::Stdout>,
    start: Millis,
    width: usize,
    pause: Duration,
}

#[derive(Clone, Copy)]
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

/// Part of an entry: its lines begin with `mark`.
struct Part<'a> {
    style: Style,
    mark: &'static str,
    text: &'a str,
}

impl Timeline {
    pub(super) fn new(start: Millis, fast: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| terminal);
        Self {
            out: anstream::stdout(),
            start,
            width: columns.unwrap_or(WIDTH).clamp(NARROW, WIDTH),
            pause: if terminal && !fast { PAUSE } else { Duration::ZERO },
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
                let refused = output.lines().find_map(|line| line.strip_prefix("error: "));
                let shown = refused.or(output.lines().next_back()).unwrap_or_default();
                let shown = cut(shown, self.width - INDENT - 2);
                let output = Part { style: if refused.is_some() { REFUSAL } else { FAINT }, mark: "  ", text: &shown };
                self.entry(at, Actor::Agent, &[plain(&format!("runs `{command}`")), output])
            }
            Scene::Wrote { path, lines } => {
                self.entry(at, Actor::Agent, &[plain(&format!("writes {path} ({lines} lines)"))])
            }
            Scene::Informed { text } => {
                // About two lines after wrapping.
                let text = cut(&format!("tells the agent: {text}"), 2 * (self.width - INDENT) - 15);
                self.entry(at, Actor::Steadfast, &[plain(&text)])
            }
            Scene::Tried { what } => self.entry(at, Actor::Agent, &[plain(&format!("wants to {what}"))]),
            Scene::WantsToStop => self.entry(at, Actor::Host, &[plain("asks: may the agent stop?")]),
            Scene::Refused { reason } => {
                let heading = Part { style: REFUSAL, mark: "", text: "refuses. The agent gets:" };
                self.entry(at, Actor::Steadfast, &[heading, quote(REFUSAL, reason)])
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

    pub(super) fn verbatim(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn entry(&mut self, at: Millis, actor: Actor, parts: &[Part<'_>]) -> io::Result<()> {
        let seconds = at.since(self.start).max(0) as f64 / 1000.0;
        let (name, style) = (actor.name(), actor.style());
        write!(self.out, "{FAINT}{seconds:5.2}s{FAINT:#}  {style}{name:<9}{style:#}  ")?;
        let mut first = true;
        for Part { style, mark, text } in parts {
            for line in wrap(text, self.width - INDENT - mark.len()) {
                if !first {
                    write!(self.out, "{:INDENT$}", "")?;
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

/// Shortens a text to one line, at a word.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut line: String = text.chars().take(width - 1).collect();
    line.truncate(line.rfind(' ').unwrap_or(line.len()));
    line.push('…');
    line
}

/// Wraps a text at `width` characters; a longer word gets its own line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_never_longer_than_the_width() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one\ntwo", 7), ["one", "two"]);
    }

    #[test]
    fn a_cut_text_ends_between_words_and_says_so() {
        assert_eq!(cut("one two three", 9), "one two…");
        assert_eq!(cut("one two", 7), "one two");
    }

    #[test]
    fn a_word_that_does_not_fit_is_a_line_of_its_own() {
        assert_eq!(wrap("a incomprehensible b", 6), ["a", "incomprehensible", "b"]);
    }
}
