use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::{Value, json};
use steadfast_hosts::transcript::{CallOutcome, Happening, Timeline, TimelineEntry, Transcript, subagent_files};
use steadfast_redact::redact;
use steadfast_text::{printable, truncate};
use steadfast_work::history::cut;

use super::sessions;
use crate::error::CommandError;
use crate::output::{gone_or_full, note, tell};
use crate::terminal;

const WIDTH: usize = 100;
const NARROW: usize = 50;
const WIDEST: usize = 160;

/// Where the text of a line begins: after `12:34:56  TaskCreate  `.
const INDENT: usize = 22;
const WHO: usize = 10;

/// Maximum number of lines of a prompt.
const PROMPT_LINES: usize = 6;

const PLAIN: Style = Style::new();
const FAINT: Style = Style::new().dimmed();
const HUMAN: Style = AnsiColor::Green.on_default().bold();
const CALL: Style = AnsiColor::Cyan.on_default();
const TROUBLE: Style = AnsiColor::Yellow.on_default().bold();

#[derive(Debug, Args)]
pub(in crate::commands) struct Show {
    /// Transcript of the session. [default: the newest of this repository]
    file: Option<PathBuf>,
    /// Leave out the messages and calls of the agent.
    #[arg(long)]
    human: bool,
    /// Print one JSON object per entry, with stable keys: `{at, agent, who, text, tool, result, millis}`. `who` is
    /// `human`, `agent`, `host` or `call`; `at` is in milliseconds since 1970; `result` of a call is `ok`, `failed`,
    /// `refused`, `interrupted`, or null if unknown.
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let file = match self.file {
            Some(file) => file,
            None => sessions::newest()?,
        };
        let mut unread = sessions::Unread::default();
        let Some(mut transcript) = unread.open(&file) else { return unread.end(1) };
        let mut timeline = Timeline::of(&mut transcript);
        for mut subagent in subagent_files(&file).iter().filter_map(|file| Transcript::open(file).ok()) {
            timeline.take_in(Timeline::of(&mut subagent));
        }
        if self.human {
            timeline.entries.retain(|entry| matches!(entry.what, Happening::Human(_)));
        }
        if self.json {
            return timeline.entries.iter().try_for_each(|entry| tell!("{}", to_json(entry)));
        }
        match Screen::new().show(&timeline) {
            Ok(()) => say_damage(&transcript),
            Err(error) => return gone_or_full(&error),
        }
        Ok(())
    }
}

fn say_damage(transcript: &Transcript) {
    match transcript.damaged() {
        0 => {}
        damaged => note!("cannot read {damaged} of {} rows", transcript.rows()),
    }
}

fn to_json(entry: &TimelineEntry) -> Value {
    let (who, tool, result, millis) = match &entry.what {
        Happening::Call { tool, end, millis, .. } => ("call", Some(tool), end.as_ref().map(word), *millis),
        what => (what.who(), None, None, None),
    };
    json!({
        "at": entry.at,
        "agent": entry.agent,
        "who": who,
        "text": entry.what.text(),
        "tool": tool,
        "result": result,
        "millis": millis,
    })
}

fn word(end: &CallOutcome) -> &'static str {
    match end {
        CallOutcome::Ok => "ok",
        CallOutcome::Failed(_) => "failed",
        CallOutcome::Refused(_) => "refused",
        CallOutcome::Interrupted => "interrupted",
    }
}

struct Screen {
    out: anstream::AutoStream<io::Stdout>,
    width: usize,
}

impl Screen {
    fn new() -> Self {
        let terminal = io::stdout().is_terminal();
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| terminal);
        Self { out: anstream::stdout(), width: columns.unwrap_or(WIDTH).clamp(NARROW, WIDEST) }
    }

    fn show(&mut self, timeline: &Timeline) -> io::Result<()> {
        if let Some(session) = &timeline.session {
            writeln!(self.out, "{FAINT}session{FAINT:#} {}", printable(session))?;
        }
        let mut day = String::new();
        for entry in &timeline.entries {
            if let Some(at) = entry.at.filter(|at| terminal::day(*at) != day) {
                day = terminal::day(at);
                writeln!(self.out, "{FAINT}{}{FAINT:#}", terminal::day_line(at))?;
            }
            self.entry(entry, &entry.at.map(terminal::clock).unwrap_or_default())?;
        }
        self.out.flush()
    }

    fn entry(&mut self, entry: &TimelineEntry, clock: &str) -> io::Result<()> {
        let style = match &entry.what {
            Happening::Human(_) => HUMAN,
            Happening::Agent(_) => PLAIN,
            Happening::Host(_) => FAINT,
            Happening::Call { .. } => CALL,
        };
        // The tool of an MCP server, without the name of the server.
        let who = printable(entry.what.who().rsplit("__").next().unwrap_or_default());
        // Entries of subagents are indented.
        let (mark, who) = match &entry.agent {
            Some(_) => ("> ", cut(&who, WHO - 2)),
            None => ("", cut(&who, WHO)),
        };
        let width = WHO - mark.len();
        write!(self.out, "{FAINT}{clock:<8}{FAINT:#}  {FAINT}{mark}{FAINT:#}{style}{who:<width$}{style:#}  ")?;
        match &entry.what {
            Happening::Human(text) => self.paragraph(text),
            Happening::Agent(text) => writeln!(self.out, "{}", fit(text, self.room(0))),
            Happening::Host(text) => writeln!(self.out, "{FAINT}{}{FAINT:#}", fit(text, self.room(0))),
            Happening::Call { target, end, millis, .. } => self.call(target, end.as_ref(), *millis),
        }
    }

    fn call(&mut self, target: &str, end: Option<&CallOutcome>, millis: Option<u64>) -> io::Result<()> {
        let took = millis.filter(|millis| *millis >= 100).map(took).unwrap_or_default();
        let note = match end {
            Some(CallOutcome::Ok) => took,
            Some(CallOutcome::Failed(_)) => format!("{took} failed").trim_start().to_owned(),
            Some(CallOutcome::Refused(_)) => "refused".to_owned(),
            Some(CallOutcome::Interrupted) => "interrupted".to_owned(),
            None => "no result".to_owned(),
        };
        let style = if matches!(end, Some(CallOutcome::Ok)) { FAINT } else { TROUBLE };
        let room = self.room(note.chars().count() + 2);
        writeln!(self.out, "{:<room$}  {style}{note}{style:#}", fit(target, room))?;
        let why = match end {
            Some(CallOutcome::Failed(error)) => error,
            Some(CallOutcome::Refused(words)) => words,
            _ => return Ok(()),
        };
        let why = fit(why, self.room(2));
        if why.is_empty() { Ok(()) } else { writeln!(self.out, "{:INDENT$}{TROUBLE}{why}{TROUBLE:#}", "") }
    }

    fn paragraph(&mut self, text: &str) -> io::Result<()> {
        let room = self.room(0);
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.trim().is_empty()).map(|line| fit(line, room)).collect();
        let more = lines.len().saturating_sub(PROMPT_LINES);
        lines.truncate(PROMPT_LINES);
        if more > 0 {
            lines.push(format!("… and {more} lines more"));
        }
        for (number, line) in lines.iter().enumerate() {
            let indent = if number == 0 { 0 } else { INDENT };
            writeln!(self.out, "{:indent$}{HUMAN}{line}{HUMAN:#}", "")?;
        }
        Ok(())
    }

    fn room(&self, taken: usize) -> usize {
        self.width.saturating_sub(INDENT + taken).max(10)
    }
}

/// Truncates a text to one line.
fn fit(text: &str, width: usize) -> String {
    truncate(&printable(&redact(text.trim())), width).into_owned()
}

fn took(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..60 => format!("{seconds}.{} s", millis % 1_000 / 100),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}
