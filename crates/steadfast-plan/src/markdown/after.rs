//! Dependencies in words: `Task 1.1 (the parser)`, `2.1-2.7`, `Phase 1 complete`, `All previous tasks`.

use std::collections::BTreeSet;

use crate::draft::{Draft, Text};
use crate::ids::natural_order;
use crate::problem::{Code, Findings};

/// Replaces dependencies in words by ids.
pub(crate) fn resolve(draft: &mut Draft, findings: &mut Findings) {
    let tasks: Vec<String> =
        draft.phases.iter().flat_map(|phase| phase.tasks.iter().map(|task| task.id.value.clone())).collect();
    let phases: Vec<String> = draft.phases.iter().map(|phase| phase.id.value.clone()).collect();
    let known = KnownIds { tasks: &tasks, phases: &phases };
    let mut before: Vec<String> = Vec::new();
    for (index, phase) in draft.phases.iter_mut().enumerate() {
        let own = phase.id.value.clone();
        if let Some(after) = &mut phase.after {
            *after = after.iter().flat_map(|name| known.resolve_name(name, &phases[..index], &own, findings)).collect();
        }
        for task in &mut phase.tasks {
            let names = std::mem::take(&mut task.after);
            let resolved = names.iter().flat_map(|name| known.resolve_name(name, &before, &own, findings));
            let mut seen = BTreeSet::new();
            task.after =
                resolved.filter(|name| name.value != task.id.value && seen.insert(name.value.clone())).collect();
            before.push(task.id.value.clone());
        }
    }
}

struct KnownIds<'a> {
    tasks: &'a [String],
    phases: &'a [String],
}

impl KnownIds<'_> {
    fn resolve_name(&self, name: &Text, before: &[String], own: &str, findings: &mut Findings) -> Vec<Text> {
        let at = |value: &str| Text::new(value, name.span.clone());
        let words = without_remark(&name.value);
        if self.tasks.iter().chain(self.phases).any(|id| id == words) {
            return vec![at(words)];
        }
        let lower = words.to_lowercase();
        if lower.contains("phase") {
            let numbers = numbers(&lower);
            let wanted: Vec<String> = numbers.iter().map(|number| format!("phase-{number}")).collect();
            let found: Vec<Text> =
                self.phases.iter().filter(|id| wanted.contains(id) && *id != own).map(|id| at(id)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        if let Some((from, to)) = words.split_once(['-', '–']).map(|(from, to)| (from.trim(), to.trim()))
            && [from, to].iter().all(|end| self.tasks.iter().any(|id| id == end))
        {
            let between = |id: &&String| natural_order(from, id).is_le() && natural_order(id, to).is_le();
            return self.tasks.iter().filter(between).map(|id| at(id)).collect();
        }
        if lower.starts_with("all") && !lower.contains(|c: char| c.is_ascii_digit()) {
            return before.iter().map(|id| at(id)).collect();
        }
        if words.contains(|c: char| c.is_ascii_digit()) {
            // The graph reports an unknown id as an error.
            return vec![at(words)];
        }
        let message = format!("cannot read the dependency `{}`; it is ignored", name.value);
        findings.add(Code::UnreadDependency, &name.span, message, "write ids: `Depends on: 1.1, 1.2`");
        Vec::new()
    }
}

/// Returns `1.1` for `Task 1.1 (the parser)`.
fn without_remark(words: &str) -> &str {
    let words = words.split_once(" (").map_or(words, |(before, _)| before).trim();
    ["Tasks ", "tasks ", "Task ", "task "].into_iter().find_map(|word| words.strip_prefix(word)).unwrap_or(words).trim()
}

/// Reads numbers and ranges: `1-3`, `1 and 2`.
fn numbers(words: &str) -> Vec<u32> {
    let mut all = Vec::new();
    let mut range = false;
    let mut digits = String::new();
    let mut take = |digits: &mut String, range: &mut bool| {
        let Ok(number) = std::mem::take(digits).parse::<u32>() else { return };
        match all.last().copied() {
            Some(last) if *range && last < number && number - last < 100 => all.extend(last + 1..=number),
            _ => all.push(number),
        }
        *range = false;
    };
    for c in words.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        take(&mut digits, &mut range);
        if matches!(c, '-' | '–') {
            range = true;
        }
    }
    take(&mut digits, &mut range);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_phases_are_read_from_words() {
        assert_eq!(numbers("all phase 1-3 tasks"), [1, 2, 3]);
        assert_eq!(numbers("phase 1 and phase 2"), [1, 2]);
        assert_eq!(numbers("phase 2 complete"), [2]);
        assert!(numbers("all phases").is_empty());
    }

    #[test]
    fn a_remark_is_no_part_of_an_id() {
        assert_eq!(without_remark("Task 1.2 (to be sure)"), "1.2");
        assert_eq!(without_remark("1.1"), "1.1");
    }
}
