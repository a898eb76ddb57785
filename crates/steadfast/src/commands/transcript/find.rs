use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use steadfast_hosts::transcript::{Happening, Timeline, TimelineEntry};
use steadfast_text::{count, printable};
use steadfast_work::history::cut;

use super::sessions;
use crate::error::CommandError;
use crate::output::{note, tell};
use crate::terminal;

/// Number of characters to show before and after a match.
const AROUND: usize = 60;

#[derive(Debug, Args)]
pub(in crate::commands) struct Find {
    /// Text to find in messages, calls and the answers of failed calls. Lower case matches upper case too.
    #[arg(value_name = "TEXT")]
    text: String,
    /// Transcripts, or folders of transcripts. [default: those of this repository]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object per match, with stable keys: `{file, session, at, agent, who, tool, text}`. `text` is the
    /// text around the match.
    #[arg(long)]
    json: bool,
}

impl Find {
    pub(super) fn run(self) -> Result<(), CommandError> {
        if self.text.is_empty() {
            return Err(CommandError::usage("the text is empty")
                .hint("`steadfast transcript find TEXT` searches messages, calls and answers of failed calls"));
        }
        let wanted = Wanted::new(&self.text);
        let files = sessions::find(&self.files)?;
        let mut unread = sessions::Unread::default();
        let mut places = 0_u64;
        for file in &files {
            let Some(mut transcript) = unread.open(file) else { continue };
            let timeline = Timeline::of(&mut transcript);
            let found = timeline.entries.iter().filter_map(|entry| Some((entry, wanted.around(entry)?)));
            for (number, (entry, around)) in found.enumerate() {
                places += 1;
                if self.json {
                    tell!("{}", to_json(file, &timeline, entry, &around))?;
                } else {
                    if number == 0 {
                        tell!("{}", file.display())?;
                    }
                    tell!("{}", line(entry, &around))?;
                }
            }
        }
        if places == 0 {
            note!("`{}` not found in {}", self.text, count(files.len(), "session"));
        }
        unread.end(files.len())
    }
}

fn line(entry: &TimelineEntry, around: &str) -> String {
    let at = entry.at.map_or_else(|| "-".to_owned(), terminal::stamp);
    let agent = entry.agent.as_deref().map(|agent| format!("{} ", cut(agent, 8))).unwrap_or_default();
    format!("  {at}  {agent}{}: {}", printable(entry.what.who()), printable(around))
}

fn to_json(file: &Path, timeline: &Timeline, entry: &TimelineEntry, around: &str) -> serde_json::Value {
    let (who, tool) = match &entry.what {
        Happening::Call { tool, .. } => ("call", Some(tool)),
        what => (what.who(), None),
    };
    json!({
        "file": file.display().to_string(),
        "session": timeline.session,
        "at": entry.at,
        "agent": entry.agent,
        "who": who,
        "tool": tool,
        "text": around,
    })
}

/// The text to find.
struct Wanted {
    text: String,
    /// Case matters only if the text has a capital letter.
    exact: bool,
}

impl Wanted {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), exact: text.chars().any(char::is_uppercase) }
    }

    fn around(&self, entry: &TimelineEntry) -> Option<String> {
        [entry.what.text(), entry.what.answer()].into_iter().find_map(|text| self.around_in(text))
    }

    fn around_in(&self, text: &str) -> Option<String> {
        let (from, to) = self.place(text)?;
        let start = text[..from].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
        let end = text[to..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| to + at);
        let before = if start > 0 { "…" } else { "" };
        let behind = if end < text.len() { "…" } else { "" };
        Some(format!("{before}{}{behind}", &text[start..end]))
    }

    /// Returns the byte range of the first match.
    fn place(&self, text: &str) -> Option<(usize, usize)> {
        if self.exact {
            return text.find(&self.text).map(|from| (from, from + self.text.len()));
        }
        let mut starts = text.char_indices().map(|(at, _)| at);
        starts.find_map(|from| Some((from, from + self.length_at(&text[from..])?)))
    }

    /// Returns the length of the match at the start of a text, ignoring case.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut rest = text.char_indices();
        for wanted in self.text.chars() {
            let (_, found) = rest.next()?;
            if wanted != found && !found.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
        }
        Some(rest.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_finds_both_and_a_capital_only_itself() {
        let place = |wanted: &str, text: &str| Wanted::new(wanted).place(text);
        assert_eq!(place("auth", "fix the Auth bug"), Some((8, 12)));
        assert_eq!(place("Auth", "fix the auth bug"), None);
        assert_eq!(place("straße", "die STRAßE"), Some((4, 11)));
        assert_eq!(place("x", ""), None);
    }

    #[test]
    fn what_stands_around_is_cut_at_whole_characters() {
        let text = format!("{}needle{}", "ä".repeat(100), "€".repeat(100));
        let entry = TimelineEntry { at: None, agent: None, what: Happening::Human(text) };
        let around = Wanted::new("needle").around(&entry);
        assert_eq!(around, Some(format!("…{}needle{}…", "ä".repeat(AROUND), "€".repeat(AROUND))));
    }
}
