//! Splits a human's prompt into sentences. Quoted, fenced or tagged text is a quotation and left out.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{Vocabulary, Word, WordKind, sentence};

/// The bytes at each end of a long text that count as typed. Pasted text is between them.
const ENDS: usize = 8_000;
/// The longest sentence that is read, in bytes.
const SENTENCE: usize = 8_000;
/// The most kinds of tags whose end is looked for. Each costs a search of the whole text.
const TAGS: usize = 32;
/// The most words of a sentence; a longer one is no sentence.
const WORDS: usize = 120;
/// The marks that end a sentence of a prompt.
const MARKS: &str = ".!?;…";

static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("../words/prompt.txt")));

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The text as it was typed.
    pub said: String,
    pub words: Vec<Word>,
    pub asks: bool,
    /// Far from both ends of a long text, so it may be pasted. Such a sentence can forbid and do nothing else.
    pub pasted: bool,
}

/// Returns the sentences of a prompt that are the human's own.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let middle = ENDS..text.len().saturating_sub(ENDS);
    for (at, text) in lines(text) {
        let pasted = middle.contains(&at) && middle.contains(&(at + text.len()));
        for said in sentence::split(&text, MARKS).into_iter().filter(|said| said.len() <= SENTENCE) {
            if pasted && !may_forbid(said) {
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

/// Returns true if a pasted line can be a human's: it begins with a letter and has a word that forbids. This cheap test
/// rejects most lines of a log.
fn may_forbid(said: &str) -> bool {
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

fn is_fence(bare: &str) -> bool {
    bare.starts_with("```") || bare.starts_with("~~~")
}

/// Returns the lines that are the human's own words, with their positions.
fn lines(text: &str) -> Vec<(usize, String)> {
    let (mut own, mut fenced, mut tag, mut lead) = (Vec::new(), false, None::<String>, None::<String>);
    // A fence that is never closed does not count.
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
        // Headings and rows of a table order nothing.
        if fenced || bare.starts_with(['>', '#', '|']) {
            continue;
        }
        if let Some(name) = opening_tag(bare) {
            let close = format!("</{name}>");
            let known = ends.len() < TAGS || ends.contains_key(&close);
            let last = known.then(|| *ends.entry(close.clone()).or_insert_with(|| text.rfind(&close))).flatten();
            if !bare.contains(&close) && last.is_some_and(|last| last >= next) {
                tag = Some(close);
            }
            continue;
        }
        match (&lead, item(bare)) {
            (Some(lead), Some(item)) => own.push((at, format!("{lead} {item}"))),
            _ => {
                lead = list_lead(bare);
                own.push((at, bare.to_owned()));
            }
        }
    }
    own
}

/// Returns the text of a list item.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if numbered.len() < line.len() {
        numbered.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '•'])
    };
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim)
}

/// Returns the words before a list that apply to each of its items: `Do not:`, `Don't touch:`.
fn list_lead(line: &str) -> Option<String> {
    let lead = line.strip_suffix(':')?.trim_matches(['*', ' ']);
    let (light, verbs) = (LISTS.list("lead-light"), LISTS.list("lead-verbs"));
    let words = words(lead);
    let mut meant = words.iter().filter(|word| !word.is_in(light));
    let denies = meant.next().is_some_and(|word| word.is_in(LISTS.list("lead-denies")));
    (denies && meant.all(|word| word.is_in(verbs))).then(|| lead.to_owned())
}

/// Returns the tag that a line begins with.
fn opening_tag(line: &str) -> Option<&str> {
    let name = line.strip_prefix('<')?;
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
    (end > 0 && name[end..].starts_with(['>', ' '])).then(|| &name[..end])
}

/// Returns the words of a sentence of a prompt in normal form: `dont` and `do not` become `don't`.
pub fn words(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for word in crate::words(sentence) {
        let (is_code, raw) = (word.kind == WordKind::Code && sentence[word.at..].starts_with('`'), &word.raw);
        if is_code && raw.starts_with("git ") {
            // A git command becomes its verb.
            words.extend(crate::words(raw).into_iter().map(|part| normalised(Word { at: word.at, ..part })));
        } else if let Some((one, other)) = slashed_verbs(&word) {
            words.extend([one, "or", other].map(|text| Word::plain(text, word.at)));
        } else {
            words.push(normalised(word));
        }
    }
    merged(words)
}

/// Verbs that are joined by a slash: `commit/push`.
fn slashed_verbs(word: &Word) -> Option<(&str, &str)> {
    let (one, other) = word.raw.split_once('/').filter(|_| word.kind == WordKind::Plain)?;
    let verbs = LISTS.list("slashed");
    [one, other].iter().all(|verb| verbs.has(&verb.to_lowercase())).then_some((one, other))
}

fn normalised(mut word: Word) -> Word {
    static SPELLED: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let spelled = Vocabulary::of(include_str!("../words/spelling.txt"));
        let pairs = spelled.lists().flat_map(|(meant, typed)| typed.iter().map(move |typed| (typed[0], meant)));
        pairs.collect()
    });
    if word.kind == WordKind::Plain {
        // `auto-commit` is a commit.
        if let Some(rest) = word.text.strip_prefix("auto-") {
            word.text = rest.to_owned();
        }
        // The longest misspelling has seven letters.
        if let Some(meant) = Some(&word.text).filter(|text| text.len() < 8).and_then(|text| SPELLED.get(text.as_str()))
        {
            (*meant).clone_into(&mut word.text);
        }
    }
    word
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
        assert_eq!(texts("You **must not** edit __init__.py."), ["you", "mustn't", "edit", "__init__.py"]);
    }
}
