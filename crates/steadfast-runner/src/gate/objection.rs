use std::fmt;

use steadfast_model::{Check, TaskId, fnv};
use steadfast_text::truncate_line;

use crate::quote::shell_word;

/// A reason why a loop is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// An unfinished task.
    Open { task: TaskId, title: String },
    /// A task that only a claim closed.
    Claimed { task: TaskId, title: String },
    /// The task's check could not run on the final tree, or never ran.
    Stale { task: TaskId, title: String },
    /// A task's check fails on the final tree.
    Fails { task: TaskId, command: String, output: String, files: Vec<String> },
    /// A check from the human's own words fails on the final tree.
    Stated { command: String, said: String, how: String, output: String },
    /// The result of a stated check is unknown: its definition changed, or it did not finish.
    StatedUnsure { command: String, why: String },
    /// No thorough review has passed.
    Unreviewed { blockers: u32 },
    /// The change since this commit breaks a must-not.
    MustNot { must_not: String, files: Vec<Offence>, base: String, own: Vec<String> },
    /// Tests of one file are weaker than at this commit.
    Weakened { file: String, places: Vec<WeakPlace>, base: String },
}

/// A file that breaks a must-not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offence {
    pub file: String,
    /// For example `was changed`.
    pub done: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakPlace {
    pub line: u32,
    /// The weakening.
    pub text: String,
}

/// The task for an agent that answers an objection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub title: String,
    pub files: Vec<String>,
    pub notes: String,
    /// The check of that very objection: it passes when the objection no longer holds.
    pub check: Check,
}

impl Objection {
    /// The name by which a human refers to it, stable from check to check: `o-1a2b3c`.
    pub fn id(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        match self {
            Self::Open { task, .. } => words.extend(["open", task.as_str()]),
            Self::Claimed { task, .. } => words.extend(["claimed", task.as_str()]),
            Self::Stale { task, .. } => words.extend(["stale", task.as_str()]),
            Self::Fails { command, .. } => words.extend(["fails", command]),
            Self::Stated { command, .. } => words.extend(["stated", command]),
            Self::StatedUnsure { command, why } => words.extend(["unsure", command, why]),
            Self::Unreviewed { .. } => words.push("unreviewed"),
            // A different file makes a different offence.
            Self::MustNot { must_not, files, .. } => {
                words.extend(["must-not", must_not]);
                words.extend(files.iter().map(|offence| offence.file.as_str()));
            }
            Self::Weakened { file, places, .. } => {
                words.extend(["weakened", file]);
                words.extend(places.iter().map(|place| place.text.as_str()));
            }
        }
        format!("o-{:06x}", fnv(words.into_iter().map(str::as_bytes)) & 0xff_ffff)
    }

    /// `None`: only a human can answer the objection.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Open { .. }
            | Self::Claimed { .. }
            | Self::Stale { .. }
            | Self::Unreviewed { .. }
            | Self::StatedUnsure { .. } => None,
            Self::Fails { task, command, output, files } => Some(Remedy {
                title: format!("Make the check of {task} pass on the merged work of all units"),
                files: files.clone(),
                notes: format!("`{command}` fails on the final tree. The end of its output:\n{output}"),
                check: Check::command(command),
            }),
            Self::Stated { command, said, how, output } => Some(Remedy {
                title: format!("Make `{}` pass", short(command)),
                files: Vec::new(),
                notes: format!("The human said: \"{said}\". {how} on the final tree. The end of its output:\n{output}"),
                check: Check::command(command),
            }),
            Self::MustNot { must_not, files, base, own } => {
                let places: Vec<String> =
                    files.iter().map(|offence| format!("`{}` {}", offence.file, offence.done)).collect();
                let own: String = own.iter().map(|file| format!(" --own {}", shell_word(file))).collect();
                Some(Remedy {
                    title: format!("Undo the changes that break \"{}\"", short(must_not)),
                    files: files.iter().map(|offence| offence.file.clone()).collect(),
                    notes: format!(
                        "{}. This breaks: {must_not}\nTo restore a file: `git checkout {base} -- PATH`; a file that did not exist \
                         then is removed. These paths may be written while this task is in progress.",
                        places.join(", ")
                    ),
                    check: Check::command(format!(
                        "{} --base {base}{own} --must-not {}",
                        Check::TAKE_BACK,
                        shell_word(must_not)
                    )),
                })
            }
            Self::Weakened { file, places, base } => Some(Remedy {
                title: format!("Restore the tests of {file}"),
                files: vec![file.clone()],
                notes: format!(
                    "{}. If a restored test then fails, fix the code and not the test.",
                    places
                        .iter()
                        .map(|place| format!("{file}:{}: {}", place.line, place.text))
                        .collect::<Vec<_>>()
                        .join("; ")
                ),
                check: Check::command(format!("{} --base {base} --tests {}", Check::TAKE_BACK, shell_word(file))),
            }),
        }
    }
}

/// Shortens a text for a title.
fn short(text: &str) -> String {
    const SHOWN: usize = 81;
    truncate_line(text, SHOWN)
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { task, title } => write!(f, "{task} {title}: not done"),
            Self::Claimed { task, title } => {
                write!(
                    f,
                    "{task} {title}: done by claim only, without evidence (a human can run `steadfast task done {task} --force`)"
                )
            }
            Self::Stale { task, title } => {
                write!(f, "{task} {title}: its evidence is for other files than the current ones")
            }
            Self::Fails { task, command, .. } => write!(f, "{task}: `{command}` fails on the final tree"),
            Self::Stated { said, how, .. } => write!(f, "you said \"{said}\": {how}"),
            Self::StatedUnsure { command, why } => write!(f, "`{command}`, which you said has to pass: {why}"),
            Self::Unreviewed { blockers: 0 } => f.write_str("no thorough review has passed"),
            Self::Unreviewed { blockers } => write!(f, "the thorough review left {blockers} blockers"),
            Self::MustNot { must_not, files, .. } => {
                let places: Vec<String> =
                    files.iter().take(5).map(|offence| format!("`{}` {}", offence.file, offence.done)).collect();
                write!(f, "\"{must_not}\": {}", places.join(", "))?;
                if files.len() > 5 { write!(f, " and {} more", files.len() - 5) } else { Ok(()) }
            }
            Self::Weakened { file, places, .. } => {
                let places: Vec<String> =
                    places.iter().map(|place| format!("{file}:{}: {}", place.line, place.text)).collect();
                f.write_str(&places.join("; "))
            }
        }
    }
}
