use steadfast_model::{Counts, Release};

/// One thing the timeline shows.
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
    /// Steadfast gives the agent something to know.
    Informed {
        text: String,
    },
    /// A call that did not happen.
    Tried {
        what: String,
    },
    WantsToStop,
    Refused {
        reason: String,
    },
    LetGo {
        release: Option<Release>,
    },
    /// What happens in a run.
    Went {
        text: String,
    },
    /// Steadfast tells the human.
    Noted {
        text: String,
    },
}

/// How things stood when the agent wanted to stop.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) message: String,
    pub(super) counts: Counts,
    /// What it was told, if it was sent back.
    pub(super) refusal: Option<String>,
}
