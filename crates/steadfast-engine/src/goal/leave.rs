//! What a human says to lift a constraint.

use steadfast_model::{Constraint, ConstraintKind};

use super::{read, without};

/// A sentence that lifts a constraint, as the reader of prompts hears it. None: it is lifted with a command only.
pub fn leave(constraint: &Constraint) -> Option<String> {
    use ConstraintKind as K;
    let of = constraint.of.first().map_or("", String::as_str);
    let said = match constraint.kind {
        K::Commit => "ok, commit it".to_owned(),
        K::Push if of == "--force" => "ok, force-push it".to_owned(),
        K::Push if of.is_empty() => "ok, push it".to_owned(),
        K::Push => format!("ok, push to {of}"),
        K::Branch => "you can create a branch".to_owned(),
        K::PullRequest => "ok, open a PR".to_owned(),
        K::Merge => "ok, merge it".to_owned(),
        K::Dependencies => "you can add dependencies".to_owned(),
        K::Install => "you can install anything".to_owned(),
        K::Network => "you can use the network".to_owned(),
        K::Touch => format!("you can edit {}", constraint.of.join(" and ")),
        K::Only => "you can touch anything now".to_owned(),
        K::Run if of == "deploy" => "ok, deploy it".to_owned(),
        K::Run if of == "publish" => "ok, publish it".to_owned(),
        K::Run if of.starts_with("--") => format!("you can use {of}"),
        K::Run => format!("ok, run {of}"),
        K::Delete => "you can delete files".to_owned(),
        K::Rename => "you can rename files".to_owned(),
        K::Write => "ok, fix it".to_owned(),
        K::Create => "you can create new files".to_owned(),
        K::Separate | K::Unknown => return None,
    };
    let heard = read(&said);
    let lifts = heard.lifts.iter().try_fold(constraint.clone(), without).is_none();
    (lifts && heard.constraints.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::super::understood;
    use super::*;

    #[test]
    fn what_is_told_to_lift_a_constraint_lifts_it() {
        for (text, said) in [
            ("don't commit", "ok, commit it"),
            ("don't push", "ok, push it"),
            ("don't push to main", "ok, push to main"),
            ("don't force-push", "ok, force-push it"),
            ("no new dependencies", "you can add dependencies"),
            ("don't open a PR", "ok, open a PR"),
            ("only touch src/auth", "you can touch anything now"),
            ("don't touch src/legacy", "you can edit src/legacy"),
            ("don't touch the tests", "you can edit tests"),
            ("don't run the tests", "ok, run tests"),
            ("do not deploy", "ok, deploy it"),
            ("never use --force", "you can use --force"),
            ("don't create new files", "you can create new files"),
            ("don't change anything", "ok, fix it"),
        ] {
            let constraint = understood(text).remove(0);
            assert_eq!(leave(&constraint).as_deref(), Some(said), "{constraint:?}");
        }
    }
}
