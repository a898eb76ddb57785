use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::{is_default, sparse};

sparse! {
    /// What a session is for, where it may work, and what its human forbade. Read with every event, and therefore small.
    #[derive(Eq)]
    pub struct Goal {
        /// The beginning of what the human asked for.
        text: String,
        /// Paths the human named, and where the names they used are.
        scope: Vec<String>,
        /// Which of them stand for a name.
        found: Vec<NamedPath>,
        /// Which of them the user's command added.
        refined: Vec<String>,
        constraints: Vec<Constraint>,
        /// The number of the newest constraint: none is given twice.
        numbered: u32,
    }
}

/// A name the human used that is a folder's or a file's in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPath {
    pub name: String,
    /// From the session's root; a folder with a `/` behind it.
    pub path: String,
}

/// Something the human forbade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    /// By which a human lifts it. Given when it is added.
    #[serde(default, skip_serializing_if = "is_default")]
    pub number: u32,
    pub kind: ConstraintKind,
    /// Paths, names, commands or branches it is about. None: all of the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// The human's sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum ConstraintKind {
        Commit = "commit",
        /// To a remote; `of`: to these branches, or `--force`.
        Push = "push",
        /// Creating or switching branches.
        Branch = "branch",
        PullRequest = "pull_request",
        /// Merging and rebasing.
        Merge = "merge",
        /// New ones.
        Dependencies = "dependencies",
        Install = "install",
        Network = "network",
        /// Writing what `of` names.
        Touch = "touch",
        /// Writing anything but what `of` names.
        Only = "only",
        /// Running what `of` names.
        Run = "run",
        Delete = "delete",
        /// And moving.
        Rename = "rename",
        /// Changing anything in the checkout.
        Write = "write",
        /// Creating files.
        Create = "create",
        /// Mixing this with other work. Kept, and not enforced: no single action shows it.
        Separate = "separate",
        /// One this version does not know. Kept, and not enforced.
        #[serde(other)]
        Unknown = "unknown",
    }
}

/// What is said about a goal outright, with a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalWord {
    Set {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
    },
    Forbid(Vec<Constraint>),
    /// The constraint of this number is lifted.
    Allow(u32),
    Clear,
    /// What the command of `drift.refine` adds to what was asked for. A human who spoke since is heard, and not it.
    Refined {
        /// The number of the human's prompt that it was asked about.
        prompt: u64,
        /// The text of the goal at that time.
        goal: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keywords: Vec<String>,
    },
}

impl Goal {
    /// The most of a goal's text that is kept, in characters.
    pub const TEXT: usize = 160;
    /// The most of a sentence that is kept, in characters.
    pub const SAID: usize = 120;
    /// The most paths of its scope.
    pub const SCOPE: usize = 24;
    /// Who forbids more than this has long forgotten the first.
    const CONSTRAINTS: usize = 24;

    pub(crate) fn set(&mut self, text: &str, scope: &[String], found: &[NamedPath]) {
        text.clone_into(&mut self.text);
        // What a command added makes room for what the human names.
        let (refined, named): (Vec<_>, Vec<_>) = scope.iter().partition(|path| self.refined.contains(path));
        self.scope = named.into_iter().chain(refined).take(Self::SCOPE).cloned().collect();
        self.found = found.iter().filter(|found| self.scope.contains(&found.path)).cloned().collect();
        self.refined.retain(|path| self.scope.contains(path));
    }

    /// Adds to the scope, as far as there is room.
    pub(crate) fn refine(&mut self, scope: &[String]) {
        for path in scope {
            if self.scope.len() < Self::SCOPE && !self.scope.contains(path) {
                self.scope.push(path.clone());
                self.refined.push(path.clone());
            }
        }
    }

    /// The same constraint said again is the same constraint.
    pub(crate) fn forbid(&mut self, constraint: &Constraint) {
        let same = |known: &&mut Constraint| known.kind == constraint.kind && known.of == constraint.of;
        if let Some(known) = self.constraints.iter_mut().find(same) {
            constraint.said.clone_into(&mut known.said);
            return;
        }
        if self.constraints.len() >= Self::CONSTRAINTS {
            self.constraints.remove(0);
        }
        self.numbered = self.numbered.saturating_add(1);
        self.constraints.push(Constraint { number: self.numbered, ..constraint.clone() });
    }

    pub(crate) fn lift(&mut self, number: u32) {
        self.constraints.retain(|known| known.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbidden(kind: ConstraintKind) -> Constraint {
        Constraint { number: 0, kind, of: Vec::new(), said: "said".into() }
    }

    #[test]
    fn a_number_is_never_given_twice_and_the_same_is_kept_once() {
        let mut goal = Goal::default();
        goal.forbid(&forbidden(ConstraintKind::Commit));
        goal.forbid(&forbidden(ConstraintKind::Commit));
        goal.forbid(&forbidden(ConstraintKind::Push));
        goal.lift(2);
        goal.forbid(&forbidden(ConstraintKind::Push));
        let numbers: Vec<u32> = goal.constraints.iter().map(|constraint| constraint.number).collect();
        assert_eq!(numbers, [1, 3]);
    }

    fn paths(name: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{name}{number}")).collect()
    }

    #[test]
    fn a_command_adds_what_there_is_room_for_and_takes_nothing_away() {
        let mut goal = Goal::default();
        goal.forbid(&forbidden(ConstraintKind::Commit));
        goal.set("Mend it", &paths("human", 20), &[]);
        let before = goal.clone();
        goal.refine(&[paths("human", 1), paths("more", 100)].concat());
        let scope = [paths("human", 20), paths("more", 4)].concat();
        assert_eq!(goal, Goal { scope, refined: paths("more", 4), ..before });
    }

    #[test]
    fn what_a_command_added_makes_room_for_what_the_human_names() {
        let mut goal = Goal::default();
        goal.set("Mend it", &[], &[]);
        goal.refine(&paths("more", 24));
        let scope = [goal.scope.clone(), paths("human", 3)].concat();
        goal.set("Mend it", &scope, &[]);
        assert_eq!(goal.scope, [paths("human", 3), paths("more", 21)].concat());
        assert_eq!(goal.refined, paths("more", 21));
    }

    #[test]
    fn however_much_is_forbidden_a_state_stays_small() {
        let mut goal = Goal::default();
        for number in 0..1_000 {
            goal.forbid(&Constraint { of: vec![number.to_string()], ..forbidden(ConstraintKind::Touch) });
        }
        assert_eq!(goal.constraints.len(), Goal::CONSTRAINTS);
    }
}
