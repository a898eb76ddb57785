use std::fmt;
use steadfast_model::labels;

use super::{FixError, Installation};

labels! {
    /// The importance of a finding, the worst first.
    #[derive(PartialOrd, Ord)]
    pub enum DiagnosticSeverity {
        /// Steadfast does not work.
        Error = "error",
        /// It works, but something will go wrong or already did.
        Warning = "warning",
        /// Information; no action needed.
        Note = "note",
    }
}

/// Fixes a finding and returns a sentence about the result.
pub(super) type Fix = fn(&Installation) -> Result<String, FixError>;

/// One finding of a check.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub code: &'static str,
    pub severity: DiagnosticSeverity,
    pub message: String,
    pub hint: String,
    pub(super) fix: Option<Fix>,
}

impl DiagnosticSeverity {
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

    /// Adds the function that `--fix` runs for this finding.
    pub(super) fn with_fix(self, fix: Fix) -> Self {
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
