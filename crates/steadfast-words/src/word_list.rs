//! Lists of words and phrases from text files beside the code that uses them, read at compile time.

/// Words and phrases.
#[derive(Clone, Copy, Debug)]
pub struct WordList(pub &'static [&'static str]);

impl WordList {
    /// Iterates in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    pub fn contains(self, word: &str) -> bool {
        self.0.contains(&word)
    }
}

/// The phrases of a text: `phrases!("must, has to")`, or of a list in a file: `phrases!(list(FILE, "verbs"))`.
#[macro_export]
macro_rules! phrases {
    ($text:expr) => {
        const {
            const TEXT: &str = $text;
            const COUNT: usize = $crate::word_list::count(TEXT);
            const LIST: [&str; COUNT] = $crate::word_list::split(TEXT);
            $crate::WordList(&LIST)
        }
    };
}
/// Returns the part of a vocabulary file below `[name]`. A missing list fails the build.
pub const fn list(file: &'static str, name: &str) -> &'static str {
    let (text, name) = (file.as_bytes(), name.as_bytes());
    let mut at = 0;
    while !is_title(text, at, name) {
        at += 1;
    }
    let start = at + name.len() + 2;
    let mut end = start;
    while end < text.len() && !(text[end] == b'[' && text[end - 1] == b'\n') {
        end += 1;
    }
    part(file, start, end)
}

const fn is_title(text: &[u8], at: usize, name: &[u8]) -> bool {
    assert!(at + name.len() + 1 < text.len(), "the vocabulary has no list of that name");
    if text[at] != b'[' || text[at + name.len() + 1] != b']' {
        return false;
    }
    let mut place = 0;
    while place < name.len() {
        if text[at + 1 + place] != name[place] {
            return false;
        }
        place += 1;
    }
    true
}

pub const fn count(text: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while let Some((_, end)) = phrase(text.as_bytes(), at) {
        (at, count) = (end, count + 1);
    }
    count
}

pub const fn split<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let mut all = [""; COUNT];
    let (mut at, mut index) = (0, 0);
    while let Some((start, end)) = phrase(text.as_bytes(), at) {
        all[index] = part(text, start, end);
        (at, index) = (end, index + 1);
    }
    all
}

/// Returns the range of the next phrase. Phrases are separated by commas and line ends; a line that begins with `# ` is
/// a comment.
const fn phrase(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    while at < text.len() && matches!(text[at], b',' | b' ' | b'\n') {
        let is_line = text[at] == b'\n';
        at += 1;
        if is_line && at + 1 < text.len() && text[at] == b'#' && text[at + 1] == b' ' {
            while at < text.len() && text[at] != b'\n' {
                at += 1;
            }
        }
    }
    let start = at;
    while at < text.len() && !matches!(text[at], b',' | b'\n') {
        at += 1;
    }
    if at > start { Some((start, at)) } else { None }
}

const fn part(text: &'static str, start: usize, end: usize) -> &'static str {
    let (before, _) = text.split_at(end);
    before.split_at(start).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "# All of it.\n[first]\n# Some, and more.\none, two words,\nthree, #\n\n[first more]\n[second]\nfour\n";

    #[test]
    fn a_list_ends_where_the_next_begins() {
        assert_eq!(phrases!(list(FILE, "first")).0, ["one", "two words", "three", "#"]);
        assert_eq!(phrases!(list(FILE, "first more")).0, [""; 0]);
        assert_eq!(phrases!(list(FILE, "second")).0, ["four"]);
        assert_eq!(phrases!("a, b").0, ["a", "b"]);
    }
}
