//! The errors that commands print.

use std::fmt;

use serde_json::{Value, json};

/// A row: the variant and its hints in order, as arguments of `format!`; or, in braces, another error instead.
macro_rules! hints {
    ($said:ident, $error:expr, { $($variant:pat $(if $guard:expr)? => $(($($hint:tt)+))* $({$($own:tt)+})?,)+ }) => {
        match $error { $($variant $(if $guard)? => hints!(@ $said $(($($hint)+))* $({$($own)+})?),)+ }
    };
    (@ $said:ident {$($own:tt)+}) => {{ $($own)+ }};
    (@ $said:ident $(($($hint:tt)+))*) => { $said$(.hint(format_args!($($hint)+)))* };
}

mod hints;
mod proxy;

/// Exit code for a command line that cannot be understood.
pub(crate) const USAGE: u8 = 64;

/// The error that a command prints: what happened, and hints about what to do.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    hints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    Failure,
    /// A rule refuses it.
    Refused,
    /// Only a human can continue.
    NeedsHuman,
    Usage,
    /// A program that ran in this terminal ended with this code. It said the reason itself, so nothing is printed.
    Ended(u8),
}

impl ErrorKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Refused => "refused",
            Self::NeedsHuman => "needs_human",
            Self::Usage => "usage",
            Self::Ended(_) => "ended",
        }
    }

    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Failure => 1,
            Self::Refused => 2,
            Self::NeedsHuman => 3,
            Self::Usage => USAGE,
            Self::Ended(code) => code,
        }
    }
}

impl CommandError {
    pub(crate) fn failure(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Failure, message)
    }

    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    pub(crate) fn needs_human(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::NeedsHuman, message)
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn ended(code: u8) -> Self {
        Self::new(ErrorKind::Ended(code), "")
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// For a command with `--json`.
    pub(crate) fn to_json(&self) -> Value {
        json!({"error": {"kind": self.kind.as_str(), "message": self.message, "hints": self.hints}})
    }

    fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), hints: Vec::new() }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        for hint in &self.hints {
            write!(f, "\n\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// Returns the command that continues a run, with the flag that raises the limit it reached.
fn resume_after(why: &str) -> &'static str {
    if why.starts_with("the budget is spent") {
        "steadfast resume --budget USD"
    } else if why.ends_with(" iterations are used") {
        "steadfast resume --max-iterations N"
    } else {
        "steadfast resume"
    }
}

#[cfg(test)]
mod tests {
    use super::resume_after;

    #[test]
    fn the_hint_of_a_limit_names_its_flag() {
        assert_eq!(resume_after("the budget is spent: $7.00 of $7.00"), "steadfast resume --budget USD");
        assert_eq!(resume_after("25 of 25 iterations are used"), "steadfast resume --max-iterations N");
        assert_eq!(resume_after("a human stopped it"), "steadfast resume");
    }
}
