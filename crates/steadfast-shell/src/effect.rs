//! What a command line would do.

use std::ops::Range;

use crate::invocation::Invocation;

/// Where a command line is read: relative paths and `~` are resolved against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    pub cwd: String,
    pub home: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Write,
    Delete,
    Move,
    Chmod,
    /// Text that a shell or an interpreter would run, and that could not be read.
    Exec,
    /// A program that may do anything.
    Unknown,
}

impl Op {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Chmod => "chmod",
            Self::Exec => "exec",
            Self::Unknown => "unknown",
        }
    }
}

/// What an effect comes from that stands for text no shell would take.
pub(crate) const UNPARSED: &str = "text that could not be parsed";

/// Whether the path is the path, or a pattern of what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    Certain,
    Possible,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandEffect {
    pub op: Op,
    /// Absolute where the folder is known. When only possible: `*` and `?` as in a glob, `**` for any text.
    /// `None`: anything.
    pub path: Option<String>,
    /// The command that does it, or the redirection.
    pub via: String,
    pub certainty: Certainty,
    /// The bytes of the command line that say so.
    pub span: Range<usize>,
    /// The file whose content it gets, where that is known: a copy of a protected file is no write to it.
    pub copy_of: Option<String>,
}

/// A command line, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub effects: Vec<CommandEffect>,
    pub(crate) runs: Vec<Invocation>,
    /// `false`: bash would refuse it, or it was too deep to read. Never safe then.
    pub parsed: bool,
    /// The texts that could not be parsed. None: what is missing is not known.
    pub(crate) unread: Option<Vec<String>>,
    /// Paths named in comments. They may speak against a command whose target is unknown, never for one.
    pub mentions: Vec<String>,
    pub context: Context,
}

impl Reading {
    /// The same with what its effects reach through links: a path, and the place it leads to. `None`: no link is on its way.
    pub fn through<'l>(&self, links: impl Iterator<Item = (&'l str, &'l str)>) -> Option<Self> {
        let mut found = Vec::new();
        for (path, target) in links {
            for effect in &self.effects {
                let rest = effect.path.as_deref().and_then(|said| said.strip_prefix(path));
                if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                    found.push(CommandEffect { path: Some(format!("{target}{rest}")), ..effect.clone() });
                }
            }
        }
        (!found.is_empty()).then(|| {
            let mut reading = self.clone();
            reading.effects.append(&mut found);
            reading
        })
    }

    /// Every command that would run, in the order in which it is met.
    pub fn runs(&self) -> impl Iterator<Item = &Invocation> {
        self.runs.iter()
    }
}
