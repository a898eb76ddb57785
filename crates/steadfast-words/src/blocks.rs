//! Reads Markdown as lines: the kind of each line, its number and its bytes.
//!
//! Prompts, specs, scores and imported lists are read with this one reader. It knows both kinds of headings, lists with
//! their indents and boxes, tables, fences by their mark and length, front matter and comments; it skips the last two.

use std::ops::Range;

/// A part of a text, with its position there, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub value: String,
    pub span: Range<usize>,
}

impl Text {
    pub fn new(value: impl Into<String>, span: Range<usize>) -> Self {
        Self { value: value.into(), span }
    }

    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// Returns a part of it, with its position.
    pub fn part(&self, part: &str) -> Self {
        within(part, &self.value, self.span.start)
    }

    /// Returns another text with the same position.
    pub fn with(&self, value: impl Into<String>) -> Self {
        Self::new(value, self.span.clone())
    }
}

/// A line of a Markdown text.
#[derive(Debug)]
pub struct Block {
    /// Counted from 1.
    pub line: usize,
    /// The width of its indent; a tab is as wide as four blanks.
    pub indent: usize,
    pub kind: BlockKind,
    /// The text without the marks before it. Rows of a table and lines of code are kept whole.
    pub text: Text,
}

#[derive(Debug)]
pub enum BlockKind {
    Blank,
    /// A heading of this level, with `#` or underlined.
    Heading(usize),
    /// `- [x] Text`, with the character in the box.
    Box(char),
    Bullet,
    /// `1. Text`, with the number in the text.
    Ordered(Text),
    /// A row of a table, as its cells.
    Row(Vec<Text>),
    Text,
    /// A line that opens or closes a block of code.
    Fence,
    Code,
}

impl Block {
    /// Returns the text, with its number if it has one.
    pub fn whole(&self) -> &Text {
        match &self.kind {
            BlockKind::Ordered(whole) => whole,
            _ => &self.text,
        }
    }
}

/// Iterates over the lines with content. `is_field` recognises a line that belongs to the text above it and is never an
/// underlined heading.
pub fn blocks(text: &str, is_field: fn(&str) -> bool) -> Blocks<'_> {
    let start = front_matter(text);
    let line = text[..start].matches('\n').count();
    Blocks { text, is_field, start, line, fence: None, comment: None, in_paragraph: false, in_table: false }
}

#[derive(Debug)]
pub struct Blocks<'t> {
    text: &'t str,
    is_field: fn(&str) -> bool,
    /// The start of the next line.
    start: usize,
    /// The number of the last line read.
    line: usize,
    /// The mark and length of the open fence, and its position.
    fence: Option<(char, usize, usize)>,
    /// The position of the open comment.
    comment: Option<usize>,
    /// The previous line belongs to a paragraph or a list, so the next one is not a heading.
    in_paragraph: bool,
    /// Inside a table without lines at its sides.
    in_table: bool,
}

impl<'t> Blocks<'t> {
    /// Returns the position of a fence or comment that is never closed. Valid after the last line.
    pub fn unclosed(&self) -> Option<usize> {
        self.fence.map(|(.., at)| at).or(self.comment)
    }

    /// Returns the line at `start` without its end, its position, and the start of the next line.
    fn raw(&self, start: usize) -> Option<(&'t str, usize, usize)> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let whole = rest[..length].trim_end_matches(['\n', '\r']);
        let line = whole.trim_start_matches('\u{feff}');
        Some((line, start + whole.len() - line.len(), start + length))
    }

    /// Reads the next line. `Some(None)`: it is skipped.
    fn step(&mut self) -> Option<Option<Block>> {
        let (line, at, next) = self.raw(self.start)?;
        self.start = next;
        self.line += 1;
        let number = self.line;
        let code = |kind| Some(Block { line: number, indent: 0, kind, text: Text::new(line, at..at + line.len()) });
        let read = if self.comment.is_some() {
            if line.contains("-->") {
                self.comment = None;
            }
            None
        } else if let Some((mark, count)) = fence_mark(line).filter(|mark| self.is_fence(*mark, line)) {
            self.fence = if self.fence.is_some() { None } else { Some((mark, count, at)) };
            code(BlockKind::Fence)
        } else if self.fence.is_some() {
            code(BlockKind::Code)
        } else {
            let (kept, begins) = without_comments(line, at);
            self.comment = begins;
            match self.underlined(kept, next) {
                _ if kept.trim().is_empty() && !line.trim().is_empty() => None,
                Some((level, end)) => {
                    self.start = end;
                    self.line += 1;
                    Some(Block {
                        line: number,
                        indent: 0,
                        kind: BlockKind::Heading(level),
                        text: within(kept.trim(), kept, at),
                    })
                }
                None => Some(self.one(kept, at, next)),
            }
        };
        let kind = read.as_ref().map(|block| &block.kind);
        self.in_table = matches!(kind, Some(BlockKind::Row(_))) && !line.trim_start().starts_with('|');
        self.in_paragraph = match kind {
            Some(BlockKind::Text | BlockKind::Bullet | BlockKind::Box(_) | BlockKind::Ordered(_)) => !is_rule(line),
            None => self.in_paragraph,
            Some(_) => false,
        };
        Some(read)
    }

    /// Returns true if a mark opens a block of code or closes the open one. Closing requires the same mark, at least as
    /// long, and no word after it.
    fn is_fence(&self, (mark, count): (char, usize), line: &str) -> bool {
        self.fence.is_none_or(|(open, least, _)| open == mark && count >= least && is_bare(line))
    }

    /// Returns the level of a title with `===` or `---` below it, and the start of the line after that. A sentence or a
    /// field above a rule is no title.
    fn underlined(&self, line: &str, next: usize) -> Option<(usize, usize)> {
        let (below, _, end) = self.raw(next)?;
        let below = below.trim();
        let mark = below.chars().next().filter(|c| matches!(c, '=' | '-'))?;
        let title = line.trim();
        let is_title = below.len() >= 2
            && below.chars().all(|c| c == mark)
            && !self.in_paragraph
            && !title.is_empty()
            && title.len() <= 120
            && !title.ends_with(['.', ';'])
            && !is_rule(title)
            && matches!(one(line, 0, 0), Block { kind: BlockKind::Text, indent: 0..=3, .. })
            && !(self.is_field)(title);
        is_title.then_some((if mark == '=' { 1 } else { 2 }, end))
    }

    fn one(&self, line: &str, at: usize, next: usize) -> Block {
        let is_row = || {
            let below = self.raw(next).map_or("", |(below, ..)| below.trim());
            self.in_table
                || below.contains('|')
                    && below.contains('-')
                    && below.chars().all(|c| matches!(c, '-' | ':' | '|' | ' '))
        };
        let mut block = one(line, at, self.line);
        if line.contains('|') && !line.trim_start().starts_with('|') && is_row() {
            block.text = within(line.trim(), line, at);
            block.kind = row(line.trim(), line, at);
        }
        block
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        loop {
            if let Some(block) = self.step()? {
                return Some(block);
            }
        }
    }
}

/// Returns the length of the `key: value` lines at the start of a text; 0 if they are never closed.
fn front_matter(text: &str) -> usize {
    const MOST: usize = 400;
    let body = text.trim_start_matches('\u{feff}');
    let mut at = text.len() - body.len();
    for (number, line) in body.split_inclusive('\n').take(MOST).enumerate() {
        at += line.len();
        match (number, line.trim_end()) {
            (0, "---") => {}
            (0, _) => return 0,
            (_, "---" | "...") => return at,
            // A heading or an empty line after a rule: there are no keys.
            (1, "") => return 0,
            (_, line) if line.starts_with("# ") || line.starts_with("## ") => return 0,
            _ => {}
        }
    }
    0
}

/// Returns a line without its comments, and the position of one that stays open. Backticks hide comments.
fn without_comments(line: &str, at: usize) -> (&str, Option<usize>) {
    // A quotation is kept unchanged.
    let is_quoted = line.trim_start().starts_with('>');
    let Some(open) =
        line.find("<!--").filter(|open| !is_quoted && line[..*open].matches('`').count().is_multiple_of(2))
    else {
        return (line, None);
    };
    match line[open..].find("-->") {
        None => (line[..open].trim_end(), Some(at + open)),
        // Text after a comment is kept unless the comment begins the line.
        Some(end) if line[open + end + 3..].trim().is_empty() => (line[..open].trim_end(), None),
        Some(_) if line[..open].trim().is_empty() => (&line[..0], None),
        Some(_) => (line, None),
    }
}

fn is_bare(line: &str) -> bool {
    line.trim().chars().all(|c| matches!(c, '`' | '~'))
}

fn fence_mark(line: &str) -> Option<(char, usize)> {
    let body = line.trim_start();
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = body.chars().take_while(|c| *c == mark).count();
    // Three backticks that are closed in the same line are code in a sentence.
    (count >= 3 && !(mark == '`' && body[count..].contains('`'))).then_some((mark, count))
}

/// `---`, `* * *`.
fn is_rule(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.chars().all(|c| c == *mark))
}

fn row(body: &str, line: &str, at: usize) -> BlockKind {
    let body = body.strip_prefix('|').unwrap_or(body);
    let body = body.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(body);
    let mut cells = Vec::new();
    let last_backtick = body.rfind('`').unwrap_or_default();
    let (mut start, mut escaped, mut code) = (0, false, false);
    for (place, c) in body.char_indices() {
        match c {
            '|' if !(escaped || code && place < last_backtick) => {
                cells.push(&body[start..place]);
                start = place + 1;
                code = false;
            }
            '`' => code = !code,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    cells.push(&body[start..]);
    let cell = |cell: &str| {
        let mut text = within(cell.trim(), line, at);
        if text.value.contains("\\|") {
            text.value = text.value.replace("\\|", "|");
        }
        text
    };
    BlockKind::Row(cells.into_iter().map(cell).collect())
}

/// Returns a part of a line, with its position.
fn within(part: &str, line: &str, at: usize) -> Text {
    let start = at + (part.as_ptr() as usize - line.as_ptr() as usize);
    Text::new(part, start..start + part.len())
}

fn one(line: &str, at: usize, number: usize) -> Block {
    let indent = line[..line.len() - line.trim_start().len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let body = line.trim();
    let block = |kind, text| Block { line: number, indent, kind, text: within(text, line, at) };
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    if body.is_empty() {
        return block(BlockKind::Blank, body);
    }
    if (1..=6).contains(&level) && body[level..].starts_with([' ', '\t']) {
        return block(BlockKind::Heading(level), body[level..].trim().trim_end_matches('#').trim_end());
    }
    if body.starts_with('|') && body.len() > 1 {
        return block(row(body, line, at), body);
    }
    let (kind, item) = match (bullet(body), ordered(body)) {
        (Some(item), _) => (BlockKind::Bullet, item),
        (None, Some(item)) => (BlockKind::Ordered(within(body, line, at)), item),
        (None, None) => return block(BlockKind::Text, body),
    };
    match boxed(item) {
        Some((mark, rest)) => block(BlockKind::Box(mark), rest),
        None => block(kind, item),
    }
}

/// `[ ] Text`: returns the character in the box, and the text after it. `[]` is an empty box.
pub fn boxed(item: &str) -> Option<(char, &str)> {
    if let Some((mark, rest)) = item.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && let Some(mark) = box_mark(mark)
        && !rest.starts_with(['(', '[', ':'])
    {
        return Some((mark, rest.trim()));
    }
    let mut characters = item.chars();
    let mark = match characters.next()? {
        '☐' | '⬜' | '🔲' | '◻' | '▢' => ' ',
        '☑' | '✅' | '✔' => 'x',
        _ => return None,
    };
    Some((mark, characters.as_str().trim_start_matches('\u{fe0f}').trim()))
}

fn box_mark(inside: &str) -> Option<char> {
    let mut characters = inside.chars();
    let Some(mark) = characters.next() else { return Some(' ') };
    (characters.next().is_none() && matches!(mark, ' ' | 'x' | 'X' | '~' | '/' | '>' | '!' | '-')).then_some(mark)
}

/// Returns the text after `- `, `* `, `+ `. A box may follow the mark directly.
fn bullet(body: &str) -> Option<&str> {
    let rest = body.strip_prefix(['-', '*', '+', '•'])?;
    let is_box =
        || body.starts_with('-') && rest.starts_with("[ ]") || rest.starts_with("[x]") || rest.starts_with("[X]");
    (rest.starts_with([' ', '\t']) || is_box()).then(|| rest.trim())
}

/// Returns the text after `1. ` or `1) `.
fn ordered(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = (1..=4).contains(&digits).then(|| &body[digits..])?.strip_prefix(['.', ')'])?;
    (rest.starts_with([' ', '\t'])).then(|| rest.trim()).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_field(text: &str) -> bool {
        text.starts_with("Verify:")
    }

    fn shown(text: &str) -> Vec<String> {
        let show = |Block { indent, kind, text, .. }: Block| match kind {
            BlockKind::Blank => "blank".to_owned(),
            BlockKind::Heading(level) => format!("h{level} {}", text.value),
            BlockKind::Box(mark) => format!("box[{mark}] {} @{indent}", text.value),
            BlockKind::Bullet => format!("bullet {} @{indent}", text.value),
            BlockKind::Ordered(whole) => format!("ordered {} ({}) @{indent}", text.value, whole.value),
            BlockKind::Row(cells) => format!("row {:?}", cells.iter().map(Text::as_str).collect::<Vec<_>>()),
            BlockKind::Text => format!("text {}", text.value),
            BlockKind::Fence => format!("fence {}", text.value),
            BlockKind::Code => format!("code {}", text.value),
        };
        blocks(text, is_field).map(show).filter(|line| line != "blank").collect()
    }

    #[test]
    fn a_heading_may_be_underlined() {
        assert_eq!(shown("Title\n===\n\nPart\r\n---\r\ntext"), ["h1 Title", "h2 Part", "text text"]);
    }

    #[test]
    fn a_rule_below_a_sentence_a_list_or_a_field_makes_no_heading() {
        for text in
            ["It is so.\n---\n", "one\ntwo\n---\n", "- item\n---\n", "- item\n  more\n---\n", "Verify: `make`\n---\n"]
        {
            assert!(!shown(text).iter().any(|line| line.starts_with('h')), "{text:?}: {:?}", shown(text));
        }
    }

    #[test]
    fn lists_have_numbers_boxes_and_tabs() {
        assert_eq!(
            shown(
                "1. One\n2) Two\n3. [ ] Three\n-\t[x] Four\n\t- Five\n- [] Six\n- ✅ Seven\n-[ ] Eight\n1.1 Nine\n2024. x"
            ),
            [
                "ordered One (1. One) @0",
                "ordered Two (2) Two) @0",
                "box[ ] Three @0",
                "box[x] Four @0",
                "bullet Five @4",
                "box[ ] Six @0",
                "box[x] Seven @0",
                "box[ ] Eight @0",
                "text 1.1 Nine",
                "ordered x (2024. x) @0"
            ]
        );
    }

    #[test]
    fn what_stands_before_the_text_and_in_comments_is_passed_over() {
        assert_eq!(shown("---\na: b\n---\n# T\n"), ["h1 T"]);
        assert_eq!(shown("---\n\n# T\n"), ["text ---", "h1 T"]);
        assert_eq!(
            shown("a <!-- b --> \n<!-- c\n- d\n-->\ne `<!--`\nf <!-- g\nh -->\ni"),
            ["text a", "text e `<!--`", "text f", "text i"]
        );
    }

    #[test]
    fn what_is_not_ended_is_known_at_the_end() {
        for (text, at) in
            [("a\n```\nb", Some(2)), ("```\n```\n", None), ("a <!-- b\nc", Some(2)), ("```a``` b\n", None)]
        {
            let mut all = blocks(text, is_field);
            all.by_ref().for_each(drop);
            assert_eq!(all.unclosed(), at, "{text:?}");
        }
    }

    #[test]
    fn cells_stand_between_lines_that_are_not_escaped() {
        assert_eq!(shown(r"| a \| b | `c | d` |"), [r#"row ["a | b", "`c | d`"]"#]);
        assert_eq!(
            shown("Task | Check\n--- | ---\na | b\n\nc | d"),
            [r#"row ["Task", "Check"]"#, r#"row ["---", "---"]"#, r#"row ["a", "b"]"#, "text c | d"]
        );
    }

    #[test]
    fn a_fence_ends_with_its_own_mark_and_length() {
        assert_eq!(
            shown("````md\n```sh\nmake\n```\n~~~~\n```` x\n````\nafter"),
            [
                "fence ````md",
                "code ```sh",
                "code make",
                "code ```",
                "code ~~~~",
                "code ```` x",
                "fence ````",
                "text after"
            ]
        );
    }

    #[test]
    fn every_line_knows_its_number_and_its_bytes() {
        let text = "---\na: b\n---\n\u{feff}# T\n\nPart\n---\n<!-- x\n-->\n| a | b\\|c |\n  1. One\n";
        let all = blocks(text, is_field).filter(|block| !matches!(block.kind, BlockKind::Blank));
        let places: Vec<(usize, &str)> = all.map(|block| (block.line, &text[block.text.span])).collect();
        assert_eq!(places, [(4, "T"), (6, "Part"), (10, "| a | b\\|c |"), (11, "One")]);
    }
}
