//! Headings: sections, phases, and headings that are tasks.

use steadfast_words::blocks::boxed;

use super::fields::Field;
use super::names::{is_phase, lead_of, named_section, numbered, phase_name, tagged, task_led};
use super::words::{PHASE, STEP, holds_tasks, is_imperative, is_quiet};
use super::{Form, Reader, Section, id_and_title};
use crate::draft::{DraftPhase, Span, Text};

impl Reader<'_> {
    pub(super) fn heading(&mut self, level: usize, text: &Text) {
        self.close_paragraph();
        self.pending = None;
        self.open.clear();
        let is_task = self.is_task(text);
        if let Some(own) = self.heading_level
            && level > own
            && self.current.is_some()
            && !is_task
        {
            return self.heading_in_task(text);
        }
        self.current = None;
        self.heading_level = None;
        if self.home.is_some_and(|(_, home)| level <= home) {
            self.home = None;
        }
        if is_task {
            return self.task_heading(level, text);
        }
        let words = text.as_str();
        self.is_quiet = is_quiet(words);
        let named = named_section(words).map(|section| match section {
            // The description of a phase is not the description of the spec.
            Section::Description if self.home.is_some() => Section::Other,
            section => section,
        });
        match (named, self.home) {
            _ if is_phase(text) => self.begin_phase(level, text),
            (Some(section), _) => self.section = section,
            (None, None) if level <= 2 || holds_tasks(words) => self.begin_phase(level, text),
            // A deeper heading inside a phase only structures it.
            (None, Some((phase, _))) => {
                self.section = Section::Phase(phase);
                if is_imperative(words) && !self.is_quiet {
                    self.unread(text);
                }
            }
            (None, None) => self.section = Section::Loose,
        }
    }

    pub(super) fn task_heading(&mut self, level: usize, text: &Text) {
        let (mark, text) = match boxed(text.as_str()) {
            Some((mark, rest)) => (mark, text.part(rest)),
            None => (' ', text.clone()),
        };
        let is_phase_as_task = is_phase(&text);
        if self.home.is_none() && (level <= 2 || is_phase_as_task) {
            self.section = Section::Head;
        }
        let led = || task_led(&text).or_else(|| lead_of(&text, STEP)).or_else(|| lead_of(&text, PHASE));
        let (id, title) = id_and_title(&text, tagged(&text).or_else(led).or_else(|| numbered(&text)));
        let phase = self.phase(&text.span);
        self.task(phase, id, title, Form::Heading(level));
        self.check_mark(mark, &text.span);
    }

    /// Handles `#### Acceptance criteria` below the heading of a task.
    pub(super) fn heading_in_task(&mut self, text: &Text) {
        self.pending = match named_section(text.as_str()) {
            Some(Section::Criteria) => Some(Field::Criteria),
            Some(Section::Commands) => Some(Field::Verify),
            _ => Field::named(text.as_str()),
        };
        if self.pending.is_none() {
            self.note(text);
        }
    }

    pub(super) fn begin_phase(&mut self, level: usize, text: &Text) {
        let index = self.new_phase(text);
        self.section = Section::Phase(index);
        self.home = Some((index, level));
    }

    pub(super) fn new_phase(&mut self, text: &Text) -> usize {
        if let Some((id, name)) = tagged(text)
            && !self.draft.phases.iter().any(|phase| phase.id.value == id.value)
        {
            self.explicit.insert(self.draft.phases.len());
            self.draft.phases.push(DraftPhase::new(id, name.value, Vec::new()));
            return self.draft.phases.len() - 1;
        }
        let (id, name) = phase_name(text);
        let place = self.draft.phases.len();
        let is_taken = |id: &str| self.draft.phases.iter().any(|phase| phase.id.value == id);
        let id = match id {
            Some(id) if !is_taken(&id) => {
                self.explicit.insert(place);
                id
            }
            _ => (place + 1..).map(|number| format!("section-{number}")).find(|id| !is_taken(id)).unwrap_or_default(),
        };
        let id = Text::new(id, text.span.clone());
        self.draft.phases.push(DraftPhase::new(id, name, Vec::new()));
        self.draft.phases.len() - 1
    }

    /// Returns the current phase; creates one for a task outside of phases.
    pub(super) fn phase(&mut self, at: &Span) -> usize {
        if let Section::Phase(index) = self.section {
            return index;
        }
        let index = match self.draft.phases.iter().position(|phase| phase.id.value == "tasks") {
            Some(index) => index,
            None => {
                let id = Text::new("tasks", at.clone());
                self.draft.phases.push(DraftPhase::new(id, "Tasks", Vec::new()));
                self.draft.phases.len() - 1
            }
        };
        self.section = Section::Phase(index);
        index
    }
}
