use std::fmt;
use steadfast_model::labels;

use super::{FixError, Installation};

labels! {
    /// How much a finding matters, the worst first.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Steadfast does not work.
        Error = "error",
        /// It works, and something will go wrong or already did.
        Warning = "warning",
        /// Worth knowing.
        Note = "note",
    }
}

/// Fixes a finding, and says what it did.
pub(super) type Fix = fn(&Installation) -> Result<String, FixError>;

/// One thing that was found.
#[derive(Clone, Debug)]
pub struct Finding {
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    pub hint: String,
    pub(super) fix: Option<Fix>,
}

impl Severity {
    /// `1 error`, `2 errors`.
    pub fn counted(self, count: usize) -> String {
        steadfast_text::count(count, self.as_str())
    }
}

impl Finding {
    pub(super) fn error(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, Severity::Error, message, hint)
    }

    pub(super) fn warning(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, Severity::Warning, message, hint)
    }

    pub(super) fn note(code: &'static str, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(code, Severity::Note, message, hint)
    }

    /// What `--fix` does about it.
    pub(super) fn mended_by(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    fn new(code: &'static str, severity: Severity, message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self { code, severity, message: message.to_string(), hint: hint.to_string(), fix: None }
    }
}
