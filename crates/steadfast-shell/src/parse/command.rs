//! Lists, pipelines and simple commands.

use std::rc::Rc;

use super::cursor::{Extended, Parser};
use super::word::Place;
use super::{Read, Stop};
use crate::tree::{Command, Item, List, Part, Pipeline, Word};

/// Builtins whose arguments may be array assignments.
const DECLARES: &[&str] = &["declare", "typeset", "local", "export", "readonly", "alias", "eval", "let"];

impl Parser<'_> {
    /// Reads the whole text, or the lines before one that cannot be read.
    pub(super) fn program(&mut self) -> (List, Option<Stop>) {
        let mut all = List::new();
        loop {
            match self.line() {
                Ok(Some(list)) => {
                    if self.extended == Extended::Off && list.iter().flatten().any(turns_extended_on) {
                        self.extended = Extended::On;
                    }
                    all.extend(list);
                }
                Ok(None) => return (all, None),
                Err(stop) => return (all, Some(stop)),
            }
        }
    }

    /// Reads a line and everything that belongs to it. `None`: the end of the text.
    fn line(&mut self) -> Read<Option<List>> {
        self.skip_newlines()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let mut list = List::new();
        loop {
            self.and_or(&mut list)?;
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(b'\n') => {
                    self.newline()?;
                    break;
                }
                _ if self.separator(&mut list) => {}
                _ => return Err(Stop::Syntax),
            }
            self.skip_blanks();
            if matches!(self.peek(), None | Some(b'\n')) {
                self.newline()?;
                break;
            }
        }
        // At the end of the text a heredoc has no body to wait for.
        if self.peek().is_none() {
            self.heredoc_bodies()?;
        }
        Ok(Some(list))
    }

    /// Reads commands up to a token that cannot begin one. The caller checks that token.
    pub(super) fn list(&mut self) -> Read<List> {
        let mut list = List::new();
        loop {
            self.skip_newlines()?;
            if self.is_end() {
                return Ok(list);
            }
            self.and_or(&mut list)?;
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => {
                    self.newline()?;
                }
                _ if self.separator(&mut list) => {}
                _ => return Ok(list),
            }
        }
    }

    /// Reads a `;`, or a `&` after a command of the list.
    fn separator(&mut self, list: &mut List) -> bool {
        match self.peek() {
            Some(b';') if !matches!(self.second(), Some(b';' | b'&')) => self.at += 1,
            Some(b'&') if self.second() != Some(b'&') => {
                self.at += 1;
                background(list);
            }
            _ => return false,
        }
        true
    }

    /// Reads a list with at least one command.
    pub(super) fn filled_list(&mut self) -> Read<List> {
        let list = self.list()?;
        if list.is_empty() { Err(Stop::Syntax) } else { Ok(list) }
    }

    fn is_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.second(), Some(b';' | b'&')),
            _ => matches!(self.bare(), "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}"),
        }
    }

    /// Reads pipelines joined by `&&` and `||`. They form one entry, so that a `&` after them covers all.
    fn and_or(&mut self, list: &mut List) -> Read<()> {
        let start = list.len();
        loop {
            let pipeline = self.pipeline()?;
            list.push(pipeline);
            self.skip_blanks();
            if !(self.eat("&&") || self.eat("||")) {
                break;
            }
            self.skip_newlines()?;
            if self.is_end() {
                return Err(Stop::Syntax);
            }
        }
        if list.len() - start > 1 && self.peek() == Some(b'&') {
            let body = list.split_off(start);
            list.push(vec![Command::Group { body, redirects: Vec::new() }]);
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let mut prefixed = false;
        loop {
            self.skip_blanks();
            if self.eat_keyword("!") {
                prefixed = true;
            } else if self.bare() == "time" {
                self.at += "time".len();
                prefixed = true;
                self.skip_blanks();
                while matches!(self.bare(), "-p" | "--") {
                    self.at += 2;
                    self.skip_blanks();
                }
            } else {
                break;
            }
        }
        if prefixed && matches!(self.peek(), None | Some(b'\n' | b';' | b')')) {
            return Ok(Pipeline::new());
        }
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            let both = self.peek() == Some(b'|') && self.second() == Some(b'|');
            if both || !(self.eat("|&") || self.eat("|")) {
                return Ok(commands);
            }
            self.skip_newlines()?;
            if self.is_end() || self.bare() == "!" {
                return Err(Stop::Syntax);
            }
            commands.push(self.command()?);
        }
    }

    pub(super) fn command(&mut self) -> Read<Command> {
        self.skip_blanks();
        match self.deeper(|parser| parser.compound())? {
            Some(command) => Ok(command),
            None => self.simple(),
        }
    }

    pub(super) fn simple(&mut self) -> Read<Command> {
        let (mut assigns, mut items, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut declares = false;
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if items.is_empty() {
                if let Some(assign) = self.assign()? {
                    assigns.push(assign);
                    continue;
                }
            } else if declares {
                let before = self.at;
                match self.assign()? {
                    Some(assign) if matches!(assign.value, crate::tree::Value::Array(_)) => {
                        items.push(Item::Assign(assign));
                        continue;
                    }
                    _ => self.at = before,
                }
            }
            let Some(word) = self.word(Place::Argument)? else { break };
            if items.is_empty() {
                self.skip_blanks();
                if assigns.is_empty() && redirects.is_empty() && self.peek() == Some(b'(') {
                    return self.function_behind(&word);
                }
                declares = word.literal().is_some_and(|name| DECLARES.contains(&name));
            }
            items.push(Item::Word(word));
        }
        if assigns.is_empty() && items.is_empty() && redirects.is_empty() {
            return Err(Stop::Syntax);
        }
        Ok(Command::Simple { assigns, items, redirects })
    }

    /// After `name`: reads `()` and a body.
    fn function_behind(&mut self, name: &Word) -> Read<Command> {
        self.expect("(")?;
        self.skip_blanks();
        self.expect(")")?;
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: &Word) -> Read<Command> {
        self.skip_newlines()?;
        let body = self.deeper(|parser| parser.compound())?.ok_or(Stop::Syntax)?;
        Ok(Command::Function { name: text_of(name), body: Rc::new(body) })
    }
}

/// Commands in the background change neither folder nor variables here.
fn background(list: &mut List) {
    if let Some(last) = list.pop() {
        list.push(vec![Command::Subshell { body: vec![last], redirects: Vec::new() }]);
    }
}

fn turns_extended_on(command: &Command) -> bool {
    let Command::Simple { items, .. } = command else { return false };
    let words: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            Item::Word(word) => word.literal(),
            Item::Assign(_) => None,
        })
        .collect();
    matches!(words.as_slice(), ["shopt", options @ ..] if options.contains(&"-s") && options.contains(&"extglob"))
}

/// Returns the name of a function or of a loop variable.
pub(super) fn text_of(word: &Word) -> String {
    word.parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Quoted(text) => text.as_str(),
            _ => "",
        })
        .collect()
}
