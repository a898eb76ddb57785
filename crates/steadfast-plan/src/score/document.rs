//! Splits a text into sentences, each with the meaning of the heading above it.

use super::sentence::{Form, Part, Said, list, words};
use crate::markdown::blocks;
use steadfast_words::blocks::{Block, BlockKind};
use steadfast_words::split_at;

/// The number of bytes that are read. A spec of a thousand tasks states its goals at the beginning.
const READ: usize = 100_000;

pub(super) fn sentences(text: &str) -> Vec<Said> {
    let mut reader = Reader::default();
    let all: Vec<Block> = blocks(&text[..text.floor_char_boundary(READ)]).collect();
    for (index, block) in all.iter().enumerate() {
        let follows = all[index + 1..].iter().find(|next| !matches!(next.kind, BlockKind::Blank));
        // A heading without a mark is recognised by the list below it.
        let before_list = follows
            .is_some_and(|next| matches!(next.kind, BlockKind::Bullet | BlockKind::Ordered(_) | BlockKind::Box(_)));
        reader.block(block, before_list);
    }
    reader.end_paragraph();
    reader.said
}

#[derive(Default)]
struct Reader {
    said: Vec<Said>,
    /// The headings above, outermost first: depth and meaning.
    above: Vec<(usize, Part)>,
    /// The lines of the current paragraph, and where it begins.
    paragraph: Option<(usize, String, Form)>,
}

/// A depth below every heading with `#`.
const UNMARKED: usize = 7;

impl Reader {
    fn block(&mut self, block: &Block, before_list: bool) {
        let (line, text) = (block.line, block.text.as_str());
        if let (BlockKind::Text, Some((_, paragraph, _))) = (&block.kind, &mut self.paragraph)
            && !is_rule(text)
            && !is_unmarked_heading(text, before_list)
        {
            paragraph.push('\n');
            paragraph.push_str(text);
            return;
        }
        self.end_paragraph();
        match &block.kind {
            BlockKind::Heading(depth) => {
                self.enter(*depth, text);
                self.push(line, text, if names_task(text) { Form::Box } else { Form::Heading });
            }
            BlockKind::Code if !text.trim().is_empty() && !text.trim_start().starts_with('#') => {
                self.push(line, text, Form::Code);
            }
            BlockKind::Text | BlockKind::Row(_) if is_rule(text) => {}
            BlockKind::Text if is_unmarked_heading(text, before_list) => self.enter(UNMARKED, text),
            BlockKind::Text => self.paragraph = Some((line, text.to_owned(), Form::Prose)),
            BlockKind::Row(_) => self.push(line, &text.replace('|', " "), Form::Item),
            BlockKind::Bullet | BlockKind::Ordered(_) => self.paragraph = Some((line, text.to_owned(), Form::Item)),
            BlockKind::Box(_) => {
                let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
                self.paragraph = Some((line, text.to_owned(), Form::Box));
            }
            BlockKind::Blank | BlockKind::Fence | BlockKind::Code => {}
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
        for (from, sentence) in split_at(&text, ".!?") {
            if !sentence.contains(char::is_alphanumeric) {
                continue;
            }
            let line = first + text.get(..from).map_or(0, |before| before.matches('\n').count());
            self.push(line, &sentence.replace('\n', " "), form);
        }
    }
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':' | ' '))
}

/// Recognises `### 1.1 Make codes`, `### Task 2: …`.
fn names_task(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let number = lower.split([' ', ':']).next().unwrap_or_default().trim_end_matches('.');
    lower.starts_with("task ") || (number.contains('.') && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Recognises `Acceptance criteria:`, `**Steps:**`, or `Output files` above a list.
fn is_unmarked_heading(line: &str, before_list: bool) -> bool {
    let plain = line.trim_matches('*').trim();
    plain.split_whitespace().count() <= 6
        && !plain.ends_with(['.', '!', '?', ','])
        && (before_list || (line.starts_with("**") && line.ends_with("**")))
}

/// Returns the meaning of a heading. Everyday words count only in a short heading.
fn named(heading: &str) -> Part {
    let words = words(heading);
    let is_short = words.iter().filter(|word| word.text.contains(char::is_alphabetic)).count() <= 2;
    let has = |name: &str| list(name).within(&words);
    let is_named = |part: &Part| has(&format!("heading-{part}")) || is_short && has(&format!("heading-{part}-short"));
    Part::ALL.into_iter().find(is_named).unwrap_or(Part::Other)
}

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
