use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::source::Lines;

/// A problem in a spec: what is wrong, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: Code,
    pub severity: ProblemSeverity,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    pub message: String,
    /// The suggested change.
    pub help: String,
    #[serde(skip)]
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemSeverity {
    /// The spec has no plan.
    Error,
    Warning,
}

/// All problems of a spec. With an error among them there is no plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// In the order of the text.
    pub problems: Vec<Problem>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $severity:ident $name:literal,)*) => {
        /// The kind of a problem. Names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $code,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            pub fn severity(self) -> ProblemSeverity {
                match self { $(Self::$code => ProblemSeverity::$severity,)* }
            }
        }
    };
}

codes! {
    Empty Error "empty",
    /// A zero byte: the file is not text.
    NotText Error "not-text",
    Syntax Error "syntax",
    WrongShape Error "wrong-shape",
    MissingKey Error "missing-key",
    NoTasks Error "no-tasks",
    /// More tasks than a ledger is designed for.
    TooManyTasks Error "too-many-tasks",
    InvalidId Error "invalid-id",
    DuplicateId Error "duplicate-id",
    /// An id that is reserved for a generated task.
    CollidingId Error "colliding-id",
    DuplicatePhase Error "duplicate-phase",
    UnknownDependency Error "unknown-dependency",
    CircularDependency Error "circular-dependency",
    UnknownCommand Error "unknown-command",
    CircularCommand Error "circular-command",
    TooLong Error "too-long",
    /// The command of a check is unknown.
    UnclosedBacktick Error "unclosed-backtick",
    /// A check in words, which a shell cannot run.
    ProseCheck Warning "prose-check",
    /// A code fence or a comment that hides the rest of the text.
    UnclosedFence Warning "unclosed-fence",
    /// Lines that may be meant as tasks but were not read as tasks.
    NotRead Warning "not-read",
    UnknownKey Warning "unknown-key",
    UnknownType Warning "unknown-type",
    DuplicateKey Warning "duplicate-key",
    EmptyPhase Warning "empty-phase",
    NoCheck Warning "no-check",
    /// The last check of a chain has no files to look at.
    NoFiles Warning "no-files",
    SwallowedStatus Warning "swallowed-status",
    /// Commands are stored and run as written.
    Secret Warning "secret",
    ManyTasks Warning "many-tasks",
    AlternatingUi Warning "alternating-ui",
    CheckedBox Warning "checked-box",
    /// Two titles with one id are read as one task.
    OtherTitle Warning "other-title",
    UnreadDependency Warning "unread-dependency",
    CutNotes Warning "cut-notes",
    /// The format of the list is unknown.
    UnknownFormat Error "unknown-format",
    UnknownStatus Warning "unknown-status",
    UnreadEstimate Warning "unread-estimate",
    /// An entry of a list that is not work: deleted, or a template.
    LeftOut Warning "left-out",
    /// A skill for ui work is configured but not installed.
    SkillNotInstalled Warning "skill-not-installed",
    /// The check proves nothing about the work. Found only when checks are run.
    PassesAlready Warning "passes-already",
    /// A second task with the same id.
    RenamedId Warning "renamed-id",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ProblemSeverity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Problem {
    pub fn is_error(&self) -> bool {
        self.severity == ProblemSeverity::Error
    }
}

impl LintReport {
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.is_error()).count()
    }

    pub fn warnings(&self) -> usize {
        self.problems.len() - self.errors()
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: Vec<(Code, Range<usize>, String, String)>,
    error: bool,
}

impl Findings {
    pub(crate) fn add(&mut self, code: Code, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.error |= code.severity() == ProblemSeverity::Error;
        self.found.push((code, span.clone(), message.into(), help.into()));
    }

    pub(crate) fn errors(&self) -> usize {
        self.found.iter().filter(|(code, ..)| code.severity() == ProblemSeverity::Error).count()
    }

    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn has_error(&self) -> bool {
        self.error
    }

    pub(crate) fn into_problems(mut self, lines: &Lines<'_>) -> Vec<Problem> {
        self.found.sort_by_key(|(_, span, ..)| span.start);
        self.found
            .into_iter()
            .map(|(code, span, message, help)| {
                let (line, column) = lines.position(span.start);
                Problem { code, severity: code.severity(), line, column, message, help, span }
            })
            .collect()
    }
}
