//! A command line as this crate sees it: what the parser's tree is turned into.

use std::ops::Range;
use std::rc::Rc;

/// A word as it was typed, quotes and all.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Word(Word),
    /// `<(…)` and `>(…)`.
    Process(List),
}

#[derive(Clone, Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) values: Vec<Word>,
    pub(crate) append: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Redirect {
    Read(Word),
    Write(Word),
    /// `>&word`: a number or `-` is no file.
    Duplicate(Word),
    Heredoc {
        body: String,
        expands: bool,
        span: Range<usize>,
    },
    HereString(Word),
    /// `> >(…)`.
    Process(List),
}

#[derive(Clone, Debug)]
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
    Subshell {
        body: List,
        redirects: Vec<Redirect>,
    },
    For {
        name: String,
        values: Vec<Word>,
        body: List,
        redirects: Vec<Redirect>,
    },
    /// `if`, `while`, `until`, `case`: words that are looked at, then parts of which some may run.
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
