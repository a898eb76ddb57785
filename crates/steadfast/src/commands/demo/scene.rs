use steadfast_model::{Counts, Release};

/// An entry of the timeline.
#[derive(Debug)]
pub(super) enum Scene {
    Asked {
        text: String,
    },
    Said {
        text: String,
    },
    Ran {
        command: String,
        output: String,
    },
    Wrote {
        path: String,
        lines: usize,
    },
    /// Steadfast adds context for the agent.
    Informed {
        text: String,
    },
    /// A refused call.
    Tried {
        what: String,
    },
    WantsToStop,
    Refused {
        reason: String,
    },
    Released {
        release: Option<Release>,
    },
    /// A line about a run.
    RunLine {
        text: String,
    },
    /// A note for the human.
    Noted {
        text: String,
    },
}

impl Scene {
    /// The call, in the words of [`Scene::Tried`].
    pub(super) fn call(&self) -> Option<String> {
        match self {
            Self::Ran { command, .. } => Some(format!("run `{command}`")),
            Self::Wrote { path, .. } => Some(format!("write {path}")),
            _ => None,
        }
    }
}

/// An attempt of the agent to stop.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) message: String,
    pub(super) counts: Counts,
    /// The reason of the refusal, if any.
    pub(super) refusal: Option<String>,
}
