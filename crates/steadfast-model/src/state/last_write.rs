use serde::{Deserialize, Serialize};

use crate::Millis;

/// When a session last wrote a file, as far as its calls show it. A call that writes and then closes a task ends after the
/// evidence was recorded: its files tell whether it wrote them since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrite {
    pub at: Millis,
    /// What that call wrote, from the session's root. Empty: not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// When the call before it that wrote ended.
    #[serde(default)]
    pub before: Millis,
}

impl LastWrite {
    /// The most paths that are kept; of more none is.
    const PATHS: usize = 16;

    pub(super) fn after(last: Option<Self>, at: Millis, paths: &[String]) -> Self {
        let paths = if paths.len() <= Self::PATHS { paths.to_vec() } else { Vec::new() };
        Self { at, paths, before: last.map_or(Millis(0), |last| last.at) }
    }

    /// Whether anything was written after `since`. `changed_after`: whether a file is gone or was changed after that.
    pub fn is_after(&self, since: Millis, changed_after: impl Fn(&str) -> bool) -> bool {
        if self.before > since {
            return true;
        }
        self.at > since && (self.paths.is_empty() || self.paths.iter().any(|path| changed_after(path)))
    }
}
