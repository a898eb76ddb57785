use super::fields::Field;
use super::names::{numbered, plain};
use crate::draft::Text;

/// What the columns of a table are.
#[derive(Debug)]
pub(super) struct Columns {
    id: Option<usize>,
    title: Option<usize>,
    fields: Vec<(usize, Field)>,
}

pub(super) struct Row {
    pub(super) id: Option<Text>,
    pub(super) title: Text,
    pub(super) fields: Vec<(Field, Text)>,
}

impl Columns {
    /// By its first row. A table without a column for tasks is about something else.
    pub(super) fn of(header: &[Text]) -> Self {
        let mut columns = Self { id: None, title: None, fields: Vec::new() };
        for (index, cell) in header.iter().enumerate() {
            let name = plain(cell.as_str()).to_lowercase();
            match name.as_str() {
                "id" | "#" | "no" | "no." | "nr" | "number" => columns.id = Some(index),
                "task" | "title" | "description" | "what" | "todo" => columns.title = columns.title.or(Some(index)),
                name => columns.fields.extend(Field::named(name).map(|field| (index, field))),
            }
        }
        columns
    }

    pub(super) fn is_rule(&self, cells: &[Text]) -> bool {
        cells.iter().all(|cell| cell.as_str().chars().all(|c| matches!(c, '-' | ':' | ' ')))
    }

    pub(super) fn task(&self, cells: &[Text]) -> Option<Row> {
        let cell = |index: usize| cells.get(index).filter(|cell| !cell.as_str().is_empty());
        let id = self.id.and_then(cell).map(|cell| Text::new(plain(cell.as_str()), cell.span.clone()));
        let title = self.title.and_then(cell)?;
        let (id, title) = match (id, numbered(title)) {
            (None, Some((id, title))) => (Some(id), title),
            (id, _) => (id, Text::new(plain(title.as_str()), title.span.clone())),
        };
        // A table of tasks has numbers in it; any other is about something else.
        let id = id.filter(|id| id.as_str().contains(|c: char| c.is_ascii_digit()) && !id.as_str().contains(' '))?;
        let fields = self.fields.iter().filter_map(|(index, field)| Some((*field, cell(*index)?.clone()))).collect();
        Some(Row { id: Some(id), title, fields })
    }
}
