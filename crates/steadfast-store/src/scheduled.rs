//! Texts that agents gave to a tool which schedules or sends prompts. A prompt with such a text comes from the agent, not
//! from the human, in every session that receives it.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use steadfast_model::Millis;

use crate::place::Place;
use steadfast_redact::redact;
use steadfast_system::{Access, replace};

/// The number of texts to keep; the oldest are dropped.
const KEPT: usize = 64;

/// The maximum length of a stored text, in characters.
const LENGTH: usize = 1_000;

/// A stored text with at least this many characters is also recognised inside a longer prompt.
const TELLING: usize = 40;

/// The lifetime of a stored text. No host keeps a schedule for longer.
const LIFE_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// The same prompt may arrive through several wirings within this time, so a used-up text is still recognised.
const SAME_MS: u64 = 10_000;

/// A text that an agent scheduled or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    pub text: String,
    /// It will arrive only once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    scheduled: Scheduled,
    at: Millis,
    /// The time of its arrival, if it arrives only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    came: Option<Millis>,
}

impl Row {
    fn is_over(&self, now: Millis) -> bool {
        let came = self.came.is_some_and(|came| now.0.abs_diff(came.0) > SAME_MS);
        came || now.0.abs_diff(self.at.0) > LIFE_MS
    }

    fn is(&self, text: &str) -> bool {
        let own = self.scheduled.text.as_str();
        own == text || (own.chars().nth(TELLING - 1).is_some() && text.contains(own))
    }
}

/// Stores the texts of an agent's call. They are redacted here.
pub fn keep_scheduled(place: &Place, texts: Vec<Scheduled>, now: Millis) -> io::Result<()> {
    let mut rows = read(place, now);
    for Scheduled { text, once } in texts {
        let text = normal(&redact(&text)).chars().take(LENGTH).collect::<String>().trim_end().to_owned();
        rows.retain(|row| row.scheduled.text != text);
        if !text.is_empty() {
            rows.push(Row { scheduled: Scheduled { text, once }, at: now, came: None });
        }
    }
    let excess = rows.len().saturating_sub(KEPT);
    write(place, &rows[excess..])
}

/// Checks if a prompt is an agent's scheduled text. A text that arrives only once is used up by this.
pub fn is_scheduled(place: &Place, prompt: &str, now: Millis) -> bool {
    let mut rows = read(place, now);
    if rows.is_empty() {
        return false;
    }
    let text = normal(prompt);
    let Some(row) = rows.iter_mut().find(|row| row.is(&text)) else { return false };
    if row.scheduled.once && row.came.is_none() {
        row.came = Some(now);
        // If this write fails, the text is accepted once more at most.
        let _ = write(place, &rows);
    }
    true
}

/// Checks if an agent scheduled a slash command with this name.
pub fn is_scheduled_command(place: &Place, name: &str, now: Millis) -> bool {
    let name = name.trim_start_matches('/').to_lowercase();
    read(place, now).iter().any(|row| {
        let line = row.scheduled.text.strip_prefix('/');
        !name.is_empty() && line.is_some_and(|line| line.split(' ').next() == Some(name.as_str()))
    })
}

/// Normalises a text for comparison: single spaces, lower case.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase));
    }
    normal
}

fn read(place: &Place, now: Millis) -> Vec<Row> {
    let text = fs::read_to_string(path(place)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Row>(line).ok());
    rows.filter(|row| !row.is_over(now)).collect()
}

fn write(place: &Place, rows: &[Row]) -> io::Result<()> {
    let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    replace(&path(place), lines?.join("\n").as_bytes(), Access::Private)
}

fn path(place: &Place) -> PathBuf {
    place.state.join("scheduled")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().to_owned(), root: dir.path().to_owned() };
        (dir, place)
    }

    fn keep(place: &Place, text: &str, once: bool) {
        keep_scheduled(place, vec![Scheduled { text: text.into(), once }], Millis(1_000)).unwrap();
    }

    #[test]
    fn what_comes_once_is_used_up_and_the_rest_stays() {
        let (_dir, place) = place();
        keep(&place, "approve plan cc27854e", true);
        keep(&place, "look at the build", false);
        let is = |text: &str, at| is_scheduled(&place, text, Millis(at));
        assert!(is("approve  plan\ncc27854e ", 2_000), "spaces are no difference");
        assert!(is("approve plan cc27854e", 3_000), "the same through another wiring");
        assert!(!is("approve plan cc27854e", 60_000), "the human says it now");
        assert!(is("Look at the build", 60_000) && is("look at the build", 120_000));
        assert!(!is("look at the builds", 120_000));
    }

    #[test]
    fn a_long_text_is_known_inside_another_and_a_short_one_is_not() {
        let (_dir, place) = place();
        let long = "When the build is green, commit it and push the branch.";
        keep(&place, long, false);
        keep(&place, "commit it", false);
        let is = |text: &str| is_scheduled(&place, text, Millis(2_000));
        assert!(is(&format!("The agent of another session says: {long} Thanks.")));
        assert!(!is("ok, commit it please"));
        keep(&place, &"word ".repeat(1_000), false);
        assert!(is(&"word ".repeat(1_000)), "of a very long one the beginning");
    }

    #[test]
    fn a_command_is_known_by_its_name() {
        let (_dir, place) = place();
        keep(&place, "/steadfast-implement SPEC.md", false);
        let is = |name: &str| is_scheduled_command(&place, name, Millis(2_000));
        assert!(is("steadfast-implement") && is("/steadfast-implement"));
        assert!(!is("steadfast") && !is(""));
    }

    #[test]
    fn there_is_a_bound_and_an_end_and_no_secret() {
        let (_dir, place) = place();
        for number in 0..2 * KEPT {
            keep(&place, &format!("text number {number}"), false);
        }
        let key = format!("ghp_{}", &"a1B2c3D4e5".repeat(4)[..36]);
        keep(&place, &format!("use the key {key} for it"), false);
        let text = fs::read_to_string(path(&place)).unwrap();
        assert_eq!(text.lines().count(), KEPT);
        assert!(text.contains("use the key") && !text.contains(&key.to_lowercase()), "{text}");
        let later = Millis(1_000).0 + i64::try_from(LIFE_MS).unwrap() + 1;
        assert!(!is_scheduled(&place, "text number 127", Millis(later)));
    }
}
