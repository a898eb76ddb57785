//! Dependencies of a task with parts: it depends on its parts, and they on what it depends on.

use std::collections::{HashMap, HashSet};

use crate::draft::{Draft, Text};

/// The limit for steps in the search for cycles. Dependencies that were not checked by then are left out.
const STEPS: usize = 5_000_000;

/// A part, and the task that it belongs to.
pub(crate) type Part = (String, String);

/// Adds the dependencies that follow from parts. Those that would make a cycle are left out, because no author wrote
/// them.
pub(crate) fn add_parts(draft: &mut Draft, parts: &[Part]) {
    let mut waits = Waits::of(draft);
    let derived = waits.derive(parts);
    if derived.is_empty() {
        return;
    }
    let mut all = waits.clone();
    for (task, before) in &derived {
        all.add(task, before);
    }
    if all.has_circle() {
        let mut steps = STEPS;
        for (task, before) in &derived {
            if !waits.may_reach(before, task, &mut steps) {
                waits.add(task, before);
            }
        }
        all = waits;
    }
    for task in draft.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        let Some(index) = all.index.get(&task.id.value) else { continue };
        let known: HashSet<String> = task.after.iter().map(|before| before.value.clone()).collect();
        let span = task.id.span.clone();
        let more = all.after[*index].iter().map(|before| &all.ids[*before]).filter(|before| !known.contains(*before));
        task.after.extend(more.map(|before| Text::new(before, span.clone())));
    }
}

/// A dependency graph by index.
#[derive(Clone)]
struct Waits {
    ids: Vec<String>,
    index: HashMap<String, usize>,
    after: Vec<Vec<usize>>,
}

impl Waits {
    fn of(draft: &Draft) -> Self {
        let tasks = || draft.phases.iter().flat_map(|phase| &phase.tasks);
        let ids: Vec<String> = tasks().map(|task| task.id.value.clone()).collect();
        let index: HashMap<String, usize> = ids.iter().cloned().zip(0..).collect();
        let after = tasks().map(|task| task.after.iter().filter_map(|id| index.get(&id.value).copied()).collect());
        Self { after: after.collect(), ids, index }
    }

    /// Derives dependencies: a task on its parts, and a part on what its parents depend on.
    fn derive(&self, parts: &[Part]) -> Vec<(usize, usize)> {
        let mut whole_of: HashMap<usize, usize> = HashMap::new();
        for (part, whole) in parts {
            if let (Some(part), Some(whole)) = (self.index.get(part), self.index.get(whole))
                && part != whole
            {
                whole_of.entry(*part).or_insert(*whole);
            }
        }
        let mut derived: Vec<(usize, usize)> = whole_of.iter().map(|(part, whole)| (*whole, *part)).collect();
        for part in whole_of.keys() {
            let mut seen = HashSet::from([*part]);
            let mut above = whole_of.get(part);
            while let Some(whole) = above.filter(|whole| seen.insert(**whole)) {
                derived.extend(self.after[*whole].iter().map(|before| (*part, *before)));
                above = whole_of.get(whole);
            }
        }
        derived.retain(|(task, before)| task != before && !self.after[*task].contains(before));
        derived.sort_unstable();
        derived.dedup();
        derived
    }

    fn add(&mut self, task: &usize, before: &usize) {
        self.after[*task].push(*before);
    }

    /// Reports whether `from` may depend on `to`, directly or through others, within the step limit.
    fn may_reach(&self, from: &usize, to: &usize, steps: &mut usize) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![*from]);
        while let Some(task) = left.pop() {
            if task == *to || *steps == 0 {
                return true;
            }
            *steps -= 1;
            if seen.insert(task) {
                left.extend(&self.after[task]);
            }
        }
        false
    }

    fn has_circle(&self) -> bool {
        let mut open: Vec<usize> = self.after.iter().map(Vec::len).collect();
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.ids.len()];
        for (task, after) in self.after.iter().enumerate() {
            for before in after {
                waiting[*before].push(task);
            }
        }
        let mut ready: Vec<usize> = (0..open.len()).filter(|task| open[*task] == 0).collect();
        let mut done = 0;
        while let Some(task) = ready.pop() {
            done += 1;
            for after in &waiting[task] {
                open[*after] -= 1;
                if open[*after] == 0 {
                    ready.push(*after);
                }
            }
        }
        done < self.ids.len()
    }
}
