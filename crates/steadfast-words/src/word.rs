//! The tokeniser.

use crate::Phrases;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    Plain,
    /// Between backticks: a name, a path or a command.
    Code,
    /// Several words between quotes: a quotation.
    Quoted,
    /// A comma, a colon, a dash, a bracket.
    Break,
}

/// A word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Lower case, with one kind of apostrophe; `,` for every break.
    pub text: String,
    /// The text as it was typed; `,`, `(`, `/` or `:` for a break.
    pub raw: String,
    pub kind: WordKind,
    /// Its position in its sentence, in bytes.
    pub at: usize,
}

impl Word {
    /// Returns a plain word that is not in the text.
    pub fn of(text: &str) -> Self {
        Self::plain(text, 0)
    }

    pub(crate) fn plain(raw: &str, at: usize) -> Self {
        let text = raw.to_lowercase().replace(['’', '‘', 'ʼ', '´'], "'");
        Self { text, raw: raw.to_owned(), kind: WordKind::Plain, at }
    }

    fn cut(raw: &str, at: usize) -> Self {
        Self { text: ",".to_owned(), raw: raw.to_owned(), kind: WordKind::Break, at }
    }

    pub fn is(&self, text: &str) -> bool {
        self.kind == WordKind::Plain && self.text == text
    }

    pub fn is_one_of(&self, texts: &[&str]) -> bool {
        self.kind == WordKind::Plain && texts.contains(&self.text.as_str())
    }

    pub fn is_in(&self, list: &Phrases) -> bool {
        self.kind == WordKind::Plain && list.has(&self.text)
    }

    pub fn is_break(&self) -> bool {
        self.kind == WordKind::Break
    }
}

/// The meaning of quotation marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// They hold a quotation or a name.
    Apart,
    /// They hold words like others.
    Spoken,
}

/// Returns the words of a sentence. The mark of a list is none.
pub fn words(sentence: &str) -> Vec<Word> {
    read(sentence, Quotes::Apart)
}

/// Returns the words of a sentence by an author who quotes nobody: text in quotation marks or after `//` is theirs.
pub fn spoken_words(sentence: &str) -> Vec<Word> {
    read(sentence, Quotes::Spoken)
}

fn read(sentence: &str, quotes: Quotes) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '“') || quotes == Quotes::Spoken && c == '”';
    // `--force` is a word.
    let is_flag = sentence.starts_with("--") && !sentence.starts_with("-- ");
    let mut rest = if is_flag { sentence } else { sentence.trim_start_matches(['-', '•', ' ']) };
    while let Some(c) = rest.chars().next() {
        let at = sentence.len() - rest.len();
        let close = match c {
            '`' => Some('`'),
            '"' if quotes == Quotes::Apart => Some('"'),
            '“' if quotes == Quotes::Apart => Some('”'),
            _ => None,
        };
        let inner = &rest[c.len_utf8()..];
        if let Some((close, end)) = close.and_then(|close| inner.find(close).map(|end| (close, end))) {
            let raw = inner[..end].trim();
            let kind = if c == '`' || !raw.contains(' ') { WordKind::Code } else { WordKind::Quoted };
            words.push(Word { text: raw.to_lowercase(), raw: raw.to_owned(), kind, at });
            rest = &inner[end + close.len_utf8()..];
        } else if c.is_whitespace() || quotes == Quotes::Spoken && matches!(c, '"' | '“' | '”') {
            rest = inner;
        } else if quotes == Quotes::Apart && rest.starts_with("// ") {
            // A comment of code is a quotation.
            words.push(Word { text: rest.to_lowercase(), raw: rest.to_owned(), kind: WordKind::Quoted, at });
            break;
        } else {
            let end = rest.find(is_end).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end.max(c.len_utf8()));
            plain(word, at, &mut words);
            rest = after;
        }
    }
    words
}

fn plain(word: &str, at: usize, words: &mut Vec<Word>) {
    const AROUND: &[char] = &['(', ')', '[', ']', ',', ':', ';', '!', '?', '*', '\'', '_'];
    if word.chars().all(|c| matches!(c, '-' | '–' | '—' | '/' | '&' | '+' | '|' | '=' | '>')) {
        words.push(Word::cut(if word == "/" { "/" } else { "," }, at));
        return;
    }
    if word.starts_with(['(', '[']) {
        words.push(Word::cut("(", at));
    }
    // `*.snap` and `**/x` begin with marks that mean emphasis elsewhere.
    let glob = word.starts_with("*.") || word.starts_with("**/");
    let strip = |marks: &[char]| {
        let bare = if glob { word.trim_end_matches(marks) } else { word.trim_matches(marks) };
        bare.trim_end_matches(['.', '…']).trim_matches(['*', '(', ')'])
    };
    // `__init__.py` is a name, and `_so_` is stressed.
    let mut bare = strip(AROUND);
    if word.contains('_') && bare.contains('.') {
        let named = strip(&AROUND[..AROUND.len() - 1]);
        bare = if named.ends_with('_') { bare } else { named };
    }
    let bare = if glob { &word[..word.len().min(word.find(bare).unwrap_or(0) + bare.len())] } else { bare };
    if !bare.is_empty() {
        words.push(Word::plain(bare, at + word.find(bare).unwrap_or(0)));
    }
    // `**Note:**`
    let closed = word.trim_end_matches(['*', '_']);
    if closed.ends_with([',', ':', ';', ')', ']']) {
        words.push(Word::cut(if closed.ends_with(',') { "," } else { ":" }, at + closed.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_may_hold_words_like_others() {
        let found = |text: &str| spoken_words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(
            found("He says \"all tests pass\", “at last” // really"),
            ["he", "says", "all", "tests", "pass", ",", "at", "last", ",", "really"]
        );
        assert_eq!(found("**Note:** --force, `a \"b\"`"), ["note", ",", "--force", ",", "a \"b\""]);
    }

    #[test]
    fn a_word_knows_its_kind_and_where_it_begins() {
        let found: Vec<(String, WordKind, usize)> =
            words("- Run `Cargo test` (**now**), \"as said\"").into_iter().map(|w| (w.text, w.kind, w.at)).collect();
        let word = |text: &str, kind, at| (text.to_owned(), kind, at);
        assert_eq!(
            found,
            [
                word("run", WordKind::Plain, 2),
                word("cargo test", WordKind::Code, 6),
                word(",", WordKind::Break, 19),
                word("now", WordKind::Plain, 22),
                word(",", WordKind::Break, 28),
                word("as said", WordKind::Quoted, 30),
            ]
        );
    }
}
