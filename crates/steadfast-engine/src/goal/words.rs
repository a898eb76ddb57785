//! A human's text as sentences of words. What is quoted, fenced or tagged is spoken of, and left out.

use std::collections::HashMap;

/// Where a long text begins and ends, in bytes. What is pasted stands between.
const ENDS: usize = 8_000;
/// The longest text between quotes or backticks that a dot does not end, in bytes.
const QUOTE: usize = 2_000;
/// The longest sentence that is read, in bytes.
const SENTENCE: usize = 8_000;
/// The most kinds of tags that are looked for the end of. Each costs a look at the whole text.
const TAGS: usize = 32;
/// The longest sentence that is read, in words. More is no sentence.
const WORDS: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Between backticks: a name, a path or a command.
    Code,
    /// Several words between quotes: somebody else's.
    Quoted,
    /// A comma, a colon, a dash, a bracket.
    Break,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, one apostrophe for all; `,` for every break.
    pub(crate) text: String,
    /// As it was typed.
    pub(crate) raw: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// As it was typed.
    pub(crate) said: String,
    pub(crate) words: Vec<Word>,
    pub(crate) asks: bool,
    /// Far from both ends of a long text: it may be pasted. Such a sentence can forbid, and nothing else.
    pub(crate) pasted: bool,
}

impl Word {
    fn plain(raw: &str) -> Self {
        let text = raw.to_lowercase().replace(['’', '‘', 'ʼ', '´'], "'");
        // Who does it by itself does it.
        let text = text.strip_prefix("auto-").map(str::to_owned).unwrap_or(text);
        let text = match text.as_str() {
            "dont" | "don't" | "dnt" | "donot" | "do'nt" => "don't".to_owned(),
            "ill" => "i'll".to_owned(),
            "im" => "i'm".to_owned(),
            "youre" => "you're".to_owned(),
            "lets" => "let's".to_owned(),
            "u" => "you".to_owned(),
            "arent" => "aren't".to_owned(),
            "zero" => "no".to_owned(),
            "w/o" => "without".to_owned(),
            "pls" | "plz" => "please".to_owned(),
            "cannot" | "cant" => "can't".to_owned(),
            "shouldnt" => "shouldn't".to_owned(),
            "mustnt" => "mustn't".to_owned(),
            _ => text,
        };
        Self { text, raw: raw.to_owned(), kind: Kind::Plain }
    }

    /// A word that nobody typed.
    pub(crate) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), raw: text.to_owned(), kind: Kind::Plain }
    }

    fn cut(raw: &str) -> Self {
        Self { text: ",".to_owned(), raw: raw.to_owned(), kind: Kind::Break }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind == Kind::Plain && self.text == text
    }

    pub(crate) fn is_one_of(&self, texts: &[&str]) -> bool {
        self.kind == Kind::Plain && texts.contains(&self.text.as_str())
    }

    pub(crate) fn is_break(&self) -> bool {
        self.kind == Kind::Break
    }
}

pub(crate) fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let middle = ENDS..text.len().saturating_sub(ENDS);
    for Line { at, text } in lines(text) {
        let pasted = middle.contains(&at) && middle.contains(&(at + text.len()));
        for said in split(&text).into_iter().filter(|said| said.len() <= SENTENCE) {
            if pasted && !speaks(said) {
                continue;
            }
            let words = words(said);
            if !words.is_empty() && words.len() <= WORDS {
                sentences.push(Sentence { said: said.to_owned(), words, asks: said.ends_with('?'), pasted });
            }
        }
    }
    sentences
}

/// Whether a pasted line can be a human's: it begins with a letter and has a word of those that forbid. Most lines of a
/// log are told apart by this before they cost anything.
fn speaks(said: &str) -> bool {
    const FORBID: [&str; 16] = [
        "don",
        "do not",
        "never",
        "must",
        "only",
        "without",
        "avoid",
        "refrain",
        "leave",
        "keep",
        "hands off",
        "stop",
        "no ",
        "nothing",
        "not ",
        "ask me",
    ];
    let lower = said.to_lowercase();
    said.starts_with(|c: char| c.is_alphabetic() || "-*•".contains(c)) && FORBID.iter().any(|word| lower.contains(word))
}

/// A line of the human's own words, and where it begins.
#[derive(Debug)]
struct Line {
    at: usize,
    text: String,
}

fn is_fence(bare: &str) -> bool {
    bare.starts_with("```") || bare.starts_with("~~~")
}

/// The lines that are the human's own words.
fn lines(text: &str) -> Vec<Line> {
    let (mut own, mut fenced, mut tag, mut lead) = (Vec::new(), false, None::<String>, None::<String>);
    // A fence that nothing closes is none.
    let mut fences = text.lines().filter(|line| is_fence(line.trim())).count();
    fences -= fences % 2;
    let mut ends: HashMap<String, Option<usize>> = HashMap::new();
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let at = next;
        next += line.len();
        let bare = line.trim();
        if let Some(open) = &tag {
            if bare.contains(open.as_str()) {
                tag = None;
            }
            continue;
        }
        if is_fence(bare) && fences > 0 {
            fences -= 1;
            fenced = !fenced;
            continue;
        }
        // A heading and a row of a table order nothing.
        if fenced || bare.starts_with(['>', '#', '|']) {
            continue;
        }
        if let Some(name) = opened(bare) {
            let close = format!("</{name}>");
            let known = ends.len() < TAGS || ends.contains_key(&close);
            let last = known.then(|| *ends.entry(close.clone()).or_insert_with(|| text.rfind(&close))).flatten();
            if !bare.contains(&close) && last.is_some_and(|last| last >= next) {
                tag = Some(close);
            }
            continue;
        }
        match (&lead, item(bare)) {
            (Some(lead), Some(item)) => own.push(Line { at, text: format!("{lead} {item}") }),
            _ => {
                lead = leads(bare);
                own.push(Line { at, text: bare.to_owned() });
            }
        }
    }
    own
}

/// What a list's item says.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if numbered.len() < line.len() {
        numbered.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '•'])
    };
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim)
}

/// What a line with a list below it says of each of its items: `Do not:`, `Don't touch:`.
fn leads(line: &str) -> Option<String> {
    let lead = line.strip_suffix(':')?.trim_matches(['*', ' ']);
    let words = words(lead);
    let light = ["please", "you", "also", "and", "ever", "any", "even", "files", "the", "in"];
    let mut meant = words.iter().filter(|word| !word.is_one_of(&light));
    let denies = meant
        .next()
        .is_some_and(|word| word.is_one_of(&["don't", "never", "mustn't", "avoid", "no", "only", "without"]));
    let verbs = ["touch", "edit", "change", "modify", "run", "use", "delete", "commit", "push"];
    (denies && meant.all(|word| word.is_one_of(&verbs))).then(|| lead.to_owned())
}

/// The tag that a line begins with.
fn opened(line: &str) -> Option<&str> {
    let name = line.strip_prefix('<')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
    (end > 0 && name[end..].starts_with(['>', ' '])).then(|| &name[..end])
}

/// A line's sentences. A dot inside a path, a name or backticks ends none.
fn split(line: &str) -> Vec<&str> {
    let (mut parts, mut start, mut code, mut quoted) = (Vec::new(), 0, false, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => code = !code && closes(&line[at + 1..], '`'),
            '"' => quoted = !quoted && closes(&line[at + 1..], '"'),
            '“' => quoted = closes(&line[at + c.len_utf8()..], '”'),
            '”' => quoted = false,
            '.' | '!' | '?' | ';' | '…' if !code && !quoted => {
                let ends = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
                let end = at + c.len_utf8();
                if ends && !line[start..end].ends_with("e.g.") {
                    parts.push(line[start..end].trim());
                    start = end;
                }
            }
            _ => {}
        }
    }
    parts.push(line[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether what was opened is closed soon.
fn closes(rest: &str, close: char) -> bool {
    rest[..rest.floor_char_boundary(QUOTE)].contains(close)
}

fn words(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = sentence.trim_start_matches(['-', '*', '•', ' ']);
    while let Some(c) = rest.chars().next() {
        let close = match c {
            '`' => Some('`'),
            '"' => Some('"'),
            '“' => Some('”'),
            _ => None,
        };
        let inner = &rest[c.len_utf8()..];
        if let Some((close, end)) = close.and_then(|close| inner.find(close).map(|end| (close, end))) {
            let raw = inner[..end].trim();
            // A command of git stands for its verb.
            if c == '`' && raw.starts_with("git ") {
                raw.split_whitespace().for_each(|word| plain(word, &mut words));
                rest = &inner[end + close.len_utf8()..];
                continue;
            }
            let kind = if c == '`' || !raw.contains(' ') { Kind::Code } else { Kind::Quoted };
            words.push(Word { text: raw.to_lowercase(), raw: raw.to_owned(), kind });
            rest = &inner[end + close.len_utf8()..];
            continue;
        }
        if c.is_whitespace() {
            rest = inner;
            continue;
        }
        // A comment of code is spoken of.
        if rest.starts_with("// ") {
            words.push(Word { text: rest.to_lowercase(), raw: rest.to_owned(), kind: Kind::Quoted });
            break;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '`' || c == '"' || c == '“').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(c.len_utf8()));
        plain(word, &mut words);
        rest = after;
    }
    merged(words)
}

/// Verbs that are joined by a slash.
const BOTH: [&str; 10] = ["commit", "push", "merge", "rebase", "edit", "change", "add", "delete", "rename", "move"];

fn plain(word: &str, words: &mut Vec<Word>) {
    const AROUND: [char; 12] = ['(', ')', '[', ']', ',', ':', ';', '!', '?', '*', '_', '\''];
    if word.chars().all(|c| matches!(c, '-' | '–' | '—' | '/' | '&' | '+' | '|' | '=' | '>')) {
        words.push(Word::cut(if word == "/" { "/" } else { "," }));
        return;
    }
    if word.starts_with(['(', '[']) {
        words.push(Word::cut("("));
    }
    if let Some((one, other)) = word.split_once('/')
        && BOTH.contains(&one.to_lowercase().as_str())
        && BOTH.contains(&other.trim_end_matches(AROUND).trim_end_matches('.').to_lowercase().as_str())
    {
        words.push(Word::plain(one));
        words.push(Word::plain("or"));
        return plain(other, words);
    }
    // `*.snap` and `__init__.py` begin with what else is emphasis.
    let glob = word.starts_with("*.") || word.starts_with("**/");
    let bare = if glob { word.trim_end_matches(AROUND) } else { word.trim_matches(AROUND) };
    let bare = bare.trim_end_matches(['.', '…']);
    let bare = bare.trim_matches(['*', '(', ')']);
    let bare = if glob { &word[..word.len().min(word.find(bare).unwrap_or(0) + bare.len())] } else { bare };
    if !bare.is_empty() {
        words.push(Word::plain(bare));
    }
    if word.ends_with([',', ':', ';', ')', ']']) {
        words.push(Word::cut(if word.ends_with(',') { "," } else { ":" }));
    }
}

/// `do not` is `don't`, and a modal with `not` is one word.
fn merged(words: Vec<Word>) -> Vec<Word> {
    let mut merged: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let joined = match merged.last() {
            Some(last) if word.is("not") || word.is("never") => match last.text.as_str() {
                "do" if word.is("not") => Some("don't"),
                "can" => Some("can't"),
                "should" => Some("shouldn't"),
                "must" => Some("mustn't"),
                "did" => Some("didn't"),
                _ => None,
            },
            _ => None,
        };
        match (joined, merged.last_mut()) {
            (Some(text), Some(last)) => {
                last.raw = format!("{} {}", last.raw, word.raw);
                text.clone_into(&mut last.text);
            }
            _ => merged.push(word),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sentence: &str) -> Vec<String> {
        words(sentence).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_dot_in_a_path_ends_no_sentence() {
        let said: Vec<String> =
            sentences("Fix src/a.rs. Don't touch `b. c`! ok").into_iter().map(|sentence| sentence.said).collect();
        assert_eq!(said, ["Fix src/a.rs.", "Don't touch `b. c`!", "ok"]);
    }

    #[test]
    fn what_is_not_the_humans_own_is_left_out() {
        let text = "a\n> don't commit\n```\ndon't push\n```\n<log x>\ndon't run\n</log>\nb";
        let said: Vec<String> = sentences(text).into_iter().map(|sentence| sentence.said).collect();
        assert_eq!(said, ["a", "b"]);
    }

    #[test]
    fn words_are_plain() {
        assert_eq!(
            texts("Please, DO NOT touch *.snap (ever)"),
            ["please", ",", "don't", "touch", "*.snap", ",", "ever", ","]
        );
        assert_eq!(texts("“don’t commit” he said"), ["don’t commit", "he", "said"]);
        assert_eq!(texts("You **must not** edit __init__.py."), ["you", "mustn't", "edit", "init__.py"]);
    }
}
