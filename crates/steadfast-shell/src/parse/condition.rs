//! `[[ … ]]`.

use super::cursor::Parser;
use super::word::Place;
use super::{Read, Stop};
use crate::tree::Word;

impl Parser<'_> {
    /// After `[[`: reads the expanded words up to `]]`.
    pub(super) fn condition(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        self.any_of(&mut words)?;
        self.skip_blanks();
        self.expect_keyword("]]")?;
        Ok(words)
    }

    fn any_of(&mut self, words: &mut Vec<Word>) -> Read<()> {
        loop {
            self.skip_newlines()?;
            self.term(words)?;
            self.skip_blanks();
            if !(self.eat("&&") || self.eat("||")) {
                return Ok(());
            }
        }
    }

    fn term(&mut self, words: &mut Vec<Word>) -> Read<()> {
        self.skip_blanks();
        while self.eat_keyword("!") {
            self.skip_newlines()?;
        }
        if self.eat("(") {
            self.deeper(|parser| parser.any_of(words))?;
            self.skip_newlines()?;
            return self.expect(")");
        }
        if self.bare() == "]]" {
            return Ok(());
        }
        let unary = is_unary(self.bare());
        let first = self.expect_word(Place::Argument)?;
        self.skip_blanks();
        if self.ends_term() {
            words.push(first);
            return if unary { Err(Stop::Syntax) } else { Ok(()) };
        }
        let operator = self.bare();
        match operator {
            "=" | "==" | "!=" => {
                self.at += operator.len();
                words.extend([first, self.compared(Place::Pattern)?]);
            }
            "=~" => {
                self.at += operator.len();
                words.extend([first, self.compared(Place::Regex)?]);
            }
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef" => {
                self.at += operator.len();
                words.extend([first, self.compared(Place::Argument)?]);
            }
            _ if matches!(self.peek(), Some(b'<' | b'>')) && self.second() != Some(b'(') => {
                self.at += 1;
                words.extend([first, self.compared(Place::Argument)?]);
            }
            _ if unary => words.push(self.compared(Place::Argument)?),
            _ => return Err(Stop::Syntax),
        }
        Ok(())
    }

    fn compared(&mut self, place: Place) -> Read<Word> {
        self.skip_blanks();
        if self.bare() == "]]" {
            return Err(Stop::Syntax);
        }
        self.expect_word(place)
    }

    fn ends_term(&mut self) -> bool {
        match self.peek() {
            Some(b')') => true,
            Some(byte @ (b'&' | b'|')) => self.second() == Some(byte),
            _ => self.bare() == "]]",
        }
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}
