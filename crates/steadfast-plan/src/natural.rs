use std::cmp::Ordering;

/// The way people count: `1.2` before `1.10`, `1.3` before `1.3a`.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
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

/// The digits or the other characters a text begins with, and what follows.
fn split(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    text.split_at(text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len()))
}

/// Without leading zeros, so that it compares by length first, however long it is.
fn number(part: &str) -> Option<&str> {
    part.starts_with(|c: char| c.is_ascii_digit()).then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_order_as_people_count() {
        let mut ids = ["1.10", "2.0", "1.3b", "10.1", "1.2", "1.3a", "1.3", "1.3.1", "a2", "a10", "0.1"];
        ids.sort_by(|left, right| compare(left, right));
        assert_eq!(ids, ["0.1", "1.2", "1.3", "1.3.1", "1.3a", "1.3b", "1.10", "2.0", "10.1", "a2", "a10"]);
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[0-9a.]{0,6}", b in "[0-9a.]{0,6}", c in "[0-9a.]{0,6}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &b).is_eq(), a == b);
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
