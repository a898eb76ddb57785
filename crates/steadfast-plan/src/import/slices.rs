//! `.tdd-progress.md`: a slice is a heading, `## Slice 3: Title`, with its status below. Text below deeper headings
//! (tests, iterations) is ignored.

use std::ops::Range;

use crate::draft::{Draft, DraftPhase, DraftStatus, DraftTask, Text, labels};
use crate::markdown::fields::{Field, field, names};
use crate::markdown::names::plain;
use crate::markdown::{blocks, stem};
use crate::problem::Findings;
use steadfast_model::Status;
use steadfast_words::blocks::{Block, BlockKind};

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut draft = Draft { span: 0..text.len().min(1), ..Draft::default() };
    let id = Text::new("slices", draft.span.clone());
    let mut phase = DraftPhase::new(id, "Slices", Vec::new());
    for slice in slices(text) {
        let mut task = DraftTask::new(slice.id, slice.title);
        task.status = slice.status.as_ref().and_then(|status| read_status(status, findings));
        task.after = slice.after;
        task.files = slice.files;
        for line in &slice.notes {
            task.note(line.as_str(), line);
        }
        // A number that occurs twice is a mistake; the first one is used.
        if !phase.tasks.iter().any(|known| known.id.value == task.id.value) {
            phase.tasks.push(task);
        }
    }
    let title = blocks(text).find(|block| matches!(block.kind, BlockKind::Heading(1)));
    draft.feature = title
        .map(|block| plain(block.text.as_str()))
        .map(|words| words.split_once(": ").map_or(words.clone(), |(_, feature)| feature.to_owned()))
        .filter(|feature| !feature.is_empty())
        .unwrap_or_else(|| stem(name));
    draft.phases.push(phase);
    draft
}

/// Reports whether a text has any slice.
pub fn has_slices(text: &str) -> bool {
    blocks(text).any(|block| matches!(block.kind, BlockKind::Heading(_)) && heading(&block.text).is_some())
}

/// Returns the text with another status for one slice. `None`: the slice does not exist.
pub fn with_slice_status(text: &str, id: &str, status: &str) -> Option<String> {
    let slice = slices(text).into_iter().find(|slice| slice.id.value == id)?;
    let Range { start, end } = match &slice.status {
        Some(status) => status.span.clone(),
        None => {
            let line = text[slice.title.span.end..].find('\n').map_or(text.len(), |at| slice.title.span.end + at);
            return Some(format!("{}\n\n**Status:** {status}{}", &text[..line], &text[line..]));
        }
    };
    Some(format!("{}{status}{}", &text[..start], &text[end..]))
}

struct Slice {
    id: Text,
    title: Text,
    /// The value of `Status:`.
    status: Option<Text>,
    after: Vec<Text>,
    files: Vec<Text>,
    notes: Vec<Text>,
}

fn slices(text: &str) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    // The level of the current slice, and whether a deeper heading was seen.
    let mut current: Option<(usize, bool)> = None;
    for block in blocks(text) {
        if let BlockKind::Heading(level) = &block.kind {
            if let Some((id, title)) = heading(&block.text) {
                slices.push(Slice { id, title, status: None, after: Vec::new(), files: Vec::new(), notes: Vec::new() });
                current = Some((*level, false));
                continue;
            }
            current = current.filter(|(own, _)| level > own).map(|(own, _)| (own, true));
        }
        if let (Some((_, deeper)), Some(slice)) = (current, slices.last_mut()) {
            slice.take(&block, deeper);
        }
    }
    slices
}

impl Slice {
    fn take(&mut self, block: &Block, deeper: bool) {
        let text = block.whole();
        let may_be_field = match &block.kind {
            BlockKind::Bullet | BlockKind::Text | BlockKind::Ordered(_) => !deeper,
            BlockKind::Box(_) | BlockKind::Heading(_) | BlockKind::Fence | BlockKind::Code => false,
            BlockKind::Blank | BlockKind::Row(_) => return,
        };
        match field(text).filter(|_| may_be_field) {
            Some((Field::Status, value)) if self.status.is_none() => self.status = Some(value),
            Some((Field::After, value)) => self.after.extend(numbers(&value)),
            Some((Field::Files, value)) => self.files.extend(names(&value)),
            _ => self.notes.push(text.clone()),
        }
    }
}

/// Reads `Slice 3: Title`, `Step 3 - Title`.
fn heading(text: &Text) -> Option<(Text, Text)> {
    let words = text.as_str().trim_start_matches(['*', '[', ' ', '`']);
    let rest = ["slice ", "step "].into_iter().find_map(|word| {
        words
            .get(..word.len())
            .filter(|start| start.eq_ignore_ascii_case(word))
            .map(|_| words[word.len()..].trim_start())
    })?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let title =
        rest[end..].trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—' | '*' | ']' | '`'));
    Some((text.part(number), text.part(if title.is_empty() { words } else { title })))
}

/// Reads the dependencies of a slice: `None`, `Slice 1`, `Slices 2, 3`, `Slices 1-5`.
fn numbers(text: &Text) -> Vec<Text> {
    let words = text.as_str().replace(['–', '—'], "-");
    let mut numbers = Vec::new();
    for part in words.split([',', ';', ' ', '&']).filter(|part| part.contains(|c: char| c.is_ascii_digit())) {
        let part = part.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let range = part.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        match range {
            Some((from, to)) => {
                let range: Range<u16> = from..to;
                numbers.extend(range.map(|number| number.to_string()).chain([to.to_string()]));
            }
            None => numbers.push(part.to_owned()),
        }
    }
    numbers.into_iter().map(|number| text.with(number)).collect()
}

/// Reads a status. A failed slice is open: it has to be done again.
fn read_status(status: &Text, findings: &mut Findings) -> Option<DraftStatus> {
    let word: String =
        status.as_str().chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-' || *c == '_').collect();
    match word.to_ascii_lowercase().as_str() {
        "pass" | "passed" => Some(DraftStatus::of(Status::Done)),
        // Nothing has to wait for a slice that was skipped on purpose.
        "skip" | "skipped" => Some(DraftStatus { status: Status::Done, reason: Some("skipped".to_owned()) }),
        "fail" | "failed" | "failing" => None,
        "red" | "green" | "refactor" => Some(DraftStatus::of(Status::InProgress)),
        _ => labels::status(status, findings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, compile};

    const TEXT: &str = "# TDD Progress: Sign in\n\n**Approved:** 2026-02-20T10:00:00Z\n**Status:** in-progress\n\n\
        ## Slice 1: Guard the pipe\n\n**Status:** done\n**Depends on:** None\n- Files: `hooks/guard.sh`\n\n\
        ### Test 1: tee is refused\n\n**Status:** fail\n\n\
        ## Slice 2: Lock\n**Status:** FAIL (twice)\n**Dependencies:** Slice 1\n\n\
        ## Slice 3 — Lifecycle\n\n- **Status:** in-progress\n- Depends on: Slices 1-2\n\n\
        ## Slice 4: Marker\nIt has no status.\n\n\
        ## Step 5: Prompts\n**Status:** skip\n\n\
        ## Test Results\n\n**Status:** pending\n";

    #[test]
    fn a_slice_has_the_status_below_its_own_heading() {
        let compiled = compile(TEXT, ".tdd-progress.md", &CompileOptions::default()).unwrap();
        assert_eq!(compiled.plan.feature, "Sign in");
        let tasks: Vec<(&str, &str, Vec<&str>)> = compiled
            .plan
            .tasks
            .iter()
            .map(|task| (task.id.as_str(), task.title.as_str(), task.blocked_by.iter().map(|id| id.as_str()).collect()))
            .collect();
        assert_eq!(
            tasks,
            [
                ("1", "Guard the pipe", vec![]),
                ("2", "Lock", vec!["1"]),
                ("3", "Lifecycle", vec!["1", "2"]),
                ("4", "Marker", vec![]),
                ("5", "Prompts", vec![]),
            ]
        );
        let reported: Vec<(&str, Status, Option<&str>)> =
            compiled.reported.iter().map(|one| (one.task.as_str(), one.status, one.reason.as_deref())).collect();
        assert_eq!(
            reported,
            [("1", Status::Done, None), ("3", Status::InProgress, None), ("5", Status::Done, Some("skipped"))]
        );
    }

    #[test]
    fn one_status_is_written_and_nothing_else() {
        let written = |id: &str| with_slice_status(TEXT, id, "done");
        assert_eq!(written("2").unwrap(), TEXT.replace("FAIL (twice)", "done"));
        assert_eq!(written("3").unwrap(), TEXT.replace("- **Status:** in-progress", "- **Status:** done"));
        let four = TEXT.replace("## Slice 4: Marker\n", "## Slice 4: Marker\n\n**Status:** done\n");
        assert_eq!(written("4").unwrap(), four);
        assert_eq!(written("9"), None);
    }
}
