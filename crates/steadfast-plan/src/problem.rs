use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::source::Lines;

/// What is wrong with a spec, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: Code,
    pub severity: ProblemSeverity,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub message: String,
    /// What to do.
    pub help: String,
    #[serde(skip)]
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemSeverity {
    /// There is no plan.
    Error,
    Warning,
}

/// Why a spec has no plan, and what else there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// In the order of the text.
    pub problems: Vec<Problem>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident $severity:ident $name:literal,)*) => {
        /// A kind of problem. Names are stable.
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
    /// A zero byte: no text at all.
    NotText Error "not-text",
    Syntax Error "syntax",
    WrongShape Error "wrong-shape",
    MissingKey Error "missing-key",
    NoTasks Error "no-tasks",
    /// More than a ledger is built for.
    TooManyTasks Error "too-many-tasks",
    InvalidId Error "invalid-id",
    DuplicateId Error "duplicate-id",
    /// An id that is needed for a generated task.
    CollidingId Error "colliding-id",
    DuplicatePhase Error "duplicate-phase",
    UnknownDependency Error "unknown-dependency",
    CircularDependency Error "circular-dependency",
    UnknownCommand Error "unknown-command",
    CircularCommand Error "circular-command",
    TooLong Error "too-long",
    /// The command of a check is not known.
    UnclosedBacktick Error "unclosed-backtick",
    /// A check in words, which no shell can run.
    ProseCheck Warning "prose-check",
    /// A code fence or a comment that hides the rest of the text.
    UnclosedFence Warning "unclosed-fence",
    /// Lines that might be meant as tasks, and are none.
    NotRead Warning "not-read",
    UnknownKey Warning "unknown-key",
    UnknownType Warning "unknown-type",
    DuplicateKey Warning "duplicate-key",
    EmptyPhase Warning "empty-phase",
    NoCheck Warning "no-check",
    /// The check of the last link has nothing to look at.
    NoFiles Warning "no-files",
    SwallowedStatus Warning "swallowed-status",
    /// A command is kept and run as it is.
    Secret Warning "secret",
    ManyTasks Warning "many-tasks",
    AlternatingUi Warning "alternating-ui",
    CheckedBox Warning "checked-box",
    /// Two titles under one id are one task.
    OtherTitle Warning "other-title",
    UnreadDependency Warning "unread-dependency",
    CutNotes Warning "cut-notes",
    /// Nobody can tell whose list of tasks it is.
    UnknownFormat Error "unknown-format",
    UnknownStatus Warning "unknown-status",
    UnreadEstimate Warning "unread-estimate",
    /// Something of a list that is no work: deleted, a template.
    LeftOut Warning "left-out",
    /// What would be used before work on an interface is not installed.
    SkillNotInstalled Warning "skill-not-installed",
    /// It proves nothing about the work. Only where checks are run.
    PassesAlready Warning "passes-already",
    /// A second task with the id of another one.
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

/// What was found so far.
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
