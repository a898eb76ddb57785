//! SPEC.md as people write it: headings, checkboxes, tables, and fields below a task.
//!
//! The reader works line by line, because tasks and positions of problems are lines. Code fences and comments are
//! skipped.

pub(crate) mod after;
pub(crate) mod check;
pub(crate) mod fields;
mod headings;
pub(crate) mod names;
mod outline;
mod table;
mod tasks;
mod values;
pub(crate) mod words;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::draft::{Draft, DraftTask, Span, Text, promise};
use crate::import::waits::{Part, add_parts};
use crate::problem::{Code, Findings};
use fields::Field;
use names::{is_nothing, is_phase, numbered, plain, tagged, task_led};
use outline::is_task_line;
use steadfast_words::blocks::{Block, BlockKind, Blocks};
use table::Columns;
use words::is_imperative;

/// Returns the lines of a text as blocks. A field of a task is not read as a title.
pub(crate) fn blocks(text: &str) -> Blocks<'_> {
    steadfast_words::blocks::blocks(text, fields::is_field)
}

pub(crate) fn read(text: &str, name: &str, findings: &mut Findings) -> Option<Draft> {
    let mut reader = Reader {
        draft: Draft { span: 0..text.len().min(1), ..Draft::default() },
        findings,
        tasks: outline::tasks(text, name),
        section: Section::Head,
        home: None,
        is_quiet: false,
        current: None,
        pending: None,
        columns: None,
        by_id: HashMap::new(),
        paragraph: None,
        explicit: BTreeSet::new(),
        checked: Vec::new(),
        heading_level: None,
        open: Vec::new(),
        parts: Vec::new(),
        after_blank: false,
    };
    let mut all = blocks(text);
    for line in all.by_ref() {
        reader.line(&line);
    }
    reader.close_paragraph();
    reader.report_checked_boxes();
    reader.report_unclosed(all.unclosed());
    reader.name_tasks();
    let Reader { mut draft, explicit, parts, .. } = reader;
    let parts: Vec<Part> = parts
        .into_iter()
        .map(|(part, whole)| {
            let id = |(phase, place): Place| draft.phases[phase].tasks[place].id.value.clone();
            (id(part), id(whole))
        })
        .collect();
    // Other headings only structure a text; a phase without tasks is kept only if it is called a phase.
    let mut index = 0;
    draft.phases.retain(|phase| {
        index += 1;
        !phase.tasks.is_empty() || explicit.contains(&(index - 1))
    });
    after::resolve(&mut draft, findings);
    add_parts(&mut draft, &parts);
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    Some(draft)
}

/// The meaning of the lines below a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Before the first heading of level two.
    Head,
    Description,
    Constraints,
    Criteria,
    Commands,
    /// A section that may contain tasks.
    Phase(usize),
    /// Prose that belongs to no task.
    Other,
    /// Below a heading without a known meaning, outside of phases.
    Loose,
}

/// Indexes of a phase and of a task in it.
type Place = (usize, usize);

struct Reader<'f> {
    draft: Draft,
    findings: &'f mut Findings,
    /// Starts of lines that are tasks without a box or an id, and of headings that are tasks.
    tasks: HashSet<usize>,
    section: Section,
    /// The phase that contains deeper headings, and the level of its heading.
    home: Option<(usize, usize)>,
    /// Lists of this section describe and contain no tasks.
    is_quiet: bool,
    /// The task that the next fields belong to.
    current: Option<Place>,
    /// A field whose value follows in the lines below.
    pending: Option<Field>,
    columns: Option<Columns>,
    /// Tasks by id, or by title if they have no id.
    by_id: HashMap<String, Place>,
    /// The description read so far.
    paragraph: Option<String>,
    /// Phases whose headings say that they are phases.
    explicit: BTreeSet<usize>,
    /// Tasks with a checked box, and the position of the box.
    checked: Vec<(Place, Span)>,
    /// The current task is a heading of this level: boxes below it are its success criteria.
    heading_level: Option<usize>,
    /// Tasks of the current list that may contain the next one, each with its indent.
    open: Vec<(Place, usize)>,
    /// A task, and the task that contains it.
    parts: Vec<(Place, Place)>,
    after_blank: bool,
}

/// The notation of a task, which decides what may belong to it.
#[derive(Clone, Copy)]
enum Form {
    Heading(usize),
    /// A list item, with its indent.
    Item(usize),
    Line,
}

impl Reader<'_> {
    fn line(&mut self, Block { kind, text, indent, .. }: &Block) {
        if !matches!(kind, BlockKind::Row(_)) {
            self.columns = None;
        }
        match kind {
            BlockKind::Blank => self.close_paragraph(),
            BlockKind::Heading(1) if self.draft.feature.is_empty() && !is_phase(text) => {
                text.as_str().trim_start_matches("SPEC:").trim().clone_into(&mut self.draft.feature);
            }
            BlockKind::Heading(level) => self.heading(*level, text),
            BlockKind::Box(mark) => self.checkbox(*mark, text, *indent),
            BlockKind::Bullet | BlockKind::Ordered(_) => self.item(text, *indent),
            BlockKind::Row(cells) => self.row(cells),
            BlockKind::Text => self.text(text, *indent),
            BlockKind::Code => self.code(text),
            BlockKind::Fence => {}
        }
        self.after_blank = matches!(kind, BlockKind::Blank);
    }

    fn is_task(&self, text: &Text) -> bool {
        self.tasks.contains(&text.span.start)
    }

    /// Records a line that may be meant as a task but is not read as one.
    fn unread(&mut self, text: &Text) {
        self.draft.unread.push(text.span.start);
    }

    fn checkbox(&mut self, mark: char, text: &Text, indent: usize) {
        match self.section {
            Section::Constraints | Section::Criteria => return self.listed(text),
            Section::Head
            | Section::Description
            | Section::Commands
            | Section::Other
            | Section::Loose
            | Section::Phase(_) => {}
        }
        if text.as_str().is_empty() {
            return;
        }
        let numbered = tagged(text).or_else(|| numbered(text));
        // Below the heading of a task, `Step 1` and `1.` number its parts.
        let is_own = numbered.as_ref().is_some_and(|(id, _)| !id.value.bytes().all(|byte| byte.is_ascii_digit()));
        let is_below = self.heading_level.is_some() && !is_own && task_led(text).is_none();
        if self.current.is_some() && (is_below || numbered.is_none() && self.pending == Some(Field::Criteria)) {
            return self.set(Field::Criteria, text);
        }
        let (id, title) = id_and_title(text, numbered);
        let phase = self.phase(&text.span);
        self.task(phase, id, title, Form::Item(indent));
        self.check_mark(mark, &text.span);
    }

    fn check_mark(&mut self, mark: char, span: &Span) {
        if mark != ' ' {
            self.checked.extend(self.current.map(|place| (place, span.clone())));
        }
    }

    fn item(&mut self, text: &Text, indent: usize) {
        if self.is_task(text) {
            let (id, title) = id_and_title(text, tagged(text).or_else(|| numbered(text)));
            let phase = self.phase(&text.span);
            return self.task(phase, id, title, Form::Item(indent));
        }
        match self.section {
            Section::Constraints | Section::Criteria => self.listed(text),
            Section::Commands => self.command(text),
            Section::Head | Section::Description => self.describe(text.as_str()),
            Section::Phase(phase) => self.item_in_phase(phase, text, indent),
            Section::Loose if is_imperative(text.as_str()) && !self.is_quiet => self.unread(text),
            Section::Loose | Section::Other => {}
        }
    }

    fn item_in_phase(&mut self, phase: usize, text: &Text, indent: usize) {
        if self.take_pending(text) || self.field(text) {
            return;
        }
        // `- 1.2 Title` is a task if it is not below a task; else it is a note.
        let by_itself = indent == 0 && self.heading_level.is_none() || self.current.is_none();
        if let Some((id, title)) = numbered(text).filter(|_| by_itself) {
            return self.task(phase, Some(id), title, Form::Item(indent));
        }
        // An item at the level of tasks: its box was forgotten, or it is not a task.
        let is_beside = self.open.first().is_some_and(|(_, own)| indent <= *own);
        let may_be_task = is_imperative(text.as_str()) && !self.is_quiet;
        if is_beside || self.current.is_none() && may_be_task {
            self.unread(text);
        }
        self.note(text);
    }

    fn row(&mut self, cells: &[Text]) {
        let Some(columns) = self.columns.clone() else {
            self.columns = Some(Columns::of(cells));
            return;
        };
        let Some(first) = cells.first().filter(|_| !columns.is_rule(cells)) else { return };
        let is_open = !self.is_quiet && matches!(self.section, Section::Phase(_) | Section::Head | Section::Loose);
        let may_lack_id = self.is_task(first);
        let row = columns.row(cells, may_lack_id).filter(|_| is_open || may_lack_id);
        let Some(row) = row else {
            if is_open && columns.is_of_tasks(false) {
                self.unread(first);
            }
            return;
        };
        let phase = self.phase(&row.title.span);
        self.task(phase, row.id, row.title, Form::Line);
        for (field, text) in row.fields {
            self.set(field, &text);
        }
        self.current = None;
    }

    fn text(&mut self, text: &Text, indent: usize) {
        let is_open = matches!(self.section, Section::Phase(_) | Section::Head | Section::Loose);
        if is_open && is_task_line(text) && self.heading_level.is_none() {
            let phase = self.phase(&text.span);
            if let Some((id, title)) = task_led(text) {
                return self.task(phase, Some(id), title, Form::Line);
            }
        }
        if indent == 0 && self.after_blank {
            self.open.clear();
        }
        match self.section {
            Section::Head | Section::Description => self.describe(text.as_str()),
            Section::Phase(_) => {
                if !self.begin_pending(text) && !self.field(text) {
                    self.pending = None;
                    self.note(text);
                }
            }
            Section::Commands => self.command(text),
            Section::Constraints | Section::Criteria => self.listed(text),
            Section::Other | Section::Loose => {}
        }
    }

    /// Starts a field such as `**Files:**` whose values are in the list below.
    fn begin_pending(&mut self, text: &Text) -> bool {
        if self.current.is_none() {
            return false;
        }
        let words = text.as_str();
        let is_name = words.ends_with(':') || words.starts_with("**") && words.trim_end_matches(':').ends_with("**");
        self.pending = Field::named(words.trim_end_matches("**").trim_end_matches(':')).filter(|_| is_name);
        self.pending.is_some_and(|field| field != Field::Notes)
    }

    /// Reads a list item below the name of a field.
    fn take_pending(&mut self, text: &Text) -> bool {
        match self.pending.filter(|_| self.current.is_some()) {
            Some(Field::Files) => {
                let value = text.as_str();
                // Reads `Create: path`, `path - remark`.
                let (start, path) = match value.split_once(": ") {
                    Some((word, path)) if word.split(' ').count() == 1 => (value.len() - path.len(), path),
                    _ => (0, value),
                };
                let quoted = path.split('`').nth(1).filter(|_| path.starts_with('`'));
                let path = quoted.or_else(|| path.split(" - ").next()).unwrap_or(path).trim();
                let at = text.span.start + start;
                self.set(Field::Files, &Text::new(path, at..at + path.len()));
                true
            }
            Some(field @ (Field::Criteria | Field::After | Field::Verify)) => {
                self.set(field, text);
                true
            }
            Some(Field::Type | Field::Status | Field::Estimate | Field::Notes) | None => false,
        }
    }

    /// Reads code below `Verify:` as the check, line by line.
    fn code(&mut self, text: &Text) {
        let line = text.as_str().trim();
        if self.pending != Some(Field::Verify) {
            return;
        }
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let Some(task) = self.task_now().filter(|_| !line.is_empty() && !line.starts_with('#')) else { return };
        match &mut task.command {
            Some(command) if command.value.ends_with('\\') => {
                command.value.pop();
                command.value.push_str(line);
            }
            Some(command) => {
                command.value.push_str(" && ");
                command.value.push_str(line);
            }
            None => task.command = Some(Text::new(line, text.span.clone())),
        }
    }

    fn task_now(&mut self) -> Option<&mut DraftTask> {
        let (phase, place) = self.current?;
        Some(&mut self.draft.phases[phase].tasks[place])
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

    /// Reads `test: npm test`, with or without backticks and bold.
    fn command(&mut self, text: &Text) {
        let Some((name, command)) = text.as_str().split_once(':') else { return };
        // A sentence with a colon is not a named command.
        if name.contains('`') || name.split_whitespace().count() > 3 {
            return;
        }
        let name = plain(name).trim_end_matches("**").to_lowercase();
        let start = text.span.end - command.len().min(text.span.len());
        let value = Text::new(command, start..text.span.end);
        if name.is_empty() || command.trim().is_empty() {
            return;
        }
        if let Some(command) = check::command(&value, self.findings) {
            self.draft.commands.push((Text::new(name, text.span.clone()), Text::new(command.value, text.span.clone())));
        }
    }

    /// Reports checked boxes. Only the ledger, or a status in words, marks a task as done.
    fn report_checked_boxes(&mut self) {
        for ((phase, place), span) in std::mem::take(&mut self.checked) {
            if self.draft.phases[phase].tasks[place].status.is_none() {
                let message = "the checked box is ignored: the ledger records which tasks are done";
                let help = "write `Status: done` below the task, or remove the task if it must not run again";
                self.findings.add(Code::CheckedBox, &span, message, help);
            }
        }
    }

    /// Reports a fence or comment that is not closed: the rest of the text is skipped.
    fn report_unclosed(&mut self, at: Option<usize>) {
        if let Some(at) = at {
            let message = "this code fence or comment is not closed; the rest of the file is ignored";
            self.findings.add(Code::UnclosedFence, &(at..at + 1), message, "close it");
        }
    }

    /// Takes the description from the first paragraph, or from the one below a heading for it.
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
}

/// Returns the id and the title of a task. Without an id, all words are the title.
fn id_and_title(text: &Text, found: Option<(Text, Text)>) -> (Option<Text>, Text) {
    match found {
        Some((id, title)) => (Some(id), title),
        None => (None, text.with(plain(text.as_str()))),
    }
}

pub(crate) fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = name.split('.').next().unwrap_or(name);
    if stem.is_empty() || stem == "-" { "spec".to_owned() } else { stem.to_owned() }
}
