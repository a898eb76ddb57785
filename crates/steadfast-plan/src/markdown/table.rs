use super::fields::Field;
use super::names::{numbered, plain};
use super::words::words;
use crate::draft::Text;

/// The meaning of the columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    id: Option<usize>,
    /// Columns with a name for tasks. They contain tasks or their numbers.
    tasks: Vec<usize>,
    /// A column with a general name: `Description`.
    title: Option<usize>,
    fields: Vec<(usize, Field)>,
}

pub(super) struct Row {
    pub(super) id: Option<Text>,
    pub(super) title: Text,
    pub(super) fields: Vec<(Field, Text)>,
}

impl Columns {
    /// Reads the header row. A table without a column for tasks is about something else.
    pub(super) fn of(header: &[Text]) -> Self {
        let mut columns = Self { id: None, tasks: Vec::new(), title: None, fields: Vec::new() };
        for (index, cell) in header.iter().enumerate() {
            let name = plain(cell.as_str()).to_lowercase();
            match name.as_str() {
                name if words!("column id").contains(name) => columns.id = Some(index),
                name if words!("column task").contains(name) => columns.tasks.push(index),
                name if words!("column title").contains(name) => columns.title = columns.title.or(Some(index)),
                name => columns.fields.extend(Field::named(name).map(|field| (index, field))),
            }
        }
        columns
    }

    /// Reports whether its rows may be tasks without an id: a column is named for tasks, or the first column is a
    /// title.
    pub(super) fn is_of_tasks(&self, in_tasks: bool) -> bool {
        let first = usize::from(self.id == Some(0));
        !self.tasks.is_empty() || in_tasks && self.title == Some(first)
    }

    pub(super) fn is_rule(&self, cells: &[Text]) -> bool {
        cells.iter().all(|cell| cell.as_str().chars().all(|c| matches!(c, '-' | ':' | ' ')))
    }

    /// Reads a row that is a task. `may_lack_id`: the table is known to contain tasks.
    pub(super) fn row(&self, cells: &[Text], may_lack_id: bool) -> Option<Row> {
        let cell = |index: usize| cells.get(index).filter(|cell| !cell.as_str().is_empty());
        let clean = |cell: &Text| Text::new(plain(cell.as_str()), cell.span.clone());
        let mut id = self.id.and_then(cell).map(clean);
        // Reads `| Task | Description |` with `| 1.1 | Make codes |`.
        let mut title = None;
        for cell in self.tasks.iter().copied().chain(self.title).filter_map(cell) {
            let is_number = is_id(&plain(cell.as_str()));
            if !is_number || title.is_none() && id.is_some() {
                title = Some(cell);
                break;
            }
            id = id.or_else(|| Some(clean(cell)));
        }
        let title = title?;
        let (id, title) = match (id, numbered(title)) {
            (None, Some((id, title))) => (Some(id), title),
            (id, _) => (id, clean(title)),
        };
        let id = id.filter(|id| is_id(id.as_str()));
        if id.is_none() && !may_lack_id || title.as_str().is_empty() {
            return None;
        }
        let fields = self.fields.iter().filter_map(|(index, field)| Some((*field, cell(*index)?.clone()))).collect();
        Some(Row { id, title, fields })
    }
}

fn is_id(id: &str) -> bool {
    id.contains(|c: char| c.is_ascii_digit()) && !id.contains(char::is_whitespace) && id.len() <= 40
}
