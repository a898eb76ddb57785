//! Adds the tasks of a spec: a new task or more about a known one, its parent, and its id.

use std::collections::{HashMap, HashSet};

use super::fields::Field;
use super::names::{checked, marked, normal};
use super::{Form, Place, Reader};
use crate::draft::{DraftTask, Text};
use crate::problem::Code;

impl Reader<'_> {
    /// Adds a task, or more about a known one: same id, or same title in the same phase if one of them has no id.
    pub(super) fn task(&mut self, phase: usize, id: Option<Text>, title: Text, form: Form) {
        self.pending = None;
        // An id after the title was written by an export, so the title is taken as it is.
        let is_export = id.as_ref().is_some_and(|id| id.span.start > title.span.start);
        let (title, check) = if is_export { (title, None) } else { checked(title) };
        let (title, task_type) = if is_export { (title, None) } else { marked(title) };
        let key = normal(title.as_str());
        let by_title = || self.by_id.get(&title_key(phase, &key)).copied();
        let has_id = |(phase, place): &Place| !self.draft.phases[*phase].tasks[*place].id.value.is_empty();
        let known = match &id {
            Some(id) => {
                self.by_id.get(&normal(id.as_str())).copied().or_else(|| by_title().filter(|place| !has_id(place)))
            }
            None => by_title().filter(has_id),
        };
        // A list that numbers from 1 again in another phase has its own tasks.
        let is_other = |place: &Place| {
            let first = &self.draft.phases[place.0].tasks[place.1];
            let is_count = first.id.value.bytes().all(|byte| byte.is_ascii_digit());
            place.0 != phase && is_count && normal(first.title.as_str()) != key
        };
        let (known, id) = match (known.filter(is_other), id) {
            (Some(_), Some(id)) => {
                let message = format!("the id `{}` is used twice; this is read as another task", id.as_str());
                self.findings.add(Code::RenamedId, &id.span, message, "give this task an id of its own");
                (None, None)
            }
            (_, id) => (known, id),
        };
        let place = match known {
            Some(place) => {
                let task = &mut self.draft.phases[place.0].tasks[place.1];
                if let Some(id) = &id {
                    task.id = id.clone();
                }
                let first = task.title.as_str();
                if normal(first) != key {
                    let message = format!(
                        "`{}` has two titles, this one and `{first}`; they are read as one task",
                        task.id.as_str()
                    );
                    self.findings.add(
                        Code::OtherTitle,
                        &title.span,
                        message,
                        "give this one another id if they are two tasks",
                    );
                }
                place
            }
            None => {
                let tasks = &mut self.draft.phases[phase].tasks;
                // A task without an id gets a number after all tasks are known.
                let id = id.unwrap_or_else(|| Text::new("", title.span.start..title.span.start));
                tasks.push(DraftTask::new(id, title));
                (phase, tasks.len() - 1)
            }
        };
        let task = &mut self.draft.phases[place.0].tasks[place.1];
        if task.task_type.is_none() {
            task.task_type = task_type;
        }
        if !task.id.value.is_empty() {
            self.by_id.insert(normal(task.id.as_str()), place);
        }
        if !is_export {
            self.by_id.insert(title_key(phase, &key), place);
        }
        self.current = Some(place);
        self.set_current(place, form);
        if let Some(check) = check {
            self.set(Field::Verify, &check);
        }
    }

    /// Sets the task that the next lines belong to, and the parent of this one.
    pub(super) fn set_current(&mut self, place: Place, form: Form) {
        match form {
            Form::Heading(level) => {
                self.heading_level = Some(level);
                self.open.clear();
            }
            Form::Line => {
                self.heading_level = None;
                self.open.clear();
            }
            Form::Item(indent) => {
                self.heading_level = None;
                while self.open.last().is_some_and(|(_, open)| *open >= indent) {
                    self.open.pop();
                }
                self.parts.extend(self.open.last().map(|(whole, _)| (place, *whole)));
                self.open.push((place, indent));
            }
        }
    }

    /// Gives ids to tasks without one, after all used ids are known: `1.2`, and `1.2.1` for a part of it.
    pub(super) fn name_tasks(&mut self) {
        let whole_of: HashMap<Place, Place> = self.parts.iter().copied().collect();
        let all = || self.draft.phases.iter().flat_map(|phase| &phase.tasks);
        let mut taken: HashSet<String> = all().map(|task| task.id.value.clone()).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut number = 0;
        for index in 0..self.draft.phases.len() {
            let phase = &self.draft.phases[index];
            if phase.tasks.is_empty() && !self.explicit.contains(&index) {
                continue;
            }
            number += 1;
            let authored = phase.tasks.iter().find_map(|task| task.id.value.split_once('.')).map(|(first, _)| first);
            let own = phase.id.value.strip_prefix("phase-").filter(|own| own.bytes().all(|byte| byte.is_ascii_digit()));
            let prefix = authored.or(own).map_or_else(|| number.to_string(), str::to_owned);
            for place in 0..self.draft.phases[index].tasks.len() {
                if !self.draft.phases[index].tasks[place].id.value.is_empty() {
                    continue;
                }
                let whole =
                    whole_of.get(&(index, place)).map(|(phase, place)| &self.draft.phases[*phase].tasks[*place]);
                let above = whole.map_or_else(|| prefix.clone(), |whole| whole.id.value.clone());
                let count = counts.entry(above.clone()).or_default();
                let free = (*count + 1..).find(|number| !taken.contains(&format!("{above}.{number}")));
                *count = free.unwrap_or(*count + 1);
                let id = format!("{above}.{count}");
                taken.insert(id.clone());
                self.draft.phases[index].tasks[place].id.value = id;
            }
        }
    }
}

/// Builds a key for a title that cannot equal an id.
fn title_key(phase: usize, title: &str) -> String {
    format!("{phase}\u{0}{title}")
}
