//! What is to be left as it is.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::Action;
use super::object::{Names, object};

/// What is left as it is, whatever is outside of it or not.
pub(super) fn named(what: &[Word]) -> Vec<Action> {
    let object = object(what, Names::Any);
    vec![(if object.outside { ConstraintKind::Only } else { ConstraintKind::Touch }, object.of)]
}

/// A thing, by any name.
pub(super) fn any_thing(what: &[Word]) -> Vec<Action> {
    let object = object(what, Names::Any);
    if object.of.is_empty() || object.outside { Vec::new() } else { vec![(ConstraintKind::Touch, object.of)] }
}
