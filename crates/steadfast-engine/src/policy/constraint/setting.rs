//! The constraints of the settings, in the form of a human's constraints.

use steadfast_model::{Constraint as Forbidden, ConstraintKind, DriftRules};

use crate::goal::understood;

/// Returns the constraints of the settings. This runs for every judged call, so it costs nothing when none is set.
pub(super) fn forbidden(rules: &DriftRules) -> Vec<Forbidden> {
    let mut found: Vec<Forbidden> = rules.constraints.iter().flat_map(|said| understood(said)).collect();
    found.extend(rules.never.iter().map(|place| Forbidden {
        number: 0,
        kind: ConstraintKind::Touch,
        // `./tests` is the folder; `tests` alone would mean all usual places of tests.
        of: vec![format!("./{}", place.trim_start_matches("./"))],
        said: format!("never {place}"),
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_read_as_a_humans_and_a_path_is_a_path() {
        let rules = DriftRules {
            constraints: vec!["don't push to main".into(), "commit".into(), "be nice".into()],
            never: vec!["legacy/".into(), "tests".into()],
            ..DriftRules::default()
        };
        let found: Vec<_> = forbidden(&rules).into_iter().map(|found| (found.kind, found.of, found.said)).collect();
        assert_eq!(
            found,
            [
                (ConstraintKind::Push, vec!["main".to_owned()], "don't push to main".to_owned()),
                (ConstraintKind::Commit, vec![], "commit".to_owned()),
                (ConstraintKind::Touch, vec!["./legacy/".to_owned()], "never legacy/".to_owned()),
                (ConstraintKind::Touch, vec!["./tests".to_owned()], "never tests".to_owned()),
            ]
        );
    }
}
