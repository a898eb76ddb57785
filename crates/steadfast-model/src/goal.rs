use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::{is_default, sparse};

sparse! {
    /// The goal of a session, its scope, and what its human forbade. It is read with every event, so it stays small.
    #[derive(Eq)]
    pub struct Goal {
        /// The beginning of the human's request.
        text: String,
        /// Paths that the human named, and the paths behind names that the human used.
        scope: Vec<String>,
        /// The paths of the scope that were found by name.
        found: Vec<NamedPath>,
        /// The paths of the scope that the user's command added.
        refined: Vec<String>,
        constraints: Vec<Constraint>,
        /// The number of the newest constraint. Numbers are never reused.
        numbered: u32,
    }
}

/// A name in the human's words that matches a folder or a file of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPath {
    pub name: String,
    /// From the session's root. A folder ends with `/`.
    pub path: String,
}

/// An action that the human forbade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    /// The number by which a human lifts it. Assigned when it is added.
    #[serde(default, skip_serializing_if = "is_default")]
    pub number: u32,
    pub kind: ConstraintKind,
    /// The paths, names, commands or branches it applies to. Empty: all of the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// The human's sentence that states it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum ConstraintKind {
        Commit = "commit",
        /// Pushing to a remote. `of`: only these branches, or `--force`.
        Push = "push",
        /// Creating or switching branches.
        Branch = "branch",
        PullRequest = "pull_request",
        /// Merging and rebasing.
        Merge = "merge",
        /// Adding dependencies.
        Dependencies = "dependencies",
        Install = "install",
        Network = "network",
        /// Writing the paths in `of`.
        Touch = "touch",
        /// Writing any path except those in `of`.
        Only = "only",
        /// Running the commands in `of`.
        Run = "run",
        Delete = "delete",
        /// Renaming and moving.
        Rename = "rename",
        /// Changing anything in the checkout.
        Write = "write",
        /// Creating files.
        Create = "create",
        /// Mixing this with other work. Stored, but not enforced, since no single action shows it.
        Separate = "separate",
        /// A kind that this version does not know. Stored, but not enforced.
        #[serde(other)]
        Unknown = "unknown",
    }
}

/// A change of the goal by a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalWord {
    Set {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
    },
    Forbid(Vec<Constraint>),
    /// Lifts the constraint with this number.
    Allow(u32),
    Clear,
    /// The additions of the `drift.refine` command. They are dropped if the human has sent a new prompt since.
    Refined {
        /// The number of the human's prompt that the command received.
        prompt: u64,
        goal: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scope: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keywords: Vec<String>,
    },
}

impl Goal {
    /// The limit of a goal's text, in characters.
    pub const TEXT: usize = 160;
    /// The limit of a sentence, in characters.
    pub const SAID: usize = 120;
    /// The limit of paths in the scope.
    pub const SCOPE: usize = 24;
    /// A human with more constraints than this has forgotten the first ones.
    const CONSTRAINTS: usize = 24;

    pub(crate) fn set(&mut self, text: &str, scope: &[String], found: &[NamedPath]) {
        text.clone_into(&mut self.text);
        // Paths that a command added make room for paths that the human names.
        let (refined, named): (Vec<_>, Vec<_>) = scope.iter().partition(|path| self.refined.contains(path));
        self.scope = named.into_iter().chain(refined).take(Self::SCOPE).cloned().collect();
        self.found = found.iter().filter(|found| self.scope.contains(&found.path)).cloned().collect();
        self.refined.retain(|path| self.scope.contains(path));
    }

    /// Adds paths to the scope, up to the limit.
    pub(crate) fn refine(&mut self, scope: &[String]) {
        for path in scope {
            if self.scope.len() < Self::SCOPE && !self.scope.contains(path) {
                self.scope.push(path.clone());
                self.refined.push(path.clone());
            }
        }
    }

    /// Adds a constraint. A repeated one keeps its number and gets the new sentence.
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
