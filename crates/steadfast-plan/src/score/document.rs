//! A text as its sentences, each with what the heading above it says.

use super::sentence::{Form, Part, Said};

/// How much of a text is read, in bytes. What a spec of a thousand tasks wants is said at its beginning.
const READ: usize = 100_000;

pub(super) fn sentences(text: &str) -> Vec<Said> {
    let mut reader = Reader::default();
    let lines: Vec<&str> = text[..text.floor_char_boundary(READ)].lines().collect();
    let body = after_front_matter(&lines);
    for (index, line) in lines.iter().enumerate().skip(body) {
        let follows = lines.get(index + 1..).and_then(|rest| rest.iter().find(|line| !line.trim().is_empty()));
        reader.line(index + 1, line, follows.copied().unwrap_or_default());
    }
    reader.end_paragraph();
    reader.said
}

fn after_front_matter(lines: &[&str]) -> usize {
    if lines.first().is_none_or(|line| line.trim_end() != "---") {
        return 0;
    }
    lines.iter().skip(1).position(|line| line.trim_end() == "---").map_or(0, |end| end + 2)
}

#[derive(Default)]
struct Reader {
    said: Vec<Said>,
    /// The headings above, outermost first: how deep, and what each says.
    above: Vec<(usize, Part)>,
    /// Lines that belong together and where they begin.
    paragraph: Option<(usize, String, Form)>,
    fenced: bool,
}

/// Deeper than any heading with `#`.
const UNMARKED: usize = 7;

impl Reader {
    fn line(&mut self, number: usize, line: &str, follows: &str) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            self.end_paragraph();
            self.fenced = !self.fenced;
        } else if self.fenced {
            if !trimmed.is_empty() && !trimmed.starts_with('#') {
                self.push(number, trimmed, Form::Code);
            }
        } else if trimmed.is_empty() || is_rule(trimmed) {
            self.end_paragraph();
        } else if let Some((depth, heading)) = heading(trimmed) {
            self.end_paragraph();
            self.enter(depth, heading);
            self.push(number, heading, if names_task(heading) { Form::Box } else { Form::Heading });
        } else if is_unmarked_heading(trimmed, follows) {
            self.end_paragraph();
            self.enter(UNMARKED, trimmed);
        } else if let Some((form, rest)) = item(trimmed) {
            self.end_paragraph();
            self.paragraph = Some((number, rest.to_owned(), form));
        } else if trimmed.starts_with('|') {
            self.end_paragraph();
            self.push(number, &trimmed.replace('|', " "), Form::Item);
        } else {
            match &mut self.paragraph {
                Some((_, text, _)) => {
                    text.push('\n');
                    text.push_str(trimmed);
                }
                None => self.paragraph = Some((number, trimmed.to_owned(), Form::Prose)),
            }
        }
    }

    fn enter(&mut self, depth: usize, heading: &str) {
        self.above.retain(|(above, _)| *above < depth);
        let part = match named(heading) {
            Part::Other => self.part(),
            part => part,
        };
        self.above.push((depth, part));
    }

    fn part(&self) -> Part {
        self.above.last().map_or(Part::Other, |(_, part)| *part)
    }

    fn push(&mut self, line: usize, text: &str, form: Form) {
        self.said.push(Said::new(line, text.trim(), self.part(), form));
    }

    fn end_paragraph(&mut self) {
        let Some((first, text, form)) = self.paragraph.take() else { return };
        for (from, sentence) in split(&text) {
            let line = first + text.get(..from).map_or(0, |before| before.matches('\n').count());
            self.push(line, &sentence.replace('\n', " "), form);
        }
    }
}

/// At full stops that end something: not inside of backticks, not in `e.g.`.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut from, mut in_code) = (0, false);
    let mut characters = text.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        match character {
            '`' => in_code = !in_code,
            '.' | '!' | '?' if !in_code => {
                let before = text.get(from..index).unwrap_or_default();
                let short = before.ends_with("e.g") || before.ends_with("i.e") || before.ends_with("vs");
                let ends = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
                if ends && !short {
                    found.push((from, text.get(from..=index).unwrap_or_default()));
                    from = index + 1;
                }
            }
            _ => {}
        }
    }
    found.push((from, text.get(from..).unwrap_or_default()));
    found.retain(|(_, sentence)| sentence.contains(char::is_alphanumeric));
    found
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':' | ' '))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    ((1..=6).contains(&depth) && rest.starts_with(' ')).then(|| (depth, rest.trim()))
}

/// `### 1.1 Make codes`, `### Task 2: …`
fn names_task(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let number = lower.split([' ', ':']).next().unwrap_or_default().trim_end_matches('.');
    lower.starts_with("task ") || (number.contains('.') && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// `Acceptance criteria:`, `**Steps:**`, `Output files` above a list.
fn is_unmarked_heading(line: &str, follows: &str) -> bool {
    let plain = line.trim_matches('*').trim();
    let few = plain.split_whitespace().count() <= 6;
    few && item(line).is_none()
        && !plain.ends_with(['.', '!', '?', ','])
        && (item(follows.trim()).is_some() || (line.starts_with("**") && line.ends_with("**")))
}

/// The rest of `- x`, `* x`, `1. x`, `2) x`, `- [ ] x`.
fn item(line: &str) -> Option<(Form, &str)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("+ "));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let marked = rest.len() < line.len();
        marked.then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))).flatten()
    };
    let rest = rest.or_else(numbered)?.trim();
    for mark in ["[ ]", "[x]", "[X]", "[-]"] {
        if let Some(task) = rest.strip_prefix(mark) {
            return Some((Form::Box, task.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim()));
        }
    }
    Some((Form::Item, rest))
}

/// By the first of these that a heading says. What is an everyday word counts in a short heading only.
fn named(heading: &str) -> Part {
    let said = Said::new(0, heading, Part::Other, Form::Prose);
    let is_short = said.words().iter().filter(|word| word.text.contains(char::is_alphabetic)).count() <= 2;
    let part =
        |(_, names, everyday): &(Part, &[&str], &[&str])| said.says_any(names) || (is_short && said.says_any(everyday));
    PARTS.iter().find(|row| part(row)).map_or(Part::Other, |(part, _, _)| *part)
}

const PARTS: [(Part, &[&str], &[&str]); 8] = [
    (Part::Done, &["definition of done", "done when"], &["done", "completion", "finished"]),
    (
        Part::OutOfScope,
        &["out of scope", "non-goals", "non goals", "nongoals", "not in scope", "not included"],
        &["exclusions"],
    ),
    (
        Part::Constraints,
        &["constraints", "must not", "must nots", "must-nots", "guardrails", "restrictions"],
        &["constraint", "rules", "limits", "do not", "don'ts"],
    ),
    (
        Part::Success,
        &["success criteria", "acceptance criteria", "success metrics"],
        &["success", "acceptance", "criteria"],
    ),
    (
        Part::Verification,
        &["verification commands", "test plan"],
        &["verification", "verify", "testing", "tests", "validation", "checks"],
    ),
    (
        Part::Background,
        &["root cause", "open questions", "source references"],
        &[
            "why",
            "problem",
            "context",
            "background",
            "motivation",
            "current",
            "risks",
            "benefits",
            "questions",
            "alternatives",
            "references",
            "investigation",
        ],
    ),
    (
        Part::Goal,
        &["expected outcomes", "user story"],
        &["goal", "goals", "objective", "objectives", "outcome", "outcomes", "purpose"],
    ),
    (Part::Scope, &["output files", "files changed"], &["scope", "files", "impact", "affected", "location"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(usize, Part, Form, String)> {
        sentences(text).into_iter().map(|said| (said.line, said.part, said.form, said.text)).collect()
    }

    #[test]
    fn sentences_know_their_line_and_the_heading_above_them() {
        let text = "---\nstatus: x\n---\n# Log in\n\nPeople log in. They use\na code e.g. 123456.\n\n\
                    ## Acceptance Criteria\n### Codes\n1. Valid once\n\nOutput files\n- `src/a.rs`\n\n## Notes\n```\ncargo test\n```\n";
        let line = |line, part, form, text: &str| (line, part, form, text.to_owned());
        assert_eq!(
            seen(text),
            [
                line(4, Part::Other, Form::Heading, "Log in"),
                line(6, Part::Other, Form::Prose, "People log in."),
                line(6, Part::Other, Form::Prose, "They use a code e.g. 123456."),
                line(9, Part::Success, Form::Heading, "Acceptance Criteria"),
                line(10, Part::Success, Form::Heading, "Codes"),
                line(11, Part::Success, Form::Item, "Valid once"),
                line(14, Part::Scope, Form::Item, "`src/a.rs`"),
                line(16, Part::Other, Form::Heading, "Notes"),
                line(18, Part::Other, Form::Code, "cargo test"),
            ]
        );
    }

    #[test]
    fn a_deeper_heading_without_a_meaning_keeps_the_one_above_and_the_next_ends_it() {
        let parts: Vec<Part> = sentences("## Constraints\n### Speed\n- fast\n## Steps\n- go\n")
            .into_iter()
            .map(|said| said.part)
            .collect();
        assert_eq!(parts, [Part::Constraints, Part::Constraints, Part::Constraints, Part::Other, Part::Other]);
    }
}
