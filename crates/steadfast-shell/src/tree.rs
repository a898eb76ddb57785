//! A command line as this crate sees it: what the parser makes of the text. Every span is in bytes of that text.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Range<usize>,
}

impl Word {
    /// The text, when no quote and no expansion is in it.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Without quotes: patterns and braces mean something.
    Text(String),
    /// Taken as it is.
    Quoted(String),
    /// `"…"`.
    Double(Vec<Part>),
    /// `~` and the name behind it.
    Tilde(String),
    Parameter(Box<Parameter>),
    /// `$(…)`, and `` `…` `` that can be read.
    Command(List),
    /// Text that bash reads only when it runs it, and would refuse then.
    Unread,
    /// `$((…))`, `$[…]`, and what stands in a subscript.
    Arithmetic(Vec<Part>),
    /// `<(…)` and `>(…)`.
    Process(List),
    /// `@(…|…)` and its kin.
    Extended(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) index: Option<Index>,
    pub(crate) change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Index {
    /// `[@]` and `[*]`.
    All,
    One(Vec<Part>),
}

/// What `${name…}` does with the value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Nothing,
    /// `:-` and `-`, `:?` and `?`.
    Default(Vec<Part>),
    /// `:=` and `=`.
    Assign(Vec<Part>),
    /// `:+` and `+`.
    Alternative(Vec<Part>),
    /// `#` and `##`.
    CutPrefix(Reach, Vec<Part>),
    /// `%` and `%%`.
    CutSuffix(Reach, Vec<Part>),
    /// `/`, `//`, `/#` and `/%`.
    Replace(Where, Vec<Part>, Vec<Part>),
    /// `:from:length`.
    Slice(Vec<Part>, Option<Vec<Part>>),
    /// `^`, `^^`, `,` and `,,`, with the pattern of the letters.
    Case(Case, Reach, Vec<Part>),
    /// `${#name}`.
    Length,
    /// `${!name}`, `@Q`, and whatever else gives text that cannot be told.
    Other(Vec<Part>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Shortest,
    Longest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    First,
    Everywhere,
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Upper,
    Lower,
}

/// How a value meets the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Set,
    /// `+=`.
    Append,
    /// `name[…]=`.
    Element,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) index: Vec<Part>,
    pub(crate) value: Value,
    pub(crate) mode: Mode,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    One(Word),
    Array(Vec<Element>),
}

/// One of an array, with its subscript where it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    pub(crate) index: Vec<Part>,
    pub(crate) value: Word,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Word(Word),
    /// `declare a=(…)`: an assignment where an argument stands.
    Assign(Assign),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Redirect {
    Read(Word),
    Write(Word),
    /// `>&word`: a number or `-` is no file.
    Duplicate(Word),
    Heredoc(Rc<Heredoc>),
    HereString(Word),
}

/// The body comes lines after the operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heredoc {
    /// Of the delimiter behind `<<`.
    pub(crate) span: Range<usize>,
    pub(crate) body: OnceCell<Vec<Part>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Simple {
        assigns: Vec<Assign>,
        items: Vec<Item>,
        redirects: Vec<Redirect>,
    },
    Group {
        body: List,
        redirects: Vec<Redirect>,
    },
    /// `(…)`, and whatever runs in the background.
    Subshell {
        body: List,
        redirects: Vec<Redirect>,
    },
    /// `for` and `select`.
    For {
        name: String,
        values: Vec<Word>,
        body: List,
        redirects: Vec<Redirect>,
    },
    /// `if`, `while`, `until`, `case`, `[[`, `((`: words that are looked at, then parts of which some may run.
    Branch {
        words: Vec<Word>,
        parts: Vec<List>,
        redirects: Vec<Redirect>,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
}

pub(crate) type Pipeline = Vec<Command>;
pub(crate) type List = Vec<Pipeline>;
