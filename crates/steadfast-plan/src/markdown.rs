//! SPEC.md: what people write anyway. Headings, checkboxes, tables and the fields below a task.
//!
//! A spec is read line by line: a task is a line, and so is the place of an error. Code fences and comments are passed
//! over.

pub(crate) mod after;
pub(crate) mod fields;
pub(crate) mod line;
pub(crate) mod names;
mod table;

use std::collections::{BTreeSet, HashMap};

use crate::draft::{Draft, DraftPhase, DraftTask, Span, Text, promise};
use crate::problem::{Code, Findings};
use crate::standing;
use fields::{Field, field};
use line::{Line, lines};
use names::{is_nothing, marked, named_section, normal, numbered, phase_name, plain, tagged};
use table::Columns;

pub(crate) fn read(text: &str, name: &str, findings: &mut Findings) -> Option<Draft> {
    let mut reader = Reader {
        draft: Draft { span: 0..text.len().min(1), ..Draft::default() },
        findings,
        section: Section::Head,
        current: None,
        columns: None,
        by_id: HashMap::new(),
        paragraph: None,
        explicit: BTreeSet::new(),
        checked: Vec::new(),
        under_heading: false,
    };
    for line in lines(text) {
        reader.line(&line);
    }
    reader.close_paragraph();
    reader.say_what_is_checked();
    let mut draft = reader.draft;
    // Headings structure a text; only what is called a phase is one without tasks.
    let explicit = reader.explicit;
    let mut index = 0;
    draft.phases.retain(|phase| {
        index += 1;
        !phase.tasks.is_empty() || explicit.contains(&(index - 1))
    });
    after::resolve(&mut draft, findings);
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    Some(draft)
}

/// What the lines below a heading are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Before the first heading of the second level.
    Head,
    Description,
    Constraints,
    Criteria,
    Commands,
    /// Tasks may stand here.
    Phase(usize),
    /// Prose that is nobody's.
    Other,
}

struct Reader<'f> {
    draft: Draft,
    findings: &'f mut Findings,
    section: Section,
    /// The task that fields belong to: phase and place.
    current: Option<(usize, usize)>,
    columns: Option<Columns>,
    /// Tasks by their ids, and by their titles where they have none.
    by_id: HashMap<String, (usize, usize)>,
    /// The description as far as it is read.
    paragraph: Option<String>,
    /// Phases that are called so.
    explicit: BTreeSet<usize>,
    /// Tasks with a checked box, and where.
    checked: Vec<((usize, usize), Span)>,
    /// The current task is a heading: boxes below it are what is to be seen when it is done.
    under_heading: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line) {
        if !matches!(line, Line::Row { .. }) {
            self.columns = None;
        }
        match line {
            Line::Blank => self.close_paragraph(),
            Line::Heading { level: 1, text } if self.draft.feature.is_empty() => {
                text.as_str().trim_start_matches("SPEC:").trim().clone_into(&mut self.draft.feature);
            }
            Line::Heading { level, text } => self.heading(*level, text),
            Line::Box { mark, text, .. } => self.checkbox(*mark, text),
            Line::Bullet { text, indent } => self.bullet(text, *indent),
            Line::Row { cells } => self.row(cells),
            Line::Text { text } => self.text(text),
            Line::Fenced { .. } => {}
        }
    }

    fn heading(&mut self, level: usize, text: &Text) {
        self.close_paragraph();
        self.current = None;
        if level >= 3
            && let Some((id, title)) = tagged(text).or_else(|| numbered(text))
        {
            let phase = self.phase(&text.span);
            self.task(phase, Some(id), title);
            self.under_heading = true;
            return;
        }
        let section = named_section(text.as_str());
        match section {
            Some(section) => self.section = section,
            None if level <= 2 => self.section = Section::Phase(self.begin_phase(text)),
            // A deeper heading inside a phase only structures it.
            None if matches!(self.section, Section::Phase(_)) => {}
            None => self.section = Section::Other,
        }
    }

    fn begin_phase(&mut self, text: &Text) -> usize {
        if let Some((id, name)) = tagged(text)
            && !self.draft.phases.iter().any(|phase| phase.id.value == id.value)
        {
            self.explicit.insert(self.draft.phases.len());
            self.draft.phases.push(DraftPhase { id, name: name.value, after: None, tasks: Vec::new(), each: None });
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
        self.draft.phases.push(DraftPhase { id, name, after: None, tasks: Vec::new(), each: None });
        self.draft.phases.len() - 1
    }

    /// The phase a task stands in; one is made for a task that stands in none.
    fn phase(&mut self, at: &Span) -> usize {
        if let Section::Phase(index) = self.section {
            return index;
        }
        let index = match self.draft.phases.iter().position(|phase| phase.id.value == "tasks") {
            Some(index) => index,
            None => {
                let id = Text::new("tasks", at.clone());
                self.draft.phases.push(DraftPhase {
                    id,
                    name: "Tasks".to_owned(),
                    after: None,
                    tasks: Vec::new(),
                    each: None,
                });
                self.draft.phases.len() - 1
            }
        };
        self.section = Section::Phase(index);
        index
    }

    fn checkbox(&mut self, mark: char, text: &Text) {
        match self.section {
            Section::Constraints | Section::Criteria => return self.listed(text),
            Section::Head | Section::Description | Section::Commands | Section::Other | Section::Phase(_) => {}
        }
        let numbered = tagged(text).or_else(|| numbered(text));
        if numbered.is_none() && self.under_heading && self.current.is_some() {
            return self.set(Field::Criteria, text);
        }
        let (id, title) = match numbered {
            Some((id, title)) => (Some(id), title),
            None => (None, text.clone()),
        };
        let phase = self.phase(&text.span);
        self.task(phase, id, title);
        if matches!(mark, 'x' | 'X') {
            self.checked.extend(self.current.map(|place| (place, text.span.clone())));
        }
    }

    fn bullet(&mut self, text: &Text, indent: usize) {
        match self.section {
            Section::Constraints | Section::Criteria => self.listed(text),
            Section::Commands => self.command(text),
            Section::Head | Section::Description => self.describe(text.as_str()),
            Section::Phase(phase) => {
                if self.field(text) {
                    return;
                }
                // `- 1.2 Title` is a task where it stands by itself; below a task it is a note.
                let by_itself = indent == 0 || self.current.is_none();
                match numbered(text).filter(|_| by_itself) {
                    Some((id, title)) => self.task(phase, Some(id), title),
                    None => self.note(text),
                }
            }
            Section::Other => {}
        }
    }

    fn row(&mut self, cells: &[Text]) {
        match &self.columns {
            None => self.columns = Some(Columns::of(cells)),
            Some(columns) if columns.is_rule(cells) => {}
            Some(columns) => {
                let Some(row) = columns.task(cells) else { return };
                let phase = self.phase(&row.title.span);
                self.task(phase, row.id, row.title);
                for (field, text) in row.fields {
                    self.set(field, &text);
                }
                self.current = None;
            }
        }
    }

    fn text(&mut self, text: &Text) {
        match self.section {
            Section::Head | Section::Description => self.describe(text.as_str()),
            Section::Phase(_) => {
                if !self.field(text) {
                    self.note(text);
                }
            }
            Section::Commands => self.command(text),
            Section::Constraints | Section::Criteria => self.listed(text),
            Section::Other => {}
        }
    }

    fn listed(&mut self, text: &Text) {
        let line = text.as_str().trim();
        if line.is_empty() {
            return;
        }
        match self.section {
            Section::Constraints => self.draft.constraints.push(line.to_owned()),
            _ => self.draft.criteria.push(line.to_owned()),
        }
    }

    /// `test: npm test`, with or without backticks and bold.
    fn command(&mut self, text: &Text) {
        let Some((name, command)) = text.as_str().split_once(':') else { return };
        let name = plain(name).to_lowercase();
        let command = fields::unquoted(command);
        if !name.is_empty() && !command.is_empty() {
            self.draft.commands.push((Text::new(name, text.span.clone()), Text::new(command, text.span.clone())));
        }
    }

    /// A box is somebody's mark. What counts is the ledger, or a status that says so in words.
    fn say_what_is_checked(&mut self) {
        for ((phase, place), span) in std::mem::take(&mut self.checked) {
            if self.draft.phases[phase].tasks[place].standing.is_none() {
                let message = "a checked box: what is done is in the ledger, and is not read from here";
                let help = "take the task out if it is not to be done again, or write `Status: done` below it";
                self.findings.add(Code::CheckedBox, &span, message, help);
            }
        }
    }

    /// The first paragraph is what it is for, or the one below a heading that says so.
    fn describe(&mut self, line: &str) {
        if let Some(text) = line.trim().strip_prefix("Completion promise:").or(line.trim().strip_prefix("Promise:")) {
            self.draft.promise = promise(&fields::unquoted(text));
            return;
        }
        if line.trim().strip_prefix("Decisions:").is_some_and(|text| is_nothing(text.trim())) {
            self.draft.only_groups = true;
            return;
        }
        let line = line.trim();
        let line = line.strip_prefix("> ").unwrap_or(line);
        match (&mut self.paragraph, &self.draft.description) {
            (Some(paragraph), _) => {
                paragraph.push(' ');
                paragraph.push_str(line.trim());
            }
            (None, None) => self.paragraph = Some(line.trim().to_owned()),
            (None, Some(_)) => {}
        }
    }

    fn close_paragraph(&mut self) {
        if let Some(paragraph) = self.paragraph.take()
            && self.draft.description.is_none()
        {
            self.draft.description = Some(paragraph);
        }
    }

    /// A task, or more of one that was seen before: by its id, or by its title where one of both has no id.
    fn task(&mut self, phase: usize, id: Option<Text>, title: Text) {
        // A title with its id behind it is an export's, and means what it says.
        let is_export = id.as_ref().is_some_and(|id| id.span.start > title.span.start);
        let (title, task_type) = if is_export { (title, None) } else { marked(title) };
        let key = normal(title.as_str());
        let known = match &id {
            Some(id) => self.by_id.get(&normal(id.as_str())).copied().or_else(|| {
                // The same title without an id: this is its id.
                let found = *self.by_id.get(&key)?;
                self.draft.phases[found.0].tasks[found.1].id.span.is_empty().then_some(found)
            }),
            None => self.by_id.get(&key).copied(),
        };
        let place = match known {
            Some(place) => {
                let task = &mut self.draft.phases[place.0].tasks[place.1];
                if let Some(id) = &id {
                    task.id = id.clone();
                }
                let first = task.title.as_str();
                if normal(first) != key {
                    let message = format!("`{}` was named before, as `{first}`: both are one task", task.id.as_str());
                    self.findings.add(Code::OtherTitle, &title.span, message, "give it another id if they are two");
                }
                place
            }
            None => {
                let tasks = &mut self.draft.phases[phase].tasks;
                // Numbered by its place; the empty span says that nobody wrote it.
                let made =
                    || Text::new(format!("{}.{}", phase + 1, tasks.len() + 1), title.span.start..title.span.start);
                let id = id.unwrap_or_else(made);
                tasks.push(DraftTask::new(id, title.clone()));
                (phase, self.draft.phases[phase].tasks.len() - 1)
            }
        };
        let task = &mut self.draft.phases[place.0].tasks[place.1];
        if task.task_type.is_none() {
            task.task_type = task_type;
        }
        self.by_id.insert(normal(task.id.as_str()), place);
        if !is_export {
            self.by_id.insert(key, place);
        }
        self.current = Some(place);
        self.under_heading = false;
    }

    fn field(&mut self, text: &Text) -> bool {
        if self.current.is_none() {
            return self.phase_field(text);
        }
        match field(text) {
            Some((field, value)) => {
                self.set(field, &value);
                true
            }
            None => false,
        }
    }

    /// `Depends on: phase-1` below the heading of a phase.
    fn phase_field(&mut self, text: &Text) -> bool {
        let Section::Phase(index) = self.section else { return false };
        match field(text) {
            Some((Field::After, value)) => {
                let names = fields::names(&value).into_iter().filter(|name| !is_nothing(&name.value));
                self.draft.phases[index].after = Some(names.collect());
                true
            }
            _ => false,
        }
    }

    fn set(&mut self, field: Field, value: &Text) {
        let Some((phase, place)) = self.current else { return };
        let task = &mut self.draft.phases[phase].tasks[place];
        match field {
            Field::Type => task.task_type = Some(Text::new(plain(value.as_str()), value.span.clone())),
            Field::Files => {
                for file in fields::names(value) {
                    if !task.files.iter().any(|known| known.value == file.value) {
                        task.files.push(file);
                    }
                }
            }
            Field::Verify => task.command = Some(Text::new(fields::unquoted(value.as_str()), value.span.clone())),
            Field::Criteria => task.criteria.push(value.as_str().trim().to_owned()),
            Field::After => {
                for name in fields::names(value) {
                    if !is_nothing(&name.value) && !task.after.iter().any(|known| known.value == name.value) {
                        task.after.push(name);
                    }
                }
            }
            Field::Status => {
                let before = self.findings.count();
                task.standing = standing::in_words(value, self.findings);
                if self.findings.count() > before {
                    let line = Text::new(format!("status: {}", value.as_str()), value.span.clone());
                    self.note(&line);
                }
            }
            Field::Notes => self.note(value),
        }
    }

    fn note(&mut self, text: &Text) {
        let Some((phase, place)) = self.current else { return };
        let line = text.as_str().trim();
        // A quotation is a note word for word, its empty lines among them.
        let quoted = line.strip_prefix('>').map(|rest| rest.strip_prefix(' ').unwrap_or(rest));
        if line.is_empty() {
            return;
        }
        let line = quoted.unwrap_or(line);
        let task = &mut self.draft.phases[phase].tasks[place];
        match &mut task.notes {
            Some(notes) => {
                notes.value.push('\n');
                notes.value.push_str(line);
            }
            None => task.notes = Some(Text::new(line, text.span.clone())),
        }
    }
}

pub(crate) fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = name.split('.').next().unwrap_or(name);
    if stem.is_empty() || stem == "-" { "spec".to_owned() } else { stem.to_owned() }
}
