//! The syntax tree of a command line. All spans are in bytes of its text.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Range<usize>,
}

impl Word {
    /// Returns the text if it has no quotes and no expansions.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Unquoted: patterns and braces have their meaning.
    Text(String),
    /// Literal text.
    Quoted(String),
    /// `"…"`.
    Double(Vec<Part>),
    /// `~` and the name after it.
    Tilde(String),
    Parameter(Box<Parameter>),
    /// `$(…)`, and `` `…` `` if it can be parsed.
    Command(List),
    /// Text that bash parses only when it runs it, and would then refuse.
    Unread,
    /// `$((…))`, `$[…]`, and subscripts.
    Arithmetic(Vec<Part>),
    /// `<(…)` and `>(…)`.
    Process(List),
    /// `@(…|…)` and similar.
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

/// The operation of `${name…}` on the value.
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
    /// `^`, `^^`, `,` and `,,`, with a pattern for the letters.
    Case(Case, Reach, Vec<Part>),
    /// `${#name}`.
    Length,
    /// `${!name}`, `@Q`, and other operations with an unknown result.
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

/// The relation of a value to the previous one.
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

/// An element of an array, with its subscript if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    pub(crate) index: Vec<Part>,
    pub(crate) value: Word,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Word(Word),
    /// `declare a=(…)`: an assignment in place of an argument.
    Assign(Assign),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Redirect {
    Read(Word),
    Write(Word),
    /// `>&word`: a number or `-` is not a file.
    Duplicate(Word),
    Heredoc(Rc<Heredoc>),
    HereString(Word),
}

/// The body comes in later lines than the operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heredoc {
    /// The span of the delimiter after `<<`.
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
    /// `(…)`, and commands in the background.
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
    /// `if`, `while`, `until`, `case`, `[[`, `((`: words that are evaluated, and parts of which some may run.
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
