//! Marks of the history and the manifests, compared before and after a call that may break a constraint unnoticed.

use serde::{Deserialize, Serialize};

use crate::ToolUseId;
use crate::sparse::sparse;

sparse! {
    /// Hashes of the history and of the files that name dependencies. They are only compared with each other.
    #[derive(Eq)]
    pub struct Marks {
        /// The last commit in the checkout's reflog. `None`: there is none, or it is unreadable.
        commit: Option<u64>,
        /// The last push of every remote branch.
        push: Option<u64>,
        /// Manifests and lock files, by name.
        manifests: Vec<(String, u64)>,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    pub call: ToolUseId,
    pub marks: Marks,
}

impl Watched {
    /// The limit of watched calls at once.
    pub const MOST: usize = 8;
}

/// A git alias in a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitAlias {
    pub name: String,
    pub body: String,
}
