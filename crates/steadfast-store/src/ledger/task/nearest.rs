use steadfast_model::TaskId;

const SHOWN: usize = 3;
/// A larger distance is a different word, not a typing error.
const FAR: usize = 2;

/// Returns the ids most similar to a mistyped one, the most similar first.
pub(crate) fn nearest(wanted: &TaskId, ids: impl IntoIterator<Item = TaskId>) -> Vec<TaskId> {
    let mut near: Vec<(usize, TaskId)> = ids
        .into_iter()
        .map(|id| (distance(wanted.as_str(), id.as_str()), id))
        .filter(|(distance, _)| *distance <= FAR)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(SHOWN).map(|(_, id)| id).collect()
}

/// The edit distance: the number of inserted, removed and changed letters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, to) in right.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_letters() {
        let pairs = [("", ""), ("", "ab"), ("2.1", "2.1"), ("2.1", "2.10"), ("21", "2.1"), ("kitten", "sitting")];
        assert_eq!(pairs.map(|(left, right)| distance(left, right)), [0, 2, 0, 1, 1, 3]);
    }

    #[test]
    fn the_nearest_come_first_and_the_far_not_at_all() {
        let ids = ["1.1", "2.10", "2.1", "login-page"].map(TaskId::new);
        assert_eq!(nearest(&TaskId::new("2.1a"), ids), ["2.10", "2.1", "1.1"].map(TaskId::new));
    }
}
