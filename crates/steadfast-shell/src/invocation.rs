//! The programs that a command line runs.

use std::ops::Range;

use steadfast_text::glob;

use crate::expand::Arg;
use crate::text::{base_name, is_known, shown};

/// A program and its arguments, as the program gets them. Each wrapper, shell, `eval`, `xargs`, function and
/// substitution adds another one: `sudo env A=b rm x` is three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub argv: Vec<Argument>,
    /// The folder it runs in, with `**` for unknown parts.
    pub directory: String,
    /// The file that it reads as stdin.
    pub input: Option<String>,
    /// The bytes of the command line that run it.
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Known(String),
    /// Text with unknown parts: `*` and `?` as in a glob, `**` for any text.
    Pattern(String),
}

impl Invocation {
    pub(crate) fn new(args: &[Arg], cwd: &str, input: Option<&str>) -> Self {
        let argv = args
            .iter()
            .map(|arg| {
                if is_known(&arg.text) {
                    Argument::Known(arg.text.clone())
                } else {
                    Argument::Pattern(shown(&arg.text))
                }
            })
            .collect();
        let directory = if is_known(cwd) { cwd.to_owned() } else { shown(cwd) };
        let input = input.map(shown);
        Self { argv, directory, input, span: args.first().map_or(0..0, |arg| arg.span.clone()) }
    }

    /// Reports whether the program may be `name`, in any folder.
    pub fn may_run(&self, name: &str) -> bool {
        match self.argv.first() {
            Some(Argument::Known(program)) => base_name(program) == name,
            Some(Argument::Pattern(program)) => glob::name(base_name(program), name),
            None => false,
        }
    }

    /// Returns the arguments after the name of the program.
    pub fn arguments(&self) -> &[Argument] {
        self.argv.get(1..).unwrap_or_default()
    }
}

impl Argument {
    /// Returns the text if it is known.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Pattern(_) => None,
        }
    }

    /// Reports whether this may be `text`.
    pub fn may_be(&self, text: &str) -> bool {
        match self {
            Self::Known(known) => known == text,
            Self::Pattern(pattern) => glob::name(pattern, text),
        }
    }
}
