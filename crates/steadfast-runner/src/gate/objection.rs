use std::fmt;

use steadfast_model::TaskId;

/// Something that keeps a loop from being complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// A task that nobody finished.
    Open {
        task: TaskId,
        title: String,
    },
    /// Nothing but a word says that it is done.
    Claimed {
        task: TaskId,
        title: String,
    },
    /// Its check could not be run on the final tree, or nobody ever ran it.
    Stale {
        task: TaskId,
        title: String,
    },
    /// On the final tree.
    Fails {
        task: TaskId,
        command: String,
        output: String,
        files: Vec<String>,
    },
    /// No thorough review passed.
    Unreviewed {
        blockers: u32,
    },
    MustNot {
        must_not: String,
        file: String,
        done: String,
    },
    Weakened {
        file: String,
        line: u32,
        text: String,
    },
}

/// What an agent is asked to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub title: String,
    pub files: Vec<String>,
    pub notes: String,
}

impl Objection {
    /// None: an agent cannot mend it, a human has to.
    pub fn remedy(&self) -> Option<Remedy> {
        let remedy =
            |title: String, files: &[String], notes: String| Some(Remedy { title, files: files.to_vec(), notes });
        match self {
            Self::Open { .. } | Self::Claimed { .. } | Self::Stale { .. } | Self::Unreviewed { .. } => None,
            Self::Fails { task, command, output, files } => remedy(
                format!("Make the check of {task} pass again on what all units made together"),
                files,
                format!("`{command}` fails on the final tree. The end of its output:\n{output}"),
            ),
            Self::MustNot { must_not, file, done } => remedy(
                format!("Take back what breaks \"{must_not}\""),
                std::slice::from_ref(file),
                format!("`{file}` {done}. It must not be: {must_not}"),
            ),
            Self::Weakened { file, line, text } => remedy(
                format!("Give {file} the strength back that its tests had"),
                std::slice::from_ref(file),
                format!("{file}:{line}: {text}. What fails because of that is to be mended where it is wrong."),
            ),
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { task, title } => write!(f, "{task} {title}: not done"),
            Self::Claimed { task, title } => {
                write!(f, "{task} {title}: nothing but a claim says that it is done (a human may: `task done --force`)")
            }
            Self::Stale { task, title } => {
                write!(f, "{task} {title}: its evidence is about other files than there are now")
            }
            Self::Fails { task, command, .. } => write!(f, "{task}: `{command}` fails on the final tree"),
            Self::Unreviewed { blockers: 0 } => f.write_str("no thorough review has passed"),
            Self::Unreviewed { blockers } => write!(f, "the thorough review left {blockers} blockers"),
            Self::MustNot { must_not, file, done } => write!(f, "\"{must_not}\": `{file}` {done}"),
            Self::Weakened { file, line, text } => write!(f, "{file}:{line}: {text}"),
        }
    }
}
