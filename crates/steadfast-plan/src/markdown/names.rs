//! Meaning of the words in a heading, a box or a cell.

use super::Section;
use super::words::{PHASE, STEP, TASK, bare, led, words};
use crate::draft::Text;
use steadfast_text::one_line;
use steadfast_words::WordList;
use steadfast_words::blocks::boxed;

pub(crate) fn is_nothing(name: &str) -> bool {
    words!("nothing").contains(&name.to_lowercase())
}

/// Returns the section that a heading names.
pub(super) fn named_section(heading: &str) -> Option<Section> {
    const SECTIONS: [(WordList, Section); 5] = [
        (words!("section description"), Section::Description),
        (words!("section constraints"), Section::Constraints),
        (words!("section criteria"), Section::Criteria),
        (words!("section commands"), Section::Commands),
        (words!("section other"), Section::Other),
    ];
    let heading = bare(heading);
    SECTIONS.iter().find(|(names, _)| names.contains(&heading)).map(|(_, section)| *section)
}

/// Reads `Phase 1: Codes`, `1. Codes` or `Codes`: the name, and an id if there is a number.
pub(crate) fn phase_name(heading: &Text) -> (Option<String>, String) {
    let text = plain(heading.as_str());
    let text = boxed(&text).map_or(text.as_str(), |(_, rest)| rest).to_owned();
    if let Some((number, _)) = led(&text, PHASE).or_else(|| led(&text, STEP)) {
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        return ((!digits.is_empty()).then(|| format!("phase-{digits}")), text);
    }
    let lower = text.to_lowercase();
    let number = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let is_number = !digits.is_empty() && number[digits.len()..].starts_with(['.', ')', ':', ' ']);
    (is_number.then(|| format!("phase-{digits}")), text)
}

/// Recognises `Phase 2: …`, at any level.
pub(crate) fn is_phase(heading: &Text) -> bool {
    led(&bare_start(heading.as_str()), PHASE).is_some()
}

/// Removes a leading box.
fn bare_start(text: &str) -> String {
    boxed(text).map_or(text, |(_, rest)| rest).to_owned()
}

/// Reads `Task 1: Title`. The title may be missing; only emphasis may come before.
pub(super) fn task_led(text: &Text) -> Option<(Text, Text)> {
    lead_of(text, TASK)
}

/// Reads `Step 1: Title` or `Phase 1: Title` as a task.
pub(super) fn lead_of(text: &Text, words: WordList) -> Option<(Text, Text)> {
    let whole = text.as_str();
    let (id, rest) = led(whole, words)?;
    let title = rest.trim_start_matches(['*', '_', '`', ']', ':', ')', '.', '-', '–', '—', '|', ' ']);
    let titled = plain(title);
    let (place, title) = if titled.is_empty() { (whole, plain(whole)) } else { (title, closed(&titled)) };
    Some((text.part(id), text.part(place.trim_end()).with(title)))
}

/// Removes the end of emphasis that began before the id.
fn closed(title: &str) -> String {
    let title = if title.matches("**").count() % 2 == 1 { title.trim_end_matches("**").trim_end() } else { title };
    title.to_owned()
}

/// Reads `1.1 Title`, `1.1: Title`, `**1.1** Title`, `Task 1.1 – Title`, `T12 Title`, `SHOP-12: Title`.
pub(crate) fn numbered(text: &Text) -> Option<(Text, Text)> {
    let whole = text.as_str();
    let start = whole.len() - whole.trim_start_matches(['*', '_', '`', ' ', '[']).len();
    let is_wrapped = whole[..start].contains(['*', '`', '[']);
    let body = &whole[start..];
    let skip = match led(body, TASK).or_else(|| led(body, STEP)) {
        Some((id, _)) => id.as_ptr() as usize - body.as_ptr() as usize,
        None => 0,
    };
    let body = &body[skip..];
    let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-')).unwrap_or(body.len());
    let id = body[..end].trim_end_matches(['.', '-']);
    let digits = id.chars().filter(char::is_ascii_digit).count();
    let rest = &body[end..];
    let is_set_apart = is_wrapped && rest.starts_with(['*', '`', ']', ':']) || rest.starts_with([':', ')', ']']);
    let is_numeric = id.starts_with(|c: char| c.is_ascii_digit())
        && (id.contains('.') || skip > 0 || rest.starts_with([':', ')']) || body[..end].ends_with('.'));
    let is_lettered = id.len() <= 6
        && id.starts_with(|c: char| c.is_ascii_uppercase())
        && id[1..].trim_start_matches('-').chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_ticket = || {
        let is_dash = rest.trim_start().starts_with(['-', '–', '—', '|']);
        id.len() <= 20
            && (is_set_apart || is_dash)
            && id.split_once('-').is_some_and(|(project, number)| {
                project.starts_with(|c: char| c.is_ascii_uppercase())
                    && project.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
                    && number.starts_with(|c: char| c.is_ascii_digit())
                    && number.chars().all(|c| c.is_ascii_digit() || c == '.')
            })
    };
    if digits == 0 || words!("thing").contains(id) || !(is_numeric || is_lettered || skip > 0 || is_ticket()) {
        return None;
    }
    let title = rest.trim_start_matches(['*', '_', '`', ']', ':', ')', '.', '-', '–', '—', '|', ' ']);
    // A backtick at the beginning of the title belongs to the title.
    let opens = rest.len() - title.len();
    let title = if opens > 0 && rest[..opens].ends_with(" `") { &rest[opens - 1..] } else { title };
    if title.trim().is_empty() {
        return None;
    }
    let at = text.span.start;
    let id_at = at + start + skip;
    let title_at = at + whole.len() - title.len();
    let title = Text::new(closed(&plain(title)), title_at..title_at + title.trim_end().len());
    Some((Text::new(id, id_at..id_at + id.len()), title))
}

/// Reads `Title {#id}`: an id of any shape, as the export writes it.
pub(crate) fn tagged(text: &Text) -> Option<(Text, Text)> {
    let (title, id) = text.as_str().trim_end().strip_suffix('}')?.rsplit_once("{#")?;
    let title = title.trim();
    if id.is_empty() || id.contains(char::is_whitespace) {
        return None;
    }
    Some((text.part(id), text.part(title)))
}

/// Splits off a type in brackets at the end or the beginning: `(ui)`, `[backend]`.
pub(crate) fn marked(title: Text) -> (Text, Option<Text>) {
    let text = title.as_str().trim();
    for (open, close) in [('(', ')'), ('[', ']')] {
        for word in ["ui", "backend", "func", "docs"] {
            let mark = format!("{open}{word}{close}");
            let rest = text.strip_suffix(&mark).or_else(|| text.strip_prefix(&mark));
            if let Some(rest) = rest {
                let span = title.span.clone();
                return (Text::new(rest.trim(), span.clone()), Some(Text::new(word, span)));
            }
        }
    }
    (title, None)
}

/// Splits off a check in the line of its task: ``Title. Verify: `cmd` ``, ``Title (verify: `cmd`)``, ``Title `verify:
/// cmd` ``.
pub(super) fn checked(title: Text) -> (Text, Option<Text>) {
    let text = title.as_str();
    let lower = text.to_ascii_lowercase();
    let found = ["verify:", "verification:", "verified by:"].iter().find_map(|word| Some((lower.rfind(word)?, word)));
    let Some((at, word)) = found.filter(|(at, _)| !text[..*at].ends_with(char::is_alphanumeric)) else {
        return (title, None);
    };
    let (before, value) = (&text[..at], text[at + word.len()..].trim_start_matches(['*', ' ']));
    let is_within_code = before.matches('`').count() % 2 == 1;
    let command = match is_within_code {
        true if before.ends_with('`') => value.strip_suffix('`'),
        true => None,
        false => {
            value.trim_end_matches([')', ']', '.', '*', ' ']).strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
        }
    };
    let ends = if is_within_code { &before[..before.len() - 1] } else { before };
    let rest = ends.trim_end_matches([' ', '(', '[', '-', '–', '—', ';', ',', '.', '*', '_']);
    match command.map(str::trim).filter(|command| !command.is_empty() && !command.contains('`') && !rest.is_empty()) {
        Some(command) => {
            let check = Text::new(format!("`{command}`"), title.span.clone());
            (Text::new(rest, title.span.clone()), Some(check))
        }
        None => (title, None),
    }
}

/// Removes emphasis, and backticks around the whole text. Inside code nothing changes.
pub(crate) fn plain(text: &str) -> String {
    let mut text = without_bold(text.trim());
    loop {
        let inner = ["`", "__", "*", "_"].iter().find_map(|mark| {
            let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
            (!inner.contains(mark) && !inner.is_empty()).then(|| inner.trim().to_owned())
        });
        match inner {
            Some(inner) => text = inner,
            None => return text,
        }
    }
}

/// Removes pairs of `**`, except in code.
fn without_bold(text: &str) -> String {
    if !text.contains("**") {
        return text.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut bold = Vec::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 0 {
            bold.extend(part.match_indices("**").map(|(at, _)| part.as_ptr() as usize - text.as_ptr() as usize + at));
        }
    }
    let mut last = 0;
    let pairs = bold.len() / 2 * 2;
    for at in &bold[..pairs] {
        parts.push(&text[last.min(*at)..*at]);
        last = at + 2;
    }
    parts.push(&text[last..]);
    parts.concat().trim().to_owned()
}

pub(super) fn normal(text: &str) -> String {
    one_line(&text.to_lowercase()).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_may_stand_in_the_line_of_its_task() {
        let split = |line: &str| {
            let (title, check) = checked(Text::new(line, 0..line.len()));
            (title.value, check.map(|check| check.value))
        };
        let both = |title: &str, check: &str| (title.to_owned(), Some(check.to_owned()));
        for line in [
            "Sort the rows. Verify: `make sort`",
            "Sort the rows (verify: `make sort`)",
            "Sort the rows — **Verify:** `make sort`.",
            "Sort the rows `verify: make sort`",
        ] {
            assert_eq!(split(line), both("Sort the rows", "`make sort`"), "{line}");
        }
        // Without backticks, without a title or inside of other code it is a part of the title.
        for line in [
            "Sort them. Verify: by hand",
            "Verify: `make sort`",
            "Write `a verify: b` down",
            "Reverify: `x`",
            "Verify: `",
        ] {
            assert_eq!(split(line), (line.to_owned(), None), "{line}");
        }
    }
}
