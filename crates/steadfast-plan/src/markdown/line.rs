use crate::draft::Text;

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
    Row {
        cells: Vec<Text>,
    },
    Text {
        text: Text,
    },
    /// A line of code, its fences among them.
    Fenced {
        text: Text,
    },
}

/// The lines that say something: what stands in comments is passed over.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line> {
    let mut fence: Option<(char, usize)> = None;
    let mut comment = false;
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |raw| {
        let at = start;
        start += raw.len();
        let line = raw.trim_end_matches(['\n', '\r']);
        let line = line.trim_start_matches('\u{feff}');
        let at = at + raw.trim_end_matches(['\n', '\r']).len() - line.len();
        if let Some(mark) = fence_mark(line) {
            fence = match fence {
                None => Some(mark),
                // What ends a fence has no word after it.
                Some(open) if open.0 == mark.0 && mark.1 >= open.1 && is_bare(line) => None,
                open => open,
            };
            return Some(fenced(line, at));
        }
        if fence.is_some() {
            return Some(fenced(line, at));
        }
        if comment || line.trim_start().starts_with("<!--") {
            comment = !line.contains("-->");
            return None;
        }
        Some(one(line, at))
    })
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
    (count >= 3).then_some((mark, count))
}

fn one(line: &str, at: usize) -> Line {
    let indent = line.len() - line.trim_start().len();
    let body = line.trim();
    if body.is_empty() {
        return Line::Blank;
    }
    let text = |part: &str| {
        let start = at + (part.as_ptr() as usize - line.as_ptr() as usize);
        Text::new(part, start..start + part.len())
    };
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) && body[level..].starts_with([' ', '\t']) {
        return Line::Heading { level, text: text(body[level..].trim().trim_end_matches('#').trim_end()) };
    }
    if body.starts_with('|') && body.len() > 1 {
        let cells = body.trim_matches('|').split('|').map(|cell| text(cell.trim())).collect();
        return Line::Row { cells };
    }
    let Some(item) = bullet(body) else { return Line::Text { text: text(body) } };
    let inside = item.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((mark, rest)) = inside
        && let Some(mark) = box_mark(mark)
        && !rest.starts_with(['(', '[', ':'])
    {
        return Line::Box { mark, text: text(rest.trim()), indent };
    }
    Line::Bullet { text: text(item), indent }
}

fn box_mark(inside: &str) -> Option<char> {
    let mut characters = inside.chars();
    let mark = characters.next()?;
    (characters.next().is_none() && matches!(mark, ' ' | 'x' | 'X' | '~' | '/' | '>' | '!' | '-')).then_some(mark)
}

/// What follows `- `, `* `, `+ `.
fn bullet(body: &str) -> Option<&str> {
    ["- ", "* ", "+ "].into_iter().find_map(|mark| body.strip_prefix(mark)).map(str::trim)
}
