//! Rows in columns. At a terminal they have a header and fit its width; in a pipe each row is whole.

use steadfast_text::{columns, fit, pad};

use super::heading;

/// Space between two columns.
const GAP: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    name: &'static str,
    /// The fewest columns of the terminal in which its text can be read. `None`: it is never shortened.
    least: Option<usize>,
    /// A terminal that is too narrow for all columns loses the one with the lowest rank first.
    rank: u8,
}

impl Column {
    /// A column whose cells stay whole: ids, states, times.
    pub(crate) const fn whole(name: &'static str, rank: u8) -> Self {
        Self { name, least: None, rank }
    }

    /// A column whose cells are shortened where they do not fit.
    pub(crate) const fn text(name: &'static str, rank: u8, least: usize) -> Self {
        Self { name, least: Some(least), rank }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    /// The widest cell of each column so far.
    widest: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), widest: vec![0; columns.len()], rows: Vec::new() }
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.columns.len(), String::new());
        for (widest, cell) in self.widest.iter_mut().zip(&cells) {
            *widest = columns(cell).max(*widest);
        }
        self.rows.push(cells);
    }

    /// The whole table, for standard output.
    pub(crate) fn text(&self) -> String {
        self.lines(super::width()).into_iter().map(|line| line + "\n").collect()
    }

    /// Forgets the rows, but not how wide they were: output that continues keeps its columns.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// The rows as lines. `width`: the columns of the terminal, if it is one.
    pub(crate) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let mut widths = self.widest.clone();
        let Some(width) = width else {
            return self.rows.iter().map(|row| self.record(row, &widths)).collect();
        };
        // A column without content is not shown.
        for (widest, column) in widths.iter_mut().zip(&self.columns).filter(|(widest, _)| **widest > 0) {
            *widest = column.name.len().max(*widest);
        }
        self.narrow(&mut widths, width);
        let names: Vec<String> = self.columns.iter().map(|column| column.name.to_owned()).collect();
        let rows = self.rows.iter().map(|row| line(row, &widths));
        std::iter::once(heading(&line(&names, &widths))).chain(rows).collect()
    }

    /// A row for a pipe. Texts are not filled up with spaces: the longest may be very long.
    fn record(&self, row: &[String], widths: &[usize]) -> String {
        let cells = self.columns.iter().zip(row).zip(widths).filter_map(|((column, cell), width)| match column.least {
            Some(_) => (!cell.is_empty()).then(|| cell.clone()),
            None => (*width > 0).then(|| pad(cell, *width)),
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    }

    /// Shortens columns, and then drops columns, until all fit.
    fn narrow(&self, widths: &mut [usize], most: usize) {
        loop {
            let shown = || (0..widths.len()).filter(|index| widths[*index] > 0);
            let all = shown().map(|index| widths[index] + GAP).sum::<usize>().saturating_sub(GAP);
            let Some(over) = all.checked_sub(most).filter(|over| *over > 0) else { return };
            let can_shrink = |index: &usize| self.columns[*index].least.is_some_and(|least| widths[*index] > least);
            let rank = |index: &usize| self.columns[*index].rank;
            let room: usize = shown()
                .filter_map(|index| self.columns[index].least.map(|least| widths[index].saturating_sub(least)))
                .sum();
            let least_important = shown().min_by_key(rank);
            match shown().filter(can_shrink).min_by_key(rank) {
                Some(index) if room >= over || shown().count() == 1 => {
                    let least = self.columns[index].least.unwrap_or(1);
                    widths[index] = widths[index].saturating_sub(over).max(least);
                }
                _ => match least_important.filter(|_| shown().count() > 1) {
                    Some(index) => widths[index] = 0,
                    None => return,
                },
            }
        }
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(widths).filter(|(_, width)| **width > 0) {
        text.push_str(&pad(&fit(cell, *width), *width));
        text.push_str(&" ".repeat(GAP));
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::bare;

    fn table() -> Table {
        let columns = [
            Column::whole("ID", 9),
            Column::text("TITLE", 5, 10),
            Column::whole("STATE", 3),
            Column::text("FILES", 1, 8),
        ];
        let mut table = Table::new(&columns);
        table.row(["1", "Rotate the token", "done", "src/auth/token.rs"].map(str::to_owned));
        table.row(["10", "トークンを回す", "pending", ""].map(str::to_owned));
        table
    }

    fn lines(width: Option<usize>) -> Vec<String> {
        table().lines(width).iter().map(|line| bare(line)).collect()
    }

    #[test]
    fn a_pipe_gets_whole_rows_and_no_header() {
        let rows = ["1   Rotate the token  done     src/auth/token.rs", "10  トークンを回す  pending"];
        assert_eq!(lines(None), rows);
    }

    #[test]
    fn at_a_terminal_the_least_important_text_is_shortened_first() {
        let rows = [
            "ID  TITLE             STATE    FILES",
            "1   Rotate the token  done     src/auth/…",
            "10  トークンを回す    pending",
        ];
        assert_eq!(lines(Some(41)), rows);
        assert_eq!(lines(Some(34))[1], "1   Rotate the…  done     src/aut…");
    }

    #[test]
    fn what_has_no_room_at_all_is_left_out_by_its_rank() {
        assert_eq!(
            lines(Some(28)),
            ["ID  TITLE            STATE", "1   Rotate the tok…  done", "10  トークンを回す   pending"]
        );
        assert_eq!(lines(Some(14)), ["ID  TITLE", "1   Rotate th…", "10  トークン…"]);
        assert_eq!(lines(Some(1)), ["ID", "1", "10"]);
    }

    #[test]
    fn every_line_fits_at_every_width_that_holds_an_id() {
        for width in 14..60 {
            for line in lines(Some(width)) {
                assert!(columns(&line) <= width, "{width}: {line}");
            }
        }
    }
}
