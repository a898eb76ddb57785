//! A shell command line, cut into its commands. Quotes are seen, nothing is expanded.

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Command(Simple),
    /// `(`: what changes inside does not outlive it.
    Open,
    Close,
}

/// A program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
    /// The file it reads as its input.
    pub(crate) input: Option<String>,
    /// What is run to make its words: `$(…)`, `` `…` ``.
    pub(crate) inner: Vec<String>,
}

/// Words that come before a command and change nothing about which it is.
const KEYWORDS: [&str; 11] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time"];

pub(crate) fn items(text: &str) -> Vec<Item> {
    Splitter { rest: text.chars().collect(), at: 0, ..Splitter::default() }.run()
}

#[derive(Default)]
struct Splitter {
    rest: Vec<char>,
    at: usize,
    items: Vec<Item>,
    current: Simple,
    word: Option<String>,
    /// What the next word is, if it is no argument.
    target: Option<Target>,
    /// The ends of texts that begin on the next line.
    texts: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Input,
    Elsewhere,
    TextEnd,
}

impl Splitter {
    fn run(mut self) -> Vec<Item> {
        while let Some(character) = self.next() {
            match character {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped),
                },
                '\'' => {
                    self.word.get_or_insert_default();
                    while let Some(quoted) = self.next().filter(|next| *next != '\'') {
                        self.push(quoted);
                    }
                }
                '"' => self.quoted(),
                '$' if self.peek() == Some('(') => self.substitution(),
                '`' => self.backquoted(),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|next| next != '\n') {
                        self.at += 1;
                    }
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command();
                    self.skip_texts();
                }
                ';' | '|' => self.end_command(),
                '&' if self.peek() == Some('>') => {
                    self.end_word();
                    self.redirection();
                }
                '&' => self.end_command(),
                '(' => {
                    self.end_command();
                    self.items.push(Item::Open);
                }
                ')' => {
                    self.end_command();
                    self.items.push(Item::Close);
                }
                '<' | '>' => {
                    // The number of a descriptor is no argument.
                    if self.word.as_ref().is_some_and(|word| word.chars().all(|digit| digit.is_ascii_digit())) {
                        self.word = None;
                    }
                    self.end_word();
                    self.at -= 1;
                    self.redirection();
                }
                other => self.push(other),
            }
        }
        self.end_command();
        self.items
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(character) = self.next() {
            match character {
                '"' => return,
                '\\' => match self.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => self.push(escaped),
                    Some('\n') | None => {}
                    Some(other) => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                '$' if self.peek() == Some('(') => self.substitution(),
                '`' => self.backquoted(),
                other => self.push(other),
            }
        }
    }

    /// From `(` on, to the parenthesis that closes it.
    fn substitution(&mut self) {
        self.at += 1;
        let from = self.at;
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some(_) => {}
                None => break,
            }
        }
        let to = if depth == 0 { self.at - 1 } else { self.at };
        let inner: String = self.rest[from..to].iter().collect();
        self.word.get_or_insert_default().push_str(&format!("$({inner})"));
        self.current.inner.push(inner);
    }

    fn backquoted(&mut self) {
        let mut inner = String::new();
        while let Some(character) = self.next().filter(|next| *next != '`') {
            inner.push(character);
        }
        self.word.get_or_insert_default().push_str(&format!("$({inner})"));
        self.current.inner.push(inner);
    }

    fn redirection(&mut self) {
        let from = self.at;
        while self.peek().is_some_and(|next| matches!(next, '<' | '>' | '&' | '|' | '-')) {
            self.at += 1;
        }
        let sign: String = self.rest[from..self.at].iter().collect();
        self.target = match sign.as_str() {
            "<" => Some(Target::Input),
            "<<" | "<<-" => Some(Target::TextEnd),
            // Closed: nothing follows.
            closed if closed.ends_with("&-") => None,
            _ => Some(Target::Elsewhere),
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            Some(Target::Input) => self.current.input = Some(word),
            Some(Target::TextEnd) => self.texts.push(word),
            Some(Target::Elsewhere) => {}
            None if self.current.words.is_empty() && KEYWORDS.contains(&word.as_str()) => {}
            None => self.current.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = None;
        let command = std::mem::take(&mut self.current);
        if command != Simple::default() {
            self.items.push(Item::Command(command));
        }
    }

    /// The lines of a text that is given in place are no commands.
    fn skip_texts(&mut self) {
        for end in std::mem::take(&mut self.texts) {
            loop {
                let from = self.at;
                while self.peek().is_some_and(|next| next != '\n') {
                    self.at += 1;
                }
                let line: String = self.rest[from..self.at].iter().collect();
                if self.next().is_none() || line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let commands = items(text).into_iter().filter_map(|item| match item {
            Item::Command(simple) => Some(simple.words),
            Item::Open | Item::Close => None,
        });
        commands.collect()
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words(r#"a 'b c' "d \"e\" \x" f\ g ''"#), [["a", "b c", "d \"e\" \\x", "f g", ""]]);
    }

    #[test]
    fn lists_and_pipes_are_separate_commands() {
        assert_eq!(words("a&&b||c|d;e&\nf # g"), [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]);
    }

    #[test]
    fn redirections_are_no_arguments() {
        assert_eq!(words("a >x 2>&1 b 2>/dev/null &>>y c <z 3>&- d"), [["a", "b", "c", "d"]]);
        let [Item::Command(simple)] = &items("bash < check.sh")[..] else { panic!("one command") };
        assert_eq!(simple.input.as_deref(), Some("check.sh"));
    }

    #[test]
    fn what_is_run_inside_is_seen() {
        let [Item::Command(simple)] = &items(r#"echo "$(npm run (x))" `make y`"#)[..] else { panic!("one command") };
        assert_eq!(simple.inner, ["npm run (x)", "make y"]);
    }

    #[test]
    fn a_text_in_place_is_not_commands() {
        assert_eq!(words("cat <<'END' >f\nnpm test\nEND\nmake"), [vec!["cat"], vec!["make"]]);
    }

    #[test]
    fn keywords_are_stepped_over() {
        assert_eq!(words("if ! a; then b; else { c; }; fi"), [["a"], ["b"], ["c"], ["fi"]]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            items(&text);
        }

        #[test]
        fn plain_words_are_what_they_are(plain in prop::collection::vec("[a-z./=-]{1,8}", 1..6)) {
            prop_assume!(!KEYWORDS.contains(&plain[0].as_str()));
            prop_assert_eq!(words(&plain.join(" ")), [plain]);
        }
    }
}
