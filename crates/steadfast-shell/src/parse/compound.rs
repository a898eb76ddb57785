//! Compound commands.

use super::command::text_of;
use super::cursor::Parser;
use super::word::Place;
use super::{Read, Stop};
use crate::tree::{Command, List, Part, Redirect, Word};

impl Parser<'_> {
    /// Reads a compound command. `None`: a simple command begins here.
    pub(super) fn compound(&mut self) -> Read<Option<Command>> {
        let start = self.at;
        if self.peek() == Some(b'(') {
            self.at += 1;
            return self.parenthesis(start).map(Some);
        }
        let keyword = self.bare();
        let is_keyword = matches!(
            keyword,
            "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[" | "function" | "coproc"
        );
        if !is_keyword {
            return if is_reserved(keyword) { Err(Stop::Syntax) } else { Ok(None) };
        }
        self.at += keyword.len();
        let command = match keyword {
            "{" => {
                let body = self.filled_list()?;
                self.expect_keyword("}")?;
                Command::Group { body, redirects: self.redirects()? }
            }
            "if" => self.conditional()?,
            "while" | "until" => {
                let condition = self.filled_list()?;
                let body = self.do_group()?;
                self.branch(Vec::new(), vec![condition, body])?
            }
            "for" => self.for_loop()?,
            "select" => self.for_words()?,
            "case" => self.case()?,
            "[[" => {
                let words = self.condition()?;
                self.branch(words, Vec::new())?
            }
            "function" => {
                let name = self.expect_word(Place::Argument)?;
                self.skip_blanks();
                let before = self.at;
                if self.eat("(") {
                    self.skip_blanks();
                }
                // Without `()`, a body in parentheses may follow the name.
                if !self.eat(")") {
                    self.at = before;
                }
                self.function_body(&name)?
            }
            _ => self.coprocess()?,
        };
        Ok(Some(command))
    }

    fn branch(&mut self, words: Vec<Word>, parts: Vec<List>) -> Read<Command> {
        let redirects = self.redirects()?;
        Ok(Command::Branch { words, parts, redirects })
    }

    /// After `(`: reads `((…))` or a subshell.
    fn parenthesis(&mut self, start: usize) -> Read<Command> {
        if self.raw() == Some(b'(') {
            self.at += 1;
            if let Some(parts) = self.arithmetic()? {
                let word = self.expression(parts, start);
                return self.branch(vec![word], Vec::new());
            }
            self.at -= 1;
        }
        let body = self.filled_list()?;
        self.expect(")")?;
        Ok(Command::Subshell { body, redirects: self.redirects()? })
    }

    fn expression(&self, parts: Vec<Part>, start: usize) -> Word {
        Word { parts: vec![Part::Arithmetic(parts)], span: self.span(start) }
    }

    fn conditional(&mut self) -> Read<Command> {
        let mut parts = vec![self.filled_list()?];
        self.expect_keyword("then")?;
        parts.push(self.filled_list()?);
        loop {
            if self.eat_keyword("elif") {
                parts.push(self.filled_list()?);
                self.expect_keyword("then")?;
                parts.push(self.filled_list()?);
            } else if self.eat_keyword("else") {
                parts.push(self.filled_list()?);
                self.expect_keyword("fi")?;
                return self.branch(Vec::new(), parts);
            } else {
                self.expect_keyword("fi")?;
                return self.branch(Vec::new(), parts);
            }
        }
    }

    fn do_group(&mut self) -> Read<List> {
        self.expect_keyword("do")?;
        let body = self.filled_list()?;
        self.expect_keyword("done")?;
        Ok(body)
    }

    /// Reads `do … done`, or a body in braces.
    fn loop_body(&mut self) -> Read<List> {
        if self.eat_keyword("{") {
            let body = self.filled_list()?;
            self.expect_keyword("}")?;
            return Ok(body);
        }
        self.do_group()
    }

    fn for_loop(&mut self) -> Read<Command> {
        self.skip_blanks();
        let start = self.at;
        if !self.eat("((") {
            return self.for_words();
        }
        let parts = self.arithmetic()?.ok_or(Stop::Syntax)?;
        if semicolons(&parts) != 2 {
            return Err(Stop::Syntax);
        }
        let word = self.expression(parts, start);
        self.skip_blanks();
        self.eat(";");
        self.skip_newlines()?;
        let body = self.loop_body()?;
        self.branch(vec![word], vec![body])
    }

    fn for_words(&mut self) -> Read<Command> {
        let name = text_of(&self.expect_word(Place::Argument)?);
        let mut values = Vec::new();
        self.skip_blanks();
        let mut separated = self.eat(";");
        self.skip_newlines()?;
        if !separated && self.eat_keyword("in") {
            while let Some(word) = self.word(Place::Argument)? {
                values.push(word);
            }
            separated = self.eat(";") || self.peek() == Some(b'\n');
            if !separated {
                return Err(Stop::Syntax);
            }
            self.skip_newlines()?;
        }
        let body = if separated { self.loop_body()? } else { self.do_group()? };
        Ok(Command::For { name, values, body, redirects: self.redirects()? })
    }

    fn case(&mut self) -> Read<Command> {
        let mut words = vec![self.expect_word(Place::Argument)?];
        let mut parts = Vec::new();
        self.skip_newlines()?;
        self.expect_keyword("in")?;
        loop {
            self.skip_newlines()?;
            if self.eat_keyword("esac") {
                return self.branch(words, parts);
            }
            self.eat("(");
            loop {
                words.push(self.expect_word(Place::Argument)?);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            parts.push(self.list()?);
            let more = self.eat(";;&") || self.eat(";;") || self.eat(";&");
            if !more {
                self.expect_keyword("esac")?;
                return self.branch(words, parts);
            }
        }
    }

    /// After `coproc`: reads a command, or a name and a compound command.
    fn coprocess(&mut self) -> Read<Command> {
        self.skip_blanks();
        let start = self.at;
        let mut body = self.deeper(|parser| parser.compound())?;
        if body.is_none() {
            self.expect_word(Place::Argument)?;
            self.skip_blanks();
            if self.peek() == Some(b'(') || is_opening(self.bare()) {
                body = self.deeper(|parser| parser.compound())?;
            } else {
                self.at = start;
            }
        }
        let body = match body {
            Some(body) => body,
            None => self.simple()?,
        };
        Ok(Command::Subshell { body: vec![vec![body]], redirects: Vec::<Redirect>::new() })
    }
}

fn is_opening(word: &str) -> bool {
    matches!(word, "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
}

/// Recognises words that end a construct and cannot be a command.
fn is_reserved(word: &str) -> bool {
    matches!(word, "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "in" | "!" | "]]")
}

fn semicolons(parts: &[Part]) -> usize {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.matches(';').count(),
            _ => 0,
        })
        .sum()
}
