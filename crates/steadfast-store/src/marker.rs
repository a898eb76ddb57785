//! The line `**Approved:** <time>` in a plan's file. It is for people and their tools; only the signed record approves a
//! plan.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use steadfast_model::Millis;

use crate::digest;

const LINE: &str = "**Approved:**";
const KEY: &str = "\"approved\"";

/// The text format of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftFormat {
    Markdown,
    Json,
    Text,
}

/// Hashes a text that is not a plan, without its marker and its trailing white space.
pub fn text_hash(text: &str) -> String {
    digest::of_bytes(without_marker(text).trim_end().as_bytes())
}

/// Adds the marker with the time of the approval, and replaces an existing one. It goes below the first heading, to the top
/// of a text without a heading, or into a JSON object as its first key. Other JSON stays unchanged.
pub fn with_marker(text: &str, format: DraftFormat, at: Millis) -> String {
    let text = without_marker(text);
    if is_object(&text) {
        let open = text.find('{').map_or(0, |at| at + 1);
        let (before, rest) = text.split_at(open);
        let body = rest.trim_start();
        let space = &rest[..rest.len() - body.len()];
        let comma = if body.starts_with('}') { "" } else { "," };
        return format!("{before}{space}{KEY}: \"{at}\"{comma}{rest}");
    }
    match format {
        DraftFormat::Json => text,
        DraftFormat::Markdown | DraftFormat::Text => {
            let (before, rest) = text.split_at(below_heading(&text));
            let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{end}{LINE} {at}\n{rest}")
        }
    }
}

/// Checks if a text claims to be approved, truly or not.
pub fn has_marker(text: &str) -> bool {
    if is_object(text) {
        return members(text).iter().any(|member| !matches!(text[member.value.clone()].trim(), "null" | "false"));
    }
    lines(text).any(|(line, fenced)| !fenced && text[line].trim_start().starts_with(LINE))
}

/// Removes the lines that [`with_marker`] writes. A marker line with more than a time stays, so that no authored text can
/// hide behind a marker.
pub fn without_marker(text: &str) -> String {
    let gone: Vec<Range<usize>> = if is_object(text) {
        // Remove only the first one: Steadfast writes one key, so a second one was authored.
        let mut ours = members(text).into_iter().filter(|member| is_string(text[member.value.clone()].trim()));
        ours.next().map(|member| member.whole).into_iter().collect()
    } else {
        lines(text).filter(|(line, fenced)| !fenced && is_marker(&text[line.clone()])).map(|(line, _)| line).collect()
    };
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in gone {
        kept.push_str(&text[from..range.start]);
        from = range.end;
    }
    kept.push_str(&text[from..]);
    kept
}

fn is_marker(line: &str) -> bool {
    let Some(time) = line.trim().strip_prefix(LINE) else { return false };
    is_time(time.trim())
}

fn is_string(value: &str) -> bool {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).is_some_and(is_time)
}

fn is_time(text: &str) -> bool {
    text.len() <= 40 && text.chars().all(|c| c.is_ascii_digit() || matches!(c, 'T' | 'Z' | ':' | '.' | '+' | '-' | ' '))
}

/// Splits a text into lines with their line ends, each with a flag for lines inside a code block.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    let mut fence: Option<&str> = None;
    let matter = matter(text);
    text.split_inclusive('\n').map(move |line| {
        let range = at..at + line.len();
        at = range.end;
        let word = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| range.start >= matter && word.starts_with(mark));
        let fenced = fence.is_some() || mark.is_some();
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        (range, fenced)
    })
}

/// Returns the end of the front matter between `---` lines. Marker lines do not count, so the result is the same without
/// them.
fn matter(text: &str) -> usize {
    let (mut end, mut inside) = (0, false);
    for line in text.split_inclusive('\n') {
        end += line.len();
        match line.trim_end() {
            "---" if inside => return end,
            "---" => inside = true,
            _ if inside || is_marker(line) => {}
            _ => return 0,
        }
    }
    0
}

/// Returns the position for the marker: below the first heading, below the front matter, or at the beginning.
fn below_heading(text: &str) -> usize {
    let is_heading = |line: &str| {
        let rest = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - rest.len())) && (rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    };
    let matter = matter(text);
    let heading = lines(text).find(|(line, fenced)| line.start >= matter && !fenced && is_heading(&text[line.clone()]));
    heading.map_or(matter, |(line, _)| line.end)
}

/// Recognises a JSON object by its first character, in any format: so the result is the same before and after the marker.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// A member `"approved"` of the outermost object.
struct Member {
    value: Range<usize>,
    /// The member with the white space before it and its comma.
    whole: Range<usize>,
}

/// Finds the members by their position, so that the rest of the text keeps its formatting.
fn members(text: &str) -> Vec<Member> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut depth = 0_u32;
    let mut at = 0;
    // The start of the current member, right after `{` or `,`; the start of its value if the key is `"approved"`.
    let (mut start, mut value, mut first) = (0, None, true);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = end_of_string(bytes, at);
                if depth == 1 && text[start..at].trim().is_empty() && &text[at..end] == KEY {
                    value = text[end..].find(':').map(|colon| end + colon + 1);
                }
                at = end;
                continue;
            }
            close @ (b'}' | b']' | b',') if depth == 1 => {
                if let Some(from) = value.take().filter(|from| *from <= at) {
                    let end = from + text[from..at].trim_end().len();
                    let whole = match (close, first) {
                        (b',', _) => start..at + 1,
                        // The last of several members includes the comma before it.
                        (_, false) => start - 1..end,
                        (_, true) => start..end,
                    };
                    found.push(Member { value: from..at, whole });
                }
                (start, first) = (at + 1, false);
                if close != b',' {
                    break;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    found
}

fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
