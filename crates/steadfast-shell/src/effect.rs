//! The effects of a command line.

use std::ops::Range;

use crate::invocation::Invocation;

/// The folders against which relative paths and `~` are resolved.
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
    /// Text that a shell or an interpreter would run and that could not be read.
    Exec,
    /// A program with unknown effects.
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

/// The origin of an effect from text that bash would not accept.
pub(crate) const UNPARSED: &str = "text that could not be parsed";

/// Tells an exact path from a pattern of possible paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    Certain,
    Possible,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandEffect {
    pub op: Op,
    /// An absolute path if the folder is known. If only possible: `*` and `?` as in a glob, `**` for any text. `None`:
    /// any path.
    pub path: Option<String>,
    /// The command or redirection with this effect.
    pub via: String,
    pub certainty: Certainty,
    /// The bytes of the command line with this effect.
    pub span: Range<usize>,
    /// The source of the content, if known: a copy of a protected file is not a write to it.
    pub copy_of: Option<String>,
}

/// The result of reading a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub effects: Vec<CommandEffect>,
    pub(crate) runs: Vec<Invocation>,
    /// `false`: bash would refuse it, or it is nested too deeply. Then it is never safe.
    pub parsed: bool,
    /// The texts that could not be parsed. `None`: the missing text is unknown.
    pub(crate) unread: Option<Vec<String>>,
    /// Paths in comments. They count against a command with an unknown target, never in its favour.
    pub mentions: Vec<String>,
    pub context: Context,
}

impl Reading {
    /// Builds the reading of a plain write to an absolute path by a tool that is not a shell, with the work in the
    /// folder `cwd`.
    pub fn of_write(path: &str, cwd: &str) -> Self {
        let effect = CommandEffect {
            op: Op::Write,
            path: Some(path.to_owned()),
            via: String::new(),
            certainty: Certainty::Certain,
            span: 0..0,
            copy_of: None,
        };
        let context = Context { cwd: cwd.to_owned(), ..Context::default() };
        Self { effects: vec![effect], parsed: true, context, ..Self::default() }
    }

    /// Returns the same reading with the paths that its effects reach through links. Each link is a path and its
    /// target. `None`: no link is involved.
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

    /// Returns all commands that would run, in the order of reading.
    pub fn runs(&self) -> impl Iterator<Item = &Invocation> {
        self.runs.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuardDecision, judge};

    #[test]
    fn a_checkout_below_a_folder_of_temporary_files_is_no_temporary_file() {
        let decision =
            |cwd| judge(&Reading::of_write("/tmp/a/.git/hooks/b", cwd), &[".git/hooks/".to_owned()]).decision;
        assert_eq!([decision("/tmp/a"), decision("/srv/a")], [GuardDecision::Deny, GuardDecision::Allow]);
    }
}
