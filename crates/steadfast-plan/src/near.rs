use strsim::osa_distance;

use crate::natural;

/// The likeliest of `known` for a mistyped word, if one is like it; of several, the last as people count.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = (word.chars().count() / 3).clamp(1, 3);
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= far)
        .min_by(|(near, left), (far, right)| near.cmp(far).then_with(|| natural::compare(right, left)))
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c`, in backticks.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
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
}
