use std::fmt;

use super::{FixError, Installation};

/// How much a finding matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSeverity {
    /// Steadfast does not work.
    Error,
    /// It works, and something will go wrong or already did.
    Warning,
    /// Worth knowing.
    Note,
}

/// Fixes a finding, and says what it did.
pub(super) type Fix = fn(&Installation) -> Result<String, FixError>;

/// One thing that was found.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub code: &'static str,
    pub severity: DiagnosticSeverity,
    pub message: String,
    pub hint: String,
    pub(super) fix: Option<Fix>,
}

impl DiagnosticSeverity {
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// `1 error`, `2 errors`.
    pub fn counted(self, count: usize) -> String {
        steadfast_text::count(count, self.as_str())
    }
}

impl Diagnostic {
    pub(super) fn error(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, DiagnosticSeverity::Error, message, hint)
    }

    pub(super) fn warning(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, DiagnosticSeverity::Warning, message, hint)
    }

    pub(super) fn note(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, DiagnosticSeverity::Note, message, hint)
    }

    /// What `--fix` does about it.
    pub(super) fn mended_by(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    fn new(
        code: &'static str,
        severity: DiagnosticSeverity,
        message: impl fmt::Display,
        hint: impl fmt::Display,
    ) -> Self {
        Self { code, severity, message: message.to_string(), hint: hint.to_string(), fix: None }
    }
}
