use steadfast_model::TaskId;

use crate::ledger::plan::added::ADDED;

/// Converts an id to a text that sorts the way people count: `1.2`, `1.2a`, `1.10`.
///
/// Each number gets its length as a prefix. It is stored in a column, so that the database can sort by it and stop early.
/// Added tasks sort after the authored ones.
pub(crate) fn position(id: &TaskId) -> String {
    const LAST: char = '~';
    let mut position = String::new();
    if id.as_str().starts_with(ADDED) {
        position.push(LAST);
    }
    let mut rest = id.as_str();
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if is_number {
            let digits = run.trim_start_matches('0');
            position.push_str(&format!("{:02}{digits}", digits.len().min(99)));
        } else {
            position.push_str(run);
        }
        rest = after;
    }
    position
}

/// Returns the whole number at the start of an id: 2 for `2.1a`.
pub(crate) fn leading_number(id: &TaskId) -> Option<u64> {
    let text = id.as_str();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_compare_the_way_people_count() {
        let counted = [
            "0", "1", "1.0", "1.1", "1.2", "1.2a", "1.2b", "1.10", "2", "2.0a", "10", "10.1", "100", "a1", "a2", "a10",
            "b", "+1", "+2", "+10",
        ];
        let mut ids = counted.map(TaskId::new);
        ids.reverse();
        ids.sort_by_key(position);
        assert_eq!(ids, counted.map(TaskId::new));
    }

    #[test]
    fn an_id_begins_with_a_number_or_does_not() {
        let numbers = ["2.1a", "17", "a1", "", "99999999999999999999999"].map(|id| leading_number(&TaskId::new(id)));
        assert_eq!(numbers, [Some(2), Some(17), None, None, None]);
    }
}
