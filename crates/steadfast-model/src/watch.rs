//! What a constraint is about that a script can do unseen: looked at before a call and after it.

use serde::{Deserialize, Serialize};

use crate::ToolUseId;
use crate::sparse::sparse;

sparse! {
    /// A look at the history and at what names dependencies. Hashes: two looks are compared, nothing else.
    #[derive(Eq)]
    pub struct Marks {
        /// The last commit of the checkout's reflog. None: there is none, or it cannot be read.
        commit: Option<u64>,
        /// The last push of every branch of a remote.
        push: Option<u64>,
        /// Manifests and lock files, by name.
        manifests: Vec<(String, u64)>,
    }
}

/// The marks from before a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    pub call: ToolUseId,
    pub marks: Marks,
}

impl Watched {
    /// The most calls that are watched at once.
    pub const MOST: usize = 8;
}

/// An alias of git that a command uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitAlias {
    pub name: String,
    pub body: String,
}
