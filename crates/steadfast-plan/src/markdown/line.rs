use crate::draft::Text;

use super::fields::field;

/// A line of a spec, by what it is.
#[derive(Debug)]
pub(crate) enum Line {
    Blank,
    Heading {
        level: usize,
        text: Text,
    },
    /// `mark` is what stands in the box.
    Box {
        mark: char,
        text: Text,
        indent: usize,
    },
    Bullet {
        text: Text,
        indent: usize,
    },
    /// `1. Text`: without its number, and with it.
    Ordered {
        text: Text,
        whole: Text,
        indent: usize,
    },
    Row {
        cells: Vec<Text>,
    },
    Text {
        text: Text,
        indent: usize,
    },
    /// A line of code, its fences among them.
    Fenced {
        text: Text,
    },
}

/// The lines that say something: what stands in comments and before the text (`---`, `key: value`, `---`) is passed over.
pub(crate) fn lines(text: &str) -> Scanner<'_> {
    let start = front_matter(text);
    Scanner { text, start, fence: None, comment: None, in_paragraph: false, in_table: false }
}

pub(crate) struct Scanner<'t> {
    text: &'t str,
    /// Where the next line begins.
    start: usize,
    /// What the fence is made of, and where it begins.
    fence: Option<(char, usize, usize)>,
    /// Where the comment begins.
    comment: Option<usize>,
    /// The line before is one of a paragraph or of a list: what follows it is no heading.
    in_paragraph: bool,
    /// A table without a line at its sides.
    in_table: bool,
}

impl<'t> Scanner<'t> {
    /// Where a fence or a comment begins that is never ended. To be asked at the end.
    pub(crate) fn unclosed(&self) -> Option<usize> {
        self.fence.map(|(.., at)| at).or(self.comment)
    }

    /// A line from `start`, without its end, where it begins, and where the next one does.
    fn raw(&self, start: usize) -> Option<(&'t str, usize, usize)> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let whole = rest[..length].trim_end_matches(['\n', '\r']);
        let line = whole.trim_start_matches('\u{feff}');
        Some((line, start + whole.len() - line.len(), start + length))
    }

    /// The next line, unless it is passed over.
    fn step(&mut self) -> Option<Option<Line>> {
        let (line, at, next) = self.raw(self.start)?;
        let mut after = next;
        let mut comment = self.comment;
        let mut fence = self.fence;
        let read = if comment.is_some() {
            if line.contains("-->") {
                comment = None;
            }
            None
        } else if let Some(mark) = fence_mark(line) {
            fence = match fence {
                None => Some((mark.0, mark.1, at)),
                // What ends a fence has no word after it.
                Some(open) if open.0 == mark.0 && mark.1 >= open.1 && is_bare(line) => None,
                open => open,
            };
            Some(fenced(line, at))
        } else if fence.is_some() {
            Some(fenced(line, at))
        } else {
            let (kept, begins) = without_comments(line, at);
            comment = begins;
            match self.underlined(kept, next) {
                _ if kept.trim().is_empty() && !line.trim().is_empty() => None,
                Some((level, end)) => {
                    after = end;
                    Some(heading(level, kept, at))
                }
                None => Some(self.one(kept, at, next)),
            }
        };
        let in_table = matches!(&read, Some(Line::Row { .. })) && !line.trim_start().starts_with('|');
        let in_paragraph = match &read {
            Some(Line::Text { .. } | Line::Bullet { .. } | Line::Box { .. } | Line::Ordered { .. }) => !is_rule(line),
            None => self.in_paragraph,
            _ => false,
        };
        (self.start, self.comment, self.fence) = (after, comment, fence);
        (self.in_paragraph, self.in_table) = (in_paragraph, in_table);
        Some(read)
    }

    /// A title with `===` or `---` below it: its level, and where the line after that begins. A sentence or a field above a
    /// rule is none.
    fn underlined(&self, line: &str, next: usize) -> Option<(usize, usize)> {
        let (below, _, end) = self.raw(next)?;
        let below = below.trim_end();
        let mark = below.trim_start().chars().next().filter(|c| matches!(c, '=' | '-'))?;
        let is_line = below.trim_start().chars().all(|c| c == mark) && below.trim_start().len() >= 2;
        let title = line.trim();
        let is_title = !self.in_paragraph
            && !title.is_empty()
            && title.len() <= 120
            && !title.ends_with(['.', ';'])
            && !is_rule(title)
            && matches!(one(line, 0), Line::Text { indent: 0..=3, .. })
            && field(&Text::new(title, 0..title.len())).is_none();
        (is_line && is_title).then_some((if mark == '=' { 1 } else { 2 }, end))
    }

    fn one(&self, line: &str, at: usize, next: usize) -> Line {
        let is_row = || {
            let below = self.raw(next).map_or("", |(below, ..)| below.trim());
            self.in_table
                || below.contains('|')
                    && below.contains('-')
                    && below.chars().all(|c| matches!(c, '-' | ':' | '|' | ' '))
        };
        if line.contains('|') && !line.trim_start().starts_with('|') && is_row() {
            return row(line.trim(), line, at);
        }
        one(line, at)
    }
}

impl Iterator for Scanner<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.step()? {
                return Some(line);
            }
        }
    }
}

/// How long the `key: value` lines before a text are; none where they do not end.
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
            // A heading or an empty line after a rule: no keys.
            (1, "") => return 0,
            (_, line) if line.starts_with("# ") || line.starts_with("## ") => return 0,
            _ => {}
        }
    }
    0
}

/// A line without the comments in it, and where one begins that does not end there. Backticks hide them.
fn without_comments(line: &str, at: usize) -> (&str, Option<usize>) {
    // A quotation is kept word for word.
    let is_quoted = line.trim_start().starts_with('>');
    let Some(open) =
        line.find("<!--").filter(|open| !is_quoted && line[..*open].matches('`').count().is_multiple_of(2))
    else {
        return (line, None);
    };
    match line[open..].find("-->") {
        None => (line[..open].trim_end(), Some(at + open)),
        // What stands after it is kept where the comment does not begin the line.
        Some(end) if line[open + end + 3..].trim().is_empty() => (line[..open].trim_end(), None),
        Some(_) if line[..open].trim().is_empty() => (&line[..0], None),
        Some(_) => (line, None),
    }
}

fn fenced(line: &str, at: usize) -> Line {
    Line::Fenced { text: Text::new(line, at..at + line.len()) }
}

fn is_bare(line: &str) -> bool {
    line.trim().chars().all(|c| matches!(c, '`' | '~'))
}

fn fence_mark(line: &str) -> Option<(char, usize)> {
    let body = line.trim_start();
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = body.chars().take_while(|c| *c == mark).count();
    // Three backticks and their end in one line are code in a sentence.
    (count >= 3 && !(mark == '`' && body[count..].contains('`'))).then_some((mark, count))
}

/// `---`, `* * *`.
fn is_rule(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ['-', '*', '_'].iter().any(|mark| marks.chars().all(|c| c == *mark))
}

fn heading(level: usize, line: &str, at: usize) -> Line {
    Line::Heading { level, text: within(line.trim(), line, at) }
}

fn row(body: &str, line: &str, at: usize) -> Line {
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
    Line::Row { cells: cells.into_iter().map(cell).collect() }
}

fn within(part: &str, line: &str, at: usize) -> Text {
    let start = at + (part.as_ptr() as usize - line.as_ptr() as usize);
    Text::new(part, start..start + part.len())
}

fn one(line: &str, at: usize) -> Line {
    let indent = width(&line[..line.len() - line.trim_start().len()]);
    let body = line.trim();
    if body.is_empty() {
        return Line::Blank;
    }
    let text = |part: &str| within(part, line, at);
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) && body[level..].starts_with([' ', '\t']) {
        return Line::Heading { level, text: text(body[level..].trim().trim_end_matches('#').trim_end()) };
    }
    if body.starts_with('|') && body.len() > 1 {
        return row(body, line, at);
    }
    let (item, is_ordered) = match (bullet(body), ordered(body)) {
        (Some(item), _) => (item, false),
        (None, Some(item)) => (item, true),
        (None, None) => return Line::Text { text: text(body), indent },
    };
    if let Some((mark, rest)) = boxed(item) {
        return Line::Box { mark, text: text(rest), indent };
    }
    match is_ordered {
        true => Line::Ordered { text: text(item), whole: text(body), indent },
        false => Line::Bullet { text: text(item), indent },
    }
}

/// Of the blanks before a line; a tab is as wide as four.
fn width(blanks: &str) -> usize {
    blanks.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// `[ ] Text`: what stands in the box, and what follows it. `[]` is empty.
pub(super) fn boxed(item: &str) -> Option<(char, &str)> {
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

/// What follows `- `, `* `, `+ `. A box may stand right behind the mark.
fn bullet(body: &str) -> Option<&str> {
    let rest = body.strip_prefix(['-', '*', '+', '•'])?;
    let is_box =
        || body.starts_with('-') && rest.starts_with("[ ]") || rest.starts_with("[x]") || rest.starts_with("[X]");
    (rest.starts_with([' ', '\t']) || is_box()).then(|| rest.trim())
}

/// What follows `1. ` or `1) `.
fn ordered(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = (1..=4).contains(&digits).then(|| &body[digits..])?.strip_prefix(['.', ')'])?;
    (rest.starts_with([' ', '\t'])).then(|| rest.trim()).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |line: Line| match line {
            Line::Blank => "blank".to_owned(),
            Line::Heading { level, text } => format!("h{level} {}", text.value),
            Line::Box { mark, text, indent } => format!("box[{mark}] {} @{indent}", text.value),
            Line::Bullet { text, indent } => format!("bullet {} @{indent}", text.value),
            Line::Ordered { text, whole, indent } => format!("ordered {} ({}) @{indent}", text.value, whole.value),
            Line::Row { cells } => format!("row {:?}", cells.iter().map(Text::as_str).collect::<Vec<_>>()),
            Line::Text { text, .. } => format!("text {}", text.value),
            Line::Fenced { text } => format!("fenced {}", text.value),
        };
        lines(text).map(show).filter(|line| line != "blank").collect()
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
            let mut all = lines(text);
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
}
