//! Counts with their noun, and lists that name only their first items.

use std::fmt::Display;

/// Formats `1 task`, `2 tasks`, for nouns whose plural ends in `s`.
#[must_use]
pub fn count<N: Number>(number: N, singular: &str) -> String {
    format!("{number} {singular}{}", if is_one(&number) { "" } else { "s" })
}

/// Formats a count with an irregular plural, or with a noun and its verb: `1 status is`, `2 statuses are`.
#[must_use]
pub fn count_of<N: Number>(number: N, singular: &str, plural: &str) -> String {
    format!("{number} {}", if is_one(&number) { singular } else { plural })
}

/// Returns the noun alone: `task` for one, else `tasks`.
#[must_use]
pub fn noun<N: Number>(number: N, singular: &str) -> String {
    format!("{singular}{}", if is_one(&number) { "" } else { "s" })
}

pub trait Number: Display + PartialEq + From<u8> {}

impl<N: Display + PartialEq + From<u8>> Number for N {}

fn is_one<N: Number>(number: &N) -> bool {
    *number == N::from(1)
}

/// Formats `a, b and 3 more`, with at most `most` named items.
#[must_use]
pub fn and_more<T: AsRef<str>>(items: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut items = items.into_iter();
    let mut text = String::new();
    for item in items.by_ref().take(most) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(item.as_ref());
    }
    match items.count() {
        0 => text,
        more if text.is_empty() => format!("{more} more"),
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_usize, 1, 2].map(|number| count(number, "task")), ["0 tasks", "1 task", "2 tasks"]);
        assert_eq!(
            [1_u64, 2].map(|number| count_of(number, "status is", "statuses are")),
            ["1 status is", "2 statuses are"]
        );
    }

    #[test]
    fn items_after_the_first_are_counted() {
        assert_eq!(and_more(["a", "b"], 2), "a, b");
        assert_eq!(and_more(["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(and_more(["a"], 0), "1 more");
        assert_eq!(and_more([""; 0], 2), "");
    }
}
