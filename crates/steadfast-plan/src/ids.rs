//! Ids of tasks: natural order, and suggestions for a mistyped id.

use std::cmp::Ordering;

use strsim::osa_distance;

/// Returns the most similar of the known words for a mistyped one, if any is close; of equals, the last in natural
/// order.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = (word.chars().count() / 3).clamp(1, 3);
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= far)
        .min_by(|(near, left), (far, right)| near.cmp(far).then_with(|| natural_order(right, left)))
        .map(|(_, candidate)| candidate)
}

/// Formats as `a`, `b` and `c`, in backticks.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// Compares in natural order: `1.2` before `1.10`, `1.3` before `1.3a`.
pub(crate) fn natural_order(left: &str, right: &str) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    loop {
        let ((left_part, left_next), (right_part, right_next)) = (split(left_rest), split(right_rest));
        let by_part = match (number(left_part), number(right_part)) {
            (Some(left), Some(right)) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
            _ => left_part.cmp(right_part),
        };
        if by_part.is_ne() || (left_part.is_empty() && right_part.is_empty()) {
            return by_part.then_with(|| left.cmp(right));
        }
        (left_rest, right_rest) = (left_next, right_next);
    }
}

/// Splits off the leading digits, or the leading characters that are not digits.
fn split(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    text.split_at(text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len()))
}

/// Returns a number without leading zeros, so that a number of any size can be compared by length first.
fn number(part: &str) -> Option<&str> {
    part.starts_with(|c: char| c.is_ascii_digit()).then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let known = ["verification", "files", "depends_on"];
        assert_eq!(nearest("verifcation", known), Some("verification"));
        assert_eq!(nearest("Files", known), Some("files"));
        assert_eq!(nearest("depend_on", known), Some("depends_on"));
        assert_eq!(nearest("priority", known), None);
    }

    #[test]
    fn of_several_that_are_as_near_the_last_is_named_in_whatever_order_they_come() {
        assert_eq!(nearest("4.1", ["3.1", "1.1", "10.1"]), Some("3.1"));
        assert_eq!(nearest("4.1", ["10.1", "1.1", "3.1"]), Some("3.1"));
    }

    #[test]
    fn ids_order_as_people_count() {
        let mut ids = ["1.10", "2.0", "1.3b", "10.1", "1.2", "1.3a", "1.3", "1.3.1", "a2", "a10", "0.1"];
        ids.sort_by(|left, right| natural_order(left, right));
        assert_eq!(ids, ["0.1", "1.2", "1.3", "1.3.1", "1.3a", "1.3b", "1.10", "2.0", "10.1", "a2", "a10"]);
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[0-9a.]{0,6}", b in "[0-9a.]{0,6}", c in "[0-9a.]{0,6}") {
            prop_assert_eq!(natural_order(&a, &b), natural_order(&b, &a).reverse());
            prop_assert_eq!(natural_order(&a, &b).is_eq(), a == b);
            if natural_order(&a, &b).is_le() && natural_order(&b, &c).is_le() {
                prop_assert!(natural_order(&a, &c).is_le());
            }
        }
    }
}
